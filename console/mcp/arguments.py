"""What the tools take, as models: an agent's arguments are text from outside, bounded and checked before any use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from affidavit.memory.words import Kind
from affidavit.retrieval.words import Purpose

Question = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
Name = Annotated[str, Field(min_length=1, max_length=512)]
Label = Annotated[str, Field(min_length=1, max_length=128)]


class Arguments(BaseModel):
    """camelCase in JSON; what is not named here is refused, and nothing is taken for what it is not."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)


class Recall(Arguments):
    query: Question = Field(description="What you want to know, in words.")
    limit: int | None = Field(None, ge=1, le=50, description="At most so many memories.")
    branch: Name | None = Field(None, description="The git branch you work on.")
    module: Name | None = Field(None, description="The part of the project you work on.")
    task_type: Name | None = Field(None, description="What kind of task this is, such as fix-test.")
    risk_mode: Name | None = Field(None, description="The risk mode you run in.")

    def narrower(self) -> dict[str, str]:
        """The fields that say which part of the scope is meant."""
        return self.model_dump(include={"branch", "module", "task_type", "risk_mode"}, exclude_none=True)


class Propose(Arguments):
    content: Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")] = Field(
        description="What is to be remembered, in one or a few sentences."
    )
    kind: Kind = Field("project_fact", description="What it is.")
    level: Literal["user", "workspace", "repo", "branch", "module", "task"] = Field(
        "repo", description="Where it applies; as narrow as is true."
    )
    key: Name | None = Field(None, description="Which branch, module or task.")
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(None, description="What it is called.")
    evidence: list[Name] = Field([], max_length=20, description="What speaks for it: paths, commands' logs, citations.")
    conflict_keys: list[Name] = Field(
        [], max_length=8, description="level:key:attribute, such as repo:acme/app:test-command."
    )
    value: Name | None = Field(None, description="The value it gives its conflict keys.")
    expires_at: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="When it is over, ISO 8601 with a zone."
    )


class Anchors(Arguments):
    failing_test: Question | None = Field(None, description="The failing test's file or name.")
    error_text: Annotated[str, Field(max_length=4_000)] | None = Field(None, description="The error's text.")
    current_files: list[Name] = Field([], max_length=50, description="Files you work on.")
    symbols: list[Name] = Field([], max_length=50, description="Names in the code it is about.")


class Retrieve(Arguments):
    question: Question = Field(description="What is to be known.")
    purpose: Purpose = Field("answer-question", description="What it is for; sources weigh differently.")
    anchors: Anchors = Field(
        default_factory=lambda: Anchors.model_validate({}), description="What the task is about, by name."
    )
    required_evidence: list[Literal["current-code", "test-log", "project-rule", "verified-memory"]] = Field(
        [], max_length=4, description="Evidence that must be found, or is told as missing."
    )
    max_tokens: int = Field(1_200, ge=0, le=20_000, description="Tokens the block may cost.")
    branch: Name | None = Field(None, description="Only what belongs to this branch.")


class ReportUse(Arguments):
    snapshot_id: Name = Field(description="The snapshotId of the retrieval.")
    citations: list[Label] = Field(min_length=1, max_length=100, description="The citation ids it rested on.")
    action: Question = Field(description="What you did because of them.")
    targets: list[Name] = Field([], max_length=50, description="The files it changed.")


def problems(error: ValidationError) -> str:
    """What is wrong with the arguments, field by field, without what they were."""
    told = []
    for problem in error.errors(include_url=False, include_input=False)[:5]:
        where = ".".join(str(part)[:40] for part in problem["loc"][:4])
        told.append(f"{where}: {problem['msg'][:200]}")
    return "; ".join(told)
