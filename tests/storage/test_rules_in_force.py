"""Which rule files a session ran under: by where they stand, by what its log says, and how sure that is."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import Clock, store_in, take, write

from affidavit.proof.parsing import loads_lenient
from storage.archive import Archive
from storage.importing import Importer
from storage.queries.rules import sections_in
from storage.queries.rules_in_force import CERTAIN, Brought, InForce, RulesInForce

HOME = "home/ada"
ACME = f"{HOME}/acme"


class World:
    """A folder that stands for somebody's machine: a session ran in ``home/ada/acme`` of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cwd = str(folder / ACME)

    def session(self, *records: dict[str, Any]) -> Path:
        chained = log.chain(*[{**one, "cwd": self.cwd} for one in (log.person("Begin"), *records)])
        return write(self.folder, log.lines(chained), f"{HOME}/.claude/projects/-acme/{log.SESSION}.jsonl")

    def loads(self, path: str, text: str) -> dict[str, Any]:
        return log.attachment(
            "nested_memory", path=str(self.folder / path), content={"type": "Project", "content": text}
        )

    def take(self, store: Any, *paths: str, at: datetime | None = None) -> None:
        clock = Clock(at) if at else Clock()
        Importer(store, clock=clock).paths([str(self.folder / path) for path in paths])

    def names(self, found: RulesInForce) -> list[tuple[str, str]]:
        return [(os.path.relpath(one.file.path, self.folder / HOME), one.scope) for one in found.files]

    def named(self, found: RulesInForce, path: str) -> InForce:
        (one,) = [one for one in found.files if one.file.path == str(self.folder / path)]
        return one


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


BEFORE = datetime(2026, 3, 1, tzinfo=UTC)
AFTER = datetime(2026, 3, 3, tzinfo=UTC)


def test_rules_are_those_of_the_folder_of_those_above_and_of_the_user(world: World, tmp_path: Path) -> None:
    write(
        world.folder / HOME,
        {
            ".claude/CLAUDE.md": b"# Mine\n",
            ".claude/rules/r.md": b"# Rule\n",
            "CLAUDE.md": b"# Above\n",
            "acme/CLAUDE.md": b"@docs/a.md\n",
            "acme/docs/a.md": b"# A\n",
            "acme/.claude/rules/ts.md": b"---\npaths: '*.ts'\n---\n# TS\n",
            "acme/AGENTS.md": b"# For another agent\n",
            "acme/web/CLAUDE.md": b"# Web\n",
            "other/CLAUDE.md": b"# Other\n",
        },
    )
    world.session()
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert world.names(found) == [
            (".claude/CLAUDE.md", "user"),
            (".claude/rules/r.md", "user"),
            ("CLAUDE.md", "project"),
            ("acme/.claude/rules/ts.md", "project"),
            ("acme/CLAUDE.md", "project"),
            ("acme/web/CLAUDE.md", "below"),
            ("acme/docs/a.md", "import"),
        ]
        assert world.named(found, f"{ACME}/docs/a.md").by == str(world.folder / ACME / "CLAUDE.md")
        assert world.named(found, f"{ACME}/.claude/rules/ts.md").patterns == ("*.ts",)
        assert found.recorded == ()


def test_the_revision_known_then_is_shown_and_it_is_said_how_sure_that_is(world: World, tmp_path: Path) -> None:
    rule = f"{ACME}/CLAUDE.md"
    world.session()
    with store_in(tmp_path) as store:
        for text, at in ((b"# One\n", BEFORE), (b"# Two\n", AFTER)):
            write(world.folder, text, rule)
            world.take(store, HOME, at=at)
        path = store.path
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        one = world.named(archive.rules_in_force(session.key), rule)
        assert (one.file.revision, one.basis, one.newer) == (1, "known_before", 1)
        assert "does not say what was loaded" in one.words
        later = archive.rules_in_force(session.key, int(datetime(2026, 3, 4, tzinfo=UTC).timestamp()) * 1_000_000)
        assert world.named(later, rule).file.revision == 2
        early = archive.rules_in_force(session.key, int(datetime(2026, 2, 1, tzinfo=UTC).timestamp()) * 1_000_000)
        one = world.named(early, rule)
        assert (one.file.revision, one.basis) == (1, "known_after")
        assert "not known" in one.words


