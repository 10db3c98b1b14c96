"""The bench over recorded retrievals: what they would have shown under other settings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchmarks.measure import Figure

if TYPE_CHECKING:
    from benchmarks.benches import Workshop

WHAT_IF = """
import json, random, sys, time
from datetime import UTC, datetime
import orjson
from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.pipeline import retrieve
from affidavit.retrieval.record import snapshot_bytes
from affidavit.retrieval.request import RetrievalIntent, RetrievalScope
from affidavit.retrieval.what_if import Changed, what_if
chance, now = random.Random(7), datetime(2026, 5, 14, tzinfo=UTC)
words = [f"word{n}" for n in range(400)] + ["role", "admin", "session", "createUserMock", "expected"]
sources = ("workspace-index", "project-documents", "artifact-store")
scope = RetrievalScope.model_validate({
    "purpose": "fix-test", "allowed_sources": sources, "time_boundary": {"as_of": now.isoformat()},
    "permission_context": {"readable_sources": sources, "model_visible_sources": sources},
})
intent = RetrievalIntent.model_validate({
    "purpose": "fix-test", "question": "which role does the session expect", "anchors": {"errorText": "expected admin"},
})
class Found:
    name, sources = "bench", sources
    def recall(self, query, scope, now):
        return [one for one in found if one.source in query.sources]
recorded = []
for number in range(20):
    found = [RetrievalCandidate.model_validate({
        "id": f"c{n}", "source": chance.choice(sources), "source_ref": f"src/part{n % 40}/file{n}.ts:1-40",
        "captured_at": "2026-05-13T00:00:00Z", "evidence_kind": "code",
        "text": " ".join(chance.choices(words, k=60)),
    }) for n in range(500)]
    got = retrieve(intent, scope, None, None, None, [Found()], now, lambda: f"retr-{number}")
    assert len(got.snapshot.rejected_items) + len(got.snapshot.selected_items) == 500
    recorded.append(snapshot_bytes(got.snapshot))
def over(one):
    start = time.perf_counter()
    seen = [one(orjson.loads(recorded[n % len(recorded)])) for n in range(1000)]
    return time.perf_counter() - start, seen
def ranked(body):
    items = [*body["selectedItems"], *body["rejectedItems"]]
    return [item["candidateId"] for item in sorted(items, key=lambda item: -item["score"]["total"])]
floor, _ = over(ranked)
settings = {
    "min-score": Changed(min_score=0.7), "budget": Changed(max_tokens=3000),
    "weights": Changed(weights={"authority": 0}),
}
took = {}
for name, changed in settings.items():
    took[name], seen = over(lambda body: what_if(body, changed))
    assert any(one.changed for one in seen), name
print(json.dumps([floor, took]))
"""


def bench_what_if(shop: Workshop) -> Iterable[Figure]:  # noqa: ARG001
    """A thousand recorded snapshots of five hundred candidates each, under another threshold, budget and weights."""
    done = subprocess.run([sys.executable, "-c", WHAT_IF], check=True, capture_output=True, text=True)
    floor, took = json.loads(done.stdout)
    for name, seconds in took.items():
        note = f"{seconds / floor:.1f} × reading and sorting them"
        yield Figure(f"what-if, 1,000 × 500: {name}", seconds, "s", 2, note=note)
