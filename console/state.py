"""What this person last verified, kept beside their settings and never in the store it speaks of.

One small JSON file holds, for every store by its id and path, the ledger's size and root when it last held and
what was found in the last finished run.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from console.remembered import Remembered
from console.services import VerifyFailure, VerifyResult

if TYPE_CHECKING:
    from storage.verify import Marker, VerifyReport

KEPT_FAILURES = 100
"""Failures of the last run that are kept for showing."""

MOVED = frozenset({"rolled_back", "forked"})
"""Failures that say the ledger is not the one that was verified here before."""


def result_of(report: VerifyReport, finished: datetime) -> VerifyResult:
    """A verification as the console shows it."""
    return VerifyResult(
        holds=report.holds,
        level=report.level,
        entries=report.entries,
        checked=dict(report.checked),
        failures=[VerifyFailure(failure.address, failure.kind, failure.detail) for failure in report.failures],
        withheld=report.withheld,
        seconds=dict(report.seconds),
        since=report.since,
        finished=finished,
    )


class Verified(Remembered):
    """What is known of one store's verifications. A file that cannot be read counts as empty."""

    NAME = "verified"

    def marker(self) -> Marker | None:
        """Size and root of the ledger when it last held for this person, if it ever did."""
        from storage.verify import Marker

        try:
            kept = self._entry()["marker"]
            return Marker(int(kept["size"]), bytes.fromhex(kept["root"]))
        except (KeyError, TypeError, ValueError):
            return None

    def marked_at(self) -> str | None:
        """When that was, ISO 8601 UTC."""
        kept = self._entry().get("marker")
        at = kept.get("at") if isinstance(kept, dict) else None
        return at if isinstance(at, str) else None

    def last(self) -> VerifyResult | None:
        """What the last finished run found."""
        try:
            kept = self._entry()["last"]
            failures = [VerifyFailure(str(a), str(k), str(d)) for a, k, d in kept["failures"]]
            return VerifyResult(
                holds=bool(kept["holds"]),
                level=str(kept["level"]),
                entries=int(kept["entries"]),
                checked={str(name): int(number) for name, number in kept["checked"].items()},
                failures=failures,
                withheld=int(kept["withheld"]),
                seconds={str(name): float(number) for name, number in kept["seconds"].items()},
                since=None if kept["since"] is None else int(kept["since"]),
                finished=datetime.fromisoformat(kept["finished"]),
                first=int(kept["first"]),
                stale=kept["stamp"] != self.stamp(),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def stamp(self) -> str:
        """What the file system says of the store's file: another answer means that it was written to meanwhile."""
        parts = []
        for path in (self._store, self._store + "-wal"):
            with suppress(OSError):
                found = os.stat(path)
                if found.st_size:
                    parts.append(f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}")
        return " ".join(parts)

    def written(self) -> int:
        """When this memory was last written, in nanoseconds; 0: never."""
        try:
            return self._file.stat().st_mtime_ns
        except OSError:
            return 0

    def way_out(self) -> str:
        """What a person can do who put another copy of the store in its place themselves."""
        return f"if you put another copy of this store here yourself, delete {self._file}, and verify it anew"

    def remember(self, report: VerifyReport, now: datetime, stamp: str = "") -> VerifyResult:
        """Keeps what a finished run found; its marker moves only when everything held. Never raises.

        ``stamp`` is the store's :meth:`stamp` from before the run: what was written meanwhile may have been missed.
        A run over what is new takes nothing back that an earlier one found.
        """
        result = result_of(report, now)
        before = self.last()
        if result.since is not None:
            unchanged = before is not None and self._entry()["last"].get("stamp") == stamp
            result = replace(result, first=before.first if before is not None and unchanged else result.since)
            if before is not None and before.failures:
                old = [failure for failure in before.failures if failure not in result.failures]
                result = replace(result, holds=False, level="none", failures=[*result.failures, *old])
        at = now.astimezone(UTC).isoformat(timespec="seconds")
        last = {
            "holds": result.holds,
            "level": result.level,
            "entries": result.entries,
            "checked": dict(result.checked),
            # Addresses and classes only: a detail may quote what the store holds.
            "failures": [[failure.address, failure.kind, ""] for failure in result.failures[:KEPT_FAILURES]],
            "withheld": result.withheld,
            "seconds": {name: round(number, 3) for name, number in result.seconds.items()},
            "since": result.since,
            "finished": at,
            "first": result.first,
            "stamp": stamp,
        }

        def change(entry: dict[str, Any]) -> None:
            entry["last"] = last
            if report.holds:
                entry["marker"] = {"size": report.entries, "root": report.root.hex(), "at": at}

        with suppress(OSError):
            self._change(change)
        return result
