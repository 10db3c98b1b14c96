"""``affidavit retrieve``: a scoped retrieval, with its record."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from affidavit.retrieval.words import DEFAULT_WEIGHTS, PURPOSES, REQUIRED_EVIDENCE, SOURCES
from console.commands.call import Call, Refused, command
from console.commands.resolve import find_session
from console.commands.showing_snapshots import score
from console.output import Column
from console.progress import Meter
from console.words import number, plural

if TYPE_CHECKING:
    from affidavit.retrieval.pipeline import Retrieved
    from affidavit.retrieval.request import RetrievalIntent, RetrievalScope

ANCHORS = {"test": "failingTest", "error": "errorText", "file": "currentFiles", "symbol": "symbols"}
"""What ``--anchor`` takes, and where it goes."""

DEFAULT_SOURCES = tuple(name for name, source in SOURCES.items() if source.authority is not None)

PRINTS = (
    "snapshotId, address, the recorded snapshot (selectedItems[], rejectedItems[{candidateId, sourceRef, stage, "
    "reason, score{}}], candidateStats{}, budget{}, contextProjection{visibleTextHash, citationMap{}}, scope{}, "
    "plan{}, ranking{}, missingEvidence[]), contextBlock{title, items[], snapshotId, rendered}, indexed{branch, files, "
    "added, changed, gone, leftOut{reason: count}, listed[{path, reason}]}"
)

SELECTED = (
    Column("citation"), Column("source", shrinks=True, least=24), Column("authority", spare=2),
    Column("score", right=True), Column("tokens", right=True), Column("why", shrinks=True, least=16, spare=1),
)  # fmt: skip


def pairs(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> list[tuple[str, str]]:
    """``NAME=VALUE`` words taken apart."""
    found = []
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not rest:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE")
        found.append((name, rest))
    return found


@command("retrieve", "Search within a scope, and record what a model would see", prints=PRINTS)
@click.option("--question", required=True, metavar="TEXT", help="What is to be known.")
@click.option("--purpose", type=click.Choice(PURPOSES), default="answer-question", help="What it is for.")
@click.option(
    "--workspace", metavar="DIR", help="The folder whose files may be searched; its index is brought up to date."
)
@click.option(
    "--anchor",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="What the task is about: test=FILE, error=TEXT, file=PATH or symbol=NAME. May be given again.",
)
@click.option(
    "--require",
    multiple=True,
    type=click.Choice(list(REQUIRED_EVIDENCE)),
    help="Evidence that must be found, or is recorded as missing.",
)
@click.option("--source", multiple=True, type=click.Choice(list(SOURCES)), help="Only from these sources.")
@click.option("--deny", multiple=True, type=click.Choice(list(SOURCES)), help="Not from these sources.")
@click.option("--session", metavar="ID", help="The session that asks; its events are searched.")
@click.option("--branch", metavar="NAME", help="Only what belongs to this branch.")
@click.option("--project", metavar="NAME", help="Only what belongs to this project; otherwise the workspace is one.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Only these files of it, as in a .gitignore.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Not these files of it, as in a .gitignore.")
@click.option("--user", metavar="NAME", help="Who asks.")
@click.option("--turn", metavar="ID", help="The turn it is for.")
@click.option("--request", metavar="ID", help="The model request it is for.")
@click.option("--as-of", metavar="TIME", help="As things stood then (UTC), from what was indexed before.")
@click.option("--max-tokens", type=click.IntRange(0, 1_000_000), default=1200, help="Tokens the block may cost.")
@click.option("--per-item", type=click.IntRange(1), default=400, help="Tokens one item may cost.")
@click.option(
    "--trimming",
    type=click.Choice(("keep-matched-lines", "head", "drop")),
    default="keep-matched-lines",
    help="What is kept of an item that is too long.",
)
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.0, help="Nothing that scores less.")
@click.option("--weight", multiple=True, callback=pairs, metavar="NAME=X", help="Weight of a part of the score.")
@click.option("--max-unverified", type=click.IntRange(0), default=0, help="Items nothing vouches for that may be seen.")
@click.option("--allow-stale", is_flag=True, help="Old memories are labelled instead of turned away.")
@click.option("--no-index", is_flag=True, help="Search what was indexed before, without a look at the folder.")
def retrieve_command(call: Call, **given: Any) -> int:
    """Search within a scope and print what a model would be given, after its record was written.

    What was found, what was left out and why, and the exact text stand in the snapshot; affidavit show prints it. If
    the snapshot cannot be written, nothing is printed.
    """
    from storage.retrieving import retrieve_into
    from storage.store import Store

    weights = read_weights(given["weight"])
    with Store.open(call.store, create=True) as store:
        indexed = None
        workspace = os.path.realpath(given["workspace"]) if given["workspace"] else None
        if workspace is not None and not os.path.isdir(workspace):
            raise Refused(f"{given['workspace']!r} is no folder")
        if workspace is not None and not given["no_index"]:
            indexed = _index(call, store, workspace)
        session = _session(call, given["session"])
        now = datetime.now(UTC)  # what the walk found holds by now
        try:
            intent, scope = _asked(given, workspace, session, now)
            found = retrieve_into(
                store,
                intent,
                scope,
                now=now,
                session=session[1] if session is not None else None,
                weights=weights,
                min_score=given["min_score"],
                clock=lambda: datetime.now(UTC),
            )
        except ValueError as error:
            raise Refused(str(error)) from None
    if call.output.json:
        call.output.document(_document(found, indexed))
    else:
        _print(call, found)
    return 0


def read_weights(given: list[tuple[str, str]]) -> dict[str, float] | None:
    """Weights by the name of the part; ``None`` where none are given."""
    weights: dict[str, float] = {}
    for name, value in given:
        if name not in DEFAULT_WEIGHTS:
            raise click.BadParameter(f"no part of a score is called {name!r}; there are {', '.join(DEFAULT_WEIGHTS)}")
        try:
            weights[name] = float(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is no number") from None
    return weights or None


def _index(call: Call, store: Any, workspace: str) -> dict[str, Any]:
    """Bring the folder's index up to date; the account of it."""
    from storage.workspace.indexing import index

    meter = Meter(call.output)
    try:
        report = index(store, workspace, lambda met, read: meter.count("indexing", read, met))
    except OSError as error:
        raise Refused(f"{workspace!r} cannot be read: {error.strerror}") from None
    finally:
        meter.clear()
    left = {why: many for why, many in sorted(report.left.items()) if why != "ignored"}
    if left:
        words = ", ".join(f"{number(many)} {why.replace('_', ' ')}" for why, many in left.items())
        call.output.tell(f"{plural(sum(left.values()), 'file')} of the workspace left out: {words} (--json lists them)")
    return {
        "branch": report.branch,
        "files": report.files,
        "added": report.added,
        "changed": report.changed,
        "gone": report.gone,
        "leftOut": dict(sorted(report.left.items())),
        "listed": [{"path": path, "reason": why} for path, why in report.listed],
    }


