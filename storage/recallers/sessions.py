"""What sessions recorded: the current one's events, the bodies it keeps as artifacts, and outcomes of checks in earlier
sessions of the same project.

An event's text is read again from its recorded bytes. Only events of the session, inside the time asked for, are ever
met; a snapshot or a projection of an earlier retrieval is no evidence of anything and never comes back as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from affidavit.retrieval.candidate import RetrievalCandidate
from affidavit.retrieval.plan import RetrievalSubQuery
from affidavit.retrieval.pool import micros
from affidavit.retrieval.request import RetrievalScope, TimeBoundary
from affidavit.retrieval.terms import stem, words
from affidavit.session.event import event_hex
from affidavit.session.times import iso
from affidavit.text.marks import marked
from affidavit.text.search import any_query
from storage.queries.conditions import Condition, among, both
from storage.queries.connection import ReadConnection
from storage.queries.records import RecordError
from storage.queries.timeline import event
from storage.workspace.passages import Passage, cut

if TYPE_CHECKING:
    from storage.queries.records import Records

EVIDENCE: Final = frozenset(
    {"user.message", "model.message", "tool.finished", "verification", "error", "permission.decision", "compaction"}
)
"""Kinds of events that tell what happened. What a model thought, and what was retrieved before, is no evidence."""

LOOKED_AT: Final = 80
"""Events whose texts are read for one question: the newest that hold any of its words."""

RECENT_PROBLEMS: Final = 4
"""The newest failures of the session are recalled whatever words they hold, where an error is looked for."""

MOST_ARTIFACTS: Final = 2_000
"""The newest artifacts of a session that are looked into."""

PASSAGES: Final = 2
"""Parts of one long text that are given."""

LIKE_ENOUGH: Final = 0.5
"""A failed check of an earlier session must say more than this share of what is looked for, or name the file."""

PAST_SESSIONS: Final = 40
PAST_PROBLEMS: Final = 10
"""Earlier sessions that are looked at, the newest first, and failed checks of each."""


class _Session(NamedTuple):
    no: int
    uid: str


class _Events:
    """What the recallers over sessions have in common: reading events inside a scope."""

    def __init__(self, link: ReadConnection, records: Callable[[], Records]) -> None:
        self._link = link
        self._records = records
        self._bounds: tuple[tuple[int, int], tuple[int, int]] | None = None

    def _places(self, session: int) -> tuple[int, int] | None:
        """Between which rows of the full text a session's events lie; looked for once while nothing is added."""
        version = int(self._link.value("PRAGMA data_version"))
        if self._bounds is None or self._bounds[0] != (session, version):
            row = self._link.row("SELECT -max(n), -min(n) FROM event WHERE session = ?", (session,))
            if row is None or row[0] is None:
                return None
            self._bounds = (session, version), (row[0], row[1])
        return self._bounds[1]

    def _session(self, scope: RetrievalScope) -> _Session | None:
        """The session a scope names, by the agent's own id of it or by ours; ``None`` where it is not one alone."""
        if not scope.session_id:
            return None
        said = marked(scope.session_id)
        rows = self._link.rows(
            "SELECT no, uid FROM session WHERE uid = ? UNION SELECT no, uid FROM session WHERE native = ? LIMIT 2",
            (said.lower(), said),
        )
        return _Session(*rows[0]) if len(rows) == 1 else None

    def _matching(self, phrases: Iterable[str], session: int, tests: list[Condition]) -> list[int]:
        """The newest events of a session that hold any of the phrases."""
        query = any_query(phrases)
        bounds = None if query is None else self._places(session)
        if bounds is None:
            return []
        where = both(
            [
                Condition("ix_text MATCH ?", (query,)),
                Condition("x.rowid BETWEEN ? AND ?", bounds),
                Condition("e.session = ?", (session,)),
                *tests,
            ]
        )
        return [
            -rowid
            for (rowid,) in self._link.rows(
                f"SELECT x.rowid FROM ix_text x CROSS JOIN event e ON e.n = -x.rowid WHERE {where.sql} "
                "ORDER BY x.rowid LIMIT ?",
                (*where.values, LOOKED_AT),
            )
        ]

    def _candidates(self, keys: Iterable[int], wanted: frozenset[str], about: dict[str, Any]) -> list[_Rated]:
        """Candidates of events, each with how much of what is wanted it says."""
        found = []
        for key in dict.fromkeys(keys):
            row = event(self._link, key)
            if row is None:
                continue
            try:
                text = self._records().detail(row).text
            except RecordError:
                continue  # erased, or damaged: `verify` says which
            if not text.strip():
                continue
            outcome = {None: "", True: "passed", False: "failed"}[row.ok]
            title = " ".join(part for part in (row.kind, row.tool or "", outcome) if part)
            base: dict[str, Any] = {
                "source_ref": event_hex(row.id),
                "captured_at": iso(row.at),
                "valid_from": iso(row.at),
                "title": title,
                "evidence_kind": "test-log" if row.kind == "verification" else "session-event",
                **about,
            }
            if about["source"] == "current-session" and row.kind == "user.message" and row.actor == "user":
                base["trust"] = "instruction"
            found += parts_of(text, wanted, base)
        return found


