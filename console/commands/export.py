"""``affidavit export memories``: what was let in, out again in the form other tools read."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, get_args

import click

from console.commands.call import Call, Refused, command
from console.commands.recall import in_force, shape
from console.words import plural

if TYPE_CHECKING:
    from affidavit.memory.export import Out

TARGETS: Final = ("claude", "agents-md", "mcp", "json")
INJECTED: Final = frozenset({"claude", "agents-md"})
"""Forms an agent is given whole at the start of a session."""

LARGEST: Final = 4 << 20
PRINTS = "to, exported, withheld{}, files[], memories[{id, candidateId, content, kind, scope, version, …, foreign?}]"


@command("export", "Write memories for other tools", prints=PRINTS)
@click.argument("what", metavar="memories", type=click.Choice(["memories"]))
@click.option("--to", type=click.Choice(TARGETS), required=True, help="The form to write.")
@click.option("--out", metavar="PATH", help="Where to write: a new file; for claude a new or empty folder.")
@click.option("--scope", "scopes", metavar="LEVEL:KEY", multiple=True, help="Only of this scope; may be given again.")
@click.option("--file", "file", metavar="PATH", default="AGENTS.md", help="The rule file a patch is for.")
def export_command(call: Call, what: str, to: str, out: str | None, scopes: tuple[str, ...], file: str) -> int:  # noqa: ARG001
    """Write the active memories that pass the recall gate: nothing revoked, expired, in conflict, secret or too old.

    claude writes a memory folder; agents-md prints a patch of a section in a rule file, to be read and applied by you;
    mcp writes the MCP memory server's JSON Lines; json all there is. Fields that another tool's store had go back to
    it. What agents are told at the start of every session (claude, agents-md) is of one scope, and leaves out
    experiences, which are for similar errors only. Who was given what is recorded as with affidavit recall.
    """
    from affidavit.memory import export
    from storage.exporting import judged, outgoing, scopes_held
    from storage.recalling import keep_recall

    if to == "claude" and out is None:
        raise click.UsageError("claude writes a folder: say which with --out")
    now = datetime.now(UTC)
    by = in_force(call)
    config = by.policy.gate.default
    with call.archive() as archive:
        wanted = [_scope(one) for one in scopes] or scopes_held(archive)
        if to in INJECTED and not scopes and len(wanted) > 1:
            held = ", ".join(f"{level}:{key}" for level, key in wanted[:8])
            raise Refused(f"{to} is for one place, and there are memories of {len(wanted)}", f"name it: --scope {held}")
        results = judged(archive, wanted, config, now, f"export to {to}")
        memories = outgoing(archive, results)
    withheld: dict[str, int] = {}
    for reason in (one.reason for result in results for one in result.rejected):
        withheld[reason] = withheld.get(reason, 0) + 1
    if to in INJECTED:
        kept = [one for one in memories if one.record.kind != "task_experience"]
        if len(kept) < len(memories):
            withheld["similar_error_only"] = len(memories) - len(kept)
        memories = kept
    files = _files(to, memories, out, file)
    going = {one.record.id for one in memories}
    for result in results:
        passed = [{"id": one.id, "title": one.title, "score": one.score} for one in result.accepted if one.id in going]
        audit = {**result.audit(), "acceptedIds": [one["id"] for one in passed], "accepted": passed}
        used = {"policyEntry": by.entry, "settings": shape(config)}
        keep_recall(call.store, {**audit, **used}, clock=lambda: datetime.now(UTC))
    if out is not None:
        _write(out, files, folder=to == "claude")
    if call.output.json:
        call.output.document(
            {
                "to": to,
                "exported": len(memories),
                "withheld": withheld,
                "files": sorted(files) if out is not None else [],
                **export.as_json(memories),
            }
        )
        return 0
    if out is None:
        for text in files.values():
            for line in text.removesuffix("\n").split("\n") if text else ():
                call.output.say(line)
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(withheld.items()))
    call.output.tell(f"{plural(len(memories), 'memory')} exported" + (f"; kept back: {reasons}" if reasons else ""))
    return 0


def _scope(said: str) -> tuple[str, str]:
    from affidavit.memory.words import RecordLevel

    level, _, key = said.partition(":")
    if level not in get_args(RecordLevel) or not key:
        raise click.UsageError(
            f"--scope takes LEVEL:KEY with a level of {', '.join(get_args(RecordLevel))}; not {said!r}"
        )
    return level, key


def _files(to: str, memories: list[Out], out: str | None, file: str) -> dict[str, str]:
    """What is written, by its name in the folder; a single file has the name it is given."""
    from affidavit.memory import export

    name = os.path.basename(out or "")
    if to == "claude":
        return export.as_claude(memories)
    if to == "mcp":
        return {name: export.as_mcp(memories)}
    if to == "json":
        return {name: json.dumps(export.as_json(memories), ensure_ascii=False, indent=2) + "\n"}
    return {name: export.patch(memories, _before(file), file.replace(os.sep, "/").lstrip("/"))}


def _before(file: str) -> str | None:
    try:
        with open(file, encoding="utf-8", newline="") as stream:
            text = stream.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{file}: {getattr(error, 'strerror', None) or 'it is no UTF-8'}") from error
    if len(text) > LARGEST:
        raise Refused(f"{file}: too large for a rule file")
    return text


def _write(out: str, files: dict[str, str], *, folder: bool) -> None:
    """Write new files only: what is there is never overwritten."""
    try:
        if folder:
            os.makedirs(out, exist_ok=True)
            if os.listdir(out):
                raise Refused(f"{out}: it is not empty, and nothing there is overwritten", "name a new folder")
        for name, text in files.items():
            path = os.path.join(out, name) if folder else out
            with open(path, "x", encoding="utf-8", newline="", errors="replace") as stream:
                stream.write(text)
    except FileExistsError:
        raise Refused(f"{out}: it is there already, and is not overwritten", "name a new one") from None
    except OSError as error:
        raise Refused(f"{out}: {error.strerror}") from error
