"""The block a model is given: selected items only, each with its label, its trust and where it is from.

It reads nothing and knows nothing of candidates that were not selected. A text cannot pass for another: the label of an
item stands in no text of the block, and a text ends where its label closes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from affidavit.proof.verdict import text_hash
from affidavit.retrieval.frame import CLOSING, frame_tokens, title_of
from affidavit.retrieval.pool import Found
from affidavit.retrieval.snapshot import BlockItem, RetrievedContextBlock
from affidavit.retrieval.words import EVIDENCE_KINDS, Form
from affidavit.text.display import display

MAX_REF: Final = 160
"""Characters of a source reference that are shown to a model."""

_KIND_LABELS = {
    "code": "code",
    "test-log": "test-log",
    "doc": "doc",
    "memory": "memory",
    "session-event": "event",
    "decision-record": "decision",
}


def header(label: str, one: Found, form: Form) -> str:
    """The line before an item's text: its label, what it is, how far to trust it, where it is from."""
    kind = one.candidate.evidence_kind
    said = [kind if kind in EVIDENCE_KINDS else "item", form, f"authority {one.level}", f"trust {one.trust}"]
    if form == "conflict-notice":
        said += ["disputed", f"of {display((one.candidate.captured_at or 'unknown time')[:32])}"]
    said += [label for label in one.labels if label in ("stale", "unverified")]
    return f"[{label}] {', '.join(said)}; {reference(one)}\n"


def reference(one: Found) -> str:
    """A source reference as it is shown: one line, nothing hidden."""
    ref = display(one.candidate.source_ref)
    return ref if len(ref) <= MAX_REF else ref[: MAX_REF - 1] + "…"


def prefix_of(one: Found) -> str:
    """The word a label begins with. It helps the eye only; labels are never parsed."""
    kind, source = one.candidate.evidence_kind, one.candidate.source
    return "rule" if kind == "doc" and source == "team-rules" else _KIND_LABELS.get(kind, "item")


def bind_labels(prefixes: Sequence[str], texts: Sequence[str]) -> list[str]:
    """A label for each item, unique in one snapshot, such that none stands in any of ``texts``."""
    whole = "\n".join(texts)
    given: list[str] = []
    next_number: dict[str, int] = {}
    for prefix in prefixes:
        number = next_number.get(prefix, 0) + 1
        while f"{prefix}#{number}]" in whole:
            number += 1
        next_number[prefix] = number
        given.append(f"{prefix}#{number}")
    return given


def project(
    snapshot_id: str, chosen: Sequence[tuple[Found, Form, str, str]], max_tokens: int
) -> tuple[RetrievedContextBlock, list[int]]:
    """The block of selected items (candidate, form, visible text, label), and the byte where each text begins in it.

    Without items it is empty where not even its frame is within the budget. Its hash is over the UTF-8 of ``rendered``
    as it is, labels and all.
    """
    title = title_of(snapshot_id)
    written = [title, "\n\n"]
    starts: list[int] = []
    size = len(f"{title}\n\n".encode())
    for one, form, text, label in chosen:
        head, tail = header(label, one, form), ("" if text.endswith("\n") else "\n") + f"[/{label}]\n\n"
        starts.append(size + len(head.encode()))
        size += len(f"{head}{text}{tail}".encode())
        written += head, text, tail
    written += CLOSING, "\n"
    rendered = "".join(written) if chosen or frame_tokens(snapshot_id) <= max_tokens else ""
    block = RetrievedContextBlock(
        title=title,
        snapshot_id=snapshot_id,
        items=tuple(
            BlockItem(
                citation_id=label,
                authority=one.level,
                evidence_kind=one.candidate.evidence_kind,
                text=text,
                trust=one.trust,
                form=form,
                source_ref=one.candidate.source_ref,
                labels=one.labels,
            )
            for one, form, text, label in chosen
        ),
        closing=CLOSING,
        rendered=rendered,
        visible_text_hash=text_hash(rendered),
    )
    return block, starts
