"""Whatever is changed in a store is found and named: every table, every column, rows lost, added and swapped."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import claude_fixtures as log
import codex_fixtures as rollouts
import pytest
from governed_fixtures import every_verb
from kept import Clock, assert_holds, chance, kinds, rows, store_in, take, write

from affidavit.gate.settings import GateSettings, RecallGateConfig
from affidavit.policy.actors import Actor
from affidavit.policy.change import Apply, decide
from affidavit.policy.document import Policy
from affidavit.session.event import Draft, Reading
from storage import driver, refold, segments
from storage.deciding import decided
from storage.queries.policy import standing
from storage.readers import readers
from storage.redact import redact
from storage.tables import DURABLE, FOLDS
from storage.verify import FAILURES, Failure, verify

SOAK = os.environ.get("AFFIDAVIT_SOAK", "0") != "0"

DURABLE_FAILURES = {
    "store_key": {"store_key", "entry_store", "fold_differs"},
    "ledger_entry": {"entry_missing", "entry_bytes", "entry_leaf", "entry_id", "chain", "tile", "segment_missing"},
    "tile": {"tile"},
    "segment": {
        "segment_missing", "segment_extra", "segment_fields", "segment_bytes", "segment_root", "record",
        "bytes_missing", "bytes_left",
    },
    "payload": {"payload_missing", "payload_bytes", "payload_extra"},
    "payload_chunk": {"payload_bytes", "payload_extra"},
}  # fmt: skip
"""What damage to a durable table is called."""


class Silent:
    """A format in which some records have a place in the conversation and no event."""

    name = "silent"
    title = "Silent"

    def claims(self, path: str, samples: Sequence[Any]) -> float:  # noqa: ARG002
        return float(all(type(value) is dict and value.get("format") == "silent" for value in samples))

    def scope(self, path: str) -> tuple[str | None, str]:  # noqa: ARG002
        return None, ""

    def read(self, value: Any, scope: tuple[str | None, str]) -> Reading:  # noqa: ARG002
        drafts = [Draft("note", "runtime", value["text"])] if "text" in value else []
        return Reading(session="silent", native=value.get("id"), parent=value.get("parent"), drafts=drafts)


def own(**fields: Any) -> bytes:
    return json.dumps({"type": "session.event", "session": "own", "kind": "note", **fields}).encode() + b"\n"


def snapshot(session: str | None, id: str, text: str) -> bytes:
    item = {"candidateId": "c1", "sourceRef": "a.md", "source": "doc", "citationId": "rule#1", "visibleText": text}
    rejected = {"candidateId": "c2", "sourceRef": "b.md", "stage": "rank", "reason": "below_top_k"}
    said = {
        "id": id, "createdAt": "2026-03-02T10:00:05Z", "modelRequestId": "q1", "scope": {"purpose": "fix-test"},
        "intent": {"question": "Which rule?"}, "selectedItems": [item], "rejectedItems": [rejected],
        "candidateStats": {"recalled": 2, "filtered": 0, "rankedOut": 1, "trimmed": 0, "selected": 1, "redacted": 0},
    }  # fmt: skip
    return json.dumps({"type": "retrieval.snapshot", "session": session, "snapshot": said}).encode() + b"\n"


def recall(session: str | None, id: str, memory: str) -> bytes:
    """A line about a recall of which one memory was kept back."""
    kept = [{"id": memory, "title": f"About {memory}", "reason": "stale"}]
    said = {"at": "2026-03-02T10:00:00Z", "query": "roles", "scope": {"repo": "acme", "memorySpace": "build"}}
    line = {"type": "recall.audit", "session": session, "id": id, **said, "acceptedIds": ["m9"], "rejected": kept}
    return json.dumps({**line, "dryRun": session is None, "policyEntry": 3}).encode() + b"\n"


def files() -> dict[str, bytes]:
    """Logs that between them fill every table."""
    helped = {name: log.lines(records) for name, records in log.with_helper().items()}
    main = log.lines(log.session())
    return {
        **helped,
        "before.jsonl": b'{"type":"summary","summary":"Of the roles","leafUuid":"r3"}\n'
        b'{"type":"summary","summary":"Of another","leafUuid":"r9"}\n',
        "main.jsonl": main + main.split(b"\n")[4] + b"\n" + b'{"cut": "sh\n',
        "CLAUDE.md": b"Be brief.\n\n# Tests\nState the role.\n\n## Mocks\nNever by default.\n",
        "AGENTS.md": b"# Build\nmake test\n",
        "own.jsonl": own(kind="user.message", id="a", text="Begin", at="2026-03-02T10:00:00Z")
        + own(kind="tool.intent", id="b", parent="a", call="open", tool="Bash", command="pytest -q")
        + own(kind="tool.finished", id="c", parent="b", call="early", ok=False, text="no", at="2026-03-02T10:00:09Z")
        + own(kind="note", id="d", parent="not-there", text="Orphan")
        + own(kind="user.message", id="e", parent="a", text="Again", tokens={"input": 3, "output": 4}, model="m")
        + own(kind="model.message", id="f", lane="x", text="Lane", tokens={"input": 1}, message="q")
        + b'{"type":"artifact","session":"own","text":"body","name":"one.txt","media":"text/plain"}\n'
        + b'{"type":"artifact","session":"own","text":"other","media":"text/plain"}\n'
        + recall("own", "g-1", "m1")
        + recall(None, "g-2", "m2")
        + snapshot("own", "r-1", "Tests state the role.")
        + snapshot(None, "r-2", "Of no session.")
        + own(text="Again and again") * 2
        + own(text="Over and over") * 3
        + b"garbage\n",
        "rollout-fork.jsonl": rollouts.written(
            [
                rollouts.opened(forked_from_id="else"),
                rollouts.said("user", 1, "Copied"),
                rollouts.spent(2, 3, 0, 4, (3, 0, 4)),
            ]
        ),
        "silent.jsonl": b'{"format":"silent","id":"p1"}\n{"format":"silent","id":"p2","parent":"p1"}\n'
        b'{"format":"silent","id":"p3","parent":"p2","text":"said"}\n',
    }


@dataclass
class Base:
    """A store to copy: its path, and per table its columns and rows."""

    path: Path
    columns: dict[str, list[str]]
    keys: dict[str, list[str]]
    rows: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def base() -> Iterator[Base]:
    folder = Path(tempfile.mkdtemp())
    readers()["silent"] = Silent()
    kept = segments.SEGMENT_RECORDS
    segments.SEGMENT_RECORDS = 4
    try:
        logs = folder / "logs"
        write(logs, files())
        with store_in(folder) as store:
            take(store, logs, random=chance())
            segments.SEGMENT_RECORDS = 1
            many = b"".join(own(id=f"n{number}", session="many", text=f"Line {number}") for number in range(256))
            take(store, write(folder, many, "many.jsonl"), random=chance(2))
            n = store.connection.execute("SELECT n FROM event WHERE summary = 'Why did it fail?'").fetchone()[0]
            m = store.connection.execute("SELECT n FROM event WHERE summary = 'Orphan'").fetchone()[0]
            redact(store, [n, m], actor="ada", reason="asked", clock=Clock(), random=chance(3))
            every_verb(store)
            for number, score in enumerate((0.5, 0.6)):
                policy = Policy(gate=GateSettings(default=RecallGateConfig(min_score=score)))
                asked = Apply(f"change-{number}", policy, Actor("ada", "ada"), f"reason {number}")
                assert decided(store, standing, decide, asked, clock=Clock(), random=chance(4 + number))
            store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for (trigger,) in store.connection.execute(
                "SELECT name FROM sqlite_schema WHERE type='trigger'"
            ).fetchall():
                store.connection.execute(f"DROP TRIGGER {trigger}")
            path = Path(store.path)
        columns, keys, held = {}, {}, {}
        for table in (*DURABLE, *FOLDS):
            info = rows(str(path), f"PRAGMA table_info({table})")
            columns[table] = [row[1] for row in info]
            keys[table] = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
            held[table] = [
                dict(zip(columns[table], row, strict=True)) for row in rows(str(path), f"SELECT * FROM {table}")
            ]
        yield Base(path, columns, keys, held)
    finally:
        segments.SEGMENT_RECORDS = kept
        del readers()["silent"]
        shutil.rmtree(folder)


def test_the_store_to_damage_holds_and_has_every_table_filled(base: Base) -> None:
    assert_holds(str(base.path))
    assert {table for table, held in base.rows.items() if not held} == set()
    assert len(base.rows["tile"]) == 1


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later records look up what earlier batches stored, damaged or not."""
    monkeypatch.setattr(refold, "BATCH_RECORDS", 5)


