"""The benches over a workspace: indexing it, indexing it again, and retrieving from it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import inputs
from benchmarks.measure import Figure, store_bytes

if TYPE_CHECKING:
    from benchmarks.benches import Workshop

MB = 1_000_000

INDEX = """
import json, sys, time
from storage.store import Store
from storage.workspace.indexing import index
with Store.open(sys.argv[1], create=True) as store:
    start = time.perf_counter()
    report = index(store, sys.argv[2])
    seconds = time.perf_counter() - start
print(json.dumps([seconds, report.files, report.added, report.changed, report.bytes]))
"""

RETRIEVE = """
import json, random, re, sys, time
from datetime import UTC, datetime
from pathlib import Path
from affidavit.retrieval.pipeline import retrieve
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from affidavit.retrieval.words import SOURCES
from storage.archive import Archive
root = Path(sys.argv[2])
files = sorted(path for path in root.rglob("*.ts"))
chance, now, took = random.Random(3), datetime.now(UTC), []
archive = Archive.open(sys.argv[1])
for number in range(60):
    file, other = chance.sample(files, 2)
    text = file.read_text()
    names, said = re.findall(r"function (\\w+)", text), re.findall(r"// (.*)", text)
    start = time.perf_counter()
    scope = RetrievalScope.model_validate({
        "purpose": "fix-test", "workspace_root": str(root), "allowed_sources": tuple(SOURCES),
        "permission_context": {"readable_sources": tuple(SOURCES), "model_visible_sources": tuple(SOURCES)},
        "time_boundary": {"as_of": now.isoformat()},
    })
    intent = RetrievalIntent.model_validate({
        "purpose": "fix-test", "question": f"why does {names[0]} fail when {said[1]}",
        "anchors": {
            "failing_test": str(file.relative_to(root)), "error_text": f"TypeError: {names[2]} of undefined, {said[2]}",
            "current_files": (str(other.relative_to(root)),),
        },
    })
    got = retrieve(intent, scope, None, None, None, archive.recallers(scope), now, lambda: "retr-snap-1")
    took.append(time.perf_counter() - start)
    first = got.snapshot.selected_items[0].source_ref.rpartition(":")[0]
    assert first == str(file.relative_to(root)), (first, file)
    assert not any(run.error for run in got.snapshot.recallers)
took.sort()
print(json.dumps([took[len(took) // 2], took[len(took) * 95 // 100]]))
"""


def bench_workspace(shop: Workshop) -> Iterable[Figure]:
    """Indexing a folder of small files: the first time, when nothing changed, when a hundred files did."""
    folder, store = _places(shop)
    for old in store.parent.glob(f"{store.name}*"):
        old.unlink()
    files = shop.sizes.files
    seconds, met, added, _, size = _run(INDEX, store, folder)
    assert met == added == files, (met, added)
    note = f"{files / seconds:,.0f} files/s, {size / MB:.0f} MB"
    yield Figure(f"index {files:,} files: each", seconds / files * 1_000_000, "µs", 500, note=note)
    yield Figure("  store / texts", store_bytes(store) / size, "×")
    time.sleep(2.1)  # what is fresher is read again, whether it changed or not
    _run(INDEX, store, folder)
    seconds, met, added, changed, _ = _run(INDEX, store, folder)
    assert (met, added, changed) == (files, 0, 0), (met, added, changed)
    yield Figure("  again, nothing changed", seconds, "s", 1)
    some = sorted(folder.rglob("*.py"))[:100]
    texts = [file.read_text() for file in some]
    for file, text in zip(some, texts, strict=True):
        file.write_text(text + "\n# changed\n")
    try:
        seconds, _, added, changed, _ = _run(INDEX, store, folder)
    finally:
        for file, text in zip(some, texts, strict=True):
            file.write_text(text)
    assert (added, changed) == (0, len(some)), (added, changed)
    yield Figure(f"  again, {len(some)} files changed", seconds, "s", 1.5)


def bench_retrieve(shop: Workshop) -> Iterable[Figure]:
    """A whole retrieval over the folder: seven recallers, ranking, budget, citations, snapshot."""
    folder, store = _places(shop)
    _run(INDEX, store, folder)
    half, most = _run(RETRIEVE, store, folder)
    yield Figure(f"retrieve from {shop.sizes.files:,} files, 95 of 100", most * 1000, "ms", 300)
    yield Figure("  half of them", half * 1000, "ms")


def _places(shop: Workshop) -> tuple[Path, Path]:
    folder = inputs.workspace(shop.folder / f"workspace-{shop.sizes.files}", shop.sizes.files)
    return folder.resolve(), shop.folder / f"workspace-{shop.sizes.files}.db"


def _run(program: str, store: Path, folder: Path) -> list[Any]:
    """What a program of ours prints, run on a store and a folder in a process of its own."""
    words = [sys.executable, "-c", program, str(store), str(folder)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: list[Any] = json.loads(done.stdout)
    return found
