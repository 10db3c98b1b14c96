"""Where a store stood when this person last left the console."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from console.remembered import Remembered


class Visits(Remembered):
    """This person's visits to one store: the :class:`console.services.Visit` of a program."""

    NAME: ClassVar[str] = "visits"

    @cached_property
    def _known_key(self) -> str:
        return super()._key()

    def _key(self) -> str:
        # Asked for once, so that leaving waits for no store.
        return self._known_key

    def last(self) -> int | None:
        """How many ledger entries the store had when the person last left it; ``None``: not known."""
        kept = self._entry().get("entries")
        return kept if type(kept) is int and kept >= 0 else None

    def leave(self, entries: int) -> None:
        """Remember that the person has seen so much of the store. Never raises."""
        at = datetime.now(UTC).isoformat(timespec="seconds")

        def change(entry: dict[str, Any]) -> None:
            entry["entries"], entry["at"] = entries, at

        with suppress(OSError):
            self._change(change)