def flipped(value: Any, bit: random.Random) -> tuple[str, Any]:
    """SQL for a value with one bit flipped, and its parameter."""
    if value is None:
        return "?", 1
    if isinstance(value, int):
        changed = value ^ (1 << bit.randrange(40))
        return "?", changed
    data = bytearray(value.encode() if isinstance(value, str) else value)
    if not data:
        data = bytearray(b"\0" if isinstance(value, bytes) else b"x")
    else:
        place = bit.randrange(len(data))
        data[place] ^= 1 << bit.randrange(8)
    return ("CAST(? AS TEXT)" if isinstance(value, str) else "?"), bytes(data)


def damaged(base: Base, folder: Path, *statements: tuple[str, Sequence[Any]]) -> str:
    """A copy of the store on which these statements ran, whatever the triggers say."""
    path = folder / "damaged.db"
    shutil.copy(base.path, path)
    connection = driver.connect_writer(str(path))
    try:
        connection.execute("PRAGMA foreign_keys=OFF")
        for statement, values in statements:
            changed = connection.execute(statement, tuple(values)).rowcount
            assert changed, f"{statement} changed nothing"
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return str(path)


def where(base: Base, table: str, row: dict[str, Any]) -> tuple[str, list[Any]]:
    keys = base.keys[table]
    return " AND ".join(f'"{key}" = ?' for key in keys), [row[key] for key in keys]


