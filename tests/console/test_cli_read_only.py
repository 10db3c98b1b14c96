"""A store on a disk that cannot be written: everything that reads works, whatever would write says so."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import Runner
from console_driver import Stage

from console.app import AffidavitApp
from console.program import Program
from console.settings import Settings
from storage.archive import Archive
from tests.storage.claude_fixtures import SESSION

READING = (
    ("sessions",),
    ("show", f"session/{SESSION}"),
    ("show", f"session/{SESSION}", "--raw"),
    ("show", "entry/1"),
    ("search", "test"),
    ("snapshots",),
    ("rules",),
    ("candidates",),
    ("queue",),
    ("memories",),
    ("verify",),
    ("verify", f"session/{SESSION}"),
    ("verify", "--since-last"),
    ("doctor",),
    ("import", "--dry-run", "LOG"),
    ("backup", "ELSEWHERE"),
)
WRITING = (("import", "LOG"), ("import", "--follow", "LOG"), ("record",), ("rebuild",))


@pytest.fixture(params=["modes", "mount"])
def media(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Runner]:
    """A store where nothing can be written: by the modes of its folder and file, or by how its disk is mounted."""
    place, original = tmp_path / "place", tmp_path / "original"
    place.mkdir()
    original.mkdir()
    run = Runner(monkeypatch, tmp_path)
    monkeypatch.setenv("AFFIDAVIT_STORE", str(original / "store.db"))
    assert run("import", str(run.log())).code == 0
    monkeypatch.setenv("AFFIDAVIT_STORE", str(place / "store.db"))
    if request.param == "modes":
        if os.geteuid() == 0:
            pytest.skip("modes do not bind root")
        shutil.copy(original / "store.db", place / "store.db")
        (place / "store.db").chmod(0o400)
        place.chmod(0o500)
        yield run
        place.chmod(0o700)
        return
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount")
    for words in (("--bind", str(original)), ("-o", "remount,bind,ro")):
        if subprocess.run(["mount", *words, str(place)], capture_output=True, check=False).returncode:
            subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)
            pytest.skip("nothing can be mounted here")
    try:
        yield run
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_all_that_reads_works_and_what_would_write_says_that_it_cannot(media: Runner, tmp_path: Path) -> None:
    place = tmp_path / "place"
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    given = {"LOG": str(media.log()), "ELSEWHERE": str(tmp_path / "copy.db")}
    for words in READING:
        done = media(*(given.get(word, word) for word in words))
        assert done.code == 0, (words, done.err)
    for words in WRITING:
        done = media(*(given.get(word, word) for word in words))
        assert done.code == 2, (words, done.err)
        assert "cannot be written" in done.err
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


async def test_a_console_reads_it_and_tells_of_an_import_that_it_cannot(media: Runner, tmp_path: Path) -> None:
    path = str(tmp_path / "place" / "store.db")
    app = AffidavitApp(lambda: Archive.open(path), services=Program(path, Settings()))
    async with app.run_test(size=(120, 30)) as pilot:
        it = Stage(app, pilot, None)  # type: ignore[arg-type]
        await it.until(lambda: app.view is not None, "the console did not come up")
        await it.settled()
        await it.play(
            "status 1 of 1 session\npress 5 r\nsee everything that was checked holds\npress 2 enter\ntop Sessions ▸"
        )
        await it.play("press backspace i\nsee another file or folder")
        await pilot.press("enter")
        await it.play(f"type {media.log()}")
        await pilot.press("enter")
        await it.play("see ✗ Something could not be done\nsee cannot be written")
