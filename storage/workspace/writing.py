"""Rows of the workspace index: what one entry of the ledger changed, written in the caller's transaction."""

from __future__ import annotations

from affidavit.retrieval.terms import stem
from storage.driver import Connection
from storage.workspace.preparing import Prepared
from storage.workspace.recording import Change, Root


class Rows:
    """Writes the index of one root."""

    def __init__(self, connection: Connection, root: Root) -> None:
        self.connection = connection
        self.root = root

    def stat(self, file: int, change: Change, looked: int) -> None:
        """A file that was looked at again and holds what it held."""
        self.connection.execute(
            "UPDATE ix_workspace_file SET size = ?, mtime = ?, ctime = ?, looked = ? WHERE no = ?",
            (change.size, change.mtime, change.ctime, looked, file),
        )

    def change(self, change: Change, at: int, entry: int, key: bytes, prepared: Prepared | None) -> None:
        """A file's new text; ``prepared`` is ``None`` for one that was erased meanwhile."""
        sql = self.connection.execute
        file = self._file(change, at)
        sql(
            "UPDATE ix_workspace_version SET until = ? WHERE file = ? AND until IS NULL",
            (change.since, file),
        )
        language, kind = (prepared.language, prepared.kind) if prepared else ("other", "code")
        version = sql(
            'INSERT INTO ix_workspace_version(file, key, "commit", entry, language, kind, since, captured, withheld) '
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (file, key, bytes.fromhex(change.commit), entry, language, kind, change.since, at, int(prepared is None)),
        ).lastrowid
        sql("UPDATE ix_workspace_file SET version = ? WHERE no = ?", (version, file))
        if prepared is not None:
            self._passages(version, prepared)

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

    def _file(self, change: Change, at: int) -> int:
        self.connection.execute(
            "INSERT INTO ix_workspace_file(root, path, stem, size, mtime, ctime, looked) VALUES(?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (root, path) DO UPDATE SET size = excluded.size, mtime = excluded.mtime, "
            "ctime = excluded.ctime, looked = excluded.looked",
            (
                self.root.no, change.path, stem(change.path),
                change.size, change.mtime, change.ctime, at,
            ),
        )  # fmt: skip
        return int(
            self.connection.execute(
                "SELECT no FROM ix_workspace_file WHERE root = ? AND path = ?", (self.root.no, change.path)
            ).fetchone()[0]
        )

    def _passages(self, version: int, prepared: Prepared) -> None:
        many = self.connection.executemany
        first = int(self.connection.execute("SELECT coalesce(max(no) + 1, 1) FROM ix_workspace_passage").fetchone()[0])
        many(
            "INSERT INTO ix_workspace_passage VALUES(?, ?, ?, ?, ?, ?, ?)",
            [(first + number, version, *one.passage) for number, one in enumerate(prepared.cuts)],
        )
        many(
            "INSERT INTO ix_workspace_text(rowid, text, names, path) VALUES(?, ?, ?, ?)",
            [(first + number, one.text, one.names, prepared.words) for number, one in enumerate(prepared.cuts)],
        )
        if prepared.symbols:
            many(
                "INSERT OR IGNORE INTO ix_workspace_symbol(folded, name, kind, passage, line) VALUES(?, ?, ?, ?, ?)",
                [(folded, name, kind, first + number, line) for folded, name, kind, number, line in prepared.symbols],
            )
        if prepared.references:
            many(
                "INSERT OR IGNORE INTO ix_workspace_reference(key, version, line, target) VALUES(?, ?, ?, ?)",
                [(key, version, line, target) for key, target, line in prepared.references],
            )
