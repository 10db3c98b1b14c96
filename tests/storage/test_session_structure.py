"""What records mean together: circles, forks, copies, pairs, tokens, lanes and times come out right in any order."""

from __future__ import annotations

import json
import random
from itertools import permutations
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import assert_holds, assert_same, dicts, events, imported, meaning, store_in, take, write

from affidavit.session.event import event_id
from storage.archive import Archive

Record = dict[str, Any]


def session(path: str) -> Record:
    (row,) = dicts(path, "SELECT * FROM session")
    return row


def branches(path: str) -> dict[str, int]:
    """Branch of each turn by the first words of its prompt."""
    query = "SELECT e.summary, t.branch FROM turn t JOIN event e ON e.n = t.n ORDER BY t.turn"
    return {row["summary"]: row["branch"] for row in dicts(path, query)}


def at(minute: int, second: int = 0) -> str:
    return f"2026-03-02T09:{minute:02d}:{second:02d}.000Z"


def id_of(record: str, path: str = "") -> int:
    return event_id("claude-code", log.SESSION, record, path)


# ------------------------------------------------------------------------------------------------ circles


@pytest.mark.parametrize("length", [1, 2, 3, 7, 500])
def test_a_circle_of_parents_is_cut_and_shown(tmp_path: Path, length: int) -> None:
    ring = [
        {**log.says(f"S{n}", id=f"m{n}"), "uuid": f"c{n}", "parentUuid": f"c{(n + 1) % length}", "timestamp": at(n)}
        for n in range(length)
    ]
    path, report = imported(tmp_path, log.lines([*log.chain(log.person("Begin", "p1")), *ring]))
    assert report.total("mapped") == length + 1
    shown = events(path)
    assert [row["summary"] for row in shown] == ["Begin", *(f"S{n}" for n in range(length))]
    flagged = [row for row in shown if "parent_cycle" in row["flags"]]
    assert len(flagged) == min(length, 2)
    assert not dicts(path, "SELECT * FROM awaited")
    with Archive.open(path) as archive:
        for row in shown:
            archive.children(row["n"])
    assert_holds(path)


def test_circles_that_share_a_record_and_circles_of_prompts_end(tmp_path: Path) -> None:
    records = [
        {**log.person(f"P{n}", f"p{n}"), "uuid": f"u{n}", "parentUuid": f"u{(n * 7 + 3) % 20}", "timestamp": at(n)}
        for n in range(20)
    ]
    path, _ = imported(tmp_path, log.lines(records))
    assert len(events(path)) == 20
    assert session(path)["turns"] == 20
    assert_holds(path)


def test_a_long_chain_read_backwards_costs_no_more_than_forwards(tmp_path: Path) -> None:
    records = log.chain(log.person("Begin", "p1"), *(log.says(f"S{n}", id=f"m{n}") for n in range(3_000)))
    path, _ = imported(tmp_path, log.lines(reversed(records)))
    shown = events(path)
    assert len(shown) == 3_001
    assert not [row for row in shown if "parent" in row["flags"]]
    assert_holds(path)


# -------------------------------------------------------------------------------------------------- forks


def test_two_children_of_one_prompt_are_both_shown_as_branches(tmp_path: Path) -> None:
    """Two processes went on from the same record; neither is marked a side chain."""
    start = log.chain(log.person("Begin", "p1"), log.says("Yes"))
    one = log.chain(log.person("One", "p2"), log.says("To one", id="m2"), start=10, after="r2")
    two = log.chain(log.person("Two", "p3"), log.says("To two", id="m3"), start=20, after="r2")
    path, _ = imported(tmp_path, log.lines([*start, *one, *two]))
    assert [row["summary"] for row in events(path)] == ["Begin", "Yes", "One", "To one", "Two", "To two"]
    assert branches(path) == {"Begin": 0, "One": 1, "Two": 0}
    assert session(path)["branches"] == 2
    assert not [row for row in events(path) if row["flags"]]


