"""One session in several files, at several moments, replaced and cut: counted once, nothing hidden, all of it said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import claude_fixtures as log
import pytest
from kept import assert_holds, assert_same, dicts, events, meaning, rows, store_in, take, write

from storage import importing, refold
from storage.archive import Archive
from storage.rebuild import rebuild

Records = Sequence[dict[str, Any]]

CUSTODY = ("source", "repeated", "fork")
"""Tables that tell which file was read when, and so differ with the order of import."""


def story() -> list[dict[str, Any]]:
    """Two turns with a tool, a thought, tokens, and records that have no id."""
    return log.session()


def folds(path: str) -> dict[str, list[Any]]:
    """What the tables say, apart from what was read when."""
    return {name: rows for name, rows in meaning(path).items() if name not in CUSTODY}


def totals(path: str) -> dict[str, Any]:
    (row,) = dicts(path, "SELECT events, turns, tokens_in, tokens_out, cache_read, problems FROM session")
    return row


def said(path: str) -> list[tuple[str, bool]]:
    """(summary, whether it is superseded) of every event, as the archive gives them."""
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        rows = [detail.row for detail in archive.iter_events(session.key)]
        assert [row.flags for row in rows] == [archive.event(row.key).flags for row in rows]
    return [(row.summary, "superseded" in row.flags) for row in rows]


def superseded(path: str) -> list[str]:
    return [summary for summary, gone in said(path) if gone]


def person(number: int, **fields: Any) -> dict[str, Any]:
    at = f"2026-03-02T09:00:{number:02d}.000Z"
    return log.person(f"Prompt {number}", f"p{number}", uuid=f"u{number}", timestamp=at, **fields)


# --------------------------------------------------------------------------------------------- snapshots


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_snapshots_of_a_session_are_one_session_in_whatever_order_they_are_read(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    """Copies of a log made while it grew, under names of their own."""
    records = story()
    files = {f"{count}.jsonl": log.lines(records[:count]) for count in (4, 9, len(records))}
    logs = tmp_path / "logs"
    write(logs, files)
    with store_in(tmp_path, "alone.db") as alone:
        take(alone, logs / f"{len(records)}.jsonl")
    with store_in(tmp_path, "in order.db") as in_order:
        take(in_order, logs / "4.jsonl", logs / "9.jsonl", logs / f"{len(records)}.jsonl")
    with store_in(tmp_path) as store:
        for place in order:
            take(store, logs / list(files)[place])
        assert_same(folds(in_order.path), folds(store.path))
        assert totals(store.path) == totals(alone.path)
        assert superseded(store.path) == []
        assert_holds(store.path)


def test_a_record_in_two_files_is_counted_once_and_both_places_are_named(tmp_path: Path) -> None:
    data = log.lines(story())
    with store_in(tmp_path) as store:
        report = take(store, write(tmp_path / "logs", {"a.jsonl": data, "b.jsonl": data}).parent)
        path = store.path
    told = len(story()) - 1  # the title makes no event, and is read again
    assert report.total("duplicates") == told
    assert dicts(path, "SELECT DISTINCT copies FROM event") == [{"copies": 2}]
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        assert session.duplicates == told
        for detail in archive.iter_events(session.key):
            (other,) = detail.copies
            assert (Path(detail.source.file).name, Path(other.file).name) == ("a.jsonl", "b.jsonl")
            place = detail.source
            assert (other.line, other.offset, other.length) == (place.line, place.offset, place.length)
    assert_holds(path)


def test_a_record_four_times_in_a_row_is_one_with_its_places(tmp_path: Path) -> None:
    one = log.chain(person(1), log.says("Well", uuid="a"))
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", log.lines([one[0], *[one[1]] * 4])))
        path = store.path
    assert [(row["summary"], row["copies"]) for row in events(path)] == [("Prompt 1", 1), ("Well", 4)]
    with Archive.open(path) as archive:
        detail = archive.detail(events(path)[1]["n"])
        assert [place.line for place in (detail.source, *detail.copies)] == [2, 3, 4, 5]


# ------------------------------------------------------------------------------------------------- twins


def flagged(path: str) -> dict[str, list[tuple[str, bool]]]:
    """(summary, whether it is said to have a twin) of every event, by session."""
    found: dict[str, list[tuple[str, bool]]] = {}
    query = "SELECT s.native, e.summary, e.flags FROM event e JOIN session s ON s.no = e.session ORDER BY e.sort, e.n"
    for native, summary, flags in rows(path, query):
        found.setdefault(native, []).append((summary, "twin" in flags.split()))
    return found


def in_session(native: str, records: Records) -> list[dict[str, Any]]:
    return [{**record, "sessionId": native} for record in records]


@pytest.mark.parametrize("names", [("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")])
@pytest.mark.parametrize("batch", [1, 4_000])
def test_an_id_in_two_sessions_is_flagged_in_both_and_not_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str], batch: int
) -> None:
    """Four equal lines in one session, and one with that id in another, under another parent."""
    monkeypatch.setattr(importing, "BATCH_RECORDS", batch)
    one = log.chain(person(1), log.says("Well", uuid="twin"))
    other = [log.says("Well", uuid="twin", parentUuid="elsewhere", timestamp="2026-03-02T10:00:00.000Z")]
    files = dict(zip(names, (in_session("one", [one[0], *[one[1]] * 4]), in_session("two", other)), strict=True))
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", {name: log.lines(files[name]) for name in sorted(files)}).parent)
        path = store.path
    assert flagged(path) == {"one": [("Prompt 1", False), ("Well", True)], "two": [("Well", True)]}
    assert [row["copies"] for row in events(path, "summary = 'Well'")] in ([4, 1], [1, 4])
    assert_holds(path)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_history_copied_into_a_new_session_is_flagged_where_it_is_the_same(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    """A session resumed by a copy, each going on by itself; and an unrelated one whose messages have the same ids."""
    history = log.chain(person(1), log.says("Well", id="msg_1", usage=log.tokens(3, 30)))
    resumed = log.chain(person(2), log.says("More", id="msg_2", usage=log.tokens(4, 40)), after="r2")
    stranger = log.chain(person(3, cwd="/home/ada/other"), log.says("Else", id="msg_1", uuid="s"))
    files = [in_session("first", history), in_session("second", [*history, *resumed]), in_session("third", stranger)]
    with store_in(tmp_path) as store:
        for place in order:
            take(store, write(tmp_path / "logs", log.lines(files[place]), f"{place}.jsonl"))
        path = store.path
    found = flagged(path)
    assert found["first"] == [("Prompt 1", True), ("Well", True)]
    assert found["second"] == [("Prompt 1", True), ("Well", True), ("Prompt 2", False), ("More", False)]
    assert found["third"] == [("Prompt 3", False), ("Else", False)]
    tokens = dict(rows(path, "SELECT native, tokens_out FROM session"))
    assert tokens == {"first": 30, "second": 40, "third": 1}
    assert_holds(path)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("later", [True, False])
def test_tokens_of_a_copied_message_count_where_it_is_older(
    tmp_path: Path, order: tuple[int, ...], *, later: bool
) -> None:
    """A message on three lines, of which the copy in the session resumed from it has new times, or the same."""
    parts = []
    for part, made in ((2, 0), (3, 0), (4, 30)):
        at = f"2026-03-02T09:00:0{part}.000Z"
        more = {"uuid": f"m{part}", "parentUuid": "u1", "timestamp": at}
        parts.append(log.says(f"Part {part}", id="msg_1", usage=log.tokens(3, made), **more))
    history = [person(1), *parts]
    copied = [
        {**one, "timestamp": f"2026-03-02T10:00:0{place}.000Z"} if later else one for place, one in enumerate(history)
    ]
    files = [
        in_session("b", history),
        in_session("a", [*copied, log.says("More", id="msg_2", usage=log.tokens(4, 40), uuid="n1", parentUuid="m4")]),
        in_session("b", [*history, log.says("On", id="msg_3", usage=log.tokens(1, 7), uuid="n2", parentUuid="m4")]),
    ]
    with store_in(tmp_path) as store:
        for place in order:
            take(store, write(tmp_path / "logs", log.lines(files[place]), f"{place}.jsonl"))
        path = store.path
    tokens = dict(rows(path, "SELECT native, tokens_out FROM session"))
    assert tokens == ({"b": 37, "a": 40} if later else {"b": 7, "a": 70})
    (told,) = rows(path, "SELECT s.native, e.summary FROM event e JOIN session s ON s.no = e.session "
                         "WHERE e.flags LIKE '%paid_elsewhere%'")  # fmt: skip
    assert told == ("a" if later else "b", "Part 2")
    assert_holds(path)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("times", [("00", "00", "00"), ("05", "00", "09")])
def test_which_of_several_records_keeps_their_id_does_not_depend_on_the_order(
    tmp_path: Path, order: tuple[int, ...], times: tuple[str, ...]
) -> None:
    """One id given to three prompts; what follows it, and a copy of one of them in a fourth file."""
    told = []
    files = [
        [log.person(f"Prompt {number}", "p", uuid="u", timestamp=f"2026-03-02T09:00:{second}.000Z")]
        for number, second in enumerate(times)
    ]
    files[1] += log.chain(log.says("Well", timestamp="2026-03-02T09:01:00.000Z"), after="u")
    for reading in (range(3), order):
        with store_in(tmp_path, f"{len(told)}.db") as store:
            for place in (*reading, 2):
                name = f"{place}.jsonl" if place in reading else "copy.jsonl"
                take(store, write(tmp_path / str(len(told)), log.lines(files[place]), name))
            take(store, write(tmp_path / str(len(told)), log.lines(files[2]), "copy.jsonl"))
            assert_holds(store.path)
            found = folds(store.path)
            told.append({name: found[name] for name in ("event", "turn", "copied", "lane", "usage")})
    assert_same(*told)
    assert sum("same_id_differs" in row for row in told[0]["event"]) == 3


# ------------------------------------------------------------------------------------------------ parts


def test_a_session_goes_on_in_another_file(tmp_path: Path) -> None:
    records = story()
    cut = 8
    with store_in(tmp_path, "whole.db") as whole:
        take(whole, write(tmp_path / "whole", log.lines(records)))
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", log.lines(records[:cut]), "1.jsonl"))
        take(store, write(tmp_path / "logs", log.lines(records[cut - 3 :]), "2.jsonl"))
        assert totals(store.path) == totals(whole.path)
        assert said(store.path) == said(whole.path)
        assert_holds(store.path)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_a_session_says_of_itself_is_the_latest_in_whatever_order_its_parts_are_read(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    """Three parts in files of their own; the second moves to another folder and back, and its check passes last."""
    there = {"cwd": "/home/ada/there", "gitBranch": "there"}
    parts = [
        [person(1), log.flat("custom-title", customTitle="First"), *check(3, "1 failed")],
        [
            person(10, **there),
            *check(11, "9 passed", **there),
            person(14),
            log.flat("custom-title", customTitle="Last"),
        ],
        [person(5, **there), *check(6, "2 failed", **there)],
    ]
    with store_in(tmp_path) as store:
        for place in order:
            take(store, write(tmp_path / "logs", log.lines(parts[place]), f"{place}.jsonl"))
        path = store.path
    (told,) = dicts(path, "SELECT title, cwd, git_branch, checked, state FROM session")
    assert json.loads(told.pop("state"))["facts"]["title.prompt"] == "Prompt 1"
    assert told == {"title": "Last", "cwd": log.CWD, "git_branch": "main", "checked": "passed"}
    assert_holds(path)


def check(second: int, out: str, **fields: Any) -> list[dict[str, Any]]:
    """A test command and what it printed, from this second on."""
    at = [f"2026-03-02T09:00:{second + more:02d}.000Z" for more in (0, 1)]
    call = log.calls("Bash", f"t{second}", {"id": f"m{second}", "timestamp": at[0], **fields}, command="pytest -q")
    given = log.result(out, f"t{second}", error="failed" in out, timestamp=at[1], **fields)
    return [{**call, "uuid": f"c{second}"}, {**given, "uuid": f"g{second}"}]


# --------------------------------------------------------------------------------------------- revisions


def replaced(tmp_path: Path, *revisions: Records, others: dict[str, Records] | None = None) -> str:
    """A store that took these contents of one file one after the other, and then other files."""
    with store_in(tmp_path) as store:
        before = b""
        for records in revisions:
            data = log.lines(records)
            report = take(store, write(tmp_path / "logs", data))
            assert (report.files[0].note is None) == data.startswith(before)
            before = data
        for name, records in (others or {}).items():
            take(store, write(tmp_path / "logs", log.lines(records), name))
        assert_holds(store.path)
        as_read = meaning(store.path)
        rebuild(store)
        assert_same(as_read, meaning(store.path))
        return store.path


def chain(*numbers: int) -> list[dict[str, Any]]:
    return log.chain(*map(person, numbers))


def test_what_a_replaced_file_no_longer_says_is_superseded_and_stays(tmp_path: Path) -> None:
    path = replaced(tmp_path, chain(1, 2, 3, 4), [*chain(1), *chain(4)])
    assert said(path) == [("Prompt 1", False), ("Prompt 2", True), ("Prompt 3", True), ("Prompt 4", True),
                          ("Prompt 4", False)]  # fmt: skip
    flags = {(row["summary"], row["flags"]) for row in events(path)}
    assert ("Prompt 4", "same_id_differs") in flags, "it follows another record now, and so it is another record"
    with Archive.open(path) as archive:
        (session,) = archive.sessions().rows
        assert session.flags == ("superseded",)
        assert session.events == 5


def test_a_file_that_was_cut_leaves_what_it_held(tmp_path: Path) -> None:
    path = replaced(tmp_path, chain(1, 2, 3), chain(1))
    assert said(path) == [("Prompt 1", False), ("Prompt 2", True), ("Prompt 3", True)]


def test_what_comes_back_is_no_longer_superseded(tmp_path: Path) -> None:
    path = replaced(tmp_path, chain(1, 2, 3), chain(1), chain(1, 2))
    assert said(path) == [("Prompt 1", False), ("Prompt 2", False), ("Prompt 3", True)]


def test_only_the_newest_revision_counts(tmp_path: Path) -> None:
    path = replaced(tmp_path, chain(1, 2), chain(1, 2, 3)[1:], chain(1))
    assert superseded(path) == ["Prompt 2", "Prompt 3"]


def test_what_stands_in_another_file_is_not_superseded(tmp_path: Path) -> None:
    path = replaced(tmp_path, chain(1, 2, 3), chain(1), others={"backup.jsonl": chain(1, 2)})
    assert superseded(path) == ["Prompt 3"]


def test_records_without_an_id_are_told_apart_by_how_often_they_stand(tmp_path: Path) -> None:
    note = {"type": "session.event", "session": "s", "kind": "note", "text": "Same words"}
    path = replaced(tmp_path, [note] * 3, [note, {**note, "text": "Other words"}])
    assert sorted(said(path)) == [("Other words", False), ("Same words", False), *[("Same words", True)] * 2]


def test_no_split_changes_what_is_superseded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = story()
    kept = [*records[:3], *records[6:]]
    whole = replaced(tmp_path / "whole", records, kept, records[:5])
    for batch in (1, 2, 5):
        monkeypatch.setattr(importing, "BATCH_RECORDS", batch)
        monkeypatch.setattr(refold, "BATCH_RECORDS", batch)
        split = replaced(tmp_path / str(batch), records, kept, records[:5])
        one, other = (
            {name: json.loads(json.dumps(found).replace("/whole/", "/").replace(f"/{batch}/", "/"))
             for name, found in meaning(path).items()}
            for path in (whole, split)
        )  # fmt: skip
        assert_same(one, other)
        assert said(split) == said(whole)


def test_a_store_whose_list_of_copies_was_changed_does_not_hold(tmp_path: Path) -> None:
    from storage.verify import verify

    path = replaced(tmp_path, chain(1, 2, 3), chain(1, 2))
    assert superseded(path) == ["Prompt 3"]
    with store_in(tmp_path) as store:
        store.connection.execute("DELETE FROM copied WHERE n = (SELECT max(n) FROM copied)")
    assert superseded(path) == ["Prompt 2", "Prompt 3"]
    report = verify(path)
    assert {(failure.kind, failure.address) for failure in report.failures} == {("fold_missing", "table/copied")}


def test_where_no_file_was_replaced_nothing_is_looked_up(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", log.lines(story())))
        path = store.path
    assert superseded(path) == []
    assert rows(path, "SELECT max(revision) FROM source") == [(1,)]
