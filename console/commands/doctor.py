"""``affidavit doctor``: what this machine, this terminal and this store offer, and what is wrong with them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from console import clipboard, machine, settings
from console.commands.call import Call, command, named_store
from console.output import Column
from console.words import plural, size

LEAST_FREE = 200_000_000
"""Bytes free on the store's disk below which an import is likely to end early."""


@command(
    "doctor",
    "Say what this machine and the store offer",
    prints="holds, version{}, sqlite{}, terminal{}, settings{}, store{}, findings[{about, words, hint, wrong}]",
)
def doctor_command(call: Call) -> int:
    """Say what this machine, this terminal and this store offer, and what is wrong.

    Exit code 1 if something is wrong; what is only worth knowing is marked ! and changes no exit code.
    """
    facts: dict[str, Any] = {"version": _versions(), "sqlite": _sqlite(), "terminal": _terminal(call)}
    findings = [*_sqlite_findings(facts["sqlite"]), *_settings_findings()]
    facts["settings"] = {"file": str(settings.config_file()), "me": settings.me(_usable(call))}
    path = named_store(call.store_option, _usable(call))
    facts["store"], about_store = _store(Path(path))
    findings += about_store
    wrong = any(finding["wrong"] for finding in findings)
    if call.output.json:
        call.output.document({"holds": not wrong, **facts, "findings": findings})
    else:
        _print(call, facts, findings)
    return 1 if wrong else 0


def _versions() -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "affidavit": version("affidavit"),
        "python": ".".join(map(str, sys.version_info[:3])),
        "textual": version("textual"),
        "platform": sys.platform,
    }


def _sqlite() -> dict[str, Any]:
    from storage import driver

    linked = driver.linked_version()
    safe = driver.wal_is_safe(linked)
    why = (
        f"SQLite {linked} has the fix for the WAL-reset bug"
        if safe
        else f"SQLite {linked} can corrupt a database in WAL mode (fixed in 3.51.3), so a rollback journal is used"
    )
    return {
        "version": linked,
        "driver": driver.DRIVER,
        "journalMode": driver.journal_mode(),
        "why": why,
        "fullText": _full_text(),
    }


def _full_text() -> bool:
    from storage import driver

    connection = driver.sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
    except driver.Error:
        return False
    finally:
        connection.close()
    return True