def test_branches_written_in_turns_stay_two(tmp_path: Path) -> None:
    """Flip-flop: the branch that was written last is the main chain, and no new ones come of it."""
    start = log.chain(log.person("Begin", "p1"), log.says("Yes"))
    one = log.chain(log.person("One", "p2"), *(log.says(f"A{n}", id=f"a{n}") for n in range(5)), start=10, after="r2")
    two = log.chain(log.person("Two", "p3"), *(log.says(f"B{n}", id=f"b{n}") for n in range(5)), start=30, after="r2")
    mixed = [record for pair in zip(one, two, strict=True) for record in pair]
    path, _ = imported(tmp_path, log.lines([*start, *mixed]))
    assert session(path)["branches"] == 2
    assert branches(path) == {"Begin": 0, "One": 1, "Two": 0}
    path, _ = imported(tmp_path / "other", log.lines([*start, *mixed[:-1]]))
    assert branches(path) == {"Begin": 0, "One": 0, "Two": 1}


def test_rewinds_of_rewinds_each_leave_a_branch(tmp_path: Path) -> None:
    a = log.chain(log.person("A", "pa"), log.says("a"), log.person("B", "pb"), log.says("b"), log.person("C", "pc"))
    b2 = log.chain(log.person("B2", "pb2"), log.says("b2"), log.person("C2", "pc2"), start=20, after="r2")
    c3 = log.chain(log.person("C3", "pc3"), log.says("c3"), start=30, after="r21")
    b4 = log.chain(log.person("B4", "pb4"), start=40, after="r2")
    path, _ = imported(tmp_path, log.lines([*a, *b2, *c3, *b4]))
    found = branches(path)
    assert {name for name, branch in found.items() if branch == 0} == {"A", "B4"}
    assert found["B"] == found["C"]
    assert found["B2"] == found["C3"]
    assert len({found["B"], found["C2"], found["B2"]}) == 3
    assert session(path)["branches"] == 4
    going_back = log.chain(log.says("!"), start=50, after="r31")
    back, _ = imported(tmp_path / "back", log.lines([*a, *b2, *c3, *b4, *going_back]))
    found = branches(back)
    assert {name for name, branch in found.items() if branch == 0} == {"A", "B2", "C3"}
    assert session(back)["branches"] == 4
    assert_holds(back)


def test_compaction_with_no_parent_drops_nothing(tmp_path: Path) -> None:
    """Thirty events with a boundary in their midst: a window of ten at a time reaches each once, in order of time."""
    before = log.chain(log.person("Begin", "p1"), *(log.says(f"S{n}", id=f"m{n}") for n in range(13)))
    boundary = log.chain(
        log.system("compact_boundary", content="Conversation compacted", compactMetadata={"trigger": "auto"}), start=15
    )
    after = log.chain(
        log.person("Being continued.", isCompactSummary=True), *(log.says(f"T{n}", id=f"t{n}") for n in range(14)),
        start=16, after="r15",
    )  # fmt: skip
    path, _ = imported(tmp_path, log.lines([*before, *boundary, *after]))
    with Archive.open(path) as archive:
        seen: list[Any] = []
        cursor = None
        while True:
            page = archive.events(1, cursor=cursor, limit=10)
            seen += page.rows
            if len(page.rows) < 10:
                break
            cursor = archive.cursor_of(page.rows[-1])
        assert len(seen) == 30
        assert len({row.key for row in seen}) == 30
        assert [row.at for row in seen] == sorted(row.at for row in seen)
        assert [row.kind for row in seen].index("compaction") == 14
    assert session(path)["turns"] == 1
    assert session(path)["branches"] == 1


# ------------------------------------------------------------------------------------------------- copies


def test_an_id_that_comes_four_times_is_one_event(tmp_path: Path) -> None:
    said = log.chain(log.person("Begin", "p1"), log.says("Yes"))
    other = {**said[1], "message": log.says("No")["message"]}
    path, report = imported(tmp_path, log.lines([said[0], *[said[1]] * 4, other, other]))
    assert (report.total("records"), report.total("mapped"), report.total("duplicates")) == (7, 3, 4)
    begin, yes, no = events(path)
    assert [(row["summary"], row["copies"], row["flags"]) for row in (begin, yes, no)] == [
        ("Begin", 1, ""),
        ("Yes", 4, "same_id_differs"),
        ("No", 2, "same_id_differs"),
    ]
    assert len({begin["id"], yes["id"], no["id"]}) == 3
    assert yes["id"] == id_of("r2")
    assert session(path)["events"] == 3
    assert_holds(path)


