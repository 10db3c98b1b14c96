"""What a candidate is checked against: the evidence it names, and what stands in the store and in rule files."""

from __future__ import annotations

from typing import Literal, NamedTuple

from affidavit.memory.likeness import Text
from affidavit.memory.words import Level


class Evidence(NamedTuple):
    """An event a candidate names, found in the store. ``project``: of its session."""

    id: str
    from_person: bool
    project: str | None
    session: str
    text: str


class Neighbour(NamedTuple):
    """Another candidate or a memory that might say the same or otherwise. ``digest``: of its version as it stands."""

    what: Literal["candidate", "memory"]
    id: str
    version: int
    status: str
    text: Text
    keys: tuple[tuple[str, str], ...]
    digest: str
    rejected_for: str | None = None

    @property
    def address(self) -> str:
        """Its address."""
        return f"{self.what}/{self.id}@{self.version}"


class RuleLine(NamedTuple):
    """A line of a rule file in force: its file, number from 1, text. ``scope``: where the file applies, if known."""

    file: str
    line: int
    text: str


class Surroundings(NamedTuple):
    """Everything a check looks at besides the candidate itself.

    ``missing``: events it names that are not there; ``lost``: artifacts and paths it names that are not there.
    ``tombstones``: addresses of what was revoked, rejected or forgotten and said this. ``served``: memories an agent
    had been given in the sessions of its evidence, by address.
    """

    evidence: tuple[Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    rules: tuple[RuleLine, ...] = ()
    tombstones: tuple[str, ...] = ()
    served: tuple[tuple[str, str], ...] = ()


def one_chain(one: tuple[Level, str], other: tuple[Level, str]) -> bool:
    """Whether two scopes can hold for one task: they are the same, one is in the other, or one is the user's."""
    if one == other:
        return True
    if one[0] == other[0]:
        return False
    if "user" in (one[0], other[0]):
        return True
    short, long = sorted((one[1], other[1]), key=len)
    return bool(short) and (short == long or (long.startswith(short) and long[len(short)] in "/@#:"))
