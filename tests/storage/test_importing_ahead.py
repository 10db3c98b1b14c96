"""Many files: looked at ahead, read by a second process, taken together; whatever happens to them meanwhile."""

from __future__ import annotations

from pathlib import Path

import claude_fixtures as log
import pytest
from kept import Clock, assert_holds, assert_same, meaning, store_in

from storage import ahead, importing
from storage.accounting import FileReport, ImportReport
from storage.importing import Importer
from storage.store import Store

FILES = 12


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Sessions of a few records each, one of them with a line that is none."""
    folder = tmp_path / "logs"
    for number in range(FILES):
        session = f"session-{number:02d}"
        data = log.lines(
            log.chain(log.person(f"Prompt {number}", f"p{number}"), log.says(f"Answer {number}"), log.says("Done"))
        )
        file = folder / f"p{number % 3}" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.replace(log.SESSION.encode(), session.encode()) + (b"nonsense\n" if number == 4 else b""))
    return folder


@pytest.fixture(params=[True, False], ids=["by a second process", "by this one"])
def helped(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process reads ahead, however little there is, or none does."""
    monkeypatch.setattr(ahead, "WORTH_IT", 1 if request.param else 1 << 60)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)


def imported(store: Store, *paths: Path, **more: object) -> ImportReport:
    return Importer(store, clock=Clock(), **more).paths([str(path) for path in paths])  # type: ignore[arg-type]


def by_name(report: ImportReport) -> dict[str, FileReport]:
    return {Path(file.path).stem: file for file in report.files}


def plainly(tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """What the tree means when its files are taken one by one."""
    monkeypatch.setattr(importing, "BATCH_FILES", 1)
    monkeypatch.setattr(ahead, "WORTH_IT", 1 << 60)
    with store_in(tmp_path, "plain.db") as plain:
        for file in sorted(tree.rglob("*.jsonl")):
            imported(plain, file)
        return meaning(plain.path)


@pytest.mark.usefixtures("helped")
def test_a_tree_means_what_its_files_mean_one_by_one(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_in(tmp_path) as store:
        report = imported(store, tree)
        assert (report.total("records"), report.total("unreadable")) == (FILES * 3 + 1, 1)
        assert [Path(file).stem for file, *_ in report.unreadable_list] == ["session-04"]
        assert {file.records for file in report.files} == {3, 4}
        again = imported(store, tree)
        assert (again.total("records"), again.sessions, again.events) == (0, 0, 0)
        assert_holds(store.path)
        assert_same(plainly(tmp_path, tree, monkeypatch), meaning(store.path))


@pytest.mark.usefixtures("helped")
def test_small_files_share_a_transaction(tmp_path: Path, tree: Path) -> None:
    commits = []
    with store_in(tmp_path) as store:
        store.connection.set_trace_callback(lambda text: commits.append(text) if text == "COMMIT" else None)
        imported(store, tree)
        store.connection.set_trace_callback(None)
    assert len(commits) == 1


def test_what_a_process_that_died_had_not_read_is_read_here(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "WORTH_IT", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    steps = ahead.Readahead.steps
    asked = []

    def dying(self: ahead.Readahead, number: int):  # type: ignore[no-untyped-def]
        asked.append(number)
        if number == 5:
            self.stop()
            raise ahead.Died
        return steps(self, number)

    monkeypatch.setattr(ahead.Readahead, "steps", dying)
    with store_in(tmp_path) as store:
        report = imported(store, tree)
        assert asked[-1] == 5
        assert report.total("records") == FILES * 3 + 1
        assert_holds(store.path)
        assert_same(plainly(tmp_path, tree, monkeypatch), meaning(store.path))


@pytest.mark.usefixtures("helped")
def test_a_file_named_twice_is_taken_once(tmp_path: Path, tree: Path) -> None:
    file = tree / "p0" / "session-00.jsonl"
    with store_in(tmp_path) as store:
        report = imported(store, file, tree, file)
        assert report.total("records") == FILES * 3 + 1
        assert sorted(one.records for one in report.files if one.path == str(file)) == [0, 0, 3]
        assert_holds(store.path)


@pytest.mark.usefixtures("helped")
def test_what_another_importer_takes_meanwhile_is_taken_once(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_FILES", 3)
    others: list[ImportReport] = []
    with store_in(tmp_path) as store:

        def meanwhile(*_: object) -> None:
            if not others:
                others.append(ImportReport())
                with Store.open(store.path) as second:
                    others.append(imported(second, tree))

        report = imported(store, tree, progress=meanwhile)
        assert report.total("records") == 3 * 3
        assert others[1].total("records") == (FILES - 3) * 3 + 1
        assert report.unreadable_list == []
        assert_holds(store.path)
        assert_same(plainly(tmp_path, tree, monkeypatch), meaning(store.path))


@pytest.mark.usefixtures("helped")
def test_a_file_that_goes_away_before_it_is_read_is_named(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH_FILES", 3)
    last = max(tree.rglob("*.jsonl"), key=lambda file: (file.parent.name, file.name))
    plan = Importer._plan

    def looked_at(self: Importer, report: FileReport):  # type: ignore[no-untyped-def]
        found = plan(self, report)
        if report.path == str(last):
            last.unlink()
        return found

    monkeypatch.setattr(Importer, "_plan", looked_at)
    monkeypatch.setattr(Importer, "_ask", lambda *_: None)
    with store_in(tmp_path) as store:
        report = imported(store, tree)
        gone = by_name(report)[last.stem]
        assert (gone.skipped, gone.note, gone.records) == ("unreadable", "No such file or directory", 0)
        assert report.total("records") == (FILES - 1) * 3 + 1
        assert_holds(store.path)


def test_two_importers_count_what_each_of_them_brought(tmp_path: Path, tree: Path) -> None:
    others: list[ImportReport] = []
    with store_in(tmp_path) as store:

        def meanwhile(*_: object) -> None:
            if not others:
                others.append(ImportReport())
                with Store.open(store.path) as second:
                    others.append(imported(second, tree))

        first = min(tree.rglob("*.jsonl"))
        report = imported(store, first, tree, progress=meanwhile)
        told = [(one.sessions, one.events) for one in (report, others[1])]
        assert [sum(column) for column in zip(*told, strict=True)] == [FILES, FILES * 3]
        assert report.sessions < FILES
