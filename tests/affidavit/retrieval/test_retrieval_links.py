"""From the source to what a model was given: every link with a verdict of its own."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from retrieval_story import STORY, found, run, scope

from affidavit.proof.verdict import text_hash
from affidavit.retrieval import recorded
from affidavit.retrieval.links import NAMES, block_link, difference, links_of
from affidavit.retrieval.record import snapshot_bytes

SOURCE = "".join(
    ["// a file of auth\n", *(f"const filler{n} = {n};\n" for n in range(80)), "expected role admin\n", "clé: ⟨x⟩\n"]
).encode()
FIRST = SOURCE.index(b"const filler0")
PART = SOURCE[FIRST:]


def recorded_line(**changes: Any) -> dict[str, Any]:
    """A snapshot of one item, cut and blackened, as it is recorded beside its block."""
    spot = PART.index(b"admin")
    candidate = found(
        "f",
        text=PART.decode(),
        source_ref="src/auth/session.ts:2-83",
        byte_range={"from": FIRST, "to": len(SOURCE)},
        source_digest=text_hash(SOURCE),
        permissions={"redactions": [{"from": spot, "to": spot + 5, "kind": "name", "rule": "names"}]},
    )
    retrieved = run(candidate, within=scope(budget={"max_tokens": 400, "per_item_max": 90}))
    return {"snapshot": orjson.loads(snapshot_bytes(retrieved.snapshot)), "block": retrieved.block.rendered, **changes}


def verdicts(line: dict[str, Any], **given: Any) -> dict[str, str]:
    item = recorded.objects(recorded.body_of(line), "selectedItems")[0]
    return {link.name: link.verdict for link in links_of(line, item, **given)}


def test_every_link_holds_from_the_source_to_the_model() -> None:
    line = recorded_line()
    assert line["snapshot"]["selectedItems"][0]["shortened"]
    given = {"source": SOURCE, "model_input": f"system\n{line['block']}\nuser"}
    assert verdicts(line, **given) == dict.fromkeys(NAMES, "match")
    assert block_link(line).verdict == "match"


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({"source": SOURCE.replace(b"expected", b"demanded")}, {"source", "kept"}),
        ({"source": SOURCE[:200]}, {"source", "kept"}),
        ({"model_input": "another input"}, {"modelInput"}),
    ],
)
def test_a_changed_end_of_the_chain_breaks_the_links_it_touches(changed: dict[str, Any], broken: set[str]) -> None:
    line = recorded_line()
    given = {"source": SOURCE, "model_input": line["block"], **changed}
    assert {name for name, verdict in verdicts(line, **given).items() if verdict == "differs"} == broken


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({"visibleText": "changed"}, {"kept", "visible", "block"}),
        ({"visibleTextHash": "sha256:" + "0" * 64}, {"visible"}),
        ({"trimming": {"of": "source", "kept": [{"from": FIRST, "to": FIRST + 5}]}}, {"kept"}),
        ({"redactions": []}, {"kept"}),
    ],
)
def test_a_changed_record_breaks_the_links_it_touches(changed: dict[str, Any], broken: set[str]) -> None:
    line = recorded_line()
    line["snapshot"]["selectedItems"][0].update(changed)
    found_out = verdicts(line, source=SOURCE, model_input=line["block"])
    assert {name for name, verdict in found_out.items() if verdict == "differs"} == broken


def test_what_is_not_recorded_is_said_and_not_found_fault_with() -> None:
    line = recorded_line()
    assert verdicts(line) == {
        "source": "text_missing",
        "kept": "text_missing",
        "visible": "match",
        "block": "match",
        "modelInput": "text_missing",
    }
    item = {"citationId": "a", "visibleText": "words"}
    assert {link.verdict for link in links_of({"snapshot": {}}, item)} == {"hash_not_recorded", "text_missing"}


def test_a_text_that_reads_the_same_in_the_input_is_told_apart_from_one_that_differs() -> None:
    line = recorded_line()
    assert verdicts(line, model_input=line["block"].replace("\n", "\r\n"))["modelInput"] == "line_ending_or_unicode"


def test_no_shape_of_a_foreign_item_raises() -> None:
    odd: list[Any] = [None, 7, "x", [], {}, [{"from": 3, "to": 1}], {"from": -1, "to": 9**9}, {"kept": [{"from": "a"}]}]
    for value in odd:
        item = dict.fromkeys(
            ("textRef", "trimming", "sourceRange", "redactions", "visibleText", "visibleTextHash"), value
        )
        assert len(links_of({"snapshot": {}, "block": "b"}, item, source=b"s", model_input="m")) == len(NAMES)


def test_a_difference_is_shown_line_by_line_with_its_surroundings() -> None:
    wanted = "".join(f"line {n}\n" for n in range(50))
    given = wanted.replace("line 20\n", "line twenty\n").replace("line 40\n", "line 40\r\n")
    lines = difference(wanted, given)
    assert [line.text for line in lines if line.sign == "-"] == ["line 20", "line 40"]
    assert [line.text for line in lines if line.sign == "+"] == ["line twenty", "line 40␍"]
    assert len(lines) < 20
    assert difference(wanted, wanted) == [] or all(line.sign == " " for line in difference(wanted, wanted))


def test_a_difference_is_bounded() -> None:
    lines = difference("a\n" * 100_000, "b\n" * 100_000, most=50)
    assert (len(lines), lines[-1].sign) == (51, "…")


def test_the_altered_text_of_a_whole_story_is_found_by_its_item() -> None:
    retrieved = run(*STORY)
    line = {"snapshot": retrieved.snapshot.as_json(), "block": retrieved.block.rendered}
    line["snapshot"]["selectedItems"][2]["visibleText"] += "and more"
    bad = [
        item["citationId"]
        for item in line["snapshot"]["selectedItems"]
        if any(link.verdict == "differs" for link in links_of(line, item))
    ]
    assert bad == [line["snapshot"]["selectedItems"][2]["citationId"]]


def test_in_a_block_that_was_altered_only_the_altered_text_is_at_fault() -> None:
    retrieved = run(*STORY)
    stored = orjson.loads(snapshot_bytes(retrieved.snapshot))
    line = {"snapshot": stored, "block": retrieved.block.rendered.replace("must not change", "must now change")}
    bad = {
        item["citationId"]: [link.name for link in links_of(line, item) if link.verdict == "differs"]
        for item in stored["selectedItems"]
    }
    assert bad.pop("rule#1") == ["visible"]
    assert set(map(tuple, bad.values())) == {()}
    assert block_link(line).verdict == "differs"
