"""What of a session is worth proposing: a few rules over chosen events, each of which names itself.

Nothing here believes anything. A rule says what was stated, written or seen, and by which events; whether it is to be
remembered is decided by people. Never the whole transcript is looked at, and at most so much is proposed of one event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple

from affidavit.memory.words import Kind, SourceType
from affidavit.session.verification import classify

Rule = Literal[
    "explicit-user-statement", "memory-file-write", "rule-file-edit", "command-observed", "agent-reflection",
    "seen-in-sessions",
]  # fmt: skip
RULES: Final[dict[Rule, str]] = {
    "explicit-user-statement": "a person said how it is to be, in words that go on",
    "memory-file-write": "an agent wrote it into its memory",
    "rule-file-edit": "an agent wrote it into a rule file",
    "command-observed": "a command was seen to pass",
    "agent-reflection": "an agent concluded it",
    "seen-in-sessions": "it was seen in more than one session",
}
"""Every rule and what it goes by."""

LOOKED_AT: Final = frozenset(
    {"user.message", "model.message", "memory.write", "tool.intent", "tool.finished", "verification"}
)
"""Kinds of events that are looked at."""

MOST_OF_ONE: Final = 12
"""Proposals of one event."""

LONGEST_LOOKED_AT: Final = 64_000
LONGEST_SAID: Final = 400
LONGEST_COMMAND: Final = 160
LONGEST_BODY: Final = 2_000
MOST_FILES: Final = 40
"""Files a session read that are remembered for saying which commands there are."""


class Seen(NamedTuple):
    """An event. ``refs``: files it names; ``command``: of an observation, what was called with."""

    address: str
    kind: str
    actor: str
    text: str
    refs: tuple[str, ...] = ()
    tool: str | None = None
    ok: bool | None = None
    command: str = ""


class Found(NamedTuple):
    """Something to propose: the rule that made it, what speaks for it."""

    rule: Rule
    content: str
    kind: Kind
    source: SourceType
    events: tuple[str, ...]
    artifacts: tuple[str, ...] = ()
    once: bool = False
    """It was said of this task alone."""


_SENTENCE = re.compile(r"(?<=[.!?。！？])(?:\s+|(?<=[。！？]))|\n+")
_LASTING = re.compile(
    r"^(?:(?:please|and|but|so|also)[, ]+)*(?:always|never)\b|\b(?:should|must|please|you|we|I) (?:always|never)\b|"
    r"\b(?:from now on|going forward|in (?:the )?future|remember (?:that|to|:)|keep in mind|"
    r"(?:I|we) (?:strongly )?(?:prefer|dislike|like to|hate it)|we (?:only )?use|our (?:convention|policy|standard)|"
    r"(?:don't|do not) ever)\b"
    r"|覚えて(?:おいて|ください)|今後は|これからは|必ず|常に|いつも|絶対に|決して|二度と|以後は|してはいけ(?:ない|ません)|"
    r"の方が好き|が好みです|を使う方針"
    r"|[记記]住|以[后後](?:都|请|請|要|不要|别)?|今[后後]|[从從][现現]在(?:起|开始|開始)|[总總]是|[务務]必|永[远遠]|[绝絕]不|"
    r"千万不要|不要再|我(?:更)?(?:喜[欢歡]|偏好)|我[们們](?:一直|[统統]一|都)(?:用|使用)",
    re.IGNORECASE,
)
_LIKES = re.compile(r"\bI (?:strongly )?(?:prefer|dislike|like|hate)\b|好き|好み|喜[欢歡]|偏好", re.IGNORECASE)
_ASKS = re.compile(
    r"[?？]\s*$|[吗嗎呢]\s*[。.]?$|(?:です|ます)か\s*。?$|^(?:could|would|should|why|how|what if|if we)\b", re.I
)
_ONCE = re.compile(
    r"\bthis time\b|\bfor now\b|\bjust (?:this )?once\b|\bfor this (?:task|pr|change)\b|"
    r"今回(?:だけ|は)|[这這]次|[暂暫][时時]",
    re.IGNORECASE,
)
_LESSON = re.compile(
    r"\blessons? learned\b|\bI(?:'ve| have)? learned that\b|\b(?:note|reminder) for (?:the )?(?:future|next time)\b|"
    r"\bnext time\b|\bthe root cause (?:is|was)\b|教訓|学びは|根本原因は|次回から|[教经經][训訓验驗]是|根本原因是|下次",
    re.IGNORECASE,
)
_FRONT = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"^[-*]\s+\[[^\]]+\]\([^)]+\.md\)")
_FENCE = re.compile(r"^\s*(?:```|~~~).*?(?:^\s*(?:```|~~~)\s*$|\Z)", re.MULTILINE | re.DOTALL)
_AROUND = re.compile(r"^cd [^&;|]+ && |(?: 2>&1)?(?: \| (?:tail|head)(?: -\w*)?(?: ?\d+)?)?$")
"""What of a command line only shortens what it prints."""

_SAYS_COMMANDS = re.compile(
    r"(?:^|/)(?:package\.json|[Mm]akefile|justfile|pyproject\.toml|tox\.ini|noxfile\.py|Cargo\.toml|go\.mod|"
    r"mise\.toml|Taskfile\.ya?ml|[^/]+\.gradle|[^/]+\.md|[^/]+\.ya?ml)$"
)


def found_in(events: Iterable[Seen], is_rule_file: Callable[[str], bool]) -> Iterator[Found]:
    """What the events of one session propose, in their order."""
    files: dict[str, tuple[str, str]] = {}
    for event in events:
        text = event.text[:LONGEST_LOOKED_AT]
        if event.kind == "user.message" and event.actor == "user":
            found = _stated(event, text)
        elif event.kind == "memory.write" and event.actor in ("agent", "subagent"):
            found = _written(event, text, "memory-file-write", "project_fact")
        elif event.kind == "tool.intent" and event.refs and any(map(is_rule_file, event.refs)):
            found = _written(event, text, "rule-file-edit", "procedure_rule")
        elif event.kind == "model.message" and event.actor in ("agent", "subagent"):
            found = _concluded(event, text)
        elif event.kind == "verification" and event.ok and event.command:
            found = _passed(event, files)
        else:
            if event.kind == "tool.finished" and event.ok is not False:
                _remember(event, text, files)
            continue
        for count, one in enumerate(found):
            if count == MOST_OF_ONE:
                break
            yield one


def _sentences(text: str) -> Iterator[str]:
    """Sentences of somebody's own: nothing quoted, no code, no markup of a program."""
    for part in _SENTENCE.split(_FENCE.sub("\n", text)):
        said = (part or "").strip().lstrip("-*• ").strip()
        if said and said[0] not in "<>|{[#" and 4 <= len(said) <= LONGEST_SAID:
            yield said


