"""Addresses: the one way to name anything a person can look at.

The same words work on the command line, in the console's address bar, in exports and from the clipboard. This
module only reads and prints them; whether something of that name exists is asked of a store.

An id may be shortened to any unique prefix. Ids are compared by their characters as they stand: nothing is
folded or normalised, except that the hexadecimal digits of an event or a digest may be typed in capitals.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TypeAlias

PROGRAM = "affidavit"
LONGEST = 1_000
"""Characters an address may have. Longer input is refused before it is looked at."""

_EVENT_DIGITS = 16
_DIGEST_DIGITS = 64
_LARGEST = 2**53 - 1
_HEX = frozenset("0123456789abcdef")


class AddressError(ValueError):
    """The text is no address. ``reason`` says why, ``hint`` what to write instead; both quote it raw."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True, slots=True)
class SessionAddress:
    """A session or one event in it. ``id``: prefix of uid or native id; ``event``: of 16 hex digits."""

    id: str
    event: str | None = None

    def __str__(self) -> str:
        return f"session/{self.id}" + (f"#{self.event}" if self.event is not None else "")


@dataclass(frozen=True, slots=True)
class TurnAddress:
    """The ``number``-th human turn of a session, from 1."""

    session: str
    number: int

    def __str__(self) -> str:
        return f"turn/{self.session}/{self.number}"


@dataclass(frozen=True, slots=True)
class ContextAddress:
    """What the model was given at the ``number``-th model request of a session, from 1."""

    session: str
    number: int

    def __str__(self) -> str:
        return f"context/{self.session}/{self.number}"


@dataclass(frozen=True, slots=True)
class SnapshotAddress:
    """A retrieval snapshot or one citation in it. ``citation`` is an opaque label such as ``rule#1``."""

    id: str
    citation: str | None = None

    def __str__(self) -> str:
        return f"snapshot/{self.id}" + (f"/{self.citation}" if self.citation is not None else "")


@dataclass(frozen=True, slots=True)
class GateAddress:
    """One run of the recall gate."""

    id: str

    def __str__(self) -> str:
        return f"gate/{self.id}"


@dataclass(frozen=True, slots=True)
class CandidateAddress:
    """A memory candidate, at one of its versions or (``None``) its newest."""

    id: str
    version: int | None = None

    def __str__(self) -> str:
        return f"candidate/{self.id}" + (f"@{self.version}" if self.version is not None else "")


@dataclass(frozen=True, slots=True)
class MemoryAddress:
    """A governed memory, at one of its versions or (``None``) its newest."""

    id: str
    version: int | None = None

    def __str__(self) -> str:
        return f"memory/{self.id}" + (f"@{self.version}" if self.version is not None else "")


@dataclass(frozen=True, slots=True)
class EntryAddress:
    """A ledger entry by its index, from 0."""

    number: int

    def __str__(self) -> str:
        return f"entry/{self.number}"


@dataclass(frozen=True, slots=True)
class PayloadAddress:
    """Recorded bytes by (a prefix of) the SHA-256 of their content, in hex."""

    digest: str

    def __str__(self) -> str:
        return f"payload/{self.digest}"


@dataclass(frozen=True, slots=True)
class ConclusionAddress:
    """A recorded conclusion about where a chain broke."""

    id: str

    def __str__(self) -> str:
        return f"conclusion/{self.id}"


Address: TypeAlias = (
    SessionAddress
    | TurnAddress
    | ContextAddress
    | SnapshotAddress
    | GateAddress
    | CandidateAddress
    | MemoryAddress
    | EntryAddress
    | PayloadAddress
    | ConclusionAddress
)

FORMS: dict[str, tuple[str, ...]] = {
    "session": ("session/ID", "session/ID#EVENT"),
    "turn": ("turn/SESSION/7",),
    "context": ("context/SESSION/7",),
    "snapshot": ("snapshot/ID", "snapshot/ID/rule#1"),
    "gate": ("gate/ID",),
    "candidate": ("candidate/ID", "candidate/ID@2"),
    "memory": ("memory/ID", "memory/ID@3"),
    "entry": ("entry/1234",),
    "payload": ("payload/SHA256",),
    "conclusion": ("conclusion/ID",),
}
"""Every kind of address and how it is written."""

HELD = ("session", "turn", "candidate", "memory", "entry", "payload")
"""The kinds a store can hold something of; only they are offered to who wrote no address."""


