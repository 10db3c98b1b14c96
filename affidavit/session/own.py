"""The lines a program writes to have its session kept, as models; see :mod:`affidavit.lines`.

Names are camelCase in JSON. Fields this page does not know are kept with the line's bytes and change nothing.
"""

from __future__ import annotations

from base64 import b64decode
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from affidavit.session.event import Actor, Kind

MOST_TOKENS = (1 << 53) - 1


def _with_zone(at: str) -> str:
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        raise ValueError("names no time zone (write Z or an offset)")
    return at


Name = Annotated[str, Field(min_length=1, max_length=512)]
"""An id or name of the program's own choosing."""

Instant = Annotated[str, Field(max_length=64, examples=["2026-05-14T10:02:11.000Z"]), AfterValidator(_with_zone)]
"""A time in ISO 8601 with its zone."""

Amount = Annotated[int, Field(ge=0, le=MOST_TOKENS)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", strict=True, alias_generator=to_camel, populate_by_name=False)


class Tokens(_Line):
    """What one model message cost, as the provider reported it."""

    input: Amount = Field(0, description="Tokens read and not from a cache.")
    output: Amount = Field(0, description="Tokens written.")
    cache_read: Amount = Field(0, description="Tokens read from a cache.")
    cache_write: Amount = Field(0, description="Tokens written to a cache.")


class SessionEvent(_Line):
    """One thing that happened in a session: a message, a tool call, its result, a decision, an error …"""

    type: Literal["session.event"]
    session: Name = Field(description="The session's id. The first line that names it opens it.")
    id: Name | None = Field(
        None,
        description="The event's id, unique in its session. A line with an id and bytes seen before is counted as a "
        "copy, so a program may send its lines again. Without one every line is an event of its own.",
    )
    kind: Kind = Field(description="What kind of event it is.")
    at: Instant | None = Field(
        None,
        validation_alias=AliasChoices("at", "createdAt"),
        description="When it happened, ISO 8601 with a zone. `createdAt` is read as this.",
    )
    turn: Name | None = Field(
        None,
        validation_alias=AliasChoices("turn", "turnId"),
        description="Key of the turn it belongs to; events with the same key share the turn. Without any, each "
        "message of a person begins one. `turnId` is read as this.",
    )
    lane: Name | None = Field(None, description="Which sub-agent it happened in; absent for the main agent.")
    lane_title: str | None = Field(None, description="What that sub-agent is called.")
    parent: Name | None = Field(None, description="Id of the event it follows. Two that follow the same are branches.")
    actor: Actor | None = Field(None, description="Who did it; absent: who usually does an event of this kind.")
    text: str | None = Field(None, description="Its whole text: what was said, asked or given back.")
    summary: str | None = Field(None, description="One line to show in lists instead of the text's first.")
    payload: Any = Field(None, description="Anything else; shown as JSON where there is no text.")
    tool: Name | None = Field(None, description="The tool's name.")
    call: Name | None = Field(
        None, description="Id of a tool call: joins a `tool.intent` to the `tool.finished` that answers it."
    )
    command: str | None = Field(
        None, description="The shell command a `tool.intent` runs; a test, lint or build makes its result a check."
    )
    ok: bool | None = Field(None, description="Whether it went well; absent where that is not known.")
    exit_code: int | None = Field(None, description="Exit code; read as `ok` where that is absent.")
    refs: list[str] = Field(
        [],
        description="What it touched: `path`, `path:88-126`, a URL, an event id, or an artifact as `sha256:` + hex.",
    )
    model: Name | None = Field(None, description="The model that wrote it.")
    message: Name | None = Field(
        None, description="Id of the model message its tokens belong to: of several reports the last counts."
    )
    tokens: Tokens | None = Field(None, description="What that message cost.")
    millis: Amount | None = Field(None, description="How long it took, in milliseconds.")
    inferred: bool = Field(False, description="True where it was concluded and not observed.")
    spawns: Name | None = Field(None, description="The lane this event started.")
    title: str | None = Field(None, description="What the session is called from here on.")
    cwd: str | None = Field(None, description="The folder the session works in.")
    git_branch: str | None = Field(None, description="The git branch it works on.")
    project: str | None = Field(None, description="The project it belongs to.")
    version: str | None = Field(None, description="Version of the program that writes.")


class Artifact(_Line):
    """A larger body that events refer to by its digest: a log, a diff, a picture. Exactly one of text and base64."""

    type: Literal["artifact"]
    session: Name = Field(description="The session it belongs to.")
    id: Name | None = Field(None, description="The line's id, unique in its session.")
    at: Instant | None = Field(None, validation_alias=AliasChoices("at", "createdAt"), description="When it was made.")
    parent: Name | None = Field(None, description="Id of the event it came from.")
    media: Annotated[str, Field(pattern=r"^[\w.+-]+/[\w.+-]+(;.*)?$")] = Field(
        description="Its media type, such as text/plain."
    )
    name: str | None = Field(None, description="What it is called.")
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = Field(
        None, description="SHA-256 of its bytes; refused where it differs."
    )
    text: str | None = Field(None, description="Its content, if it is text: the bytes are this in UTF-8.")
    base64: str | None = Field(None, description="Its content, if it is not text.")

    def content(self) -> bytes:
        """The artifact's bytes. Raises ``ValueError`` where the base64 is none."""
        if self.text is not None:
            return self.text.encode()
        return b64decode(self.base64 or "", validate=True)

    def model_post_init(self, _: Any) -> None:
        if (self.text is None) == (self.base64 is None):
            raise ValueError("needs exactly one of text and base64")
        digest = "sha256:" + sha256(self.content()).hexdigest()
        if self.digest is not None and self.digest != digest:
            raise ValueError(f"digest differs: its content has {digest}")
