"""Back and forward: the places a person has been, like a browser keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from console.screens.view import Place

LONGEST = 200
"""Places remembered."""


class History:
    """Where the person has been. Every place is kept as it was left."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    @property
    def can_back(self) -> bool:
        return self._at > 0

    @property
    def can_forward(self) -> bool:
        return self._at + 1 < len(self._places)

    def leave(self, place: Place) -> None:
        """Remember how the present place looks now."""
        if self._at >= 0 and self._places[self._at].view == place.view:
            self._places[self._at] = place

    def enter(self, place: Place) -> None:
        """Go to a new place; what lay ahead is forgotten."""
        del self._places[self._at + 1 :]
        if not (self._places and self._places[-1] == place):
            self._places.append(place)
        del self._places[:-LONGEST]
        self._at = len(self._places) - 1

    def back(self, now: Place) -> Place | None:
        """The place before this one."""
        if not self.can_back:
            return None
        self.leave(now)
        self._at -= 1
        return self._places[self._at]

    def forward(self, now: Place) -> Place | None:
        """The place after this one, if a person went back."""
        if not self.can_forward:
            return None
        self.leave(now)
        self._at += 1
        return self._places[self._at]
