"""Budget trimming and citation binding: the very texts that are handed over, their labels, hashes and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from affidavit.proof.verdict import text_hash
from affidavit.retrieval.blackening import Range, visible
from affidavit.retrieval.packing import Packed
from affidavit.retrieval.projection import bind_labels, prefix_of, project, reference
from affidavit.retrieval.record import selected_reason
from affidavit.retrieval.request import RetrievalBudget
from affidavit.retrieval.signals import Task
from affidavit.retrieval.snapshot import RetrievedContextBlock
from affidavit.retrieval.trimming import cut_ranges, keep_lines, worth
from affidavit.text.tokens import estimate_tokens


class Cut(NamedTuple):
    """What of a packed text is handed over; ``allowed``: the tokens it may take."""

    text: str
    kept: list[Range]
    allowed: int


def cut_all(
    packed: Sequence[Packed], chosen: Sequence[tuple[int, int]], policy: str, task: Task
) -> tuple[list[tuple[int, Cut]], list[int]]:
    """The chosen texts (places and tokens each may take) cut to size, and the places of which nothing fits.

    If nothing of one side of a conflict fits, no side is shown.
    """
    cuts = [(at, _cut(packed[at], tokens, policy, task)) for at, tokens in chosen]
    lost = {packed[at].found.group for at, cut in cuts if cut is None} - {None}
    fitting = [(at, cut) for at, cut in cuts if cut is not None and packed[at].found.group not in lost]
    taken = {at for at, _ in fitting}
    return fitting, [at for at, _ in cuts if at not in taken]


def _cut(one: Packed, tokens: int, policy: str, task: Task) -> Cut | None:
    """The text within the tokens it may take; ``None`` where nothing of it fits."""
    if not one.data:
        return None
    trusted = one.found.trust != "untrusted-observation"
    kept = keep_lines(one.data, one.redactions, tokens, policy, lambda line: worth(line, task), trusted=trusted)
    return Cut(visible(one.data, kept, one.redactions), kept, tokens) if kept else None


def bind(
    snapshot_id: str, chosen: Sequence[tuple[Packed, dict[str, Any], Cut]], budget: RetrievalBudget
) -> tuple[RetrievedContextBlock, list[dict[str, Any]]]:
    """The block, and the selected items with their labels, texts, hashes and places in it."""
    shown = [text for one, _, cut in chosen for text in (cut.text, reference(one.found))]
    labels = bind_labels([prefix_of(one.found) for one, _, _ in chosen], [snapshot_id, *shown])
    block, starts = project(
        snapshot_id,
        [(one.found, one.form, cut.text, label) for (one, _, cut), label in zip(chosen, labels, strict=True)],
        budget.max_tokens,
    )
    selected = []
    for (one, item, cut), label, start in zip(chosen, labels, starts, strict=True):
        selected.append(
            {
                **item,
                "id": f"{snapshot_id}/{label}",
                "selectedReason": selected_reason(one.found),
                "visibleText": cut.text,
                "visibleTextHash": text_hash(cut.text),
                "citationId": label,
                "form": one.form,
                "shortened": cut.kept != [(0, len(one.data))],
                "textRef": {"payload": block.visible_text_hash, "from": start, "to": start + len(cut.text.encode())},
                "trimming": _trimming(one, cut, budget.trimming_policy),
            }
        )
    return block, selected


def _trimming(one: Packed, cut: Cut, policy: str) -> dict[str, Any]:
    """Which bytes were kept and which cut, counted in the source where the text's place in it is known."""
    spot = one.found.candidate.byte_range
    base = spot.from_ if one.of == "source" and spot is not None else 0
    return {
        "policy": policy,
        "of": one.of,
        "kept": [{"from": base + a, "to": base + b} for a, b in cut.kept],
        "cut": [{"from": base + a, "to": base + b} for a, b in cut_ranges(cut.kept, len(one.data))],
        "tokensBefore": one.item["tokens"],
        "tokensAfter": estimate_tokens(cut.text),
        "allowed": cut.allowed,
    }
