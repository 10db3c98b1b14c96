"""The gate's settings: data, per memory space, checked before they act."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from affidavit.gate.hit import Confidence, Shape

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class RecallGateConfig(Shape):
    """Settings of one memory space.

    ``min_score`` is the lowest score that passes, ``engines`` says another for the scores of a named engine;
    ``short_query_words`` and ``short_query_min_score``: a query of at most so many words needs at least that.
    ``exempt_tags``: memories that do not age. ``superseded_words``: words in a title or body that say it is not to be
    used any more, in any case. ``min_confidence``: memories of a lower one are withheld; one that says none passes.
    """

    model_config = ConfigDict(extra="forbid")

    min_score: Share = 0.78
    engines: dict[str, Share] = Field(default_factory=lambda: {"affidavit-lexical": 0.30})
    short_query_words: Annotated[int, Field(ge=0)] = 2
    short_query_min_score: Share | None = None
    max_age_days: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 90
    exempt_tags: tuple[str, ...] = ("long_term_policy", "legal_stopline")
    allow_draft: bool = False
    superseded_words: tuple[Annotated[str, Field(min_length=1)], ...] = ("superseded", "旧方針", "使用禁止")
    min_confidence: Confidence | None = None
    max_hits: Annotated[int, Field(ge=0)] = 8

    def least_score(self, engine: str, text: str) -> float:
        """The lowest score that passes for an engine's hits of a query."""
        least = self.engines.get(engine, self.min_score)
        if self.short_query_min_score is not None and len(text.split()) <= self.short_query_words:
            return max(least, self.short_query_min_score)
        return least


class GateSettings(Shape):
    """Settings of a store: of every memory space that has its own, and of all others."""

    model_config = ConfigDict(extra="forbid")

    default: RecallGateConfig = RecallGateConfig()
    spaces: dict[str, RecallGateConfig] = Field(default_factory=dict)

    def of(self, space: str | None) -> RecallGateConfig:
        """The settings of a memory space."""
        return self.spaces.get(space, self.default) if space else self.default