def _sqlite_findings(sqlite: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    if not sqlite["fullText"]:
        found.append(_finding("sqlite", "this SQLite has no full-text search (FTS5)", "install pysqlite3", wrong=True))
    if sqlite["journalMode"] != "wal":
        found.append(_finding("sqlite", sqlite["why"], "install pysqlite3 0.6.1 or newer where it has a wheel"))
    return found


def _terminal(call: Call) -> dict[str, Any]:
    seen = machine.terminal()
    way, why = clipboard.likely_way(_usable(call).copy_command, tty=seen.tty)
    return {
        "tty": seen.tty,
        "term": seen.term,
        "program": seen.program,
        "columns": seen.columns,
        "rows": seen.rows,
        "colours": seen.colours,
        "noColor": seen.no_color,
        "tmux": seen.tmux,
        "ssh": seen.ssh,
        "console": machine.console_can_open(),
        "clipboard": {"way": way, "why": why},
    }


def _usable(call: Call) -> settings.Settings:
    """The settings, or where they are broken (which is a finding of its own) those of nobody."""
    try:
        return call.settings
    except settings.SettingsError:
        return settings.Settings()


def _settings_findings() -> list[dict[str, Any]]:
    from console import key_map, saved_filters

    problems = settings.read(settings.config_file())[1] + key_map.read(settings.keys_file())[1]
    problems += saved_filters.read(settings.filters_file())[1]
    return [_finding("settings", str(problem), "correct that file", wrong=True) for problem in problems]


def _store(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Facts about the store's file and its place, and what is wrong with them."""
    kind = machine.file_system(path.parent)
    free = machine.free_bytes(path.parent)
    facts: dict[str, Any] = {
        "path": str(path),
        "exists": path.exists(),
        "bytes": _size(path),
        "writable": _writable(path),
        "schemaVersion": None,
        "foldVersion": None,
        "journalMode": None,
        "entries": None,
        "freeBytes": free,
        "fileSystem": kind,
        "network": kind in machine.NETWORKED,
    }
    findings = []
    if facts["network"]:
        words = f"the store lies on a network file system ({kind}), where locks cannot be relied on"
        findings.append(_finding("store", words, "keep it on a local disk: --store PATH", wrong=True))
    if free is not None and free < LEAST_FREE:
        words = f"only {size(free)} are free where the store lies"
        findings.append(_finding("store", words, "make room, or keep it elsewhere: --store PATH", wrong=True))
    if not facts["writable"]:
        findings.append(_finding("store", "the store can be read but not written", "imports need a place to write"))
    if path.exists():
        findings += _inside(path, facts)
    return facts, findings


def _inside(path: Path, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Fills in what only the store itself says; what it refuses is a finding."""
    from storage import driver, store

    try:
        store.check(str(path))
        connection = driver.connect_reader(str(path))
        try:
            facts["schemaVersion"] = connection.execute("PRAGMA user_version").fetchone()[0]
            facts["journalMode"] = connection.execute("PRAGMA journal_mode").fetchone()[0]
            facts["foldVersion"] = store.fold_version(connection)
            facts["entries"] = connection.execute("SELECT count(*) FROM ledger_entry").fetchone()[0]
        finally:
            connection.close()
    except store.StoreError as error:
        return [_finding("store", f"{store.REASONS[error.reason]}: {path}", error.hint, wrong=True)]
    except driver.Error as error:
        refusal = store.refused(str(path), error)
        return [_finding("store", f"{store.REASONS[refusal.reason]}: {path}", refusal.hint, wrong=True)]
    if facts["foldVersion"] != store.FOLD_VERSION:
        return [_finding("store", "its derived tables are of another version", "affidavit rebuild makes them again")]
    return []


def _size(path: Path) -> int:
    """Bytes of the store and of the files SQLite keeps beside it while it is in use."""
    beside = (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-journal"))
    return sum(file.stat().st_size for file in beside if file.is_file())


def _writable(path: Path) -> bool:
    place = path if path.exists() else path.parent
    while not place.exists() and place != place.parent:
        place = place.parent
    return os.access(place, os.W_OK)


def _finding(about: str, words: str, hint: str, *, wrong: bool = False) -> dict[str, Any]:
    return {"about": about, "words": words, "hint": hint, "wrong": wrong}


def _print(call: Call, facts: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    version, sqlite, terminal, store = facts["version"], facts["sqlite"], facts["terminal"], facts["store"]
    held = size(store["bytes"]) if store["exists"] else "none yet"
    entries = (
        "" if store["entries"] is None else f", {plural(store['entries'], 'entry')}, schema {store['schemaVersion']}"
    )
    free = f"{size(store['freeBytes'])} free" if store["freeBytes"] is not None else "free space not known"
    colours = "no colours" if terminal["noColor"] else plural(terminal["colours"], "colour")
    inside = [name for name in ("tmux", "ssh") if terminal[name]]
    shape = f"{terminal['term'] or 'no TERM'}, {terminal['columns']} × {terminal['rows']}, {colours}"
    rows = [
        ("affidavit", f"{version['affidavit']}, Python {version['python']} on {version['platform']}"),
        ("textual", version["textual"]),
        ("sqlite", f"{sqlite['version']} through {sqlite['driver']}, journal: {sqlite['journalMode']}"),
        ("", sqlite["why"]),
        ("store", store["path"]),
        ("", held + entries),
        ("disk", f"{store['fileSystem'] or 'file system not known'}, {free}"),
        ("terminal", ", ".join([shape if terminal["tty"] else "none", *inside])),
        ("console", "can open" if terminal["console"] is None else "cannot open: " + terminal["console"]),
        ("copying", f"{terminal['clipboard']['way']}: {terminal['clipboard']['why']}"),
        ("settings", facts["settings"]["file"]),
        ("you", facts["settings"]["me"]),
    ]
    call.output.table([Column("what"), Column("found", shrinks=True, least=40)], rows)
    call.output.say()
    for finding in findings:
        mark = "✗" if finding["wrong"] else "!"
        call.output.say(f"{mark} {finding['words']}\n  {finding['hint']}")
    if not any(finding["wrong"] for finding in findings):
        call.output.say("✓ nothing is wrong")
