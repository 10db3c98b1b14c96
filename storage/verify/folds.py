"""Checking tables: every fold made again from the ledger and compared row by row, as typed values.

The rebuilt tables lie in a temporary database of their own; the store is attached to it read-only, so that ledger
and tables are seen at one moment.
"""

from __future__ import annotations

import os
import tempfile
import threading

from affidavit.session.event import event_hex
from storage import driver
from storage.driver import Connection
from storage.refold import Cancelled, Progress, Recall, tables
from storage.segments import SegmentError
from storage.verify.report import VerifyReport

SHOWN = 50
"""Rows named per table; the rest are counted."""


def check_folds(
    path: str, lookup: bytes, recall: Recall, report: VerifyReport, progress: Progress, cancel: threading.Event | None
) -> None:
    """Rebuild the folds aside from the segments ``recall`` gives, and compare them with the store's."""
    from storage import schema

    folder = tempfile.mkdtemp(prefix="affidavit-verify-")
    aside = os.path.join(folder, "folds.db")
    connection = driver.connect_aside(aside)
    try:
        schema.create_folds(connection, search=False)
        connection.execute("ATTACH ? AS store", (driver.read_only_address(path),))
        connection.execute("BEGIN")
        total = connection.execute("SELECT coalesce(max(idx) + 1, 0) FROM store.ledger_entry").fetchone()[0]
        refold = tables(connection, lookup, recall, search=False)
        try:
            for done in refold.batches():
                progress("tables", done, total)
                if cancel is not None and cancel.is_set():
                    raise Cancelled
            if not refold.done:
                refold.fold.write(0)
        except (SegmentError, ValueError, KeyError, TypeError, IndexError) as error:
            report.fail(f"entry/{refold.done}", "fold_failed", f"folding stopped here: {error}")
            return
        rows = 0
        for name in schema.FOLDS:
            rows += _compare(connection, name, report)
        report.checked["tables"] = len(schema.FOLDS)
        report.checked["rows"] = rows
        _search_index(connection, report)
    finally:
        connection.close()
        for leftover in os.listdir(folder):
            os.unlink(os.path.join(folder, leftover))
        os.rmdir(folder)


def _columns(connection: Connection, name: str) -> tuple[list[str], list[str]]:
    info = connection.execute(f"PRAGMA main.table_info({name})").fetchall()
    keys = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
    return keys, [row[1] for row in info if not row[5]]


def _compare(connection: Connection, name: str, report: VerifyReport) -> int:
    """Rows compared in one table."""
    keys, values = (_quote(names) for names in _columns(connection, name))
    try:
        given = connection.execute(f"SELECT count(*) FROM main.{name}").fetchone()[0]
        found = connection.execute(f"SELECT count(*) FROM store.{name} NOT INDEXED").fetchone()[0]
        key = ", ".join(keys)
        using = f"USING({key})"
        if values:
            ours = ", ".join(f"a.{column}" for column in values)
            theirs = ", ".join(f"b.{column}" for column in values)
            query = (
                f"SELECT {', '.join(f'a.{column}' for column in keys)} FROM main.{name} a CROSS JOIN store.{name} b "
                f"{using} WHERE ({ours}) IS NOT ({theirs}) ORDER BY {', '.join(f'a.{column}' for column in keys)}"
            )
            for count, row in enumerate(connection.execute(query).fetchall()):
                if count < SHOWN:
                    detail = f"{name} {_say(keys, row)}: {', '.join(_differing(connection, name, keys, values, row))}"
                    report.fail(_address(connection, name, row), "fold_differs", detail)
                else:
                    report.more += 1
        for kind, have, lack in (("fold_missing", "main", "store"), ("fold_extra", "store", "main")):
            query = (
                f"SELECT {key} FROM {have}.{name} AS h WHERE NOT EXISTS (SELECT 1 FROM {lack}.{name} AS l WHERE "
                f"{' AND '.join(f'l.{column} = h.{column}' for column in keys)}) ORDER BY {key} LIMIT {SHOWN}"
            )
            for row in connection.execute(query).fetchall():
                report.fail(_address(connection, name, row), kind, f"{name} {_say(keys, row)}")
    except driver.DatabaseError as error:
        report.fail(f"table/{name}", "damaged", str(error))
        return 0
    return int(max(given, found))


def _quote(names: list[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def _differing(
    connection: Connection, name: str, keys: list[str], values: list[str], row: tuple[object, ...]
) -> list[str]:
    where = " AND ".join(f"{column} = ?" for column in keys)
    columns = ", ".join(values)
    ours = connection.execute(f"SELECT {columns} FROM main.{name} WHERE {where}", row).fetchone()
    theirs = connection.execute(f"SELECT {columns} FROM store.{name} WHERE {where}", row).fetchone()
    return [column.strip('"') for column, one, other in zip(values, ours, theirs, strict=True) if one != other]


def _say(keys: list[str], row: tuple[object, ...]) -> str:
    return " ".join(
        f"{key.strip(chr(34))}={value.hex() if isinstance(value, bytes) else value}"
        for key, value in zip(keys, row, strict=True)
    )


def _address(connection: Connection, name: str, row: tuple[object, ...]) -> str:
    """What opens a row: its event or session where it has one."""
    query = None
    if name == "event":
        query = (
            "SELECT s.uid, e.id FROM main.event e JOIN main.session s ON s.no = e.session WHERE e.n = ?",
            (row[0],),
        )
    elif name in {"session", "turn", "lane", "usage", "open_call"}:
        query = ("SELECT uid, NULL FROM main.session WHERE no = ?", (row[0],))
    found = connection.execute(*query).fetchone() if query else None
    if found is None:
        return f"table/{name}"
    return f"session/{found[0]}" + (f"#{event_hex(found[1])}" if found[1] is not None else "")


def _search_index(connection: Connection, report: VerifyReport) -> None:
    """The index must know exactly the events that have a text."""
    try:
        wanted = connection.execute("SELECT count(*) FROM main.event WHERE size > 0").fetchone()[0]
        lacking = connection.execute(
            "SELECT n FROM main.event WHERE size > 0 AND NOT EXISTS "
            "(SELECT 1 FROM store.ix_text_docsize WHERE id = -n) LIMIT 20"
        ).fetchall()
        for row in lacking:
            report.fail(_address(connection, "event", row), "index", "it cannot be found by search")
        there = connection.execute("SELECT count(*) FROM store.ix_text_docsize").fetchone()[0]
        if there != wanted and not lacking:
            report.fail("table/ix_text", "index", f"it holds {there} texts, the events give {wanted}")
        report.checked["searchable"] = there
    except driver.DatabaseError as error:
        report.fail("table/ix_text", "damaged", str(error))
