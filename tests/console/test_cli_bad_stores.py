"""Whatever stands where the store should: every command says what is wrong in its own words, and none fails itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runner import Runner

from storage import driver
from tests.storage.claude_fixtures import SESSION

SAID = ("affidavit: ", "✗ ", "the copy does not hold")
"""How standard error begins where a command refuses or finds something."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    run = Runner(monkeypatch, tmp_path)
    monkeypatch.setenv("AFFIDAVIT_STORE", str(tmp_path / "good.db"))
    assert run("import", str(run.log())).code == 0
    return run


def commands(run: Runner, folder: Path) -> list[tuple[str, ...]]:
    log, session = str(run.log()), f"session/{SESSION}"
    return [
        ("import", log),
        ("import", "--dry-run", log),
        ("record",),
        ("sessions",),
        ("show", session),
        ("show", session, "--raw"),
        ("search", "test"),
        ("verify",),
        ("verify", session),
        ("verify", "--since-last"),
        ("rebuild",),
        ("backup", str(folder / "copy.db")),
        ("doctor",),
    ]


def changed(*statements: str, keep: bool = True) -> Callable[[Path, bytes], None]:
    def make(path: Path, good: bytes) -> None:
        if keep:
            path.write_bytes(good)
        connection = driver.connect_writer(str(path), create=True)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return make


def holding(content: Callable[[bytes], bytes]) -> Callable[[Path, bytes], None]:
    return lambda path, good: path.write_bytes(content(good)) and None


UNUSABLE: dict[str, Callable[[Path, bytes], None]] = {
    "a folder": lambda path, _: path.mkdir(),
    "of a newer version": changed("PRAGMA user_version=99"),
    "another program's": changed("CREATE TABLE session(id)", keep=False),
    "no database": holding(lambda _: b"Dear diary, " * 1_000),
    "zero bytes": holding(lambda _: b""),
    "nothing but zeros": holding(lambda _: bytes(8_192)),
    "cut in its first page": holding(lambda good: good[:3_000]),
    "a schema with broken text": holding(lambda good: good.replace(b"CREATE TABLE", b"CREAT\xa0 TABLE", 3)),
}
DAMAGED: dict[str, Callable[[Path, bytes], None]] = {
    "ours by its header only": changed(
        "PRAGMA application_id=0x41464456", "PRAGMA user_version=1", "CREATE TABLE session(id)", keep=False
    ),
    "cut in the middle": holding(lambda good: good[: len(good) // 2]),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_what_is_no_store_is_refused_by_every_command(run: Runner, tmp_path: Path, kind: str) -> None:
    good = (tmp_path / "good.db").read_bytes()
    for number, (verb, *words) in enumerate(commands(run, tmp_path)):
        path = tmp_path / f"{number}.db"
        UNUSABLE[kind](path, good)
        before = path.read_bytes() if path.is_file() else b""
        done = run(verb, "--store", str(path), *words)
        if verb == "doctor":  # which lists what is wrong, and goes on
            assert done.code == 1
            continue
        assert (verb, done.code, done.raw) == (verb, 2, b"")
        assert done.err.startswith(f"affidavit: {path}: ")
        assert (path.read_bytes() if path.is_file() else b"") == before
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_store_is_said_to_be_by_every_command_that_needs_what_is_gone(
    run: Runner, tmp_path: Path, kind: str
) -> None:
    good = (tmp_path / "good.db").read_bytes()
    for number, (verb, *words) in enumerate(commands(run, tmp_path)):
        path = tmp_path / f"{number}.db"
        DAMAGED[kind](path, good)
        done = run(verb, "--store", str(path), *words)
        assert done.code in (1, 2), (verb, done.err)
        assert done.raw or done.err.startswith(SAID), verb
        assert "failed in a way it should not" not in done.err, (verb, done.err)
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bits_never_make_a_command_fail_itself(run: Runner, tmp_path: Path, seed: int) -> None:
    """Each command ends well or with a reason, and no copy is kept that would not hold."""
    good = (tmp_path / "good.db").read_bytes()
    chance = random.Random(seed)
    bad = bytearray(good)
    for _ in range(1 + 5 * seed):
        bad[chance.randrange(100, len(bad))] ^= 1 << chance.randrange(8)
    for number, (verb, *words) in enumerate(commands(run, tmp_path)):
        path = tmp_path / f"{number}.db"
        path.write_bytes(bad)
        done = run(verb, "--store", str(path), *words)
        assert done.code in (0, 1, 2), (verb, done.err)
        assert done.raw or done.code == 0 or done.err.startswith(SAID), (verb, done.err)
        assert "failed in a way it should not" not in done.err, (verb, done.err)
    copy = tmp_path / "copy.db"
    assert not copy.exists() or run("verify", "--store", str(copy)).code == 0
