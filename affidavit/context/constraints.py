"""What must survive every compression: prohibitions, approvals and required checks; and instructions that disagree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from affidavit.retrieval.terms import words
from affidavit.retrieval.trimming import forbids

_APPROVAL = re.compile(
    r"\b(?:approved?|approval|permission|permitted|allowed|denied|refused|ask (?:first|before)"
    r"|confirm(?:ed)? (?:by|with|before))\b"
    r"|承認|許可|拒否|確認してから|批准|许可|拒绝",
    re.IGNORECASE,
)
_CHECK = re.compile(
    r"\b(?:must|always|after|before|then|please)\b[^.\n]{0,80}?\b(?:run|test|tests|lint|typecheck|build|verify|check)\b"
    r"|\brun\b[^.\n]{0,60}?\b(?:tests?|lint|typecheck|build)\b|テストを実行|検証する|运行测试",
    re.IGNORECASE,
)

MAX_LINE = 400
_BULLET = re.compile(r"^[\s>*\-•\d.)#]+")


def kinds_of(line: str) -> tuple[str, ...]:
    """Which of prohibition, approval and check a line is."""
    found = []
    if forbids(line):
        found.append("prohibition")
    if _APPROVAL.search(line):
        found.append("approval")
    if _CHECK.search(line):
        found.append("check")
    return tuple(found)


def constraints_in(text: str) -> list[str]:
    """The lines of a text that a later compression must not lose, each once, in order."""
    lines = (_BULLET.sub("", line).strip() for line in text.split("\n"))
    return list(dict.fromkeys(line[:MAX_LINE] for line in lines if line and kinds_of(line)))


def still_said(constraint: str, text: str) -> bool:
    """Whether a text says a constraint: its line, or nearly all of its words in one line."""
    if constraint in text:
        return True
    wanted = set(words(constraint))
    if not wanted:
        return True
    for line in text.split("\n"):
        said = set(words(line))
        if len(wanted & said) >= 0.75 * len(wanted) and forbids(constraint) == forbids(line):
            return True
    return False


_TOPICS: dict[str, re.Pattern[str]] = {
    "tests": re.compile(r"\b(?:run|use)\b.*\btests?\b|\btest (?:command|suite)\b", re.IGNORECASE),
    "packages": re.compile(r"\b(?:npm|pnpm|yarn|bun|pip|uv|poetry|cargo)\b", re.IGNORECASE),
    "indentation": re.compile(r"\bindent|\btabs?\b|\bspaces\b", re.IGNORECASE),
    "commits": re.compile(r"\bcommits?\b|\bpush\b", re.IGNORECASE),
    "generated files": re.compile(r"\bgenerated\b", re.IGNORECASE),
}
_VALUE = re.compile(
    r"`([^`\n]{2,80})`|\b(npm|pnpm|yarn|bun|pip|uv|poetry|cargo|tabs|spaces|full|whole|all|only|every|package)\b",
    re.IGNORECASE,
)


def conflicts_among(instructions: Sequence[tuple[str, str]]) -> list[str]:
    """What instructions (where from, text) say differently about one topic: to be listed, not to be settled here."""
    said: dict[str, list[tuple[str, str, frozenset[str]]]] = {}
    for where, text in instructions:
        for raw in text.split("\n"):
            line = _BULLET.sub("", raw).strip()[:MAX_LINE]
            for topic, pattern in _TOPICS.items():
                if pattern.search(line) and (values := _values(line)):
                    said.setdefault(topic, []).append((where, line, values))
    found = []
    for topic, lines in said.items():
        first = lines[0]
        other = next((one for one in lines[1:] if one[0] != first[0] and not one[2] & first[2]), None)
        if other is not None:
            found.append(f"Instructions differ on {topic}: {first[0]} says: {first[1]} | {other[0]} says: {other[1]}")
    return found


def _values(line: str) -> frozenset[str]:
    return frozenset((one or other).lower() for one, other in _VALUE.findall(line))


def missing_from(constraints: Iterable[str], text: str) -> list[str]:
    """Which constraints a text does not say."""
    return [one for one in constraints if not still_said(one, text)]
