"""Rows of the workspace index: what one entry of the ledger changed, written in the caller's transaction."""

from __future__ import annotations

from typing import Any

from affidavit.retrieval.terms import stem
from storage.driver import Connection
from storage.workspace.preparing import Prepared
from storage.workspace.recording import Change, Root

Row = tuple[Any, ...]


class Rows:
    """Writes the index of one root. What it is given is there after :meth:`write`."""

    def __init__(self, connection: Connection, root: Root) -> None:
        self.connection = connection
        self.root = root
        self._files: list[Row] = []
        self._versions: list[Row] = []
        self._passages: list[Row] = []
        self._texts: list[Row] = []
        self._symbols: list[Row] = []
        self._references: list[Row] = []
        self._next = {table: self._free(table) for table in ("file", "version", "passage")}

    def _free(self, table: str) -> int:
        query = f"SELECT coalesce(max(no) + 1, 1) FROM ix_workspace_{table}"
        return int(self.connection.execute(query).fetchone()[0])

    def _new(self, table: str) -> int:
        no = self._next[table]
        self._next[table] += 1
        return no

    def stat(self, file: int, change: Change, looked: int) -> None:
        """A file that was looked at again and holds what it held."""
        self.connection.execute(
            "UPDATE ix_workspace_file SET size = ?, mtime = ?, ctime = ?, looked = ? WHERE no = ?",
            (change.size, change.mtime, change.ctime, looked, file),
        )

    def change(
        self, file: int | None, change: Change, at: int, entry: int, key: bytes, prepared: Prepared | None
    ) -> None:
        """A file's new text. ``file``: its row, if it has one; ``prepared``: ``None`` where the text was erased."""
        version = self._new("version")
        if file is None:
            file = self._new("file")
        else:
            self.connection.execute(
                "UPDATE ix_workspace_version SET until = ? WHERE file = ? AND until IS NULL", (change.since, file)
            )
        language, kind = (prepared.language, prepared.kind) if prepared else ("other", "code")
        self._files.append(
            (file, self.root.no, change.path, stem(change.path), change.size, change.mtime, change.ctime, at, version)
        )
        commit, withheld = bytes.fromhex(change.commit), int(prepared is None)
        self._versions.append((version, file, key, commit, entry, language, kind, change.since, None, at, withheld))
        if prepared is not None:
            self._index(version, prepared)

    def gone(self, path: str, until: int) -> None:
        """A file that is not there any more."""
        sql = self.connection.execute
        row = sql("SELECT no FROM ix_workspace_file WHERE root = ? AND path = ?", (self.root.no, path)).fetchone()
        if row is not None:
            sql("UPDATE ix_workspace_version SET until = ? WHERE file = ? AND until IS NULL", (until, row[0]))
            sql("UPDATE ix_workspace_file SET version = NULL, size = -1 WHERE no = ?", row)

    def head(self, at: int, branch: str | None, commit: str | None) -> None:
        """What is checked out from now on."""
        self.connection.execute(
            "INSERT OR REPLACE INTO ix_workspace_head VALUES(?, ?, ?, ?)", (self.root.no, at, branch, commit)
        )

    def _index(self, version: int, prepared: Prepared) -> None:
        numbers = [self._new("passage") for _ in prepared.cuts]
        for no, one in zip(numbers, prepared.cuts, strict=True):
            self._passages.append((no, version, *one.passage))
            self._texts.append((no, one.text, one.names, prepared.words))
        self._symbols += [
            (folded, numbers[number], line, name, kind) for folded, name, kind, number, line in prepared.symbols
        ]
        self._references += [(key, version, line, target) for key, target, line in prepared.references]

    def write(self) -> None:
        """Write what waits."""
        for rows, sql in (
            (
                self._files,
                "INSERT INTO ix_workspace_file VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (no) DO UPDATE SET "
                "size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime, looked = excluded.looked, "
                "version = excluded.version",
            ),
            (self._versions, "INSERT INTO ix_workspace_version VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
            (self._passages, "INSERT INTO ix_workspace_passage VALUES(?, ?, ?, ?, ?, ?, ?)"),
            (self._texts, "INSERT INTO ix_workspace_text(rowid, text, names, path) VALUES(?, ?, ?, ?)"),
            (self._symbols, "INSERT OR IGNORE INTO ix_workspace_symbol VALUES(?, ?, ?, ?, ?)"),
            (self._references, "INSERT OR IGNORE INTO ix_workspace_reference VALUES(?, ?, ?, ?)"),
        ):
            if rows:
                self.connection.executemany(sql, rows)
                rows.clear()