class _Rated(NamedTuple):
    share: float
    candidate: RetrievalCandidate


def parts_of(text: str, wanted: frozenset[str], base: dict[str, Any]) -> list[_Rated]:
    """A text as candidates: whole where it is short, else its parts that say most of what is wanted."""
    data = text.encode("utf-8", "replace")
    digest = f"sha256:{sha256(data).hexdigest()}"
    rated: list[tuple[float, Passage, str]] = []
    for part in cut(data, "log", []):
        said = data[part.start : part.stop].decode("utf-8", "replace")
        rated.append((len(wanted.intersection(words(said))) / max(len(wanted), 1), part, said))
    rated.sort(key=lambda one: (-one[0], one[1].start))
    return [
        _Rated(
            share,
            RetrievalCandidate.model_validate(
                {
                    **base,
                    "id": "event-"
                    + sha256(f"{base['source_ref']}\0{part.start}\0{part.stop}".encode()).hexdigest()[:12],
                    "text": said,
                    "byte_range": {"from": part.start, "to": part.stop},
                    "source_digest": digest,
                }
            ),
        )
        for share, part, said in rated[:PASSAGES]
    ]


def best(found: list[_Rated], limit: int) -> list[RetrievalCandidate]:
    """Those that say most of what is wanted; of equals those that came first."""
    ordered = sorted(range(len(found)), key=lambda at: (-found[at].share, at))
    return [found[at].candidate for at in ordered[:limit]]


def times(boundary: TimeBoundary) -> list[Condition]:
    """The time asked for as conditions of an event ``e``; what has no time is not known to lie inside it."""
    tests = [Condition("e.at <= ?", (micros(boundary.as_of),))]
    if boundary.include_after is not None:
        tests.append(Condition("e.at > ?", (micros(boundary.include_after),)))
    if boundary.exclude_after is not None:
        tests.append(Condition("e.at <= ?", (micros(boundary.exclude_after),)))
    return tests


def phrases(sub_query: RetrievalSubQuery) -> list[str]:
    """What of a question is looked for in texts, the most telling first."""
    names = [path.rpartition("/")[2] for path in sub_query.paths]
    return [*names, *sub_query.identifiers, *(sub_query.terms or sub_query.query_text.split())]


class SessionRecaller(_Events):
    """Events of the session that the scope names."""

    name = "current session"
    sources = ("current-session",)

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:  # noqa: ARG002
        """Its events that fit; where an error is looked for, its newest failures too."""
        session = self._session(scope) if "current-session" in sub_query.sources else None
        if session is None:
            return []
        tests = [*times(scope.time_boundary), among("e.kind", EVIDENCE)]
        keys: list[int] = []
        if sub_query.intent == "find-error":
            where = both([Condition("e.session = ? AND e.problem = 1", (session.no,)), *tests])
            sql = f"SELECT e.n FROM event e WHERE {where.sql} ORDER BY e.sort DESC, e.n DESC LIMIT ?"
            keys = [n for (n,) in self._link.rows(sql, (*where.values, RECENT_PROBLEMS))]
        keys += self._matching(phrases(sub_query), session.no, tests)
        about = {"source": "current-session", "scope": {"session_id": scope.session_id}}
        found = self._candidates(keys, frozenset(words(" ".join(phrases(sub_query)))), about)
        return best(found, 2 * sub_query.top_k)