def test_what_the_log_says_was_loaded_goes_before_what_is_worked_out(world: World, tmp_path: Path) -> None:
    rule, other = f"{ACME}/CLAUDE.md", f"{ACME}/web/CLAUDE.md"
    world.session(
        world.loads(rule, "# Two\nText of it"),
        world.loads(f"{ACME}/gone/CLAUDE.md", "Gone"),
        world.loads(other, "Not it"),
    )
    with store_in(tmp_path) as store:
        for text, at in ((b"# One\n", BEFORE), (b"# Two\nText of it\n", AFTER)):
            write(world.folder, {rule: text, other: b"# Web\n"})
            world.take(store, HOME, at=at)
        path = store.path
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        found = archive.rules_in_force(session.key)
        one = world.named(found, rule)
        assert (one.file.revision, one.words) == (2, CERTAIN)
        assert [archive.event_by_id(told.id).kind for told in one.loaded] == ["context.injected"]  # type: ignore[union-attr]
        (told,) = world.named(found, other).loaded
        assert told.revision is None
        assert world.named(found, other).words != CERTAIN
        assert [told.path for told in found.recorded] == [
            str(world.folder / ACME / name) for name in ("gone/CLAUDE.md", "web/CLAUDE.md")
        ]
        first = next(iter(archive.events(session.key).rows))
        assert world.named(archive.rules_in_force(session.key, first.sort), rule).loaded == ()


def test_codex_reads_agents_files_and_the_override_instead_of_the_one_beside_it(world: World, tmp_path: Path) -> None:
    rule = "# Rules\nRun every test before you say that it is done.\n"
    lines: list[dict[str, Any]] = [
        {"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": {"id": "c1", "cwd": world.cwd}},
        {
            "timestamp": "2026-03-02T09:00:01Z",
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": f"# AGENTS.md instructions for {world.cwd}\n\n{rule}"}],
            },
        },
    ]
    assert loads_lenient(json.dumps(lines[0]).encode())
    write(
        world.folder / HOME,
        {
            ".codex/sessions/2026/rollout-c1.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines),
            ".codex/AGENTS.md": b"# Mine\n",
            "acme/AGENTS.md": b"# Not read\n",
            "acme/AGENTS.override.md": rule.encode(),
            "acme/CLAUDE.md": b"# For another agent\n",
        },
    )
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert world.names(found) == [(".codex/AGENTS.md", "user"), ("acme/AGENTS.override.md", "project")]
        assert found.files[1].words == CERTAIN
        assert found.files[0].loaded == ()


@pytest.mark.parametrize("field", ["instructions", "user_instructions"])
def test_rules_that_only_the_log_holds_are_given_once_with_their_text(field: str, tmp_path: Path) -> None:
    rule = "# Rules\nRun every test before you say that it is done.\n"
    message = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": f"# AGENTS.md instructions for /w/acme\n\n{rule}"}],
    }
    opening = {"id": "c1", "cwd": "/w/acme", "instructions": rule if field == "instructions" else None}
    turn = {"turn_id": "t", "cwd": "/w/acme", "user_instructions": rule if field == "user_instructions" else None}
    lines = [
        {"timestamp": f"2026-03-02T09:00:0{at}Z", "type": type, "payload": payload}
        for at, (type, payload) in enumerate(
            [("session_meta", opening), ("response_item", message), ("turn_context", turn), ("turn_context", turn)]
        )
    ]
    write(tmp_path, log.lines(lines), ".codex/sessions/2026/rollout-c1.jsonl")
    with store_in(tmp_path) as store:
        take(store, tmp_path / ".codex")
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert found.files == ()
        assert [rule.strip() in told.text for told in found.recorded] == [True] * (2 if field == "instructions" else 1)
        assert [section.headings[-1] for section in sections_in(found.recorded[-1].text.encode())][-1] == "Rules"


