"""What governance is set to: points, thresholds, which classes need whom. Data, checked before it acts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from affidavit.memory.likeness import Thresholds
from affidavit.memory.words import Kind, Level, SourceType

Points = Annotated[int, Field(ge=0, le=1000)]
Ratio = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class _Settings(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True, extra="forbid"
    )


class RiskPoints(_Settings):
    """What each finding adds to the risk."""

    explicit_user: Points = 0
    verified_observation: Points = 10
    repeated_pattern: Points = 20
    tool_output: Points = 40
    agent_reflection: Points = 40
    directive: Points = 20
    touches_rights: Points = 15
    lowers_safeguard: Points = 30
    hides_itself: Points = 40
    hidden_characters: Points = 40
    scope_task: Points = 0
    scope_module: Points = 4
    scope_branch: Points = 6
    scope_repo: Points = 10
    scope_workspace: Points = 15
    scope_user: Points = 20
    scope_wider_than_evidence: Points = 15
    authority_default: Points = 10
    authority_rule: Points = 30
    no_evidence: Points = 20
    artifact_missing: Points = 25
    conflict: Points = 20
    contradicts_rule_file: Points = 30
    tombstone: Points = 40
    ttl_missing: Points = 10

    def source(self, type: SourceType) -> int:
        """Points of a source."""
        return int(getattr(self, type))

    def scope(self, level: Level) -> int:
        """Points of a scope level."""
        return int(getattr(self, f"scope_{level}"))


class LikenessSettings(_Settings):
    """Scores (0 to 100) from which texts are taken as the same, near, worth comparing by guards, or related."""

    same: Ratio = 95
    near: Ratio = 85
    compare: Ratio = 70
    related: Ratio = 55

    def thresholds(self) -> Thresholds:
        """The same as plain numbers."""
        return Thresholds(self.same, self.near, self.compare, self.related)


class FourEyes(_Settings):
    """Where somebody else than who proposed it must approve: of these kinds and levels, and from this risk on."""

    kinds: tuple[Kind, ...] = ()
    levels: tuple[Level, ...] = ()
    risk: Points | None = None


class AutoApproval(_Settings):
    """Which classes enter by themselves (``check --let-in``), as hints and below ``batch_from``: those of a kind and a
    source named here. Off where none is."""

    kinds: tuple[Kind, ...] = ()
    sources: tuple[SourceType, ...] = ()


class GovernanceSettings(_Settings):
    """Settings of one workspace.

    ``batch_from``, ``single_from``, ``quarantine_from``: the risk from which a candidate does not pass by itself, is
    looked at alone, is quarantined. ``ttl_kinds``: kinds that need a time to live. ``claim_minutes``: how long a claim
    holds. ``person_kinds``, ``person_levels``: classes that always wait for a person; preferences only at the levels.
    """

    points: RiskPoints = RiskPoints()
    likeness: LikenessSettings = LikenessSettings()
    batch_from: Points = 30
    single_from: Points = 60
    quarantine_from: Points = 90
    ttl_kinds: tuple[Kind, ...] = ("task_experience",)
    person_kinds: tuple[Kind, ...] = ("procedure_rule",)
    person_levels: tuple[Level, ...] = ("user",)
    four_eyes: FourEyes = FourEyes()
    auto_approve: AutoApproval = AutoApproval()
    claim_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)] = 15


class GovernancePolicy(_Settings):
    """Settings of a store: of every workspace that has its own, and of all others."""

    default: GovernanceSettings = GovernanceSettings()
    workspaces: dict[str, GovernanceSettings] = Field(default_factory=dict)

    def of(self, key: str) -> GovernanceSettings:
        """The settings for a scope's key: those of the workspace it is or lies in, of several the longest name's."""
        named = [
            name for name in self.workspaces if key == name or key.startswith((name + "/", name + "@", name + ":"))
        ]
        return self.workspaces[max(named, key=len)] if named else self.default


Band = Literal["passes", "batch", "single", "quarantine"]


def band(risk: int, settings: GovernanceSettings) -> Band:
    """How a candidate of that risk is reviewed."""
    if risk >= settings.quarantine_from:
        return "quarantine"
    if risk >= settings.single_from:
        return "single"
    return "batch" if risk >= settings.batch_from else "passes"
