"""The benches. Each gives the rows of its part of the table."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import floors, inputs, retrievals, workspaces
from benchmarks.measure import COMMAND, Figure, environment, ratio, run, store_bytes
from benchmarks.terminal import Terminal

MB = 1_000_000


@dataclass(frozen=True)
class Sizes:
    """How much is measured: the issue's own figures, or a share of them that takes a minute."""

    records: int
    events: int
    keys: int
    sessions: int
    many: int
    files: int


FULL = Sizes(200_000, 1_000_000, 40, 450, 10_000_000, 20_000)
QUICK = Sizes(20_000, 60_000, 20, 40, 60_000, 2_000)


@dataclass(frozen=True)
class Workshop:
    """Where inputs and stores lie, and how large they are."""

    folder: Path
    sizes: Sizes

    def log(self, records: int) -> Path:
        """A log of that many records."""
        return inputs.session_log(self.folder / f"log-{records}.jsonl", records)

    def big_store(self) -> Path:
        """A store with all the events, made once."""
        store = self.folder / f"store-{self.sizes.events}.db"
        if not store.exists():
            making = self.folder / "making.db"
            for old in making.parent.glob("making.db*"):
                old.unlink()
            run("import", str(self.log(self.sizes.events)), "--json", store=making)
            making.rename(store)
        return store

    def store_of_sessions(self, events: int, each: int) -> Path:
        """A store with so many events in sessions of ``each``, made once."""
        store = self.folder / f"sessions-{events}.db"
        if not store.exists():
            making = self.folder / "making.db"
            for old in making.parent.glob("making.db*"):
                old.unlink()
            for number in range(events // each):
                dealt = inputs.one_session(self.folder / "dealt.jsonl", self.log(each), number)
                run("import", str(dealt), "--json", store=making)
                dealt.unlink()
            making.rename(store)
        return store


def bench_import(shop: Workshop) -> Iterable[Figure]:
    """Import of one file, against parsing and inserting its lines."""
    log = shop.log(shop.sizes.records)
    store = shop.folder / "import.db"
    for old in store.parent.glob("import.db*"):
        old.unlink()
    before = floors.import_floor(log)
    done = run("import", str(log), "--json", store=store)
    after = floors.import_floor(log)
    floor = None if before is None or after is None else (before + after) / 2
    told = json.loads(done.output)
    assert told["records"] == shop.sizes.records == told["mapped"], told
    rate = shop.sizes.records / done.seconds
    yield ratio(f"import {shop.sizes.records:,} records", done.seconds, floor, 4, 2.2, f"{rate:,.0f} records/s")
    yield Figure("  memory, peak", done.peak / MB, "MB", 300)
    yield Figure("  store / source", store_bytes(store) / log.stat().st_size, "×", 1)
    again = run("import", str(log), "--json", store=store)
    yield Figure("  the same file again", again.seconds, "s")


def bench_tree(shop: Workshop) -> Iterable[Figure]:
    """Import of a folder of sessions, against parsing and inserting all their lines."""
    records = shop.sizes.sessions * SESSION_RECORDS
    log = shop.log(records)
    tree = shop.folder / f"tree-{shop.sizes.sessions}"
    size = inputs.session_tree(tree, log, shop.sizes.sessions, SESSION_RECORDS)
    store = shop.folder / "tree.db"
    for old in store.parent.glob("tree.db*"):
        old.unlink()
    before = floors.import_floor(log)
    done = run("import", str(tree), "--json", store=store)
    after = floors.import_floor(log)
    floor = None if before is None or after is None else (before + after) / 2
    told = json.loads(done.output)
    assert (told["sessions"], told["mapped"]) == (shop.sizes.sessions, records), told
    name = f"import {shop.sizes.sessions} sessions, {size / MB:.0f} MB"
    yield ratio(name, done.seconds, floor, 4, 2, f"{records / done.seconds:,.0f} records/s")
    yield Figure("  the same folder again", run("import", str(tree), "--json", store=store).seconds, "s", 1)


SESSION_RECORDS = 600
"""Records of each session of a folder."""


def bench_big_import(shop: Workshop) -> Iterable[Figure]:
    """Memory of an import five times as large: it must be flat."""
    store = shop.folder / "flat.db"
    done = run("import", str(shop.log(shop.sizes.events)), "--json", store=store)
    yield Figure(f"import {shop.sizes.events:,} records: memory, peak", done.peak / MB, "MB", 300)
    for old in store.parent.glob("flat.db*"):
        old.unlink()


WITHOUT_FOLDS = """
import sys
from storage.verify import verify
report = verify(sys.argv[1], folds=False)
assert report.holds, report.failures
print(report.checked["records"])
"""


def bench_verify(shop: Workshop) -> Iterable[Figure]:
    """Full verification, against reading and hashing as many rows."""
    store = shop.big_store()
    name = f"verify {shop.sizes.events:,} records"
    before = floors.verify_floor(shop.sizes.events)
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", WITHOUT_FOLDS, str(store)], check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    assert int(done.stdout) == shop.sizes.events, done.stdout
    whole = run("verify", "--json", store=store)
    told = json.loads(whole.output)
    assert told["holds"], told
    after = floors.verify_floor(shop.sizes.events)
    floor = None if before is None or after is None else (before + after) / 2
    yield ratio(f"{name}: bytes and tree", seconds, floor, 3, 1.4)
    yield ratio(f"{name}: with folds", whole.seconds, floor, 14, 6)
    yield Figure("  memory, peak", whole.peak / MB, "MB")


def bench_open(shop: Workshop) -> Iterable[Figure]:
    """The first rows of a very large store, against those of a small one."""
    few, many = shop.sizes.events // 10, shop.sizes.many
    seconds: dict[int, list[float]] = {few: [], many: []}
    words = {}
    for events in seconds:
        store = shop.store_of_sessions(events, shop.sizes.events // 10)
        _, title, _ = titles(store)
        words[events] = store, title
    for _ in range(7):
        for events, (store, title) in words.items():
            with open_console(store) as terminal:
                seconds[events].append(terminal.expect(title))
    plain, large = (statistics.median(found) for found in seconds.values())
    yield ratio(f"first rows, {many:,} events against {few:,}", large, plain, 1.2, 1.0)


def titles(store: Path) -> tuple[str, str, str]:
    """(address of the first session, what its row says, what its first event says)."""
    session = json.loads(run("sessions", "--json", store=store).output)["sessions"][0]
    words = str(session["title"]).split()
    return f"session/{session['id']}", " ".join(words[:2]), words[0]


def open_console(store: Path, *words: str) -> Terminal:
    """The console on a store, in a terminal of 120 by 40."""
    return Terminal([COMMAND, *words], environment={**environment(store.parent), "AFFIDAVIT_STORE": str(store)})


def bench_start(shop: Workshop) -> Iterable[Figure]:
    """From the command to the first rows on the screen, against importing what the console needs."""
    store = shop.big_store()
    address, title, _ = titles(store)
    floor = floors.start_floor()
    for name, words in (("sessions", ()), ("timeline", (address,))):
        seconds = []
        for _ in range(5):
            with open_console(store, *words) as terminal:
                seconds.append(terminal.expect(title))
        yield ratio(f"first rows, {name}, {shop.sizes.events:,} events", statistics.median(seconds), floor, 1.6, 1.0)


SHOWN_ROWS = 20
"""Rows a cursor can walk in a terminal of 40 lines without the list having to scroll."""


def bench_keys(shop: Workshop) -> Iterable[Figure]:
    """Keys in a timeline with all the events: how soon, and how many bytes to the terminal."""
    store = shop.big_store()
    address, title, _ = titles(store)
    with open_console(store, address) as terminal:
        terminal.expect(title)
        terminal.rest(0.8)
        terminal.press(b"j")
        moves = [terminal.press(b"j" if n // SHOWN_ROWS % 2 == 0 else b"k") for n in range(shop.sizes.keys)]
        terminal.press(b"G")
        scrolled = [terminal.press(b"k") for _ in range(SHOWN_ROWS * 3)][SHOWN_ROWS * 2 :]
        terminal.press(b"g")
        pages = [terminal.press(b"\x04") for _ in range(shop.sizes.keys)]
        ends = [terminal.press(key) for key in (b"G", b"g", b"G", b"g")]
        memory = terminal.memory()
    yield Figure("cursor move, to the first byte", statistics.median(b.delay for b in moves) * 1000, "ms", 15)
    yield Figure("  bytes for the list", max(b.first for b in moves), "B", 1024)
    yield Figure("  bytes for the detail", max(b.later for b in moves), "B", 8192)
    yield Figure("  bytes where the list scrolls", max(b.first for b in scrolled), "B")
    yield Figure("page, whole", statistics.median(b.done for b in pages) * 1000, "ms", 25)
    yield Figure("first and last row, whole", statistics.median(b.done for b in ends) * 1000, "ms")
    yield Figure("console memory", memory / MB, "MB", 150)


SEARCH = """
import statistics, sys, time
from storage.archive import Archive
archive = Archive.open(sys.argv[1])
for text in sys.argv[2:]:
    seconds = []
    for _ in range(9):
        start = time.perf_counter()
        page = archive.search(text)
        seconds.append(time.perf_counter() - start)
    print(statistics.median(seconds), len(page.rows))
"""


def bench_search(shop: Workshop) -> Iterable[Figure]:
    """The first page of hits: a word that is everywhere, several words, one that is nowhere."""
    store = shop.big_store()
    texts = {"a common word": "fixture", "four words": "fixture mock retry admin", "no hit": "zebrafish"}
    words = [sys.executable, "-c", SEARCH, str(store), *texts.values()]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    for name, line in zip(texts, done.stdout.splitlines(), strict=True):
        seconds, hits = line.split()
        yield Figure(f"search, first page, {name}", float(seconds) * 1000, "ms", 50, note=f"{hits} hits on it")


def bench_version(shop: Workshop) -> Iterable[Figure]:
    """The smallest command: what every call costs."""
    yield Figure(
        "affidavit --version", floors.median(lambda: run("--version", store=shop.folder / "none.db"), 7), "s", 0.2
    )


BENCHES: dict[str, Callable[[Workshop], Iterable[Figure]]] = {
    "version": bench_version,
    "import": bench_import,
    "tree": bench_tree,
    "flat": bench_big_import,
    "verify": bench_verify,
    "start": bench_start,
    "open": bench_open,
    "keys": bench_keys,
    "search": bench_search,
    "workspace": workspaces.bench_workspace,
    "retrieve": workspaces.bench_retrieve,
    "what-if": retrievals.bench_what_if,
}
"""Every bench by the name it is chosen by, in the order they run."""
