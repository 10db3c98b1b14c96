"""The policy as the store holds it: what acts now, and every change that led there."""

from __future__ import annotations

from typing import Any, NamedTuple

from affidavit.policy.change import Standing
from affidavit.policy.decision import Head
from affidavit.policy.reading import stored_policy
from affidavit.policy.rows import PolicyRow
from storage.driver import Connection
from storage.queries.connection import ReadConnection
from storage.store import StoreError

_COLUMNS = ", ".join(PolicyRow._fields)
_NEWEST = f"SELECT {_COLUMNS} FROM policy ORDER BY entry DESC"


class PolicyChange(NamedTuple):
    """A change: its row, and the redaction entry that erased the document, if one did."""

    row: PolicyRow
    withheld_by: int | None


def standing(connection: Connection, path: str = "") -> Standing:
    """What holds of the policy, for a decision. Raises ``StoreError`` where a newer program applied it."""
    return _standing(connection.execute(_NEWEST + " LIMIT 1").fetchone(), path)


def policy(link: ReadConnection) -> Standing:
    """What holds of the policy. Raises ``StoreError`` where a newer program applied it."""
    return _standing(link.row(_NEWEST + " LIMIT 1"), link.path)


def changes(link: ReadConnection, limit: int) -> list[PolicyChange]:
    """Changes of the policy, the newest first."""
    found = [PolicyRow._make(row) for row in link.rows(_NEWEST + " LIMIT ?", (limit,))]
    return [PolicyChange(row, _withheld(link, row) if row.document is None else None) for row in found]


def _withheld(link: ReadConnection, row: PolicyRow) -> int | None:
    import orjson

    refs = orjson.loads(link.value("SELECT entry FROM ledger_entry WHERE idx = ?", (row.entry,)))["refs"]
    commits = [bytes.fromhex(ref["commit"]) for ref in refs if ref["role"] == "policy"]
    by: int | None = link.value('SELECT entry FROM withheld WHERE "commit" = ?', commits)
    return by


def _standing(row: Any, path: str) -> Standing:
    if row is None:
        return Standing()
    change = PolicyRow._make(row)
    head = Head(change.stream, change.sseq, change.entry)
    if change.document is None:
        return Standing(head, None, erased=True)
    try:
        return Standing(head, stored_policy(change.document.encode()))
    except ValueError:
        why = f"its policy (entry {change.entry}) says what this Affidavit does not know: use a newer one"
        raise StoreError("newer", path, why) from None