def _session(call: Call, id: str | None) -> tuple[str, str | None] | None:
    """The uid of the session that asks, and its own id if it is one of ours."""
    if id is None:
        return None
    with call.archive() as archive:
        row = find_session(archive, id)
    return row.uid, row.native if row.agent == "affidavit" else None


def _asked(
    given: dict[str, Any], workspace: str | None, session: tuple[str, str | None] | None, now: datetime
) -> tuple[RetrievalIntent, RetrievalScope]:
    """The request, and the scope it is answered in."""
    from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
    from affidavit.session.times import iso

    anchors: dict[str, Any] = {}
    for name, value in given["anchor"]:
        key = ANCHORS.get(name)
        if key is None:
            raise click.BadParameter(f"no anchor is called {name!r}; there are {', '.join(ANCHORS)}")
        if key in ("currentFiles", "symbols"):
            anchors.setdefault(key, []).append(value)
        else:
            anchors[key] = value
    intent = RetrievalIntent.model_validate(
        {
            "purpose": given["purpose"],
            "question": given["question"],
            "anchors": anchors,
            "requiredEvidence": given["require"],
            "raisedBy": "runtime",
        }
    )
    allowed = given["source"] or DEFAULT_SOURCES
    scope = RetrievalScope.model_validate(
        {
            "sessionId": session[0] if session is not None else None,
            "userId": given["user"],
            "projectId": given["project"] or workspace,
            "includePaths": list(given["include"]),
            "excludePaths": list(given["exclude"]),
            "workspaceRoot": workspace,
            "branch": given["branch"],
            "purpose": given["purpose"],
            "turnId": given["turn"],
            "modelRequestId": given["request"],
            "allowedSources": allowed,
            "deniedSources": given["deny"],
            "permissionContext": {
                "readableSources": list(SOURCES), "modelVisibleSources": list(DEFAULT_SOURCES), "userId": given["user"],
            },
            "timeBoundary": {
                "asOf": given["as_of"] or iso(round(now.timestamp() * 1_000_000)),
                "allowStaleMemory": given["allow_stale"],
            },
            "evidencePolicy": {"maxUnverifiedItems": given["max_unverified"]},
            "budget": {
                "maxTokens": given["max_tokens"], "perItemMax": given["per_item"], "trimmingPolicy": given["trimming"],
            },
        }
    )  # fmt: skip
    return intent, scope


def _document(found: Retrieved, indexed: dict[str, Any] | None) -> dict[str, Any]:
    from affidavit.retrieval import recorded

    snapshot = found.snapshot.as_json()
    line = {"snapshot": snapshot, "block": found.block.rendered}
    selected = [
        {**item, "visibleText": seen.text}
        for item, seen in zip(snapshot["selectedItems"], recorded.seen(line), strict=True)
    ]
    return {
        "snapshotId": snapshot["id"],
        "address": f"snapshot/{snapshot['id']}",
        **snapshot,
        "selectedItems": selected,
        "contextBlock": found.block.as_json(),
        "indexed": indexed,
    }


def _print(call: Call, found: Retrieved) -> None:
    snapshot = found.snapshot.as_json()
    stats = snapshot["candidateStats"]
    call.output.say(found.block.rendered)
    call.output.say()
    if snapshot["selectedItems"]:
        rows = [
            (
                f"[{item['citationId']}]", item["sourceRef"], item["authority"] or "?", score(item),
                number(item["tokens"] or 0), item["selectedReason"],
            )
            for item in snapshot["selectedItems"]
        ]  # fmt: skip
        call.output.table(SELECTED, rows)
    for missing in snapshot["missingEvidence"]:
        call.output.tell(f"! required but not found: {missing}")
    for run in snapshot["recallers"]:
        if run.get("error"):
            call.output.tell(f"! {run['name']} could not be searched: {run['error']}")
    call.output.tell(
        f"{number(stats['recalled'])} found, {number(stats['filtered'])} filtered, {number(stats['rankedOut'])} ranked "
        f"out, {number(stats['trimmed'])} trimmed, {plural(stats['selected'], 'item')} visible · "
        f"snapshot/{snapshot['id']}"
    )
