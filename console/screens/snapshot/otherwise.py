"""Other settings as they are typed, and what recorded candidates would have become under them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affidavit.retrieval.words import DEFAULT_WEIGHTS
from console.widgets import figures
from console.widgets.ink import Ink, Line, left, right
from console.widgets.safe import Outside

if TYPE_CHECKING:
    from affidavit.retrieval.what_if import Changed, Moved

HINT = "budget=800 per_item=200 min_score=0.5 top_k=5 lexical=0.4 allow=stale"
WHOLE = {"budget": "max_tokens", "per_item": "per_item_max", "top_k": "top_k", "max_unverified": "max_unverified"}


def parse(text: str) -> tuple[Changed | None, str]:
    """The settings typed words mean (``None``: none as yet), and what is wrong with them."""
    from affidavit.retrieval.what_if import Changed

    given: dict[str, object] = {}
    weights: dict[str, float] = {}
    allow: set[str] = set()
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or not value:
            return None, f"{name}=…"
        try:
            if name in WHOLE:
                given[WHOLE[name]] = max(int(value), 0)
            elif name == "min_score":
                given["min_score"] = float(value)
            elif name == "allow":
                allow |= set(value.split(","))
            elif name in DEFAULT_WEIGHTS:
                weights[name] = float(value)
            else:
                return None, f"nothing is called {name}"
        except ValueError:
            return None, f"{value} is no number"
    if not (given or weights or allow):
        return None, ""
    try:
        return Changed(weights=weights or None, allow=frozenset(allow), **given), ""  # type: ignore[arg-type]
    except ValueError as error:
        return None, str(error)


def moved_line(word: str, one: Moved, room: int, outside: Outside) -> Line:
    """A candidate that would have become something else."""
    style = {"appears": "holds", "goes": "fails", "resized": "person", "unknown": "unknown"}[word]
    glyph = {"appears": "+", "goes": "−", "resized": "~", "unknown": "?"}[word]
    total = one.total_after if one.total_after is not None else one.total_before
    score = "" if total is None else f"{total:.2f}"
    tokens = one.tokens_after if one.tokens_after is not None else one.tokens_before
    end = right("" if tokens is None else figures.short(tokens), 6)
    reason = one.after if word == "goes" else one.before
    about = outside.line(one.source_ref or one.candidate_id, max(room - 44, 8))
    return (
        Ink(style, left(f"{glyph} {word}", 11)),
        Ink("outside", left(about, max(room - 44, 8)) + " "),
        Ink("quiet", left(outside.line(reason, 19), 20)),
        Ink("text", right(score, 5) + end),
    )
