"""Stores for tests of what keeps records: a store in a folder, imports with a still clock, tables as plain values."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from affidavit.session.event import event_hex
from storage import driver
from storage.accounting import ImportReport
from storage.importing import Importer
from storage.schema import FOLDS
from storage.store import Store
from storage.verify import VerifyReport, verify

Row = tuple[Any, ...]

CHECKED = ("records", "mapped", "unknown", "duplicates", "unreadable")


class Clock:
    """A clock that goes on by a second whenever it is asked."""

    def __init__(self, start: datetime = datetime(2026, 3, 2, 12, tzinfo=UTC)) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def chance(seed: int = 1) -> Callable[[int], bytes]:
    """Random bytes that are the same every time."""
    return random.Random(seed).randbytes


def store_in(folder: Path, name: str = "store.db") -> Store:
    """A new store, or the one that is there."""
    return Store.open(str(folder / name), create=True)


def take(store: Store, *paths: Path | str, **options: Any) -> ImportReport:
    """Import files or folders; every account must be closed."""
    report = Importer(store, clock=Clock(), **options).paths(map(str, paths))
    assert_closed(report)
    return report


def assert_closed(report: ImportReport) -> None:
    """records = mapped + unknown + duplicates + unreadable, of each file and of all."""
    for file in report.files:
        assert file.records == file.mapped + file.unknown + file.duplicates + file.unreadable, file
    assert report.total("records") == sum(report.total(name) for name in CHECKED[1:])
    assert len(report.unreadable_list) == report.total("unreadable")


def imported(folder: Path, data: bytes | dict[str, bytes], name: str = "session.jsonl") -> tuple[str, ImportReport]:
    """The path of a new store that took these bytes (or a folder of files), and the report."""
    logs = folder / "logs"
    written = write(logs, data, name)
    with store_in(folder) as store:
        return store.path, take(store, logs if isinstance(data, dict) else written)


def write(folder: Path, data: bytes | dict[str, bytes], name: str = "session.jsonl") -> Path:
    """Write a file or a folder of files; returns the path of the last."""
    path = folder
    for file, content in (data if isinstance(data, dict) else {name: data}).items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def rows(path: str, query: str, values: Iterable[Any] = ()) -> list[Row]:
    """What a query gives, read-only."""
    connection = driver.connect_reader(path)
    try:
        return list(connection.execute(query, tuple(values)).fetchall())
    finally:
        connection.close()


def dicts(path: str, query: str, values: Iterable[Any] = ()) -> list[dict[str, Any]]:
    """The same with the names of the columns."""
    connection = driver.connect_reader(path)
    try:
        cursor = connection.execute(query, tuple(values))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    finally:
        connection.close()


def events(path: str, where: str = "1") -> list[dict[str, Any]]:
    """Events in the order of the timeline."""
    return dicts(path, f"SELECT * FROM event WHERE {where} ORDER BY session, sort, n")


def tables(path: str) -> dict[str, list[Row]]:
    """Every fold table as it stands."""
    return {name: sorted(rows(path, f"SELECT * FROM {name}"), key=repr) for name in FOLDS}


def meaning(path: str) -> dict[str, list[Any]]:
    """Every fold table without what only says where in which store it is kept.

    Row numbers, ledger indexes, random ids and the order in which lanes and files were met are replaced by what
    they stand for: event ids, session uids, names of lanes, paths.
    """
    uid = {row["no"]: row["uid"] for row in dicts(path, "SELECT no, uid FROM session")}
    lane = {(r["session"], r["lane"]): r["name"] for r in dicts(path, "SELECT * FROM lane")}
    file = {row["no"]: (row["path"], row["revision"]) for row in dicts(path, "SELECT * FROM source")}
    names = {row["n"]: event_hex(row["id"]) for row in dicts(path, "SELECT n, id FROM event")}
    names.update({row["n"]: event_hex(row["id"]) for row in dicts(path, "SELECT n, id FROM passed")})

    def said(table: str, row: dict[str, Any]) -> dict[str, Any]:
        row = dict(row)
        session = row.get("session")
        for column in ("lane", "parent") if table == "lane" else ("lane",):
            if column in row and table != "source":
                row[column] = lane.get((session, row[column]), row[column])
        if "session" in row:
            row["session"] = uid.get(session, session)
        if table in ("beginning", "ix_holder"):
            row["record"] = event_hex(row["record"])
        if table == "copied":
            row.pop("n")
        for column in ("n", "pair", "spawn", "first", "original"):
            if row.get(column) is not None:
                row[column] = names.get(row[column], "?")
        for column in ("id", "message", "call", "said") if table not in ("source",) else ():
            if column in row:
                row[column] = event_hex(row[column])
        if table == "event" or table == "passed" or table == "awaited":
            row["parent"] = None if row["parent"] is None else event_hex(row["parent"])
        if table == "session":
            row.pop("no")
            row["state"] = json.loads(row["state"])
            row["state"]["queued"] = [[text, names.get(n, n)] for text, n in row["state"]["queued"]]
            row["state"]["starters"] = sorted(names.get(n, "?") for _, n, _, _ in row["state"]["starters"])
            row["state"]["claims"].sort()
            row["state"]["tasks"] = [[told, names.get(n, n), *rest] for told, n, *rest in row["state"]["tasks"]]
        if table == "source":
            for column in ("no", "id", "key", "entries", "last", "cursor", "line"):
                row.pop(column)
        if table == "open_call":
            row.pop("told")  # only of use to the call, and only looked for where that may matter
        if table == "rule_section":
            row["source"] = file[row["source"]]
            row.pop("n")
        if table == "repeated":
            row["source"] = file[row["source"]]
        if table == "fork":
            row["source"] = file[row["source"]]
        if table == "unreadable":
            row["source"] = file[row["source"]]
            row.pop("n")
        if table == "withheld":
            row = {}
        return row

    found = {}
    for name in FOLDS:
        if name == "fold":
            continue
        found[name] = sorted(
            json.dumps(said(name, row), sort_keys=True, default=repr) for row in dicts(path, f"SELECT * FROM {name}")
        )
    return found


def assert_same(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> None:
    """Two stores' tables say the same; names the first row that differs."""
    assert one.keys() == other.keys()
    for name in one:
        ours, theirs = one[name], other[name]
        if ours != theirs:
            lacking, extra = [
                [row for row in some if row not in set(others)][:3] for some, others in ((ours, theirs), (theirs, ours))
            ]
            raise AssertionError(f"{name}: only in the one {lacking}, only in the other {extra}")


def assert_holds(path: str) -> VerifyReport:
    """The store verifies whole."""
    report = verify(path)
    assert report.holds, report.failures[:5]
    return report


def kinds(report: VerifyReport) -> set[str]:
    """Classes of failure a report names."""
    return {failure.kind for failure in report.failures}