def _stated(event: Seen, text: str) -> Iterator[Found]:
    for said in _sentences(text):
        if _LASTING.search(said) and not _ASKS.search(said):
            kind: Kind = "user_preference" if _LIKES.search(said) else "procedure_rule"
            once = _ONCE.search(said) is not None
            yield Found("explicit-user-statement", said, kind, "explicit_user", (event.address,), (), once)


def _concluded(event: Seen, text: str) -> Iterator[Found]:
    for said in _sentences(text):
        if _LESSON.search(said) and not _ASKS.search(said):
            yield Found("agent-reflection", said, "task_experience", "agent_reflection", (event.address,))


def _written(event: Seen, text: str, rule: Rule, kind: Kind) -> Iterator[Found]:
    """What a write or an edit adds: of a short memory file its body, else each item of a list."""
    lines = text.split("\n")
    added = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
    whole = "\n".join(lines[1:] if lines and lines[0] in event.refs else lines)
    edit = bool(added) and event.tool not in ("Write", "write")
    body = _FRONT.sub("", whole).strip()
    if rule == "memory-file-write" and not edit and 4 <= len(body) <= LONGEST_BODY and not _LINK.match(body):
        yield Found(rule, body, kind, "agent_reflection", (event.address,), event.refs)
        return
    for line in added if edit else body.split("\n"):
        said = line.strip()
        if said[:2] in ("- ", "* ") and not _LINK.match(said) and 6 <= len(said) <= LONGEST_SAID:
            yield Found(rule, said[2:].strip(), kind, "agent_reflection", (event.address,), event.refs)


def _remember(event: Seen, text: str, files: dict[str, tuple[str, str]]) -> None:
    for ref in event.refs:
        if _SAYS_COMMANDS.search(ref) and (ref in files or len(files) < MOST_FILES):
            files[ref] = (event.address, text)


def _passed(event: Seen, files: dict[str, tuple[str, str]]) -> Iterator[Found]:
    command = _AROUND.sub("", event.command.partition("\n\n")[0].strip())
    check = classify(command)
    if check is None or "\n" in command or len(command) > LONGEST_COMMAND:
        return
    for file, (address, text) in sorted(files.items()):
        if _says(text, command):
            said = f"`{command}` was seen to pass as a {check}; {file} says so."
            yield Found(
                "command-observed", said, "project_fact", "verified_observation", (event.address, address), (file,)
            )
            return
    said = f"`{command}` was seen to pass as a {check}."
    yield Found("command-observed", said, "task_experience", "verified_observation", (event.address,))


def _says(text: str, command: str) -> bool:
    """Whether a file states a command: whole, or as a script that a package manager or make runs by its name."""
    if command in text:
        return True
    words = command.split()
    script = words[2] if words[1:2] == ["run"] and len(words) > 2 else words[1] if len(words) > 1 else ""
    if words[0] in ("npm", "pnpm", "yarn", "bun"):
        return f'"{script}":' in text and '"scripts"' in text
    return words[0] in ("make", "just") and re.search(rf"^{re.escape(script)}\s*:", text, re.MULTILINE) is not None


def together(found: Iterable[tuple[str, Found]]) -> list[Found]:
    """What the sessions of one scope propose, each text once with all that speaks for it; (session, what it proposes).

    What agents concluded or wrote counts once however often they say it: only people and observations repeat.
    """
    groups: dict[tuple[str, bool], list[tuple[str, Found]]] = {}
    for session, one in found:
        groups.setdefault((" ".join(one.content.casefold().split()), one.once), []).append((session, one))
    merged = []
    for group in groups.values():
        first = group[0][1]
        if first.source == "agent_reflection":
            others = [one for _, one in group if one.source != "agent_reflection"]
            if not others:
                merged.append(first)
                continue
            first = others[0]
        alike = [(session, one) for session, one in group if one.source == first.source]
        events = tuple(dict.fromkeys(id for _, one in alike for id in one.events))[:50]
        artifacts = tuple(dict.fromkeys(ref for _, one in alike for ref in one.artifacts))[:20]
        whole = first._replace(events=events, artifacts=artifacts)
        if len({session for session, _ in alike}) > 1 and first.source == "verified_observation":
            whole = whole._replace(rule="seen-in-sessions", source="repeated_pattern")
        merged.append(whole)
    return merged
