"""The event pane says where else a record stands, and that a replaced file no longer holds it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from console.screens.event_pane.facts import facts
from console.widgets.safe import Outside
from storage.archive import Archive
from storage.importing import Importer
from storage.store import Store


def note(text: str) -> str:
    return json.dumps({"type": "session.event", "session": "s", "kind": "note", "id": text, "text": text}) + "\n"


def pane(archive: Archive, text: str) -> list[str]:
    (session,) = archive.sessions().rows
    (detail,) = (one for one in archive.iter_events(session.key) if one.text == text)
    return ["".join(ink.text for ink in line) for line in facts(detail, None, None, Outside(False))]


def test_the_pane_names_the_other_places_of_a_record(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store.db"), create=True) as store:
        importer = Importer(store, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC))
        for name, said in (("a", "xy"), ("[b]\x1b[2J", "xyy"), ("a", "x"), ("a", "x" + "z" * 9)):
            file = tmp_path / f"{name}.jsonl"
            file.write_text("".join(map(note, said)))
            importer.paths([str(file)])
        path = store.path
    with Archive.open(path) as archive:
        places = [line for line in pane(archive, "y") if line.startswith("also in")]
        assert [line.rpartition("/")[2] for line in places] == ["[b]␛[2J.jsonl line 2", "[b]␛[2J.jsonl line 3"]
        assert not [line for line in pane(archive, "y") if "superseded" in line], "the other file still holds it"
        assert "and 3 more" in [line.strip() for line in pane(archive, "z")]


def test_the_pane_says_what_a_replaced_file_no_longer_holds(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with Store.open(str(tmp_path / "store.db"), create=True) as store:
        importer = Importer(store, clock=lambda: datetime(2026, 3, 2, tzinfo=UTC))
        for said in ("xy", "x"):
            file.write_text("".join(map(note, said)))
            importer.paths([str(file)])
        path = store.path
    with Archive.open(path) as archive:
        assert [
            line for line in pane(archive, "y") if line.startswith("! superseded the file it stood in was replaced")
        ]
        assert not [line for line in pane(archive, "x") if "superseded" in line]
