"""Logs cut, flipped, doubled, shuffled and glued: no error, no hang, all of it counted, and its bytes given back."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import claude_fixtures as log
import codex_fixtures as rollouts
import pytest
from kept import assert_holds, store_in, take, write

from storage.archive import Archive
from storage.detect import files
from storage.importing import Importer
from storage.rebuild import rebuild
from storage.store import Store

Mutation = Callable[[random.Random, bytes], bytes]


def cut(chance: random.Random, data: bytes) -> bytes:
    """The file ends somewhere, or a part in its midst is gone."""
    one, other = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
    return data[:one] if chance.random() < 0.5 else data[:one] + data[min(other, one + 200) :]


def flip(chance: random.Random, data: bytes) -> bytes:
    """Some bits are others."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 5, 50])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def double(chance: random.Random, data: bytes) -> bytes:
    """Some lines stand more than once."""
    lines = data.splitlines(keepends=True)
    for _ in range(chance.randrange(1, 6)):
        line = chance.choice(lines)
        for _ in range(chance.choice([1, 1, 3])):
            lines.insert(chance.randrange(len(lines) + 1), line)
    return b"".join(lines)


def shuffle(chance: random.Random, data: bytes) -> bytes:
    """Lines change places."""
    lines = data.splitlines(keepends=True)
    if chance.random() < 0.3:
        chance.shuffle(lines)
    else:
        at = chance.randrange(len(lines))
        lines[at : at + 5] = reversed(lines[at : at + 5])
    return b"".join(lines)


def glue(chance: random.Random, data: bytes) -> bytes:
    """Line ends are gone, or stand where none belong."""
    lines = data.split(b"\n")
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(lines))
        if chance.random() < 0.7 and at + 1 < len(lines):
            lines[at : at + 2] = [chance.choice([b"", b" ", b"\r", b"\0"]).join(lines[at : at + 2])]
        else:
            middle = chance.randrange(len(lines[at]) + 1)
            lines[at : at + 1] = [lines[at][:middle], lines[at][middle:]]
    return b"\n".join(lines)


def rename(chance: random.Random, data: bytes) -> bytes:
    """An id or a word is another one's everywhere, so that parents, calls and messages go astray."""
    words = WORDS if b'"payload"' not in data[:4_000] else ROLLOUT_WORDS
    return data.replace(b'"%s"' % chance.choice(words), b'"%s"' % chance.choice(words), chance.choice([1, 3, -1]))


WORDS = [b"r1", b"r2", b"r3", b"r7", b"toolu_1", b"toolu_2", b"msg_1", b"msg_4", b"user", b"assistant", b"null"]
ROLLOUT_WORDS = [
    b"c1", b"c2", b"c3", b"c9", b"t1", b"user", b"assistant", b"message", b"reasoning", b"function_call", b"type",
    b"session_meta", b"function_call_output", b"user_message", b"agent_message", b"token_count", b"event_msg",
    b"response_item",
    b"id", b"exec_command_end", b"thread_rolled_back", b"turn_context", b"compacted", b"payload", b"timestamp",
]  # fmt: skip

MUTATIONS: list[Mutation] = [cut, flip, double, shuffle, glue, rename]


def mutated(seed: str, data: bytes) -> bytes:
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 1, 2, 4])):
        if data.strip():
            data = chance.choice(MUTATIONS)(chance, data)
    return data


@pytest.fixture(scope="module")
def empty() -> Iterator[Path]:
    """An empty store to copy, made once."""
    folder = Path(tempfile.mkdtemp())
    store_in(folder).close()
    yield folder / "store.db"
    shutil.rmtree(folder)


SECONDS, SECONDS_A_BYTE = 15.0, 2e-5
"""What reading, showing, verifying and rebuilding a log may take, on a slow machine that does much else."""


