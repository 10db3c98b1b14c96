"""The policy document: everything a person may settle for a store, in sections that each have a meaning of their own.

A section is a model with defaults for all it holds, so that a document without it means the defaults, and one applied
before the section existed still does. To add one: its model (in the room it is about), and a field here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from affidavit.gate.hit import Shape
from affidavit.gate.settings import GateSettings
from affidavit.memory.settings import GovernancePolicy
from affidavit.proof.canonical import canonical


def _one_line(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("must be a name on one line, without control characters")
    return name


Name = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
"""What a person is called here: one line."""


class Policy(Shape):
    """A whole policy.

    ``reviewers``: names of those who may decide, change this policy and erase; none named: whoever the operating
    system or the settings file says works here. ``gate``: settings of the recall gate per memory space.
    ``governance``: settings of checks and review per workspace.
    """

    model_config = ConfigDict(extra="forbid")

    reviewers: tuple[Name, ...] = ()
    gate: GateSettings = GateSettings()
    governance: GovernancePolicy = GovernancePolicy()

    def canonical(self) -> bytes:
        """Its RFC 8785 bytes with every default written out: an applied policy means the same for ever."""
        return canonical(self.model_dump(mode="json", by_alias=True))