class ArtifactRecaller(_Events):
    """Bodies that the session keeps by their digest."""

    name = "artifact store"
    sources = ("artifact-store",)

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:  # noqa: ARG002
        """Parts of texts among them that fit; bodies that are no text are not looked into."""
        session = self._session(scope) if "artifact-store" in sub_query.sources else None
        if session is None:
            return []
        keys = self._bodies(phrases(sub_query), session.no, times(scope.time_boundary))
        found: list[_Rated] = []
        for key in keys:
            row = self._link.row(
                "SELECT a.digest, a.media, a.name, e.at FROM event e JOIN artifact a ON a.session = e.session "
                "AND a.n = (e.n >> 22) << 22 WHERE e.n = ?",
                (key,),
            )
            if row is not None:
                found += self._parts(key, sub_query, scope, *row)
        return best(found, 2 * sub_query.top_k)

    def _bodies(self, phrases: Iterable[str], session: int, tests: list[Condition]) -> list[int]:
        """The newest artifacts of a session that hold any of the phrases: few of its events are artifacts."""
        query = any_query(phrases)
        if query is None:
            return []
        where = both([Condition("ix_text MATCH ?", (query,)), *tests])
        rows = self._link.rows(
            "SELECT e.n FROM (SELECT n FROM artifact WHERE session = ? ORDER BY n DESC LIMIT ?) a "
            "CROSS JOIN event e ON e.n = a.n CROSS JOIN ix_text x ON x.rowid = -a.n "
            f"WHERE {where.sql} LIMIT ?",
            (session, MOST_ARTIFACTS, *where.values, LOOKED_AT),
        )
        return sorted((n for (n,) in rows), reverse=True)

    def _parts(
        self, key: int, sub_query: RetrievalSubQuery, scope: RetrievalScope, digest: bytes, media: str,
        name: str | None, at: int | None,
    ) -> list[_Rated]:  # fmt: skip
        try:
            text = self._records().body(key).decode("utf-8")
        except (RecordError, UnicodeDecodeError):
            return []
        told = f"{name or ''} {media}".lower()
        base: dict[str, Any] = {
            "source": "artifact-store",
            "source_ref": f"sha256:{digest.hex()}",
            "source_version": f"sha256:{digest.hex()}",
            "captured_at": iso(at),
            "valid_from": iso(at),
            "title": name or media,
            "evidence_kind": "test-log" if any(word in told for word in ("log", "test", "stdout", "stderr")) else "doc",
            "scope": {"session_id": scope.session_id},
        }
        return parts_of(text, frozenset(words(" ".join(phrases(sub_query)))), base)


class PastSessionsRecaller(_Events):
    """Checks that failed in earlier sessions of the same project: what a run observed, not what anybody made of it."""

    name = "past sessions"
    sources = ("past-sessions",)

    def recall(self, sub_query: RetrievalSubQuery, scope: RetrievalScope, now: datetime) -> list[RetrievalCandidate]:  # noqa: ARG002
        """Failed checks whose text says what is looked for, of sessions that were in the scope's project."""
        if "past-sessions" not in sub_query.sources or not scope.project_id:
            return []
        wanted = frozenset(words(" ".join(phrases(sub_query))))
        bare = {stem(path) for path in sub_query.paths}
        found: list[_Rated] = []
        for no, _ in self._sessions(scope):
            about = {
                "source": "past-sessions",
                "verified": True,
                "scope": {"project_id": scope.project_id, "test_suite": scope.test_suite},
            }
            for one in self._candidates(self._failures(no, scope), wanted, about):
                text = one.candidate.text.lower()
                suited = scope.test_suite is None or scope.test_suite.lower() in text
                if suited and (one.share > LIKE_ENOUGH or any(name and name in text for name in bare)):
                    found.append(one)
        return best(found, 2 * sub_query.top_k)

    def _sessions(self, scope: RetrievalScope) -> list[tuple[int, str]]:
        """Sessions of the project that are not the current one, the newest first."""
        project = marked(scope.project_id or "")
        where = [Condition("(s.project = ? OR s.cwd = ?)", (project, project))]
        current = self._session(scope)
        if current is not None:
            where.append(Condition("s.no <> ?", (current.no,)))
        if scope.branch is not None:
            where.append(Condition("(s.git_branch IS NULL OR s.git_branch = ?)", (marked(scope.branch),)))
        tests = both([*where, Condition("s.started <= ?", (micros(scope.time_boundary.as_of),))])
        sql = f"SELECT s.no, s.uid FROM session s WHERE {tests.sql} ORDER BY s.started DESC, s.no DESC LIMIT ?"
        return [(no, uid) for no, uid in self._link.rows(sql, (*tests.values, PAST_SESSIONS))]

    def _failures(self, session: int, scope: RetrievalScope) -> list[int]:
        known = Condition("e.session = ? AND e.problem = 1 AND e.kind = 'verification' AND e.inferred = 0", (session,))
        tests = both([known, *times(scope.time_boundary)])
        sql = f"SELECT e.n FROM event e WHERE {tests.sql} ORDER BY e.sort DESC, e.n DESC LIMIT ?"
        return [n for (n,) in self._link.rows(sql, (*tests.values, PAST_PROBLEMS))]
