"""Older generations of Claude Code, and what it keeps beside its logs: as stores show them once they are taken."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from kept import Clock, assert_holds, assert_same, dicts, events, imported, meaning, rows, store_in, take, write

from affidavit.session.event import session_uid
from storage import importing
from storage.archive import Archive
from storage.importing import Importer
from storage.readers.claude_code import ClaudeCode
from storage.rebuild import rebuild
from storage.verify import verify
from tests.storage import claude_fixtures as log

OLD = "1.0.71"


def old(one: log.Record, **fields: Any) -> log.Record:
    """The record as version 1.0 wrote it."""
    return {**one, "version": OLD, **fields}


def side(one: log.Record, **fields: Any) -> log.Record:
    """The record of a sub-agent as version 1.0 wrote it: between the others, naming no agent."""
    return old(one, isSidechain=True, **fields)


# ------------------------------------------------------------------------------------ sub-agents in one file


def task(call: str, prompt: str, about: str, **fields: Any) -> log.Record:
    given = {"subagent_type": "general-purpose", "description": about, "prompt": prompt}
    return old(log.calls("Task", call, {"id": f"m-{call}"}, **given), **fields)


def together() -> list[log.Record]:
    """Two sub-agents that ran at the same time, their records mixed between the main agent's."""
    return log.chain(
        old(log.person("Look at both.")),
        task("call-a", "Look at the tests.", "tests"),
        task("call-b", "Look at the docs.", "docs"),
        side(log.person("Look at the tests."), uuid="a1"),
        side(log.person("Look at the docs."), uuid="b1"),
        side(log.calls("Grep", "grep-a", {"id": "m-a"}, pattern="it("), uuid="a2", parentUuid="a1"),
        side(log.says("Docs are thin.", id="m-b"), uuid="b2", parentUuid="b1"),
        side(log.result("3 files", "grep-a"), uuid="a3", parentUuid="a2"),
        side(log.says("Tests are fine.", id="m-a2"), uuid="a4", parentUuid="a3"),
        old(log.result("Docs are thin.", "call-b"), parentUuid="r3"),
        old(log.result("Tests are fine.", "call-a")),
        old(log.says("Write docs.", id="m-end")),
    )


def fixed_roots(records: list[log.Record]) -> list[log.Record]:
    """The chain with the sub-agents' first records following nothing."""
    return [{**one, "parentUuid": None} if one.get("uuid") in ("a1", "b1") else one for one in records]


def test_sub_agents_in_one_file_are_lanes_of_their_own_hung_on_the_calls_that_started_them(tmp_path: Path) -> None:
    path, report = imported(tmp_path, log.lines(fixed_roots(together())))
    assert (report.total("unknown"), report.total("unreadable")) == (0, 0)
    lanes = {row["name"]: row for row in dicts(path, "SELECT * FROM lane WHERE lane > 0")}
    assert {name: (row["title"], row["events"], row["parent"], row["turn"]) for name, row in lanes.items()} == {
        "a1": ("general-purpose: tests", 4, 0, 1),
        "b1": ("general-purpose: docs", 2, 0, 1),
    }
    started = {row["name"]: rows(path, "SELECT text_of.summary FROM event text_of WHERE n = ?", (row["spawn"],))[0][0]
               for row in lanes.values()}  # fmt: skip
    assert started == {"a1": "tests", "b1": "docs"}
    assert [event["summary"] for event in events(path, "lane = 0 AND kind = 'model.message'")] == ["Write docs."]
    assert_holds(path)


def test_two_sub_agents_told_the_same_hang_on_a_call_each(tmp_path: Path) -> None:
    told = "Review it."
    records = log.chain(
        old(log.person("Review twice.")),
        task("call-a", told, "one"),
        task("call-b", told, "two"),
        side(log.person(told), uuid="a1"),
        side(log.says("Fine.", id="m-a"), uuid="a2", parentUuid="a1"),
        side(log.person(told), uuid="b1"),
        side(log.says("Not fine.", id="m-b"), uuid="b2", parentUuid="b1"),
    )
    path, _ = imported(tmp_path, log.lines(fixed_roots(records)))
    lanes = dicts(path, "SELECT * FROM lane WHERE lane > 0 ORDER BY lane")
    assert [(row["title"], row["events"]) for row in lanes] == [
        ("general-purpose: one", 2),
        ("general-purpose: two", 2),
    ]
    assert len({row["spawn"] for row in lanes}) == 2


