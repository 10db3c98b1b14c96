"""A policy read from a file's bytes, TOML or JSON, with every mistake named by line."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from affidavit.policy.document import Policy
from affidavit.policy.lines import Path, json_lines, line_of, toml_lines
from affidavit.proof.parsing import STRICT_REASONS, StrictError, loads_strict

MOST_BYTES = 1 << 20
"""Bytes a policy may have."""


class Mistake(NamedTuple):
    """What is wrong: the line (from 1; ``None``: the file as a whole), the key with the tables around it, and why."""

    line: int | None
    key: str
    reason: str
    hint: str = ""


def read_policy(data: bytes) -> tuple[Policy | None, list[Mistake]]:
    """The policy a file holds, or what is wrong with it. A file that begins with ``{`` is JSON, any other TOML."""
    if len(data) > MOST_BYTES:
        return None, [Mistake(None, "", f"is larger than {MOST_BYTES:,} bytes")]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return None, [Mistake(line, "", f"byte {error.start} is not UTF-8")]
    is_json = text.lstrip()[:1] == "{"
    value, wrong = _json(data) if is_json else _toml(text)
    if wrong is not None:
        return None, [wrong]
    try:
        # Checked as JSON: there a list is a list, and nothing is taken for what it is not.
        return Policy.model_validate_json(json.dumps(value, default=_no_json), strict=True), []
    except ValidationError as error:
        lines = json_lines(text) if is_json else toml_lines(text)
        return None, sorted(_mistakes(error, lines), key=lambda one: one.line or 0)


def stored_policy(document: bytes) -> Policy:
    """A policy as its entry keeps it. Raises ``ValueError`` where this program does not know all it says."""
    return Policy.model_validate_json(document, strict=True)


def _json(data: bytes) -> tuple[Any, Mistake | None]:
    try:
        return loads_strict(data), None
    except StrictError as error:
        line = data.count(b"\n", 0, error.offset) + 1
        return None, Mistake(line, "", "not valid JSON: " + STRICT_REASONS.get(error.reason, error.reason))


def _toml(text: str) -> tuple[Any, Mistake | None]:
    try:
        return tomllib.loads(text), None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        message = str(error)[: found.start()] if found else str(error)
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        return None, Mistake(line, "", "not valid TOML: " + message.rstrip(".").lower())
    except RecursionError:
        return None, Mistake(None, "", "is nested too deeply")


def _no_json(value: object) -> str:
    return f"a {type(value).__name__}, which no setting is"


def _mistakes(error: ValidationError, lines: dict[Path, int]) -> Iterator[Mistake]:
    for about in error.errors(include_url=False, include_input=False):
        where = about["loc"]
        key = ".".join(str(part) for part in where if part != "[key]")
        line = line_of(lines, where)
        if about["type"] == "extra_forbidden":
            yield Mistake(line, key, "there is no such setting", _nearest(str(where[-1])))
        else:
            reason = about["msg"].removeprefix("Value error, ")
            yield Mistake(line, key, reason[:1].lower() + reason[1:])


def _nearest(key: str) -> str:
    plain = {_plain(name): name for name in sorted(set(_names(Policy)))}
    near = get_close_matches(_plain(key), plain, n=1, cutoff=0.6)
    return f"did you mean {plain[near[0]]}?" if near else ""


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


def _names(model: type[BaseModel]) -> Iterator[str]:
    """Every setting's name, of the sections inside too."""
    for name, about in model.model_fields.items():
        yield about.alias or name
        for kind in (about.annotation, *getattr(about.annotation, "__args__", ())):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _names(kind)
