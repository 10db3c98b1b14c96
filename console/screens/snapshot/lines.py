"""How a snapshot looks: its funnel, a candidate as one line, a candidate whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from affidavit.proof.verdict import HASH_VERDICTS
from affidavit.retrieval import recorded
from affidavit.retrieval.misleading import WAYS
from affidavit.retrieval.words import REASONS
from console.screens.snapshot.found import Found, Item, number
from console.screens.snapshots.columns import HASHES, hash_ink
from console.widgets import figures
from console.widgets.ink import Ink, Line, fit, left, right, width
from console.widgets.safe import Outside

BAR = "█"
SMALL = "▇"
PARTS = (
    "lexical",
    "semantic",
    "authority",
    "recency",
    "actionability",
    "diversity",
    "anchor",
    "scope",
    "taskRelevance",
)
STAGES = {"filtered": ("scope", "permission", "time", "governance"), "rankedOut": ("rank",), "trimmed": ("budget",)}


def funnel(found: Found, room: int, outside: Outside) -> list[Line]:
    """Recalled, filtered, ranked, trimmed, visible: a bar each, what it left of the one before, and why."""
    counts = found.counts
    recalled = counts["recalled"] or 0
    long = max(min(room - 48, 48), 10)
    left_over = recalled
    lines: list[Line] = []
    for name, word in (
        ("recalled", "recalled"), ("filtered", "filtered"), ("rankedOut", "ranked"), ("trimmed", "trimmed"),
        ("selected", "visible"),
    ):  # fmt: skip
        count = counts[name]
        out = name not in ("recalled", "selected")
        if count is None:
            lines.append((Ink("quiet", f"   {word:<9}"), Ink("unknown", "    ?  not recorded")))
            continue
        said = right(("−" if out and count else "") + figures.short(count), 5)
        if out:
            left_over -= count
            bar = _bar(count, recalled, long)
            line: Line = (
                Ink("quiet", f"   {word:<9}"), Ink("text", said + " "),
                Ink("text", " " * _cells(left_over, recalled, long)), Ink("gone", bar),
            )  # fmt: skip
        else:
            kind = "evidence" if name == "selected" else "text"
            line = (Ink("head", f"   {word:<9}"), Ink("text", said + " "), Ink(kind, _bar(count, recalled, long)))
        note = _why(found, name, outside)
        lines.append(fit((*line, Ink("quiet", "  " + note if note else ""), *_hash(found, name)), room))
    return lines


def _hash(found: Found, name: str) -> Line:
    if name != "selected":
        return ()
    if found.block is not None and found.block.text is not None:
        ink = HASHES[found.block.verdict]
        return (Ink("text", "  "), ink._replace(text=f"{ink.text} (block)"))
    if found.row.verdict is None:
        return ()
    return (Ink("text", "  "), HASHES[found.row.verdict])


def _cells(count: int, all: int, width: int) -> int:
    return -(-width * count // all) if all else 0


def _bar(count: int, all: int, width: int) -> str:
    return BAR * _cells(count, all, width)


def _why(found: Found, name: str, outside: Outside) -> str:
    stages = STAGES.get(name, ())
    reasons = Counter(item.word("reason") or "?" for item in found.rejected if item.stage in stages)
    return " · ".join(f"{outside.line(reason, 24)} {count}" for reason, count in reasons.most_common(4))


def item_line(item: Item, room: int, outside: Outside) -> Line:
    """A candidate in a list."""
    score = item.score
    figure = "" if score is None else f"{score:.2f}".removeprefix("0")
    bar = left(SMALL * max(0, min(6, round(6 * (score or 0)))), 7)
    if item.seen is not None:
        tokens = number(item.body.get("tokens"))
        end: list[Ink] = [Ink("text", right("?" if tokens is None else figures.short(int(tokens)), 6) + " ")]
        end.append(hash_ink(item.seen.verdict))
        name, about = item.label, item.word("sourceRef") or "source not recorded"
        voice = "evidence"
    else:
        name, about = item.word("reason") or "?", item.word("sourceRef") or item.word("candidateId")
        end = [Ink("quiet", right(outside.line(item.stage, 10), 11))]
        voice = "gone"
    size = 14 if room < 60 else 18
    middle = (Ink("text", bar), Ink("text", right(figure, 4) + " ")) if room >= 48 and score is not None else ()
    left_over = room - size - 2 - width((*middle, *end))
    return (
        Ink(voice, left(outside.line(name, size), size) + " "),
        Ink("outside", left(outside.line(about, max(left_over, 4)), max(left_over, 4)) + " "),
        *middle,
        *end,
    )


def item_head(item: Item, found: Found, outside: Outside) -> list[Line]:
    """Everything about a candidate but its text."""
    word = item.word
    lines: list[Line] = [
        (
            Ink("evidence" if item.seen else "gone", outside.line(item.label) + "  "),
            Ink("outside", outside.line(word("sourceRef")) or "source not recorded"),
        ),
    ]
    facts = [
        word("evidenceKind"),
        word("source"),
        f"authority {word('authority')}" if word("authority") else "",
        word("trust"),
    ]
    version = word("sourceVersion")
    facts.append(f"version {version[:16]}" if version else "")
    lines.append((Ink("quiet", outside.line(" · ".join(fact for fact in facts if fact))),))
    if word("capturedAt"):
        lines.append((Ink("quiet", f"captured {outside.line(word('capturedAt'), 40)}"),))
    if item.seen is not None:
        lines.append((Ink("text", outside.line(word("selectedReason")) or "why it was chosen is not recorded"),))
        lines += _hash_lines(item.seen)
    else:
        reason = REASONS.get(word("reason"))
        meaning = f": {reason.words}" if reason else ""
        lines.append(
            (
                Ink("fails", f"turned away at {outside.line(item.stage, 20)}  "),
                Ink("text", outside.line(word("reason") or "?", 40) + meaning),
            )
        )
        if word("detail"):
            lines.append((Ink("text", outside.line(word("detail"))),))
    for finding in found.told_of(item):
        words = f"{WAYS[finding.way]}: {outside.line(finding.detail, 160)}"
        lines.append((Ink("quiet", f"· would mislead, {words}") if finding.caught else Ink("person", f"! {words}"),))
    lines += [(), *_scores(item, found), *_trimming(item, outside), ()]
    return lines


def _hash_lines(seen: recorded.Seen) -> list[Line]:
    mark = HASHES[seen.verdict]
    if seen.verdict == "differs":
        return [
            (mark, Ink("fails", ": " + HASH_VERDICTS["differs"])),
            (Ink("fails", f"  recorded {seen.expected}"),),
            (Ink("fails", f"  the text {seen.actual}"),),
        ]
    return [(mark, Ink("quiet", f"  {HASH_VERDICTS[seen.verdict]}"))]


def _scores(item: Item, found: Found) -> list[Line]:
    score = recorded.obj(item.body, "score")
    if not score:
        return [(Ink("unknown", "? no score recorded"),)]
    weights = recorded.obj(recorded.obj(found.body, "ranking"), "effectiveWeights")
    lines: list[Line] = []
    for part in PARTS:
        value = number(score.get(part))
        weight = number(weights.get(part))
        if value is None and part not in ("lexical", "semantic"):
            continue
        shown = Ink("unknown", right("–", 5)) if value is None else Ink("text", right(f"{value:.2f}", 5))
        bar = SMALL * max(0, min(10, round(10 * (value or 0))))
        said = f"× {weight:.2f}" if weight is not None else ""
        lines.append((Ink("quiet", left(part, 14)), shown, Ink("evidence", " " + left(bar, 11)), Ink("quiet", said)))
    total = item.score
    if total is not None:
        lines.append((Ink("head", left("total", 14)), Ink("head", right(f"{total:.2f}", 5))))
    return lines


def _trimming(item: Item, outside: Outside) -> list[Line]:
    trimming = recorded.obj(item.body, "trimming")
    if not trimming or item.body.get("shortened") is not True:
        return []
    kept = ", ".join(f"{part.get('from')}–{part.get('to')}" for part in recorded.objects(trimming, "kept"))
    cut = ", ".join(f"{part.get('from')}–{part.get('to')}" for part in recorded.objects(trimming, "cut"))
    before, after = trimming.get("tokensBefore"), trimming.get("tokensAfter")
    policy = outside.line(recorded.word(trimming, "policy") or "", 30)
    lines: list[Line] = [(Ink("person", f"! shortened ({policy}): {before} → {after} tokens"),)]
    lines.append((Ink("quiet", outside.line(f"kept bytes {kept or '?'} · cut bytes {cut or 'none'}", 200)),))
    return lines


def about(body: dict[str, Any], outside: Outside) -> Sequence[str]:
    """The scope and the plan of a snapshot, in words."""
    scope = recorded.obj(body, "scope")
    when = recorded.word(recorded.obj(scope, "timeBoundary"), "asOf")
    words = [
        recorded.word(scope, "purpose") or "purpose not recorded",
        f"project {scope['projectId']}" if recorded.word(scope, "projectId") else "",
        f"branch {scope['branch']}" if recorded.word(scope, "branch") else "",
        f"as of {when}" if when else "",
        f"turn {body['turnId']}" if recorded.word(body, "turnId") else "",
        f"request {body['modelRequestId']}" if recorded.word(body, "modelRequestId") else "request not recorded",
    ]
    return [outside.line(word, 44) for word in words if word]