def test_what_a_file_brings_in_is_named_with_its_line_and_whether_it_was_imported(world: World, tmp_path: Path) -> None:
    write(world.folder / ACME, {"CLAUDE.md": b"# A\n@docs/a.md\n@gone.md @acme/sdk\n", "docs/a.md": b"@../CLAUDE.md\n"})
    world.session()
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        rule, brought = f"{world.cwd}/CLAUDE.md", f"{world.cwd}/docs/a.md"
        assert world.names(found) == [("acme/CLAUDE.md", "project"), ("acme/docs/a.md", "import")]
        assert world.named(found, f"{ACME}/CLAUDE.md").brings == (
            Brought(2, "docs/a.md", brought),
            Brought(3, "gone.md", None),
        )
        assert world.named(found, f"{ACME}/docs/a.md").brings == (Brought(1, "../CLAUDE.md", rule),)


def test_rules_are_looked_for_where_a_session_began_and_where_it_was_then(world: World, tmp_path: Path) -> None:
    write(world.folder / HOME, {f"{name}/CLAUDE.md": b"# A\n" for name in ("acme", "second", "third")})
    asked = [
        {**log.person(text, f"p-{at}"), "cwd": str(world.folder / HOME / name)}
        for at, (text, name) in enumerate([("Begin", "acme"), ("On", "second"), ("End", "third")])
    ]
    write(world.folder, log.lines(log.chain(*asked)), f"{HOME}/.claude/projects/-acme/s.jsonl")
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        moments = [row.sort for row in archive.events(session.key).rows if row.kind == "user.message"]
        names = [[name for name, _ in world.names(archive.rules_in_force(session.key, at))] for at in (*moments, None)]
        begun, second, third = (f"{name}/CLAUDE.md" for name in ("acme", "second", "third"))
        assert names == [[begun], [begun, second], [begun, third], [begun, third]]


def test_rules_below_are_told_apart_by_whether_the_agent_worked_there(world: World, tmp_path: Path) -> None:
    write(
        world.folder / ACME,
        {"web/CLAUDE.md": b"# Web\n", "api/.claude/rules/r.md": b"# R\n", "docs/CLAUDE.md": b"# D\n"},
    )
    world.session(
        log.calls("Read", "t1", file_path=f"{world.cwd}/web/src/a.ts"),
        log.calls("Read", "t2", file_path=f"{world.cwd}/api/b.py"),
    )
    with store_in(tmp_path) as store:
        world.take(store, HOME)
        path = store.path
    with Archive.open(path) as archive:
        intents = [row for row in archive.events(1).rows if row.kind == "tool.intent"]
        for at, wanted in (
            (None, [intents[1].id, None, intents[0].id]),
            (intents[0].sort, [None, None, intents[0].id]),
        ):
            found = archive.rules_in_force(1, at)
            assert [name for name, _ in world.names(found)] == [
                "acme/api/.claude/rules/r.md", "acme/docs/CLAUDE.md", "acme/web/CLAUDE.md",
            ]  # fmt: skip
            assert [one.touched for one in found.files] == wanted


def test_a_session_without_a_folder_runs_under_no_rules_that_could_be_told(world: World, tmp_path: Path) -> None:
    write(
        world.folder,
        {f"{ACME}/CLAUDE.md": b"# A\n", "own.jsonl": b'{"type":"session.event","session":"o","kind":"note"}\n'},
    )
    with store_in(tmp_path) as store:
        world.take(store, HOME, "own.jsonl")
        path = store.path
    with Archive.open(path) as archive:
        found = archive.rules_in_force(1)
        assert replace(found, at=None) == RulesInForce(None, (), (), ())