def parse(text: str) -> Address:
    """The address a person typed or pasted; blanks around it do not count. Raises :class:`AddressError`."""
    if len(text) > LONGEST:
        raise AddressError("this is too long to be an address", _all_forms())
    text = text.strip()
    if not text:
        raise AddressError("an address is empty", _all_forms())
    if not text.isprintable():
        raise AddressError("an address holds a character that cannot be seen", "type it instead of pasting it")
    kind, slash, rest = text.partition("/")
    if kind not in FORMS:
        raise AddressError(f"{text!r} is no address: there is no kind {kind!r}", _nearest(kind))
    if not slash or not rest:
        raise AddressError(f"{text!r} is no address: nothing is named after {kind}/", _hint(kind))
    return _READ[kind](rest)


def shell_command(address: Address, *words: str) -> str:
    """The command that opens an address (with ``words`` as ``show``: prints it), quoted for a shell."""
    return shlex.join([PROGRAM, *words, str(address)])


def _session(rest: str) -> Address:
    id, hash, event = rest.partition("#")
    checked = _id(id, "session")
    return SessionAddress(checked, _hex(event, _EVENT_DIGITS, "session", "an event") if hash else None)


def _turn(rest: str) -> Address:
    return TurnAddress(*_numbered(rest, "turn"))


def _context(rest: str) -> Address:
    return ContextAddress(*_numbered(rest, "context"))


def _snapshot(rest: str) -> Address:
    if rest.endswith("]") and "[" in rest and "/" not in rest.partition("[")[0]:
        id, _, label = rest[:-1].partition("[")
    else:
        id, slash, label = rest.partition("/")
        if not slash:
            return SnapshotAddress(_id(id, "snapshot"))
    if not label:
        raise AddressError(f"the citation in 'snapshot/{rest}' has no name", _hint("snapshot"))
    return SnapshotAddress(_id(id, "snapshot"), label)


def _gate(rest: str) -> Address:
    return GateAddress(_id(rest, "gate"))


def _candidate(rest: str) -> Address:
    return CandidateAddress(*_versioned(rest, "candidate"))


def _memory(rest: str) -> Address:
    return MemoryAddress(*_versioned(rest, "memory"))


def _entry(rest: str) -> Address:
    return EntryAddress(_number(rest, "entry", least=0))


def _payload(rest: str) -> Address:
    return PayloadAddress(_hex(rest.removeprefix("sha256:"), _DIGEST_DIGITS, "payload", "a digest"))


def _conclusion(rest: str) -> Address:
    return ConclusionAddress(_id(rest, "conclusion"))


_READ = {
    "session": _session,
    "turn": _turn,
    "context": _context,
    "snapshot": _snapshot,
    "gate": _gate,
    "candidate": _candidate,
    "memory": _memory,
    "entry": _entry,
    "payload": _payload,
    "conclusion": _conclusion,
}


def _id(text: str, kind: str) -> str:
    """An id without the signs that addresses themselves use."""
    if not text:
        raise AddressError(f"the {kind} in this address has no id", _hint(kind))
    for sign in "/#@[] ":
        if sign in text:
            name = "a blank" if sign == " " else repr(sign)
            raise AddressError(f"{kind}/{text}: an id cannot hold {name}", _hint(kind))
    return text


def _numbered(rest: str, kind: str) -> tuple[str, int]:
    session, slash, number = rest.rpartition("/")
    if not slash:
        raise AddressError(f"{kind}/{rest} does not say which one of the session", _hint(kind))
    return _id(session, kind), _number(number, kind, least=1)


def _versioned(rest: str, kind: str) -> tuple[str, int | None]:
    id, at, version = rest.partition("@")
    return _id(id, kind), _number(version, kind, least=1) if at else None


def _number(text: str, kind: str, *, least: int) -> int:
    """Plain decimal digits: Python's ``int`` alone would take ``1_0``, ``+5`` and other scripts' digits."""
    plain = text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") and len(text) <= 16
    if not plain or not least <= int(text) <= _LARGEST:
        raise AddressError(f"{text!r} is not a number from {least} on, in plain digits", _hint(kind))
    return int(text)


def _hex(text: str, most: int, kind: str, what: str) -> str:
    digits = text.lower()
    if not digits or len(digits) > most or not _HEX.issuperset(digits):
        raise AddressError(f"{text!r} is not {what}: 1 to {most} of the digits 0-9 a-f", _hint(kind))
    return digits


def _hint(kind: str) -> str:
    return "write " + " or ".join(FORMS[kind])


def _all_forms() -> str:
    return "addresses are written " + ", ".join(form for kind in HELD for form in FORMS[kind])


def _nearest(kind: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(kind.lower(), HELD, n=1, cutoff=0.6)
    return _hint(near[0]) if near else _all_forms()