def found(path: str) -> list[Failure]:
    """The failures of a damaged store: it must not hold, and each must be of a documented class."""
    report = verify(path)
    assert not report.holds
    assert report.level == "none"
    assert report.failures
    assert kinds(report) <= set(FAILURES)
    assert all(failure.address and failure.detail for failure in report.failures)
    return report.failures


def sample(held: list[dict[str, Any]], chance: random.Random) -> list[dict[str, Any]]:
    """Rows to damage: all of them at length, else one."""
    return held if SOAK and len(held) < 60 else chance.sample(held, min(len(held), 12 if SOAK else 1))


@pytest.mark.parametrize("table", [*DURABLE, *FOLDS])
def test_a_flipped_bit_in_any_column_is_found_and_named(base: Base, tmp_path: Path, table: str) -> None:
    for column in base.columns[table]:
        for row in sample(base.rows[table], random.Random(f"{table}.{column}")):
            bit = random.Random(repr((table, column, row)))
            condition, key = where(base, table, row)
            for attempt in range(5):
                change, value = flipped(row[column], bit)
                try:
                    path = damaged(
                        base, tmp_path, (f'UPDATE {table} SET "{column}" = {change} WHERE {condition}', (value, *key))
                    )
                    break
                except driver.DatabaseError:
                    assert attempt < 4
            failures = found(path)
            named(base, table, column, row, failures)


def named(base: Base, table: str, column: str, row: dict[str, Any], failures: list[Failure]) -> None:
    """The failures say which table and row, and for a fold which column."""
    said = [(failure.kind, failure.address, failure.detail) for failure in failures]
    if table in DURABLE:
        mine = [one for one in said if one[0] in DURABLE_FAILURES[table]]
        assert mine, said[:5]
        if table == "ledger_entry":
            assert any(one[1] == f"entry/{row['idx']}" for one in mine), said[:5]
        elif table == "segment":
            assert any(one[1].startswith(f"entry/{row['entry']}") or "#" in one[1] for one in mine), said[:5]
        return
    mine = [one for one in said if one[0].startswith("fold_") and one[2].startswith(table + " ")]
    assert mine, said[:5]
    assert len(mine) <= 2, said[:5]
    assert all(one in mine or one[0] == "index" for one in said), said[:5]
    if column in base.keys[table]:
        return
    assert any(one[0] == "fold_differs" and column in one[2].split(": ", 1)[1].split(", ") for one in mine), said[:5]