def test_a_sub_agents_record_whose_beginning_is_lost_is_told_apart_from_the_main_agents(tmp_path: Path) -> None:
    records = log.chain(
        old(log.person("Go.")),
        side(log.says("Somewhere in the middle.", id="m"), uuid="x", parentUuid="lost"),
        old(log.says("Done.", id="m2")),
    )
    path, _ = imported(tmp_path, log.lines(records))
    (lane,) = dicts(path, "SELECT * FROM lane WHERE lane > 0")
    assert (lane["name"], lane["spawn"], lane["events"]) == ("sidechain", None, 1)


def test_sub_agents_in_one_file_come_out_alike_read_at_once_and_as_the_file_grows(tmp_path: Path) -> None:
    whole = log.lines(fixed_roots(together()))
    path, _ = imported(tmp_path / "once", whole)
    at_once = meaning(path)
    cuts = [place + 1 for place, byte in enumerate(whole) if byte == 10]
    with store_in(tmp_path, "grown.db") as store:
        for cut in cuts:
            take(store, write(tmp_path / "once" / "logs", whole[:cut]))
        grown = meaning(store.path)
        assert_holds(store.path)
    assert_same(at_once, grown)


# ------------------------------------------------------------------------- summaries that stand in other files


def talk(session: str, *said: str) -> list[log.Record]:
    """A session of one prompt and some answers, its records named after it."""
    return [
        {**one, "sessionId": session, "uuid": f"{session}-{one['uuid']}", "parentUuid": one["parentUuid"] and
         f"{session}-{one['parentUuid']}"}
        for one in log.chain(old(log.person(f"Prompt of {session}")), *(old(log.says(text)) for text in said))
    ]  # fmt: skip


def summary(text: str, leaf: str) -> log.Record:
    return {"type": "summary", "summary": text, "leafUuid": leaf}


def titles(path: str) -> dict[str, str]:
    return {row["native"]: row["title"] for row in dicts(path, "SELECT native, title FROM session")}


SUMMARISED = {
    "one.jsonl": [summary("Of the second", "two-r3"), *talk("one", "a", "b")],
    "two.jsonl": [summary("Of nobody", "gone"), *talk("two", "a", "b")],
    "three.jsonl": [
        summary("Of the first, at its end", "one-r3"),
        summary("Of the first, half way", "one-r2"),
        *talk("three", "a"),
    ],
}


def test_a_summary_is_the_title_of_the_session_it_points_into_whichever_is_read_first(tmp_path: Path) -> None:
    seen = None
    for number, order in enumerate(permutations(SUMMARISED)):
        logs = tmp_path / str(number) / "logs"
        write(logs, {name: log.lines(records) for name, records in SUMMARISED.items()})
        with store_in(tmp_path / str(number)) as store:
            for name in order:
                take(store, logs / name)
            assert titles(store.path) == {
                "one": "Of the first, at its end",
                "two": "Of the second",
                "three": "Prompt of three",
            }
            found = meaning(store.path)
            assert_holds(store.path)
        del found["source"]
        seen = seen or found
        assert_same(seen, found)


def test_a_summary_titles_every_session_that_holds_its_record_also_when_importers_take_turns(tmp_path: Path) -> None:
    copied = [{**one, "sessionId": "resumed"} for one in talk("one", "a")]
    logs = tmp_path / "logs"
    write(logs, {"one.jsonl": log.lines(talk("one", "a")), "resumed.jsonl": log.lines(copied)})
    write(logs, {"later.jsonl": log.lines([summary("Both", "one-r2"), *talk("later", "x")])})
    with store_in(tmp_path) as store, store_in(tmp_path) as other:
        take(store, logs / "one.jsonl")
        take(other, logs / "later.jsonl")
        take(store, logs / "resumed.jsonl")
        assert titles(store.path) == {"one": "Both", "resumed": "Both", "later": "Prompt of later"}
        assert_holds(store.path)


