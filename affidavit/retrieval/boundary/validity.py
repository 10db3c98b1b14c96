"""The boundary of time: of every source the version that held at the time asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from affidavit.retrieval.pool import Found, Turned, micros
from affidavit.retrieval.request import TimeBoundary
from affidavit.retrieval.terms import path_of
from affidavit.session.times import iso


def out_of_time(found: Sequence[Found], boundary: TimeBoundary) -> dict[str, Turned]:
    """Which candidates did not hold at the time asked for, by id.

    A candidate holds from ``valid_from`` (else the time it was seen to hold, else the time it was recorded) up to
    ``valid_until``. Of several versions of one source that hold, the newest does and the others are superseded.
    """
    as_of = micros(boundary.as_of)
    after, until = micros(boundary.include_after), micros(boundary.exclude_after)
    turned: dict[str, Turned] = {}
    versions: dict[tuple[str, str], list[Found]] = defaultdict(list)
    for one in found:
        why = _alone(one, as_of, after, until)
        if why is None or why.reason == "superseded_version":
            versions[one.candidate.source, path_of(one.candidate.source_ref)].append(one)
        if why is not None:
            turned[one.id] = why
    for those in versions.values():
        holding = [one for one in those if one.id not in turned]
        if holding:
            best = min(holding, key=lambda one: (-(one.starts or 0), one.candidate.source_version or "", one.id))
            for one in those:
                if one.id in turned or _other_version(one, best):
                    turned[one.id] = Turned("superseded_version", _since(best), best.id)
        else:
            for one in those:
                turned[one.id] = Turned("not_valid_as_of", turned[one.id].detail)
    return turned


def _alone(one: Found, as_of: int | None, after: int | None, until: int | None) -> Turned | None:
    """Why a candidate does not hold, other versions left aside."""
    starts, ends = one.starts, micros(one.candidate.valid_until)
    if as_of is not None and starts is not None and starts > as_of:
        return Turned("not_valid_as_of", f"it holds from {iso(starts)}")
    if as_of is not None and ends is not None and ends <= as_of:
        return Turned("superseded_version", f"it held until {iso(ends)}")
    if after is None and until is None:
        return None
    recorded = one.changed
    if recorded is None:
        return Turned("not_valid_as_of", "when it was recorded is not known")
    if after is not None and recorded <= after:
        return Turned("not_valid_as_of", f"it was recorded {iso(recorded)}, not after {iso(after)}")
    if until is not None and recorded > until:
        return Turned("not_valid_as_of", f"it was recorded {iso(recorded)}, after {iso(until)}")
    return None


def _other_version(one: Found, best: Found) -> bool:
    """Whether both say which version of their source they are, and differ."""
    mine, its = _version(one), _version(best)
    return mine is not None and its is not None and mine != its


def _version(one: Found) -> str | None:
    return one.candidate.source_version or one.candidate.source_digest


def _since(best: Found) -> str:
    version = best.candidate.source_version
    return f"version {version} held" if version else "a later one held"
