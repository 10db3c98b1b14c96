"""What is recalled of sessions: of the one that is named, inside the time asked for; of others only failed checks."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept import Clock, chance, events, store_in, take, write
from workspaces import recall, scope

from affidavit.retrieval.pipeline import retrieve
from affidavit.retrieval.request import RetrievalIntent
from affidavit.session.event import event_hex
from storage.archive import Archive
from storage.redact import redact
from storage.store import Store

NOON = datetime(2026, 5, 14, 12, tzinfo=UTC)
LOG = "FAIL auth/session.test.ts\nexpected role admin, received undefined\n" + "  at run (runner.js:1:1)\n" * 400


def at(minute: int) -> str:
    """A time on that day."""
    return f"2026-05-14T10:{minute:02d}:00Z"


def line(session: str, kind: str, minute: int, text: str, **more: Any) -> dict[str, Any]:
    """An event of our own lines."""
    return {
        "type": "session.event", "session": session, "id": f"{session}-{minute}", "kind": kind, "at": at(minute),
        "text": text, "project": "acme/web", **more,
    }  # fmt: skip


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


NOW = [
    line("now", "user.message", 1, "Please fix the role test. Do not change production defaults."),
    line("now", "tool.intent", 2, "cat role.log", tool="Bash", command="cat role.log", call="c1"),
    line("now", "tool.finished", 3, "the role mock log of the shell", tool="Bash", call="c1", ok=True),
    line("now", "verification", 4, "auth/session.test.ts: expected role admin, received undefined", ok=False),
    line("now", "model.reasoning", 5, "I think that the role admin is undefined because of the mock"),
    line("now", "retrieval.request", 6, "role admin undefined"),
    line("now", "model.message", 7, "The role of the mock is undefined."),
    line("now", "verification", 30, "later check of the role passed", ok=True),
    {"type": "artifact", "session": "now", "id": "now-art", "at": at(8), "name": "test.log", "text": LOG},
]
PAST = [
    line("past", "verification", 1, "auth/session.test.ts: the role was undefined in the fixture", ok=False),
    line("past", "model.message", 2, "auth/session.test.ts fails as production has no default role"),
    line("past", "verification", 3, "billing/invoice.test.ts: total differs", ok=False),
]
OTHER = [
    {**line("other", "verification", 1, "auth/session.test.ts role undefined elsewhere", ok=False), "project": "x"}
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_in(tmp_path) as opened:
        for name, records in (("now", NOW), ("past", PAST), ("other", OTHER)):
            take(opened, write(tmp_path / "logs", lines(*records), f"{name}.jsonl"), random=chance())
        yield opened


def texts(store: Store, text: str, source: str, as_of: datetime = NOON, **more: Any) -> list[str]:
    """Beginnings of what one source gives for a text."""
    within = scope(None, as_of, session_id="now", project_id="acme/web", **more)
    return [one.text[:40] for one in recall(store.path, text, within, source)]


def test_events_of_the_session_are_found_and_say_where_they_stand(store: Store) -> None:
    found = recall(store.path, "role", scope(None, NOON, session_id="now"), "current-session")
    ids = {event_hex(row["id"]) for row in events(store.path)}
    for one in found:
        assert one.source_ref in ids
        assert one.scope.session_id == "now"
        assert one.source_digest == "sha256:" + hashlib.sha256(one.text.encode()).hexdigest()
    kinds = {one.title.split()[0]: one for one in found}
    assert set(kinds) == {"user.message", "tool.finished", "verification", "model.message"}
    assert kinds["user.message"].trust == "instruction"
    assert kinds["verification"].evidence_kind == "test-log"
    assert kinds["tool.finished"].trust is None


def test_the_newest_failure_is_found_whatever_it_says(store: Store) -> None:
    found = texts(store, "completely different words", "current-session")
    assert found == ["auth/session.test.ts: expected role admi"]


def test_what_a_model_thought_or_retrieved_is_no_evidence(store: Store) -> None:
    found = texts(store, "role admin undefined mock", "current-session")
    assert not any(text.startswith(("I think", "role admin undefined")) for text in found)


def test_nothing_of_another_session_is_read(store: Store) -> None:
    for session in ("now", "past", "other"):
        within = scope(None, NOON, session_id=session)
        for one in recall(store.path, "auth/session.test.ts role undefined", within, "current-session"):
            assert one.text in {record["text"] for record in NOW + PAST + OTHER if record["session"] == session}
    assert recall(store.path, "role", scope(None, NOON), "current-session") == []
    assert recall(store.path, "role", scope(None, NOON, session_id="no such"), "current-session") == []


def test_nothing_later_than_the_time_asked_for_is_read(store: Store) -> None:
    early = datetime(2026, 5, 14, 10, 3, 30, tzinfo=UTC)
    found = texts(store, "role", "current-session", early)
    assert sorted(found) == ["Please fix the role test. Do not change ", "the role mock log of the shell"]
    assert texts(store, "role", "artifact-store", early) == []
    within = scope(None, NOON, session_id="now", time={"include_after": at(4), "exclude_after": at(7)})
    assert [one.text for one in recall(store.path, "role", within, "current-session")] == [NOW[6]["text"]]


def test_the_part_of_a_long_artifact_that_fits_is_given(store: Store) -> None:
    found = recall(store.path, "expected role admin", scope(None, NOON, session_id="now"), "artifact-store")
    assert found[0].text.startswith("FAIL auth/session.test.ts")
    assert found[0].source_ref == "sha256:" + hashlib.sha256(LOG.encode()).hexdigest()
    assert found[0].evidence_kind == "test-log"
    assert found[0].byte_range is not None
    assert found[0].byte_range.from_ == 0
    assert len(found[0].text) <= 4_096


def test_of_past_sessions_only_failed_checks_of_the_project_are_given(store: Store) -> None:
    assert texts(store, "auth/session.test.ts role undefined", "past-sessions") == [
        "auth/session.test.ts: the role was undefi"[:40]
    ]
    within = scope(None, NOON, session_id="now")
    assert recall(store.path, "auth/session.test.ts role", within, "past-sessions") == []
    assert texts(store, "auth/session.test.ts", "past-sessions", test_suite="billing") == []


def test_an_erased_event_is_not_recalled(store: Store) -> None:
    [failed] = events(store.path, "kind = 'verification' AND summary LIKE 'auth/session.test.ts: expected%'")
    redact(store, [failed["n"]], actor="me", reason="test", clock=Clock())
    assert not any("expected role" in text for text in texts(store, "role expected", "current-session"))


def test_a_whole_retrieval_takes_from_sessions_too(store: Store) -> None:
    within = scope(None, NOON, session_id="now", project_id="acme/web")
    intent = RetrievalIntent.model_validate(
        {
            "purpose": "fix-test",
            "question": "why is the role undefined",
            "anchors": {"failing_test": "auth/session.test.ts"},
            "required_evidence": ["test-log"],
        }
    )
    with Archive.open(store.path) as archive:
        got = retrieve(intent, within, None, None, None, archive.recallers(within), NOON, lambda: "retr-snap-1")
    assert [run.error for run in got.snapshot.recallers if run.error] == []
    assert got.snapshot.missing_evidence == ()
    assert {item.source for item in got.snapshot.selected_items} == {
        "current-session",
        "artifact-store",
        "past-sessions",
    }


@pytest.mark.parametrize("text", ["", '"', "a* OR b", "NEAR(", "\0", "\ud800", "役", "'; --", "x " * 4_000])
def test_no_question_is_anything_but_words(store: Store, text: str) -> None:
    for source in ("current-session", "artifact-store", "past-sessions"):
        for words in ((text,), ()):
            within = scope(None, NOON, session_id="now", project_id="acme/web")
            recall(store.path, text, within, source, terms=words, identifiers=words, paths=words)


@pytest.mark.parametrize("said", ["\ud800", "'", "", "%", "\0"])
def test_no_name_in_a_scope_is_anything_but_a_name(store: Store, said: str) -> None:
    within = scope(None, NOON).model_copy(update={"session_id": said, "project_id": said, "branch": said})
    for source in ("current-session", "artifact-store", "past-sessions", "workspace-index"):
        assert recall(store.path, "role", within, source) == []


WORDS = st.lists(st.sampled_from(["role", "admin", "undefined", "test", "x.test.ts"]), min_size=1, max_size=4).map(
    " ".join
)
RECORD = st.tuples(
    st.sampled_from(["a", "b", "c"]), st.sampled_from(["p", "q"]), st.integers(0, 59),
    st.sampled_from(["user.message", "verification", "tool.finished", "model.reasoning"]), WORDS, st.booleans(),
)  # fmt: skip


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=st.lists(RECORD, max_size=12), session=st.sampled_from(["a", "b"]), minute=st.integers(0, 59))
def test_whatever_the_sessions_nothing_outside_the_scope_is_recalled(
    tmp_path: Path, records: list[tuple[str, str, int, str, str, bool]], session: str, minute: int
) -> None:
    shutil.rmtree(tmp_path, ignore_errors=True)
    project = {name: owner for name, owner, *_ in records}
    made = [
        {**line(name, kind, when, f"{text} #{number}", ok=ok, project=project[name]), "id": f"e{number}"}
        for number, (name, _, when, kind, text, ok) in enumerate(records)
    ]
    within = scope(None, datetime(2026, 5, 14, 10, minute, tzinfo=UTC), session_id=session, project_id="p")
    with store_in(tmp_path) as store:
        take(store, write(tmp_path / "logs", lines(*made) or b"\n"))
        own = {record["text"] for record in made if record["session"] == session and record["at"] <= at(minute)}
        past = {
            record["text"]
            for record in made
            if record["session"] != session and record["project"] == "p" and record["kind"] == "verification"
            and not record["ok"] and record["at"] <= at(minute)
        }  # fmt: skip
        for source, allowed in (("current-session", own), ("past-sessions", past)):
            for one in recall(store.path, "role admin undefined test x.test.ts", within, source, top_k=50):
                assert one.text in allowed
                assert not (source == "past-sessions" and one.text in own)