def test_a_persons_or_the_clients_title_counts_more_than_a_summary(tmp_path: Path) -> None:
    named = [*talk("one", "a"), {"type": "custom-title", "customTitle": "Mine", "sessionId": "one"}]
    path, _ = imported(tmp_path, log.lines([summary("Told", "one-r2"), *named]))
    assert titles(path) == {"one": "Mine"}


def test_many_summaries_of_many_sessions_cost_what_they_are(tmp_path: Path) -> None:
    """Each session has a summary in the next one's file; what is looked up grows with them, not with their product."""
    counts = []
    for many in (40, 160):
        files = {}
        for number in range(many):
            said = log.chain(log.person("Hello"), log.says("Yes", id=f"m{number}"))
            mine = [{**one, "uuid": f"{one['uuid']}-{number}", "sessionId": f"session-{number}"} for one in said]
            mine[1]["parentUuid"] = mine[0]["uuid"]
            told = {"type": "summary", "summary": f"Of {number + 1}", "leafUuid": f"r2-{(number + 1) % many}"}
            files[f"{number:04d}.jsonl"] = log.lines([told, *mine])
        write(tmp_path / str(many), files)
        asked = 0
        with store_in(tmp_path, f"{many}.db") as store:
            importer = Importer(store, clock=Clock())
            hold, places = importer.fold.known.holders, importer.fold.known.places

            def counted(ids: Any, ask: Any) -> Any:
                nonlocal asked
                asked += len(ids)
                return ask(ids)

            importer.fold.known.holders = lambda ids, ask=hold: counted(ids, ask)  # type: ignore[method-assign]
            importer.fold.known.places = lambda ids, ask=places: counted(ids, ask)  # type: ignore[method-assign]
            importer.paths([str(tmp_path / str(many))])
            titles = rows(store.path, "SELECT title FROM session ORDER BY no")
            assert len({title for (title,) in titles}) == many
            assert all(title.startswith("Of ") for (title,) in titles)
            assert_holds(store.path)
        counts.append(asked)
    assert counts[1] < counts[0] * 4 * 1.5, counts


def test_an_index_of_holders_that_was_changed_is_found(tmp_path: Path) -> None:
    for number, change in enumerate(("DELETE FROM ix_holder", "UPDATE ix_holder SET record = record + 1")):
        path, _ = imported(tmp_path / str(number), log.lines(log.session()))
        with store_in(tmp_path / str(number)) as store:
            store.connection.execute(change)
        assert {(failure.kind, failure.address) for failure in verify(path).failures} == {("index", "table/ix_holder")}


def test_a_file_of_nothing_but_summaries_is_no_session_of_its_own_in_the_list(tmp_path: Path) -> None:
    path, report = imported(
        tmp_path, {"a.jsonl": log.lines([summary("Told", "one-r2")]), "one.jsonl": log.lines(talk("one", "a"))}
    )
    assert report.total("mapped") == 3
    with Archive.open(path) as archive:
        assert [(row.title, row.events) for row in archive.sessions().rows] == [("Told", 2)]


# ------------------------------------------------------------------- sub-agents beside, and what told of them


def cancelled() -> dict[str, list[log.Record]]:
    """A sub-agent whose call failed: only progress, or the note beside its log, says which call started it."""
    folder = f"-home-ada-acme/{log.SESSION}"
    nested = log.in_helper(log.says("Looking.", id="msg_8", uuid="h2", parentUuid="h1"))
    main = log.chain(
        log.person("Find it.", "p1"),
        log.calls("Agent", "toolu_1", description="find", subagent_type="Explore", prompt="Find it."),
        log.record(
            "progress",
            data={"type": "agent_progress", "agentId": log.HELPER, "prompt": "Find it.", "message": nested},
            toolUseID="agent_msg_1",
            parentToolUseID="toolu_1",
        ),
        log.result("Error: cancelled", "toolu_1", error=True, twin="Error: cancelled"),
        log.says("It was cancelled.", id="msg_9"),
    )
    helper = [{**nested, "timestamp": "2026-03-02T09:00:03.500Z"}]
    about = {"agentType": "Explore", "description": "find", "toolUseId": "toolu_1"}
    return {
        f"{folder}.jsonl": main,
        f"{folder}/subagents/agent-{log.HELPER}.jsonl": helper,
        f"{folder}/subagents/agent-{log.HELPER}.meta.json": [about],
    }


