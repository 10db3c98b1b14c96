"""One read-only connection, with every failure of the driver turned into one of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from storage import driver
from storage.queries.conditions import holds
from storage.store import open_reader, refused

Row = tuple[Any, ...]


class Interrupted(Exception):
    """The query was stopped by ``Archive.interrupt``; nothing is wrong."""


class ReadConnection:
    """Runs SQL that only reads. Raises :class:`Interrupted` or ``StoreError``, nothing of the driver's."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection = open_reader(path)
        self._connection.create_function("holds", 2, holds, deterministic=True)

    def close(self) -> None:
        self._connection.close()

    def function(self, name: str, arguments: int, function: Callable[..., Any]) -> None:
        """Let SQL call a function of ours, which must give the same for the same."""
        self._connection.create_function(name, arguments, function, deterministic=True)

    def interrupt(self) -> None:
        """Stop the statement that runs in another thread; without one, nothing happens."""
        try:
            self._connection.interrupt()
        except driver.Error:
            return  # closed meanwhile: there is nothing left to stop

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """One read transaction around some queries, which ends however they do."""
        if not self._connection.in_transaction:
            self.row("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self.row("ROLLBACK")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Every row at once."""
        try:
            return list(self._connection.execute(sql, values).fetchall())
        except driver.Error as error:
            raise self._meaning(error) from error

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row, if there is one."""
        try:
            cursor = self._connection.execute(sql, values)
            found: Row | None = cursor.fetchone()
            cursor.close()
        except driver.Error as error:
            raise self._meaning(error) from error
        return found

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or ``None``."""
        found = self.row(sql, values)
        return None if found is None else found[0]

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Row by row. The read transaction lasts until the iterator is used up or closed: for short walks only."""
        cursor = None
        try:
            cursor = self._connection.execute(sql, values)
            yield from cursor
        except driver.Error as error:
            raise self._meaning(error) from error
        finally:
            if cursor is not None:
                cursor.close()

    def _meaning(self, error: Exception) -> Exception:
        return Interrupted() if "interrupted" in str(error) else refused(self.path, error)
