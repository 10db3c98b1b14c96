"""What a recaller gives back: candidates with their provenance, never prompt text."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from pydantic import Field

from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.request import Name, RetrievalScope
from affidavit.retrieval.shape import Amount, Shape, Share, TrustWord, extension
from affidavit.retrieval.words import AuthorityClass, Level, Outcome, Visibility


class Redaction(Shape):
    """A range of a candidate's text (bytes of its UTF-8) that a model may not see, and why; never what stands there.

    ``applied``: the text has it blacked out already.
    """

    from_: Amount = Field(alias="from")
    to: Amount
    kind: str
    rule: str
    applied: bool = extension(False)


class ScoreParts(Shape):
    """A score and the parts it is made of, each 0 to 1; null: not computed."""

    semantic: float | None = None
    lexical: float | None = None
    authority: float | None = None
    recency: float | None = None
    actionability: float | None = extension(None)
    diversity: float | None = extension(None)
    anchor: float | None = extension(None)
    scope: float | None = extension(None)
    task_relevance: float | None = None
    total: float | None = extension(None)


class Permissions(Shape):
    """Who may see a candidate, and how much of it a model gets."""

    visibility: Visibility = "model-visible"
    redactions: tuple[Redaction, ...] = ()
    outcome: Outcome | None = extension(None)


class ByteRange(Shape):
    """Bytes ``from`` (included) to ``to`` (excluded) of a text's UTF-8."""

    from_: Amount = Field(alias="from")
    to: Amount


class CandidateScope(Shape):
    """Whom and what a candidate belongs to. A field that is not set is not known, and widens nothing."""

    project_id: str | None = None
    workspace_root: str | None = None
    branch: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    test_suite: str | None = None


class Refusal(Shape):
    """Why a gate before the pipeline (the recall gate for memories) refused a candidate: its code, and what exactly."""

    reason: str
    detail: str = ""


class RetrievalCandidate(Shape):
    """A text that may answer, with where it is from.

    ``text``: the source's own words. ``byte_range``: where they stand in the source's bytes; ``source_digest``: the
    whole source's (``sha256:`` and hex). ``captured_at``: when it was recorded; ``updated_at``: when it last changed;
    ``valid_as_of``: a time it was seen to hold at; ``valid_from``, ``valid_until``: from when to when it is the version
    that holds (bounds that are not set are open). ``summary``: what is shown where only a summary may be.
    ``conflicts_with``: ids of candidates that say otherwise. ``governs``: paths or patterns a decision is about;
    ``forbids``: it says what must not be done. ``verified``: false where nothing vouches for it, null: as its source.
    ``refusal``: a gate before the pipeline refused it; ``hit``: what that gate knew, without title and body.
    """

    id: Name
    source: str
    source_ref: str
    source_version: str | None = None
    captured_at: str | None = None
    valid_as_of: str | None = None
    text: str
    score: ScoreParts = ScoreParts()
    permissions: Permissions = Permissions()
    evidence_kind: str
    byte_range: ByteRange | None = extension(None)
    source_digest: str | None = extension(None)
    updated_at: str | None = extension(None)
    valid_from: str | None = extension(None)
    valid_until: str | None = extension(None)
    authority_class: AuthorityClass | None = extension(None)
    authority_level: Level | None = extension(None)
    trust: TrustWord | None = extension(None)
    scope: CandidateScope = extension(CandidateScope())
    title: str = extension("")
    summary: str | None = extension(None)
    verified: bool | None = extension(None)
    confidence: Level | None = extension(None)
    conflicts_with: tuple[str, ...] = extension(())
    governs: tuple[str, ...] = extension(())
    forbids: bool | None = extension(None)
    symbols: tuple[str, ...] = extension(())
    recall_score: Share | None = extension(None)
    refusal: Refusal | None = extension(None)
    labels: tuple[str, ...] = extension(())
    hit: dict[str, Any] | None = extension(None)


class Recaller(Protocol):
    """Finds candidates in some sources. It never reads past the scope and returns no text made for a prompt.

    ``now``: an instant with its zone. A recaller that fails raises; its failure is recorded and the others go on.
    """

    @property
    def name(self) -> str:
        """What the snapshot calls it."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources it can search."""

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:
        """At most ``sub_query.top_k`` candidates, or more where it cannot rank them itself."""
