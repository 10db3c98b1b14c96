"""Boundary filtering: what was found and may not be used, each candidate with the first boundary it fails at."""

from __future__ import annotations

from collections.abc import Sequence

from affidavit.retrieval.boundary.conflicts import settle_conflicts
from affidavit.retrieval.boundary.duplicates import find_duplicates
from affidavit.retrieval.boundary.evidence import outside_evidence
from affidavit.retrieval.boundary.permission import outside_permission, with_secrets_hidden
from affidavit.retrieval.boundary.place import outside_scope
from affidavit.retrieval.boundary.validity import out_of_time
from affidavit.retrieval.plan import RetrievalPlan
from affidavit.retrieval.pool import Found, Turned
from affidavit.retrieval.request import RetrievalScope

__all__ = ["filter_all"]


def filter_all(
    found: Sequence[Found], plan: RetrievalPlan, scope: RetrievalScope
) -> tuple[list[Found], list[tuple[Found, Turned]]]:
    """The candidates that stay within every boundary, and the others with why. Order does not matter.

    The boundaries are passed in the order scope, permission, time, governance. Of what is the same text twice one
    stays; the sides of a conflict stay together or not at all.
    """
    turned: list[tuple[Found, Turned]] = []

    def keep(those: Sequence[Found], refused: dict[str, Turned]) -> list[Found]:
        turned.extend((one, refused[one.id]) for one in those if one.id in refused)
        return [one for one in those if one.id not in refused]

    kept = keep(found, {one.id: why for one in found if (why := outside_scope(one, scope))})
    kept = keep(kept, {one.id: why for one in kept if (why := outside_permission(one, scope))})
    kept = [with_secrets_hidden(one) for one in kept]
    kept = keep(kept, out_of_time(kept, scope.time_boundary))
    judged = {one.id: outside_evidence(one, plan, scope) for one in kept}
    kept = keep(kept, {id: why for id, (_, why) in judged.items() if why})
    kept = [judged[one.id][0] for one in kept]
    kept, conflicted = settle_conflicts(kept)
    turned.extend(conflicted)
    kept = keep(kept, find_duplicates(kept))
    return kept, turned
