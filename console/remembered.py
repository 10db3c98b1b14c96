"""What this person knows of each store, kept beside their settings and never in the store it speaks of.

One small JSON file of each kind holds an entry for every store, by its id and path.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from console.settings import state_folder

KEPT_STORES = 200
"""Stores that are remembered; the longest unseen are dropped."""


class Remembered:
    """One store's entry in the file of a kind. A file that cannot be read counts as empty."""

    NAME: ClassVar[str]
    """What the file is called, without its ending."""

    def __init__(self, store: str, file: Path | None = None) -> None:
        self._store = store
        self._file = file if file is not None else state_folder() / f"{self.NAME}.json"

    def _key(self) -> str:
        """The store by its own id and by where it lies: a copy of a store is another store."""
        from storage import driver
        from storage.store import StoreError, identity

        ws = ""
        with suppress(StoreError, driver.Error):
            connection = driver.connect_reader(self._store)
            try:
                ws = identity(connection).ws
            finally:
                connection.close()
        return f"{ws} {os.path.realpath(self._store)}"

    def _entry(self) -> dict[str, Any]:
        entry = self._all().get(self._key())
        return entry if isinstance(entry, dict) else {}

    def _all(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Rewrites the file as a whole, so that a reader sees the old or the new."""
        everything = self._all()
        key = self._key()
        entry = everything.pop(key, {})
        entry = entry if isinstance(entry, dict) else {}
        change(entry)
        everything[key] = entry
        for oldest in list(everything)[: max(0, len(everything) - KEPT_STORES)]:
            del everything[oldest]
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(prefix=f"{self.NAME}-", dir=self._file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(everything, stream)
        os.replace(temporary, self._file)
