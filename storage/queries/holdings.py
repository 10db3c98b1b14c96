"""What a store holds besides events: ledger entries, payloads, and the account of every file that was read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from storage.queries.connection import ReadConnection
from storage.queries.models import Content, SourceRow, StoreTotals

MOST_FOUND: Final = 20
COUNTED: Final = ("records", "mapped", "unknown", "duplicates", "unreadable")


def entries(link: ReadConnection) -> int:
    """Number of ledger entries; they are numbered without gaps from 0."""
    last = link.value("SELECT max(idx) FROM ledger_entry")
    return 0 if last is None else int(last) + 1


def entry(link: ReadConnection, idx: int) -> bytes | None:
    """The exact bytes of a ledger entry."""
    if not 0 <= idx < 1 << 63:
        return None
    found: bytes | None = link.value("SELECT entry FROM ledger_entry WHERE idx = ?", (idx,))
    return found


def totals(link: ReadConnection) -> StoreTotals:
    """Sums of what sessions and sources have counted: a row a session and file, however many events."""
    sessions, events = link.rows("SELECT count(*), coalesce(sum(events), 0) FROM session")[0]
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in (*COUNTED, "cursor"))
    records, mapped, unknown, duplicates, unreadable, size = link.rows(f"SELECT {sums} FROM source")[0]
    return StoreTotals(sessions, events, records, mapped, unknown, duplicates, unreadable, entries(link), bytes=size)


def sources(link: ReadConnection, session: int | None = None) -> Iterator[SourceRow]:
    """The account of every revision of every file, in the order they were first read."""
    where, values = ("", ()) if session is None else ("WHERE f.session = ?", (session,))
    columns = ", ".join(f"f.{name}" for name in COUNTED)
    sql = f"""SELECT f.no, f.path, f.format, f.revision, s.uid, f.cursor, {columns} FROM source f
        LEFT JOIN session s ON s.no = f.session {where} ORDER BY f.no"""
    return (SourceRow(*row) for row in link.stream(sql, values))


def unreadable(link: ReadConnection, session: int | None = None) -> Iterator[tuple[str, int, int, str]]:
    """(file, line, offset, reason) of every record that could not be read, in the order they were read."""
    where, values = ("", ()) if session is None else ("WHERE r.session = ?", (session,))
    sql = f"""SELECT f.path, r.line, r.offset, r.reason FROM unreadable r JOIN source f ON f.no = r.source
        {where} ORDER BY r.n"""
    return ((file, line, offset, reason) for file, line, offset, reason in link.stream(sql, values))


def contents(link: ReadConnection, prefix: str) -> list[Content]:
    """Payloads and bodies whose SHA-256 begins with ``prefix`` (hex digits), one of each digest, at most 20."""
    digits = prefix.lower()
    if not 1 <= len(digits) <= 64 or not set(digits) <= set("0123456789abcdef"):
        return []
    bounds = tuple(bytes.fromhex(digits.ljust(64, fill)) for fill in "0f")
    found: dict[str, Content] = {}
    payloads = (
        "SELECT sha256, media, size, NULL, NULL FROM payload WHERE sha256 BETWEEN ? AND ? ORDER BY sha256 LIMIT ?"
    )
    bodies = "SELECT digest, media, size, name, n FROM artifact WHERE digest BETWEEN ? AND ? ORDER BY digest, n LIMIT ?"
    for sql in (payloads, bodies):
        for digest, *rest in link.rows(sql, (*bounds, MOST_FOUND)):
            found.setdefault(digest.hex(), Content(digest.hex(), *rest))
    rules = """SELECT r.digest, r.size, f.path, r.first, r.last, r.section, r.n, r.offset FROM rule_section r
        JOIN source f ON f.no = r.source WHERE r.digest BETWEEN ? AND ? ORDER BY r.digest, r.n, r.section LIMIT ?"""
    for digest, size, path, first, last, section, n, offset in link.rows(rules, (*bounds, MOST_FOUND)):
        name = f"{path}:{first}-{last}" if section else path
        found.setdefault(digest.hex(), Content(digest.hex(), "text/markdown", size, name, n, (offset, size)))
    return list(found.values())[:MOST_FOUND]


def chunks(link: ReadConnection, digest: str) -> Iterator[bytes]:
    """The bytes of a payload, piece by piece."""
    sql = """SELECT c.data FROM payload_chunk c WHERE c."commit" =
        (SELECT p."commit" FROM payload p WHERE p.sha256 = ? LIMIT 1) ORDER BY c.no"""
    return (data for (data,) in link.stream(sql, (bytes.fromhex(digest),)))


def naming(link: ReadConnection, digest: str) -> list[int]:
    """Ledger entries that commit to a payload, found by its SHA-256."""
    commits = link.rows('SELECT "commit" FROM payload WHERE sha256 = ?', (bytes.fromhex(digest),))
    sql = "SELECT idx FROM ledger_entry WHERE instr(entry, ?) > 0"
    return sorted({idx for (commit,) in commits for (idx,) in link.rows(sql, (commit.hex().encode(),))})
