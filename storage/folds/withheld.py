"""What is kept of a record whose bytes were erased, so that its place, its pairs and its address stay: no text.

An envelope is plain JSON and stands in the payload of the redaction's own entry, so it must be readable for as long
as the store is: fields may be added, never given another meaning.
"""

from __future__ import annotations

from typing import Any

from affidavit.session.event import KEPT, Draft, Reading, Usage, event_hex
from affidavit.session.forks import FROM, SINCE, START
from affidavit.session.policies import ESCALATED
from affidavit.session.prepare import Fields, Prepared, Preparer
from affidavit.session.progress import PROGRESS
from affidavit.session.sidechains import TASK
from storage.folds.reading import reading_of
from storage.folds.sources import Voice
from storage.readers import base_of
from storage.segments import Cut

COPIES = (FROM, SINCE, START)

Envelope = dict[str, Any]
"""See the module; ``entry`` and ``record`` say which record it is of."""

_BLANK: Envelope = {
    "native": None, "parent": None, "lane": "", "at": None, "prompt": None, "leaf": False, "usage": None, "drafts": [],
    "ids": [], "first": 0, "status": "mapped", "copies": None,
}  # fmt: skip


def envelope_of(entry: int, record: int, cut: Cut, ids: list[int], voice: Voice) -> Envelope:
    """The envelope of a record; ``ids`` are those of its events.

    ``first``: id of the first event of the first record with these bytes, where records have no ids of their own.
    ``apart``: it was of no session. ``told`` of a draft is the kind of check its command runs, or the outcome its text
    tells: one word, and none of the text.
    """
    place = {"entry": entry, "record": record}
    reading = reading_of(cut, voice)
    if reading is None or not reading.drafts or len(ids) != len(reading.drafts):
        apart = reading is not None and reading.kept is not None and not reading.drafts
        return {**_BLANK, **place, "session": voice.native, "apart": apart, "kept": reading and _stripped(reading)}
    fields = Fields._make(Preparer(base_of(voice.format), voice.native, texts=False).prepare(reading, cut.value))
    told = {join[0]: join[3].partition(" ")[0] for join in fields.joins if join[3]}
    usage = reading.usage
    # A prompt's key may be made from what was said.
    prompt = "=" + event_hex(ids[0]) if reading.prompt and reading.prompt[:1] == "=" else reading.prompt
    return {
        **place,
        "ids": ids,
        "first": fields.first if fields.record[:1] == "=" else 0,
        "status": reading.status,
        "session": reading.session or voice.native,
        "native": reading.native,
        "parent": reading.parent,
        "lane": reading.lane,
        "at": reading.at,
        "prompt": None if reading.lane else prompt,
        "leaf": reading.leaf,
        "kept": _stripped(reading),
        "copies": {name: value for name, value in (reading.facts or {}).items() if name in COPIES} or None,
        "progress": reading.queue[1] if reading.queue and reading.queue[0] == PROGRESS else None,
        "usage": usage and [usage.message, usage.model, usage.input, usage.output, usage.cache_read, usage.cache_write],
        "drafts": [
            {
                "kind": draft.kind,
                "actor": draft.actor,
                "path": draft.path,
                "tool": draft.tool,
                "call": draft.call,
                "ok": draft.ok,
                "millis": draft.millis,
                "inferred": draft.inferred,
                # What a sub-agent was told, in place of its id, is text and goes with the text.
                "spawns": None if draft.spawns and draft.spawns[0] == TASK else draft.spawns,
                "told": told.get(block),
                "asks": ESCALATED in draft.flags,
            }
            for block, draft in enumerate(reading.drafts)
        ],
    }


BARE: dict[str, dict[str, Any]] = {
    "snapshot": {"purpose": None, "question": "", "sources": "[]", "reasons": "[]", "verdict": "text_missing"},
    "gate_run": {"query": "", "space": None, "reasons": "[]"},
}
"""Tables whose rows stay when a record is erased, so that its address answers, and what their texts become."""


def _stripped(reading: Reading) -> list[Any] | None:
    """The row of a table in :data:`BARE`, as it is without its texts."""
    table, columns = reading.kept or ("", ())
    if table not in BARE:
        return None
    bare = BARE[table]
    return [table, [bare.get(name, value) for name, value in zip(KEPT[table], columns, strict=True)]]


def _kept(envelope: Envelope) -> tuple[str, tuple[Any, ...]] | None:
    if kept := envelope.get("kept"):
        return kept[0], tuple(kept[1])
    return ("", ()) if envelope.get("apart") else None


def _flags(envelope: Envelope, draft: dict[str, Any]) -> tuple[str, ...]:
    told = (PROGRESS,) if envelope.get("progress") else ()
    return ("withheld", *told, ESCALATED) if draft.get("asks") else ("withheld", *told)


def withheld(envelope: Envelope, voice: Voice) -> Prepared:
    """A record as its envelope tells it."""
    drafts = [
        Draft(
            draft["kind"],
            draft["actor"],
            path=draft["path"],
            summary="",
            tool=draft["tool"],
            call=draft["call"],
            ok=draft["ok"],
            millis=draft["millis"],
            inferred=draft["inferred"],
            spawns=draft["spawns"],
            told=draft["told"],
            flags=_flags(envelope, draft),
        )
        for draft in envelope["drafts"]
    ]
    reading = Reading(
        envelope["status"],
        session=envelope["session"],
        native=envelope["native"],
        parent=envelope["parent"],
        lane=envelope["lane"],
        at=envelope["at"],
        prompt=envelope["prompt"],
        leaf=envelope["leaf"],
        drafts=drafts,
        facts=envelope.get("copies"),
        queue=(PROGRESS, agent) if (agent := envelope.get("progress")) else None,
        usage=None if envelope["usage"] is None else Usage(*envelope["usage"]),
        kept=_kept(envelope),
    )
    return Preparer(base_of(voice.format), voice.native).prepare(
        reading, b"", tuple(envelope["ids"]), envelope["first"]
    )
