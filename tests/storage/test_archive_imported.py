"""The archive over stores that were really filled: what it shows of an event is what stands in the file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from kept import Clock, store_in, take

from sample_sessions.stories import STORIES
from storage.archive import Archive, EventFilter
from storage.importing import Importer
from storage.queries.models import EventDetail
from storage.queries.records import RecordWithheld
from storage.redact import redact


def assert_true_to_the_files(path: str) -> int:
    """Everything the archive says of every session against the files themselves and its own counts."""
    seen = 0
    with Archive.open(path) as archive:
        sessions = archive.sessions(limit=10_000).rows
        for session in sessions:
            details = list(archive.iter_events(session.key))
            assert len(details) == session.events == archive.count_events(session.key).value
            assert_true_events(archive, details)
            lanes = archive.lanes(session.key)
            assert Counter(detail.row.lane for detail in details) == {
                lane.lane: lane.events for lane in lanes if lane.events
            }
            turns = archive.turns(session.key)
            assert Counter(detail.row.turn for detail in details) == {
                turn.turn: turn.events for turn in turns if turn.events
            }
            assert sum(turn.turn > 0 for turn in turns) == session.turns
            assert sum(turn.problems for turn in turns) == session.problems
            density = archive.density(session.key, 13)
            assert [sum(part) for part in zip(*density, strict=True)] == [session.events, session.problems]
            seen += len(details)
        totals = archive.totals()
        assert (totals.sessions, totals.events) == (len(sessions), seen)
        assert totals.records == totals.mapped + totals.unknown + totals.duplicates + totals.unreadable
        for source in archive.sources():
            file = Path(source.file)
            if file.exists():
                assert b"".join(archive.original(source.key)) == file.read_bytes()[: source.bytes]
        for file_path, line, offset, _ in archive.unreadable():
            assert Path(file_path).read_bytes()[:offset].count(b"\n") + 1 == line
    return seen


def assert_true_events(archive: Archive, details: list[EventDetail]) -> None:
    files: dict[str, bytes] = {}
    ids = Counter(detail.row.id for detail in details)
    assert max(ids.values(), default=1) == 1
    for detail in details:
        place, row = detail.source, detail.row
        if place.file not in files:
            files[place.file] = Path(place.file).read_bytes()
        value = files[place.file][place.offset : place.offset + place.length]
        assert archive.raw(row.key) == value
        json.loads(value)
        assert place.line == files[place.file].count(b"\n", 0, place.offset) + 1
        assert len(detail.text) == row.size
        assert archive.event(row.key) == row
        assert archive.find_event(row.session, f"{row.id & 0xFFFFFFFFFFFFFFFF:016x}") == [row]
        for child in archive.children(row.key):
            assert row.key == child.pair or child.parent in ids


def test_the_sample_sessions_are_shown_as_their_logs_have_them(tmp_path: Path) -> None:
    for story in STORIES.values():
        for name, text in story().items():
            file = tmp_path / "logs" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    with store_in(tmp_path) as store:
        take(store, tmp_path / "logs")
    assert assert_true_to_the_files(store.path) > 40


def told(folder: Path) -> str:
    """The path of a store that took the logs of every story."""
    with store_in(folder) as store:
        for story in STORIES.values():
            for name, text in story().items():
                if name.endswith(".jsonl"):
                    Importer(store, clock=Clock()).stream(BytesIO(text.encode()), name=name)
        return store.path


def test_every_word_of_the_sample_sessions_leads_back_to_its_event(tmp_path: Path) -> None:
    with Archive.open(told(tmp_path)) as archive:
        for session in archive.sessions().rows:
            for detail in archive.iter_events(session.key):
                words = "".join(c if c.isalnum() else " " for c in detail.text).split()
                word = max(words, key=len, default="")
                if word.isascii() and word:
                    page = archive.search(word + " ", session=session.key, limit=10_000)
                    found = {hit.key: hit for hit in page.rows}
                    assert detail.row.key in found, word
                    hit = found[detail.row.key]
                    assert {hit.excerpt[start:end].lower() for start, end in hit.spans} == {word.lower()}


def test_a_turn_begins_where_a_jump_to_the_next_prompt_lands(tmp_path: Path) -> None:
    with Archive.open(told(tmp_path)) as archive:
        for session in archive.sessions().rows:
            cursor, landed = None, []
            while (row := archive.prompt(session.key, cursor, "after")) is not None:
                landed.append(row.key)
                cursor = archive.cursor_of(row)
            assert landed == [turn.key for turn in archive.turns(session.key) if turn.turn]
            prompts = archive.events(session.key, EventFilter(kinds=frozenset({"user.message"}))).rows
            assert {row.key for row in prompts if row.lane == 0} >= set(landed)


def test_what_a_redaction_erased_is_withheld_at_once_and_everything_else_stays(tmp_path: Path) -> None:
    name, text = next(iter(STORIES["fixed in the fixture"]().items()))
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text, "utf-8")
    with store_in(tmp_path) as store:
        take(store, tmp_path / name)
        with Archive.open(store.path) as archive:
            (session,) = archive.sessions().rows
            before = list(archive.iter_events(session.key))
            chosen = next(detail for detail in before if detail.row.kind == "user.message")
            key = chosen.row.key
            assert key in {hit.key for hit in archive.search(chosen.text[:60]).rows}
            erased = redact(store, [key], actor="tester", reason="asked to", clock=Clock())
            gone = archive.detail(key)
            assert (gone.text, gone.refs, gone.withheld_by) == ("", (), erased.entry)
            assert (gone.row.id, gone.row.kind, gone.source) == (chosen.row.id, chosen.row.kind, chosen.source)
            with pytest.raises(RecordWithheld):
                archive.raw(key)
            assert key not in {hit.key for hit in archive.search(chosen.text[:60]).rows}
            after = list(archive.iter_events(session.key))
            assert [detail for detail in after if detail.source != chosen.source] == [
                detail for detail in before if detail.source != chosen.source
            ]


def test_real_logs_are_shown_as_they_stand(shared: Path, tmp_path: Path, figure: Callable[[int, int], int]) -> None:
    """Real sessions of one agent, where a folder of them stands beside the project: the small ones, or all."""
    samples = shared / "samples" / "claude_code"
    for file in samples.rglob("*.jsonl"):
        if file.stat().st_size < figure(300_000, 1 << 40):
            copy = tmp_path / "logs" / file.relative_to(samples)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    with store_in(tmp_path) as store:
        take(store, tmp_path / "logs")
    assert assert_true_to_the_files(store.path) > 300
