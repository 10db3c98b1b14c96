"""What a check may claim: the level a verdict stands on, from the weakest to the strongest."""

from __future__ import annotations

from typing import Literal

Level = Literal["self-consistent", "signed", "pinned", "witnessed", "time-stamped"]

LEVELS: dict[Level, str] = {
    "self-consistent": (
        "every part fits every other; who can rewrite the whole store could make another that fits as well"
    ),
    "signed": "the newest state carries a signature by a key this machine trusts",
    "pinned": "the newest state continues one that was noted down outside the store",
    "witnessed": "enough independent witnesses have signed that they saw no other history",
    "time-stamped": "a time-stamping authority has signed that the state existed at a certain time",
}
"""Every level with what it means and does not mean, weakest first. A verdict is printed with its level."""
