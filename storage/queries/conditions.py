"""Conditions of a query: SQL with marks for its values, joined by AND."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from affidavit.text.marks import marked

_LONGEST_PATTERN = 1_000
"""SQLite refuses a LIKE pattern of 50,000 bytes; long before that the function below is as quick."""


class Condition(NamedTuple):
    """``sql`` with one ``?`` for each of ``values``."""

    sql: str
    values: tuple[Any, ...] = ()


def both(conditions: Iterable[Condition]) -> Condition:
    """All of the conditions at once; without any, one that always holds."""
    conditions = list(conditions)
    if not conditions:
        return Condition("1")
    return Condition(
        " AND ".join(condition.sql for condition in conditions),
        tuple(value for condition in conditions for value in condition.values),
    )


def among(column: str, values: Collection[Any], *, negated: bool = False) -> Condition:
    """``column`` is (or is not) one of the values. Sorted, so that equal questions are equal SQL."""
    marks = ",".join("?" * len(values))
    return Condition(f"{column} {'NOT ' if negated else ''}IN ({marks})", tuple(sorted(values)))


def contains(columns: Sequence[str], text: str) -> Condition:
    """Any of the columns holds ``text``: literally, in any case. NULL holds nothing.

    LIKE knows case only for ASCII, so other text goes through ``holds``, a function of the connection.
    """
    needle = marked(text)
    if needle.isascii() and len(needle) <= _LONGEST_PATTERN:
        pattern = needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        tests, value = [f"{column} LIKE ? ESCAPE '\\'" for column in columns], f"%{pattern}%"
    else:
        tests, value = [f"holds({column}, ?)" for column in columns], needle.casefold()
    return Condition("(" + " OR ".join(tests) + ")", (value,) * len(columns))


def holds(text: str | None, folded: str) -> bool:
    """The SQL function ``holds(text, folded)``: whether ``text`` contains ``folded`` once its case is folded."""
    return text is not None and folded in text.casefold()