@pytest.mark.parametrize("told_by", ["progress", "note", "both"])
def test_a_sub_agent_whose_call_failed_hangs_on_it_whichever_file_is_read_first(tmp_path: Path, told_by: str) -> None:
    files = cancelled()
    main = next(iter(files))
    if told_by == "progress":
        del files[next(name for name in files if name.endswith(".meta.json"))]
    if told_by == "note":
        files[main] = [
            {**one, "parentUuid": "r2"} if one.get("uuid") == "r4" else one
            for one in files[main]
            if one["type"] != "progress"
        ]
    seen = None
    for number, order in enumerate(permutations(files)):
        logs = tmp_path / str(number) / "logs"
        write(logs, {name: log.lines(records) for name, records in files.items()})
        with store_in(tmp_path / str(number)) as store:
            for name in order:
                take(store, logs / name)
            (lane,) = dicts(store.path, "SELECT * FROM lane WHERE lane > 0")
            (call,) = events(store.path, "kind = 'tool.intent'")
            assert (lane["name"], lane["spawn"], lane["turn"], lane["events"]) == (log.HELPER, call["n"], 1, 1)
            found = meaning(store.path)
            assert_holds(store.path)
        del found["source"]
        seen = seen or found
        assert_same(seen, found)


def test_what_progress_tells_of_a_sub_agent_is_shown_where_its_own_log_is_missing(tmp_path: Path) -> None:
    path, report = imported(tmp_path, log.lines(next(iter(cancelled().values()))))
    assert (report.total("mapped"), report.events) == (5, 5)
    (result,) = events(path, "kind = 'tool.finished'")
    assert (result["turn"], result["lane"], result["flags"]) == (1, 0, "")
    (lane,) = dicts(path, "SELECT * FROM lane WHERE lane > 0")
    (told,) = events(path, "lane > 0")
    assert (told["kind"], told["summary"], told["flags"]) == ("model.message", "Looking.", "progress")
    assert (lane["name"], lane["events"], lane["told"]) == (log.HELPER, 1, 1)
    assert dicts(path, "SELECT lanes, tokens_out FROM session") == [{"lanes": 2, "tokens_out": 2}]
    assert_holds(path)
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        (detail,) = [one for one in archive.iter_events(session.key) if one.row.key == told["n"]]
    assert detail.text == "Looking."


def many() -> dict[str, list[log.Record]]:
    """The same with more of both: calls and results that failed, and a second sub-agent without a log of its own."""
    files = cancelled()
    main, own = list(files)[:2]
    asked = log.in_helper(log.calls("Bash", "toolu_9", {"id": "msg_7", "uuid": "h3", "parentUuid": "h2"}, command="ls"))
    failed = log.in_helper(log.result("No", "toolu_9", error=True, uuid="h4", parentUuid="h3"))
    at = "2026-03-02T09:00:03.000Z"
    nested = [
        log.record("progress", uuid=f"q{number}", parentUuid="r3", parentToolUseID="toolu_1", timestamp=at,
                   data={"type": "agent_progress", "agentId": agent, "message": one})
        for number, (agent, one) in enumerate([(log.HELPER, asked), (log.HELPER, failed), ("other", asked)])
    ]  # fmt: skip
    files[main][3:3] = nested
    files[own] += [asked, failed]
    return files


@pytest.mark.parametrize("batch", [1, 4_000])
def test_what_progress_tells_gives_way_to_the_sub_agents_own_log_whichever_is_read_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(importing, "BATCH_RECORDS", batch)
    files = many()
    seen = None
    for number, order in enumerate(permutations(files)):
        logs = tmp_path / str(number) / "logs"
        write(logs, {name: log.lines(records) for name, records in files.items()})
        with store_in(tmp_path / str(number)) as store:
            for name in order:
                take(store, logs / name)
            found = meaning(store.path)
            assert_holds(store.path)
            rebuild(store)
            assert_same(found, meaning(store.path))
            assert [row["flags"] for row in events(store.path, "lane > 0") if "progress" in row["flags"]] == [
                "progress"
            ]
            assert dicts(store.path, "SELECT lanes, problems FROM session") == [{"lanes": 3, "problems": 2}]
        del found["source"]
        seen = seen or found
        assert_same(seen, found)


# ------------------------------------------------------------------------------------- forks and their history


