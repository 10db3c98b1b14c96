"""Checking the workspace index for completeness: it holds the versions that the ledger's entries name, each whole.

It is no evidence, so nothing here says that a text is what was recorded: the payloads' own check does. What is held
against the ledger is that no version is missing, made up, or said to be of another file or time.
"""

from __future__ import annotations

from collections import Counter

import orjson

from storage import driver
from storage.driver import Connection
from storage.ledger import payload
from storage.verify.report import VerifyReport

Version = tuple[str, str, int, int, str]
"""Root, path, number of the entry, since when, commitment in hex."""

SHOWN = 5


def check_workspaces(connection: Connection, report: VerifyReport) -> None:
    """Compare the index with the entries, where there is one that this program understands."""
    try:
        from storage.workspace import tables

        if not tables.usable(connection):
            return
        report.checked["workspace files"] = _versions(connection, report)
        _passages(connection, report)
    except driver.DatabaseError as error:
        report.fail("table/ix_workspace", "damaged", str(error))


def _versions(connection: Connection, report: VerifyReport) -> int:
    """Every version the entries name is there once, and no other; gives how many there are."""
    named = Counter(_named(connection))
    rows = connection.execute(
        'SELECT r.path, f.path, v.entry, v.since, v."commit" FROM ix_workspace_version v '
        "LEFT JOIN ix_workspace_file f ON f.no = v.file LEFT JOIN ix_workspace_root r ON r.no = f.root"
    )
    held = Counter((root, path, entry, since, commit.hex()) for root, path, entry, since, commit in rows.fetchall())
    for what, some in (("it lacks", named - held), ("it makes up", held - named)):
        for _, _, entry, _, _ in sorted(some, key=str)[:SHOWN]:
            report.fail(f"entry/{entry}", "index", f"the workspace index: {what} a version of a file")
    return held.total()


def _named(connection: Connection) -> list[Version]:
    from storage.workspace.recording import TYPE, Manifest

    found: list[Version] = []
    mark = f'"type":"{TYPE}"'.encode()
    query = "SELECT idx, entry FROM ledger_entry WHERE instr(entry, ?) > 0 ORDER BY idx"
    for index, entry in connection.execute(query, (mark,)).fetchall():
        try:
            read = orjson.loads(entry)
            refs = [ref["commit"] for ref in read["refs"] if ref["role"] == "manifest"] if read["type"] == TYPE else []
            data = payload(connection, bytes.fromhex(refs[0])) if refs else None
            manifest = Manifest.load(data) if data is not None else None
        except (ValueError, KeyError, TypeError, IndexError):
            continue  # the entries' and payloads' own checks name what is wrong with them
        if manifest is not None:
            found += [(manifest.root, one.path, index, one.since, one.commit) for one in manifest.changes]
    return found


def _passages(connection: Connection, report: VerifyReport) -> None:
    """The passages of a version that is kept tile its text, and each one's words are there."""
    torn = connection.execute(
        'SELECT v.entry FROM ix_workspace_version v JOIN payload p ON p."commit" = v."commit" '
        "LEFT JOIN (SELECT version, sum(stop - start) AS size, max(stop) AS stop, min(start) AS start "
        "FROM ix_workspace_passage GROUP BY version) x ON x.version = v.no "
        "WHERE coalesce(x.size, 0) <> p.size OR coalesce(x.stop, 0) <> p.size OR coalesce(x.start, 0) <> 0 LIMIT ?",
        (SHOWN,),
    ).fetchall()
    for (entry,) in torn:
        report.fail(f"entry/{entry}", "index", "the workspace index: the parts of a file's text do not make the whole")
    sums = "SELECT count(*), coalesce(sum({0} % 1000003), 0) FROM {1}"
    texts = connection.execute(sums.format("id", "ix_workspace_text_docsize")).fetchone()
    parts = connection.execute(sums.format("no", "ix_workspace_passage")).fetchone()
    if texts != parts:
        report.fail(
            "table/ix_workspace_text", "index", f"it holds the words of {texts[0]} parts of files, there are {parts[0]}"
        )
