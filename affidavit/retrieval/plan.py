"""The plan of a retrieval: what is asked of which sources."""

from __future__ import annotations

from affidavit.retrieval.shape import Amount, Shape, extension
from affidavit.retrieval.words import Level, MergePolicy, OutputShape, SubQueryIntent


class RetrievalSubQuery(Shape):
    """One question to some sources.

    ``query_text`` is what to search for; ``terms``, ``identifiers`` and ``paths`` are the same taken apart, for
    recallers that know what a symbol or a file is. ``max_age``: an ISO 8601 duration in days (``P30D``).
    ``token_budget``: what its items may cost at first; what others leave is shared out afterwards.
    """

    id: str
    intent: SubQueryIntent
    query_text: str
    sources: tuple[str, ...]
    top_k: Amount
    min_authority: Level = "low"
    max_age: str | None = None
    token_budget: Amount | None = extension(None)
    terms: tuple[str, ...] = extension(())
    identifiers: tuple[str, ...] = extension(())
    paths: tuple[str, ...] = extension(())


class RetrievalPlan(Shape):
    """All questions of one retrieval and how their answers are put together."""

    request_id: str
    scope_id: str
    sub_queries: tuple[RetrievalSubQuery, ...]
    merge_policy: MergePolicy = "interleave-by-relevance"
    output_shape: OutputShape = "context-block"