def test_history_a_fork_began_with_is_marked_inherited_and_costs_nothing_in_it(tmp_path: Path) -> None:
    original = log.chain(log.person("Begin.", "p1"), log.says("Begun.", id="m1", usage=log.tokens(5, 7)))
    copied = [
        {
            **one,
            "sessionId": "fork",
            "uuid": f"f-{one['uuid']}",
            "parentUuid": one["parentUuid"] and f"f-{one['parentUuid']}",
            "forkedFrom": {"sessionId": log.SESSION, "messageUuid": one["uuid"]},
        }
        for one in original
    ]
    own = [
        {**one, "sessionId": "fork"}
        for one in log.chain(
            log.person("Go on.", "p2"), log.says("Gone on.", id="m2", usage=log.tokens(3, 2)), start=11, after="f-r2"
        )
    ]
    path, _ = imported(tmp_path, {"a.jsonl": log.lines(original), "fork.jsonl": log.lines([*copied, *own])})
    fork, whole = dicts(path, "SELECT * FROM session ORDER BY native = 'fork' DESC")
    assert (fork["tokens_out"], whole["tokens_out"], fork["turns"]) == (2, 7, 2)
    assert json.loads(fork["state"])["facts"]["forked_from"] == log.SESSION
    flags = [event["flags"] for event in events(path, f"session = {fork['no']}")]
    assert flags == ["inherited", "inherited", "", ""]
    assert_holds(path)


# -------------------------------------------------------------------------------- what lies beside the sessions


def typed(text: str, at: int = 1_772_442_001_000, project: str = "/home/ada/acme", **fields: Any) -> log.Record:
    return {"display": text, "pastedContents": {}, "timestamp": at, "project": project, **fields}


def test_the_history_is_a_session_of_prompts_for_each_project(tmp_path: Path) -> None:
    pasted = {
        "1": {"id": 1, "type": "text", "content": "a long log"},
        "2": {"id": 2, "type": "text", "contentHash": "abc123"},
    }
    history = [
        typed("Fix the test.", sessionId=log.SESSION),
        typed("Read [Pasted text #1 +9 lines]", 1_772_442_002_000, pastedContents=pasted),
        typed("Elsewhere.", 1_772_442_003_000, "/home/ada/other"),
        typed("Fix the test.", 1_772_442_004_000),
    ]
    path, report = imported(tmp_path, log.lines(history), "history.jsonl")
    assert (report.total("mapped"), report.total("unknown")) == (4, 0)
    sessions = dicts(path, "SELECT * FROM session ORDER BY no")
    assert [(row["title"], row["turns"], row["cwd"]) for row in sessions] == [
        ("Prompts typed in acme", 3, "/home/ada/acme"),
        ("Prompts typed in other", 1, "/home/ada/other"),
    ]
    assert {event["kind"] for event in events(path)} == {"user.message"}
    assert not any(event["flags"] for event in events(path))
    with Archive.open(path) as archive:
        (first, second, _) = archive.iter_events(sessions[0]["no"])
        assert first.refs == (f"session/{session_uid('claude-code', log.SESSION)}",)
        assert second.text == "Read [Pasted text #1 +9 lines]\n\n[1]\na long log\n\n[2]\n[kept apart as abc123]"
        assert archive.session(sessions[0]["no"]).started is not None
    assert_holds(path)


def test_another_agents_history_is_not_taken_for_it() -> None:
    assert ClaudeCode().claims("history.jsonl", [{"session_id": "s", "ts": 1772442001, "text": "Fix it."}]) == 0


def backup(name: str | None, time: str) -> log.Record:
    return {"backupFileName": name, "version": 1, "backupTime": f"2026-03-02T{time}Z"}


def snapshot(update: bool, time: str, **backups: log.Record) -> log.Record:
    about = {"messageId": "r1", "trackedFileBackups": backups, "timestamp": f"2026-03-02T{time}Z"}
    return {"type": "file-history-snapshot", "messageId": "r1", "isSnapshotUpdate": update, "snapshot": about}