def test_a_thousand_contents_of_one_id_are_told_apart(tmp_path: Path) -> None:
    records = [{**log.says(f"S{n}", id=f"m{n}"), "uuid": "same", "timestamp": at(0)} for n in range(1_000)]
    path, report = imported(tmp_path, log.lines([*records, *records]))
    assert (report.total("mapped"), report.total("duplicates")) == (1_000, 1_000)
    assert len({row["id"] for row in events(path)}) == 1_000
    assert {row["copies"] for row in events(path)} == {2}


@pytest.mark.parametrize("count", [5_000])
def test_equal_records_without_an_id_are_events_each(tmp_path: Path, count: int) -> None:
    records = [log.flat("permission-mode", permissionMode="default")] * count
    path, report = imported(tmp_path, log.lines([*log.session(), *records]))
    assert report.total("duplicates") == 0
    assert len({row["id"] for row in events(path)}) == len(events(path)) == report.events
    assert dicts(path, "SELECT count FROM repeated") == [{"count": count}]


def test_copies_in_two_files_are_the_same_whichever_comes_first(tmp_path: Path) -> None:
    one = log.lines(log.session())
    two = log.lines([*log.session()[3:9], *log.chain(log.person("More", "p9"), start=40, after="r14")])
    seen = []
    for order in permutations([("a.jsonl", one), ("b.jsonl", two)]):
        folder = tmp_path / order[0][0]
        with store_in(folder) as store:
            for name, data in order:
                take(store, write(folder / "logs", data, name))
            found = events(store.path)
            seen.append(sorted((row["id"], row["summary"], row["copies"], row["kind"]) for row in found))
            assert_holds(store.path)
    assert seen[0] == seen[1]


# ------------------------------------------------------------------------------------------------- tokens


def test_tokens_count_once_a_message_and_the_last_report_wins(tmp_path: Path) -> None:
    lines = log.chain(
        log.person("Begin", "p1"),
        log.thinks("Hm", id="m1", usage=log.tokens(10, 1, 5, 3)),
        log.says("Well", id="m1", usage=log.tokens(10, 1, 5, 3)),
        log.calls("Bash", fields={"id": "m1", "usage": log.tokens(10, 384, 5, 3)}, command="ls"),
    )
    path, _ = imported(tmp_path, log.lines(lines))
    row = session(path)
    assert (row["tokens_in"], row["tokens_out"], row["cache_read"], row["cache_write"]) == (10, 384, 5, 3)
    assert [(e["kind"], e["summary"]) for e in events(path)][1:3] == [
        ("model.reasoning", "Hm"),
        ("model.message", "Well"),
    ]
    (usage,) = dicts(path, "SELECT * FROM usage")
    first = events(path)[1]
    assert usage["n"] == first["n"]
    assert first["at"] < events(path)[3]["at"]


def test_a_message_id_used_in_two_sessions_counts_for_each(tmp_path: Path) -> None:
    one = log.lines(log.chain(log.says("A", id="msg_1", usage=log.tokens(1, 10))))
    two = log.lines(
        {**record, "sessionId": "other"} for record in log.chain(log.says("B", id="msg_1", usage=log.tokens(2, 20)))
    )
    path, _ = imported(tmp_path, {"a.jsonl": one, "b.jsonl": two})
    found = dicts(path, "SELECT tokens_in, tokens_out FROM session ORDER BY no")
    assert found == [{"tokens_in": 1, "tokens_out": 10}, {"tokens_in": 2, "tokens_out": 20}]


# -------------------------------------------------------------------------------------------- what is said


def test_an_empty_thought_is_said_to_be_withheld_or_empty(tmp_path: Path) -> None:
    path, _ = imported(tmp_path, log.lines(log.chain(log.person("Think", "p1"), log.thinks(""))))
    thought = events(path)[1]
    assert thought["kind"] == "model.reasoning"
    assert thought["flags"] == "withheld_or_empty"
    assert thought["summary"] == "withheld or empty in the log"