@pytest.mark.parametrize("table", [*DURABLE, *FOLDS])
def test_a_lost_row_is_found(base: Base, tmp_path: Path, table: str) -> None:
    for row in sample(base.rows[table], random.Random(table)):
        condition, key = where(base, table, row)
        failures = found(damaged(base, tmp_path, (f"DELETE FROM {table} WHERE {condition}", key)))
        if table in FOLDS:
            assert any(one.kind == "fold_missing" and one.detail.startswith(table + " ") for one in failures), failures
        else:
            assert {one.kind for one in failures} & DURABLE_FAILURES[table], failures


@pytest.mark.parametrize("table", [*DURABLE, *FOLDS])
def test_an_added_row_is_found(base: Base, tmp_path: Path, table: str) -> None:
    for row in sample(base.rows[table], random.Random(table)):
        added = dict(row)
        key = base.keys[table][-1]
        if isinstance(added[key], int):
            added[key] = max(other[key] for other in base.rows[table]) + 1
        elif isinstance(added[key], bytes):
            added[key] = bytes(32)
        else:
            added[key] += "x"
        for column in ("uid", "id"):
            if table in ("session", "ledger_entry") and column in added:
                added[column] = "other"
        names = ", ".join(f'"{name}"' for name in added)
        holes = ", ".join("?" * len(added))
        failures = found(
            damaged(base, tmp_path, (f"INSERT INTO {table}({names}) VALUES({holes})", list(added.values())))
        )
        if table in FOLDS:
            assert any(one.kind == "fold_extra" and one.detail.startswith(table + " ") for one in failures), failures
        else:
            assert {one.kind for one in failures} & DURABLE_FAILURES[table], failures


@pytest.mark.parametrize("table", FOLDS)
def test_a_row_that_took_the_place_of_another_is_found(base: Base, tmp_path: Path, table: str) -> None:
    """One row lost and one added: the count is right, the row is not."""
    held = base.rows[table]
    row = random.Random(table).choice(held)
    key = base.keys[table][-1]
    value = row[key]
    other = value + 7_777_777 if isinstance(value, int) else bytes(32) if isinstance(value, bytes) else value + "x"
    condition, keys = where(base, table, row)
    failures = found(damaged(base, tmp_path, (f'UPDATE {table} SET "{key}" = ? WHERE {condition}', (other, *keys))))
    said = {one.kind for one in failures if one.detail.startswith(table + " ")}
    assert "fold_missing" in said, failures
    assert "fold_extra" in said, failures


@pytest.mark.parametrize("table", [*DURABLE, *FOLDS])
def test_two_rows_with_each_others_values_are_found(base: Base, tmp_path: Path, table: str) -> None:
    keys, columns = base.keys[table], [name for name in base.columns[table] if name not in base.keys[table]]
    held = base.rows[table]
    pairs = [
        (one, other)
        for one in held
        for other in held[-3:]
        if one is not other and [one[name] for name in columns] != [other[name] for name in columns]
    ]
    if not pairs:
        return
    one, other = random.Random(table).choice(pairs)
    statements: list[tuple[str, Sequence[Any]]] = []
    for row in (one, other):
        condition, values = where(base, table, row)
        statements.append((f"DELETE FROM {table} WHERE {condition}", values))
    names = ", ".join(f'"{name}"' for name in base.columns[table])
    holes = ", ".join("?" * len(base.columns[table]))
    for row, values in ((one, other), (other, one)):
        mixed = [row[name] if name in keys else values[name] for name in base.columns[table]]
        statements.append((f"INSERT INTO {table}({names}) VALUES({holes})", mixed))
    failures = found(damaged(base, tmp_path, *statements))
    if table in FOLDS:
        assert any(one.detail.startswith(table + " ") for one in failures), failures