def test_versions_of_files_put_aside_are_told_once_with_their_paths(tmp_path: Path) -> None:
    first, new, later = (
        backup("5a07dccb@v1", "09:00:01.500"), backup(None, "09:00:01.600"), backup("9eb90f14@v1", "09:20:00.000")
    )  # fmt: skip
    snapshots = [
        snapshot(False, "09:00:01.000"),
        snapshot(True, "09:00:01.000", **{"src/a.py": first, "src/new.py": new}),
        snapshot(False, "09:10:00.000", **{"src/a.py": first, "src/new.py": new}),
        snapshot(True, "09:10:00.000", **{"src/a.py": first, "src/new.py": new, "src/b.py": later}),
    ]
    path, report = imported(tmp_path, log.lines([*log.chain(log.person("Go.", "p1")), *snapshots]))
    assert (report.total("mapped"), report.events) == (5, 3)
    told = events(path, "kind = 'lifecycle'")
    assert [(event["summary"], event["turn"], event["flags"]) for event in told] == [
        ("2 file versions kept", 1, ""),
        ("a file version kept: src/b.py: 9eb90f14@v1, 2026-03-02T09:20:00.000Z; 2 kept before", 1, ""),
    ]
    with Archive.open(path) as archive:
        (_, kept, _) = archive.iter_events(told[0]["session"])
    assert kept.refs == ("src/a.py", "src/new.py")
    assert kept.text == (
        "src/a.py: 5a07dccb@v1, 2026-03-02T09:00:01.500Z\n"
        "src/new.py: nothing: the file was not there, 2026-03-02T09:00:01.600Z"
    )


def test_what_becomes_of_a_task_is_told_in_one_line() -> None:
    def told(tool: str, **given: Any) -> str | None:
        (draft,) = ClaudeCode().read(log.calls(tool, **given), (None, "")).drafts
        return draft.summary

    assert told("TaskCreate", subject="Look", description="Look around", activeForm="Looking") == "Look around"
    assert told("TaskUpdate", taskId="3", status="completed") == "task 3: completed"
    assert told("TaskUpdate", taskId="3", addBlockedBy=["2"]) == "task 3"


# ------------------------------------------------------------------------------------------- where lanes stand


def placed(helper: str, **fields: Any) -> bytes:
    return log.lines(
        log.in_helper(one, helper)
        for one in log.chain(log.person("Look."), log.says("Looked.", id=f"m-{helper}"), start=21, **fields)
    )


@pytest.mark.parametrize(
    "place",
    [
        "-home-ada-acme/agent-{}.jsonl",
        "-home-ada-acme/{session}/subagents/agent-{}.jsonl",
        "-home-ada-acme/{session}/subagents/workflows/wf_1/agent-{}.jsonl",
    ],
)
def test_sub_agents_are_lanes_of_their_session_wherever_a_version_put_their_files(tmp_path: Path, place: str) -> None:
    helper = "a1b2c3d4"
    main = log.chain(
        log.person("Look.", "p1"),
        log.calls("Task", "toolu_1", prompt="Look."),
        log.result("Looked.", "toolu_1", twin={"status": "completed", "agentId": helper}),
    )
    files = {
        f"-home-ada-acme/{log.SESSION}.jsonl": log.lines(main),
        place.format(helper, session=log.SESSION): placed(helper),
    }
    if "workflows" in place:
        journal = [{"type": "started", "key": "v2:k", "agentId": helper}]
        journal.append({"type": "result", "key": "v2:k", "agentId": helper, "result": {"found": 3}})
        files[place.format("", session=log.SESSION).rpartition("/")[0] + "/journal.jsonl"] = log.lines(journal)
    seen = None
    for number, order in enumerate(permutations(files)):
        logs = tmp_path / str(number) / "logs"
        write(logs, files)
        with store_in(tmp_path / str(number)) as store:
            for name in order:
                assert take(store, logs / name).total("unknown") == 0
            (session,) = dicts(store.path, "SELECT * FROM session")
            assert (session["native"], session["events"], session["lanes"]) == (log.SESSION, 5, 2)
            (lane,) = dicts(store.path, "SELECT * FROM lane WHERE lane > 0")
            (call,) = events(store.path, "kind = 'tool.intent'")
            assert (lane["name"], lane["spawn"], lane["turn"]) == (helper, call["n"], 1)
            found = meaning(store.path)
            assert_holds(store.path)
        del found["source"]
        seen = seen or found
        assert_same(seen, found)
