"""A candidate on its way through the stages, with what each stage learned of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.words import SOURCES, TRUSTS, AuthorityClass, Level, Outcome, Source, Trust
from affidavit.session.times import instant

_UNKNOWN = Source("", None, "low", "untrusted-observation", "untrusted-observation")


class Turned(NamedTuple):
    """Turned away: the reason's code, what exactly, and which candidate is kept in its place."""

    reason: str
    detail: str = ""
    kept_instead: str | None = None


@dataclass(frozen=True)
class Found:
    """A recalled candidate.

    ``sub_queries`` and ``recallers`` found it, both sorted. ``outcome``: what a model may get of it. ``labels`` are
    said beside its text. ``group``: the id of the conflict it is a side of.
    """

    candidate: RetrievalCandidate
    sub_queries: tuple[str, ...] = ()
    recallers: tuple[str, ...] = ()
    outcome: Outcome = "full"
    labels: tuple[str, ...] = ()
    group: str | None = None
    parts: dict[str, float | None] = field(default_factory=dict)
    signals: dict[str, float] = field(default_factory=dict)

    def but(self, **changes: object) -> Found:
        """The same with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def labelled(self, label: str) -> Found:
        """The same with one more label."""
        return self if label in self.labels else self.but(labels=tuple(sorted({*self.labels, label})))

    @property
    def id(self) -> str:
        """The candidate's id, unique in one retrieval."""
        return self.candidate.id

    @cached_property
    def source(self) -> Source:
        """What its source is worth; a source that is not known is worth the least."""
        return SOURCES.get(self.candidate.source, _UNKNOWN)

    @cached_property
    def authority_class(self) -> AuthorityClass | None:
        """Its source's class; what a candidate says of itself counts only where its source is not known."""
        return self.source.authority if self.candidate.source in SOURCES else self.candidate.authority_class

    @cached_property
    def level(self) -> Level:
        """Its authority."""
        return self.candidate.authority_level or self.source.level

    @cached_property
    def trust(self) -> Trust:
        """Its trust: never more than its source can give."""
        said = self.candidate.trust or self.source.trust
        return TRUSTS[min(TRUSTS.index(said), TRUSTS.index(self.source.most_trust))]

    @cached_property
    def verified(self) -> bool:
        """Whether something vouches for it: its source does, and nobody says otherwise."""
        if self.candidate.source == "past-sessions":
            return bool(self.candidate.verified)
        return self.authority_class is not None and self.candidate.verified is not False

    @cached_property
    def changed(self) -> int | None:
        """When it last changed or was recorded, in UTC microseconds."""
        return micros(self.candidate.updated_at) or micros(self.candidate.captured_at)

    @cached_property
    def starts(self) -> int | None:
        """From when it is known to hold, in UTC microseconds."""
        it = self.candidate
        return next((at for at in map(micros, (it.valid_from, it.valid_as_of, it.captured_at)) if at is not None), None)


def micros(recorded: str | None) -> int | None:
    """UTC microseconds of a recorded time, ``None`` where there is none or it cannot be read."""
    return instant(recorded)[0]
