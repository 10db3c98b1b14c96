"""Recallers over a store: each finds candidates in some sources, and asks only for what the scope entitles it to.

The scope stands in the queries themselves: what lies outside it is not read and then dropped, but never read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from storage.queries.connection import ReadConnection

if TYPE_CHECKING:
    from affidavit.retrieval.candidate import Recaller
    from affidavit.retrieval.request import RetrievalScope
    from storage.queries.records import Records

__all__ = ["recallers"]


def recallers(
    link: ReadConnection, records: Callable[[], Records], memories: Callable[[], Recaller], scope: RetrievalScope
) -> list[Recaller]:
    """Those that a scope's sources ask for. ``memories`` makes the one that asks the recall gate."""
    from storage.recallers.files import SOURCES, FileRecaller
    from storage.recallers.sessions import ArtifactRecaller, PastSessionsRecaller, SessionRecaller
    from storage.workspace.asking import Rarity

    rarity = Rarity(link)
    every: list[Recaller] = [FileRecaller(link, source, rarity) for source in SOURCES]
    every += [SessionRecaller(link, records), ArtifactRecaller(link, records), PastSessionsRecaller(link, records)]
    allowed = set(scope.allowed_sources) - set(scope.denied_sources)
    if "verified-memory" in allowed:
        every.append(memories())
    return [one for one in every if allowed & set(one.sources)]