def check(empty: Path, folder: Path, seed: str, data: bytes, *, deeply: bool) -> int:
    """Import bytes: everything is counted, shown raw, proven; part of them again, then all. Returns the records."""
    shutil.copy(empty, folder / "store.db")
    file = write(folder / "logs", data)
    began = time.monotonic()
    with Store.open(str(folder / "store.db")) as store:
        if deeply:
            file.write_bytes(data[: len(data) // 2])
            first = take(store, file).total("records")
            file.write_bytes(data)
        else:
            first = 0
        report = take(store, file)
        path = store.path
        with Archive.open(path) as archive:
            shown = 0
            for session in archive.sessions(limit=100).rows:
                for detail in archive.iter_events(session.key):
                    place = detail.source
                    assert archive.raw(detail.row.key) == data[place.offset : place.offset + place.length], seed
                    shown += 1
            assert shown == archive.totals().events
            for _, line, offset, reason in archive.unreadable():
                assert data[:offset].count(b"\n") + 1 == line
                assert reason
        if deeply:
            rebuild(store)
    checked = assert_holds(path).checked["records"]
    assert checked == first + report.total("records") or report.files[0].note or report.files[0].skipped, seed
    spent = time.monotonic() - began
    assert spent < SECONDS + len(data) * SECONDS_A_BYTE, (seed, spent)
    for leftover in folder.iterdir():
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    return int(checked)


def test_invented_logs_survive_whatever_is_done_to_them(
    empty: Path, tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    whole = [
        log.lines(log.session()),
        log.lines(log.every_record()),
        b"".join(log.lines(records) for records in log.with_helper().values()),
    ]
    records = 0
    for number in range(figure(45, 1_000)):
        seed = f"invented {number}"
        data = mutated(seed, whole[number % len(whole)])
        records += check(empty, tmp_path, seed, data, deeply=number % 4 == 0)
    assert records > figure(500, 10_000)


def test_real_logs_survive_whatever_is_done_to_them(
    shared: Path, empty: Path, tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    found = [Path(file) for file in files(str(shared / "samples" / "claude_code"), [])]
    current = [file for file in found if file.stat().st_size < figure(60_000, 1 << 30)]
    current = [file for file in current if b'"version":"2.1.' in file.read_bytes().replace(b" ", b"")]
    assert len(current) > 3
    for number in range(figure(12, 1_000)):
        file = current[number % len(current)]
        seed = f"{file.name} {number}"
        check(empty, tmp_path, seed, mutated(seed, file.read_bytes()), deeply=number % 4 == 0)


def test_invented_rollouts_survive_whatever_is_done_to_them(
    empty: Path, tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    whole = [rollouts.written(rollouts.a_session()), rollouts.written(rollouts.every_record()), rollouts.bare()]
    records = 0
    for number in range(figure(36, 1_000)):
        seed = f"rollout {number}"
        data = mutated(seed, whole[number % len(whole)])
        records += check(empty, tmp_path, seed, data, deeply=number % 4 == 0)
    assert records > figure(400, 10_000)


def test_real_rollouts_survive_whatever_is_done_to_them(
    shared: Path, empty: Path, tmp_path: Path, figure: Callable[[int, int], int]
) -> None:
    found = [Path(file) for file in files(str(shared / "samples" / "codex"), [])]
    current = [file for file in found if file.stat().st_size < figure(100_000, 1 << 30)]
    assert len(current) > 3
    for number in range(figure(12, 1_000)):
        file = current[number % len(current)]
        seed = f"{file.name} {number}"
        check(empty, tmp_path, seed, mutated(seed, file.read_bytes()), deeply=number % 4 == 0)


def test_a_folder_of_broken_logs_is_imported_to_its_end(tmp_path: Path) -> None:
    for number in range(30):
        write(tmp_path / "logs", mutated(f"folder {number}", log.lines(log.session())), f"{number}.jsonl")
    with store_in(tmp_path) as store:
        report = take(store, tmp_path / "logs")
        assert len(report.files) == 30
        assert sum(file.records > 0 for file in report.files) > 20
        assert_holds(store.path)
        assert Importer(store, clock=lambda: None).paths([]).total("records") == 0  # type: ignore[arg-type, return-value]
