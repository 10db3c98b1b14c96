"""The same text twice: one stays, and the other says which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from affidavit.retrieval.pool import Found, Turned
from affidavit.retrieval.terms import path_of
from affidavit.retrieval.words import AUTHORITY_CLASSES, LEVELS, TRUSTS


def find_duplicates(found: Sequence[Found]) -> dict[str, Turned]:
    """Which candidates stand in another, by id: byte for byte the same text, or a part of the same lines of one source.

    What has more authority stays, then what is trusted more, then the newer. Sides of a conflict always stay.
    """
    turned: dict[str, Turned] = {}
    texts: dict[tuple[str, str | None], Found] = {}
    ranges: dict[tuple[str, str, str | None, str], list[tuple[int, int, Found]]] = defaultdict(list)
    for one in sorted(found, key=_worth):
        if one.group is not None:
            continue
        it = one.candidate
        same = texts.setdefault((it.text, it.summary if one.outcome == "summary-only" else None), one)
        if same is not one:
            turned[one.id] = Turned("duplicate", f"the text of {same.candidate.source_ref}", same.id)
        elif it.byte_range is not None:
            spot = (it.byte_range.from_, it.byte_range.to, one)
            ranges[it.source, path_of(it.source_ref), it.source_version or it.source_digest, one.outcome].append(spot)
    for spots in ranges.values():
        # Wider ranges first: whatever holds a range stands before it.
        spots.sort(key=lambda spot: (spot[0], -spot[1], spot[2].id))
        widest: tuple[int, int, Found] | None = None
        for spot in spots:
            if widest is not None and spot[1] <= widest[1]:
                turned[spot[2].id] = Turned("duplicate", f"a part of {widest[2].candidate.source_ref}", widest[2].id)
            else:
                widest = spot
    return {id: why._replace(kept_instead=_last(why.kept_instead, turned)) for id, why in turned.items()}


def _last(kept: str | None, turned: dict[str, Turned]) -> str | None:
    """The candidate that stays at the end of a chain of such that stand in one another."""
    while kept in turned:
        kept = turned[kept].kept_instead
    return kept


def _worth(one: Found) -> tuple[int, int, int, int, str]:
    """Sorts what is to stay before what is not."""
    classes = AUTHORITY_CLASSES.index(one.authority_class) if one.authority_class else len(AUTHORITY_CLASSES)
    return -LEVELS[one.level], classes, -TRUSTS.index(one.trust), -(one.changed or 0), one.id