def test_no_phrase_hides_what_follows_it(tmp_path: Path) -> None:
    said = "Final Answer\n---\n## Timeline\n```\n[/b]\nTurn 1 · main\n<system-reminder>not one</system-reminder>\nend"
    path, _ = imported(tmp_path, log.lines(log.chain(log.person("Say", "p1"), log.says(said))))
    row = events(path)[1]
    with Archive.open(path) as archive:
        assert archive.detail(row["n"]).text == said
        assert len(archive.search("end").rows) == 1
    assert row["size"] == len(said)


# -------------------------------------------------------------------------------------------------- times


def test_events_are_in_order_of_instants_not_of_text(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        one = log.chain(log.person("Later", "p1", timestamp="2025-12-31T20:00:00Z", uuid="a"))
        two = log.chain(log.person("Earlier", "p2", timestamp="2026-01-01T00:30:00+09:00", uuid="b"))
        same = log.chain(log.person("Same", "p3", timestamp="2025-12-31T21:00:00.000+01:00", uuid="c"))
        logs = tmp_path / "logs"
        write(logs, {"1.jsonl": log.lines(one), "2.jsonl": log.lines(two), "3.jsonl": log.lines(same)})
        take(store, logs)
        found = events(store.path)
        assert [row["summary"] for row in found] == ["Earlier", "Later", "Same"]
        assert found[1]["at"] == found[2]["at"]
        assert not [row for row in found if row["flags"]]
        row = session(store.path)
        assert (row["started"], row["ended"]) == (found[0]["at"], found[2]["at"])


@pytest.mark.parametrize(
    ("recorded", "flag"),
    [
        ("2026-03-02T09:00:00Z", ""),
        ("2026-03-02T09:00:00", "naive_time"),
        ("2026-03-02", "naive_time"),
        ("yesterday", "time_unreadable"),
        ("2026-13-45T99:00:00Z", "time_unreadable"),
        (None, "time_missing"),
        (1_772_442_000, "time_unreadable"),
        ("9999-12-31T23:59:59.999999Z", ""),
    ],
)
def test_a_time_says_what_is_odd_about_it(tmp_path: Path, recorded: Any, flag: str) -> None:
    path, _ = imported(tmp_path, log.lines(log.chain(log.person("When", "p1", timestamp=recorded))))
    (row,) = events(path)
    assert row["flags"] == flag
    assert (row["at"] is None) == (flag in ("time_missing", "time_unreadable"))
    assert_holds(path)


def test_order_in_a_file_is_kept_whatever_its_clock_does(tmp_path: Path) -> None:
    times = [at(5), at(3), None, at(4), at(6), at(1)]
    records = log.chain(*(log.says(f"S{n}", id=f"m{n}", timestamp=time) for n, time in enumerate(times)))
    path, _ = imported(tmp_path, log.lines(records))
    found = events(path)
    assert [row["summary"] for row in found] == [f"S{n}" for n in range(6)]
    assert [row["sort"] for row in found] == sorted(row["sort"] for row in found)


def test_a_result_before_its_call_by_the_clock_is_said_to_be_skewed(tmp_path: Path) -> None:
    records = log.chain(
        log.calls("Bash", "t1", {"timestamp": at(5)}, command="ls"), log.result("a", "t1", timestamp=at(4)),
        log.calls("Bash", "t2", {"timestamp": at(5)}, command="ls"), log.result("b", "t2", timestamp=at(5, 7)),
    )  # fmt: skip
    path, _ = imported(tmp_path, log.lines(records))
    skewed, fine = (row for row in events(path) if row["kind"] == "tool.finished")
    assert ("clock_skew" in skewed["flags"], skewed["millis"]) == (True, None)
    assert (fine["flags"], fine["millis"]) == ("", 7_000)


# -------------------------------------------------------------------------------------------------- pairs


def pairs(path: str) -> list[tuple[str, str | None]]:
    """(summary, summary of what it is paired with) of calls and results."""
    names = {row["n"]: row["summary"] for row in events(path)}
    return [
        (row["summary"], names.get(row["pair"]))
        for row in events(path)
        if row["kind"] in ("tool.intent", "tool.finished", "verification", "permission.decision")
    ]


def test_late_results_find_their_calls(tmp_path: Path) -> None:
    calls = [log.calls("Bash", f"t{n}", {"id": f"m{n}"}, command=f"echo {n}") for n in range(4)]
    results = [log.result(f"out {n}", f"t{n}") for n in (2, 0, 3, 1)]
    path, _ = imported(tmp_path, log.lines(log.chain(log.person("Go", "p1"), *calls, log.person("On", "p2"), *results)))
    found = dict(pairs(path))
    intents = [row["summary"] for row in events(path, "kind = 'tool.intent'")]
    assert [found[intent] for intent in intents] == ["out 0", "out 1", "out 2", "out 3"]
    assert all(found[found[intent]] == intent for intent in intents)
    assert not dicts(path, "SELECT * FROM open_call")
    assert not [row for row in events(path) if row["flags"]]


def test_a_result_before_its_call_is_joined_when_the_call_comes(tmp_path: Path) -> None:
    records = log.chain(
        log.person("Go", "p1"), log.result("1 failed", "t1", error=True), log.says("Hm"),
        log.calls("Bash", "t1", {"id": "m2"}, command="pytest -q"),
    )  # fmt: skip
    path, _ = imported(tmp_path, log.lines(records))
    result = events(path)[1]
    assert (result["kind"], result["ok"], result["flags"], result["tool"]) == ("verification", 0, "clock_skew", "Bash")
    assert session(path)["checked"] == "failed"


@pytest.mark.parametrize("early", [False, True])
def test_a_check_that_passed_is_summed_up_by_the_line_that_counts(tmp_path: Path, early: bool) -> None:
    out = "> app@1.0.0 test\n> vitest run\n\n      Tests  61 passed (61)\n   Duration  2.1s"
    pair = [log.calls("Bash", "t1", {"id": "m2"}, command="pnpm test"), log.result(out, "t1")]
    other = [log.calls("Bash", "t2", {"id": "m3"}, command="cat log"), log.result(out, "t2")]
    records = log.chain(log.person("Go", "p1"), *(reversed(pair) if early else pair), *other)
    path, _ = imported(tmp_path, log.lines(records))
    told = [row["summary"] for row in events(path, "kind IN ('verification', 'tool.finished')")]
    assert sorted(told) == ["> app@1.0.0 test", "Tests 61 passed (61)"]


def test_a_result_without_a_call_is_an_orphan_and_a_call_without_a_result_is_open(tmp_path: Path) -> None:
    records = log.chain(
        log.person("Go", "p1"), log.result("lost", "t1"), log.calls("Bash", "t2", {"id": "m2"}, command="ls")
    )  # fmt: skip
    path, _ = imported(tmp_path, log.lines(records))
    _, orphan, pending = events(path)
    assert (orphan["flags"], orphan["pair"]) == ("orphan_result", None)
    assert (pending["flags"], pending["pair"]) == ("", None)
    assert [row["early"] for row in dicts(path, "SELECT early FROM open_call ORDER BY n")] == [1, 0]


def test_calls_are_paired_across_files_and_imports_in_any_order(tmp_path: Path) -> None:
    records = log.session()
    seen = []
    for turn, order in enumerate(permutations(range(3))):
        folder = tmp_path / str(turn)
        with store_in(folder) as store:
            for part in order:
                data = log.lines(records[part * 5 : part * 5 + 5])
                take(store, write(folder / "logs", data, f"{part}.jsonl"))
            found = events(store.path)
            names = {row["n"]: row["id"] for row in found}
            seen.append([(row["id"], row["kind"], names.get(row["pair"]), row["ok"]) for row in found])
            assert_holds(store.path)
    assert all(one == seen[0] for one in seen)


# -------------------------------------------------------------------------------------------------- lanes


def nested(depth: int) -> dict[str, bytes]:
    """A session whose sub-agents start sub-agents, each in a file of its own."""
    folder = f"-home-ada-acme/{log.SESSION}"
    found: dict[str, bytes] = {}
    for level in range(depth + 1):
        start = 10 * level + 1
        records = log.chain(
            log.person(f"Task {level}", promptId="p1") if level else log.person("Task 0", "p1"),
            *(
                (
                    log.calls("Agent", f"call{level}", {"id": f"m{level}"}, description="deeper", prompt="Go deeper."),
                    log.result("Done.", f"call{level}", twin={"status": "completed", "agentId": f"lane{level + 1}"}),
                )
                if level < depth
                else (log.says("The bottom.", id=f"m{level}"),)
            ),
            log.says(f"Back at {level}", id=f"n{level}"),
            start=start,
        )
        if level:
            records = [log.in_helper(one, f"lane{level}") for one in records]
        name = f"{folder}/subagents/agent-lane{level}.jsonl" if level else f"{folder}.jsonl"
        found[name] = log.lines(records)
    return found


def test_lanes_five_deep_come_out_alike_in_any_order_of_files(tmp_path: Path) -> None:
    files = nested(5)
    seen = None
    orders = list(permutations(files))
    for number, order in enumerate([list(files), list(reversed(files)), *random.Random(4).sample(orders, 6)]):
        folder = tmp_path / str(number)
        logs = folder / "logs"
        write(logs, files)
        with store_in(folder) as store:
            for name in order:
                take(store, logs / name)
            path = store.path
            with Archive.open(path) as archive:
                depths = {row.name: row.depth for row in archive.lanes(1)}
            assert depths == {"": 0, **{f"lane{level}": level for level in range(1, 6)}}
            assert {row["turn"] for row in dicts(path, "SELECT turn FROM lane WHERE lane > 0")} == {1}
            found = meaning(path)
            del found["source"]
            if seen is None:
                seen = found
            assert_same(seen, found)
            assert_holds(path)
            row = session(path)
            assert (row["lanes"], row["turns"], row["branches"], row["events"]) == (6, 1, 1, 23)
            actors = {(event["lane"] > 0, event["actor"]) for event in events(path, "kind = 'model.message'")}
            assert actors == {(False, "agent"), (True, "subagent")}


def test_a_lane_that_says_it_started_itself_or_its_starter_hangs_once(tmp_path: Path) -> None:
    own = [
        {"type": "session.event", "session": "s", "kind": "tool.intent", "id": "a", "lane": "x", "spawns": "x"},
        {"type": "session.event", "session": "s", "kind": "tool.intent", "id": "b", "lane": "x", "spawns": "y"},
        {"type": "session.event", "session": "s", "kind": "tool.intent", "id": "c", "lane": "y", "spawns": "x"},
        {"type": "session.event", "session": "s", "kind": "tool.intent", "id": "d", "spawns": "x"},
        {"type": "session.event", "session": "s", "kind": "tool.intent", "id": "e", "spawns": "y"},
    ]
    path, _ = imported(tmp_path, b"".join(json.dumps(one).encode() + b"\n" for one in own))
    lanes = {row["name"]: row for row in dicts(path, "SELECT * FROM lane")}
    assert lanes["x"]["parent"] == 0
    assert lanes["y"]["parent"] == lanes["x"]["lane"]
    with Archive.open(path) as archive:
        assert {row.name: row.depth for row in archive.lanes(1)} == {"": 0, "x": 1, "y": 2}
    assert_holds(path)


def test_many_sub_agents_cost_no_more_each(tmp_path: Path) -> None:
    own = [{"type": "session.event", "session": "s", "kind": "user.message", "id": "u", "text": "Go"}]
    for n in range(3_000):
        own.append({**own[0], "kind": "tool.intent", "id": f"i{n}", "spawns": f"l{n}"})
        own.append({**own[0], "kind": "note", "id": f"n{n}", "lane": f"l{n}"})
    path, _ = imported(tmp_path, b"".join(json.dumps(one).encode() + b"\n" for one in own))
    assert session(path)["lanes"] == 3_001
    assert_holds(path)


def test_records_named_before_they_came_cost_no_more_at_the_end_of_a_long_chain(tmp_path: Path) -> None:
    """Each may close a circle with any record before it; how far that is looked for has an end."""
    chain = log.chain(log.person("Begin", "p1"), *(log.says(f"S{n}", id=f"m{n}") for n in range(4_000)))
    said = {**log.says("again"), "timestamp": at(0)}
    early = [{**said, "uuid": f"k{n}", "parentUuid": f"x{n}"} for n in range(100)]
    late = [{**said, "uuid": f"x{n}", "parentUuid": chain[-1]["uuid"]} for n in range(100)]
    path, report = imported(tmp_path, log.lines([*chain, *early, *late]))
    assert report.events == 4_201
    assert not [row for row in events(path) if "parent" in row["flags"]]
    assert_holds(path)
