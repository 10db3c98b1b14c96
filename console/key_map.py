"""Which keys carry out which action: those of the registry, changed by the person's key map.

The key map is ``keys.toml`` beside the settings: ``action = "key"`` or ``action = ["key", "key"]``, with the ids of
:data:`console.actions.ACTIONS`. A line that names no action or no key, or gives a key to two actions where both work,
is left out, and told with its number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from console.actions import ACTIONS, BY_ID, SIGNS, Action, clashes, key_text, sign_name
from console.written import Problem, line_of, nearest, read_table

NAMED: Final = frozenset(
    [
        "enter",
        "escape",
        "tab",
        "space",
        "backspace",
        "delete",
        "insert",
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pageup",
        "pagedown",
    ]
    + [f"f{number}" for number in range(1, 25)]
)
"""Keys that are called by a name."""

HELD: Final = ("ctrl", "alt", "shift")

SAME: Final = {
    "ctrl+m": "enter", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape",
}  # fmt: skip
"""Keys that a terminal sends as if they were others."""

TAKEN: Final = {"ctrl+c": "says how to leave", "tab": "goes between the parts of a screen"}
"""Keys no action can have, and what they do."""

_SPELLED: Final = {"esc": "escape", "page_up": "pageup", "page_down": "pagedown", "del": "delete", "return": "enter"}


@dataclass(frozen=True)
class Keys:
    """The keys of every action. ``mapped``: what the person gave some of them instead of their own."""

    mapped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, action: Action) -> tuple[str, ...]:
        """The keys of an action, the one that is shown first."""
        return self.mapped.get(action.id, action.keys)

    def text(self, id: str) -> str:
        """The first key of an action as people write it; empty if it stands in the palette only."""
        keys = self.of(BY_ID[id])
        return key_text(keys[0]) if keys else ""

    @property
    def textual(self) -> dict[str, str]:
        """The key map as Textual takes it."""
        return {id: ",".join(keys) for id, keys in self.mapped.items()}


def canonical(key: str) -> str:
    """The name of a key, however it is written: ``?`` is ``question_mark``. Raises ``ValueError`` with the reason."""
    *held, last = [part.strip() for part in key.split("+")] if len(key) > 1 and not key.endswith("+") else [key]
    if key.endswith("++"):
        held, last = key[:-2].split("+"), "+"
    held = [one.lower() for one in held]
    if unknown := [one for one in held if one not in HELD]:
        raise ValueError(f"{unknown[0]!r} cannot be held down: {', '.join(HELD)} can")
    if len(last) == 1:
        if not last.isprintable():
            raise ValueError(f"{key!r} is not a key")
        if not last.isalnum():
            last = "space" if last == " " else sign_name(last)
    else:
        last = re.sub(r"[ -]", "_", last.lower())
    last = _SPELLED.get(last, last)
    if len(last) != 1 and last not in NAMED and last not in SIGNS:
        raise ValueError(f"{key!r} is not a key")
    if "ctrl" in held:
        last = last.lower()
    name = "+".join([*(one for one in HELD if one in held), last])
    if name in SAME:
        raise ValueError(f"a terminal cannot tell {key} from {SAME[name]}")
    if name in TAKEN:
        raise ValueError(f"{key} {TAKEN[name]}, always")
    return name


def read(file: Path) -> tuple[Keys, list[Problem]]:
    """The keys that follow from a key map, and every mistake in it. No file: the registry's own."""
    table, text, problems = read_table(file)
    asked: dict[str, tuple[str, ...]] = {}
    for id, value in _flat(table):
        line = line_of(text, id) or line_of(text, id.partition(".")[0])
        if id not in BY_ID:
            problems.append(Problem(str(file), line, id, "there is no such action", nearest(id, BY_ID)))
            continue
        try:
            asked[id] = _keys(value)
        except ValueError as error:
            problems.append(Problem(str(file), line, id, str(error)))
    kept, clashing = _without_clashes(asked)
    for key, id, other in clashing:
        line = line_of(text, id) or line_of(text, id.partition(".")[0])
        reason = f"{key_text(key)} is {other!r} already, which works in the same place"
        problems.append(Problem(str(file), line, id, reason, "give that another key too, or take another one here"))
    return Keys(kept), sorted(problems, key=lambda problem: problem.line or 0)


def _flat(table: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """``prompt.next = "x"`` may be written with quotes or, as a table in a table, without."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        found += _flat(value, f"{above}{name}.") if isinstance(value, dict) else [(f"{above}{name}", value)]
    return found


def _keys(value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed or not all(isinstance(key, str) and key for key in listed):
        raise ValueError('must be a key, as "x" or "ctrl+x", or a list of keys')
    return tuple(dict.fromkeys(canonical(key) for key in listed))


def _without_clashes(
    asked: Mapping[str, tuple[str, ...]],
) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str, str]]]:
    """What can be kept of a map so that no key has two meanings in one place, and (key, id, other id) of the rest."""
    kept = dict(asked)
    told: list[tuple[str, str, str]] = []
    while True:
        actions = tuple(replace(action, keys=kept.get(action.id, action.keys)) for action in ACTIONS)
        found = clashes(actions)
        if not found:
            return kept, told
        for key, one, other in found:
            # The later line gives way where both are the person's, so that what is left does not hang on the registry.
            order = [id for id in kept if id in (one, other)]
            id = order[-1]
            if id in kept:
                told.append((key, id, other if id == one else one))
        for _key, id, _other in told:
            kept.pop(id, None)
