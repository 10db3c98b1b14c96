"""``affidavit import``: bytes from outside into the store."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import click

from console.commands.call import Call, Refused, command
from console.output import Column, Output
from console.progress import Meter
from console.words import number, plural, size

if TYPE_CHECKING:
    from console.services import Found
    from storage.accounting import FileReport, ImportReport
    from storage.importing import Importer

STDIN = "-"

PRINTS = (
    "files[{path, format, records, mapped, unknown, duplicates, unreadable, skipped?}], sessions, events, records, "
    "mapped, unknown, duplicates, unreadable, unreadableList[{file, line, offset, reason}], pending[{file, offset}], "
    "bytes; with --discover and without --yes only found[{path, agent, what, sessions, files, bytes}]"
)

HARMLESS = frozenset({"empty", "unfinished"})
"""Reasons to skip a file that was named which mean nothing was lost."""

STOPPED = "its compressed bytes are"
"""How a note begins that says a part of a file could not be unpacked."""

NOTHING_CONFORMS = "nothing_conforms"
"""Skipped because every line of our own that it holds was refused."""

MOST_NAMED = 10
"""Files that are named one by one; of more only their number is."""

POLL = 0.25
"""Seconds between looks at whether somebody asked to stop while standard input is silent."""


@command("import", "Read session logs into the store", prints=PRINTS)
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--format", "format", metavar="NAME", help="Take every file for this format instead of finding out.")
@click.option("--follow", is_flag=True, help="Stay, and read on as files grow and new ones appear, until ctrl+c.")
@click.option("--discover", is_flag=True, help="Find what agents left on this machine, and ask before reading it.")
@click.option("--yes", is_flag=True, help="Do not ask; with --discover.")
@click.option("--dry-run", is_flag=True, help="Say what would be imported, and import nothing.")
def import_command(
    call: Call, paths: tuple[str, ...], format: str | None, follow: bool, discover: bool, yes: bool, dry_run: bool
) -> int:
    """Read session logs and rule files into the store: files, folders (searched through), or - for standard input.

    What a log is, is told by its content; a rule file such as CLAUDE.md by its name. Importing again goes on where the
    last import stopped. ctrl+c stops without loss. Sessions and events are counted as they are new in the store.

    --discover finds the sessions of Claude Code and Codex, and beside those of Claude Code its prompts
    (history.jsonl), versions of files (file-history), to-do lists and tasks; of Codex its memories; of both, the rules
    for every project. Memory stores (Claude Code, Codex, the MCP memory server, mem0) are read as candidates.

    With --follow a complete line is in the store within a second of being written; files that are cut, rewritten,
    replaced, rotated or gone, and folders that go and come back, are told on standard error. With --discover nothing is
    read before you say so.
    """
    if format is not None:
        _known(format)
    if paths.count(STDIN) > 1:
        raise click.UsageError("standard input can be read only once")
    if follow and (dry_run or STDIN in paths):
        raise click.UsageError("--follow goes with files and folders that are imported, not with - or --dry-run")
    if discover:
        if paths:
            raise click.UsageError("--discover finds the folders itself: name none")
        found = _discovered(call, yes)
        if not isinstance(found, tuple):
            return found
        paths = found
    elif yes:
        raise click.UsageError("--yes goes with --discover")
    elif not paths:
        raise click.UsageError("name a file or folder, or - for standard input; --discover finds what agents left here")
    if follow:
        return _follow(call, paths, format)
    return _run(call, paths, format, dry_run)


def _discovered(call: Call, yes: bool) -> tuple[str, ...] | int:
    """Folders to import, or the exit code where none are to be."""
    from console.discover import discover

    found = discover()
    if call.output.json and not yes:
        call.output.document({"found": [_found(one) for one in found]})
        return 0
    for one in found if not call.output.json else ():
        count = plural(one.sessions, "session") if one.sessions else f"{one.what}, {plural(one.files, 'file')}"
        call.output.path(f"{one.agent}: {count}, {size(one.bytes)} in ", one.folder)
    if not found:
        call.output.tell("no agent that is known here left sessions on this machine")
        return 0
    if not yes and not sys.stdin.isatty():
        call.output.tell("nothing was read; --yes imports it")
        return 0
    if not yes and not click.confirm("import it?", default=True, err=True):
        return 0
    return tuple(one.folder for one in found)


def _found(one: Found) -> dict[str, Any]:
    """What was found in one place, as ``--json`` prints it."""
    return {
        "path": one.folder,
        "agent": one.agent,
        "what": one.what,
        "sessions": one.sessions,
        "files": one.files,
        "bytes": one.bytes,
    }


def _follow(call: Call, paths: tuple[str, ...], format: str | None) -> int:
    """Reads on until somebody asks to stop, which is its normal end."""
    from storage.following import Follower
    from storage.importing import Importer

    absent = [path for path in paths if not os.path.exists(path)]
    if absent:
        raise Refused(f"{absent[0]}: there is nothing to follow")
    cancel = threading.Event()
    meter = Meter(call.output)
    with _store(call, meter, False) as store, stopping(cancel, signal.SIGINT, signal.SIGTERM):
        importer = Importer(store, clock=lambda: datetime.now(UTC), cancel=cancel)
        follower = Follower(importer, paths, format, lambda file, said: call.output.tell(f"{file}: {said}"))
        call.output.tell(f"following {', '.join(paths)}; ctrl+c ends")
        report = follower.run(cancel)
    if call.output.json:
        call.output.document(document(report))
    else:
        _print(call.output, report, False)
    return exit_code(report, interrupted=False)


def _known(format: str) -> None:
    from storage.readers import readers

    if format not in readers():
        raise click.UsageError(f"there is no format {format!r}; known are " + ", ".join(sorted(readers())))


def _run(call: Call, paths: tuple[str, ...], format: str | None, dry_run: bool) -> int:
    cancel = threading.Event()

    def take(importer: Importer) -> None:
        _take(importer, paths, format, cancel)

    return importing(call, take, cancel, dry_run=dry_run)


def importing(call: Call, take: Callable[[Importer], None], cancel: threading.Event, *, dry_run: bool = False) -> int:
    """Runs an import with progress, interruption, report and exit code; ``take`` says what is imported."""
    from storage.importing import Importer
    from storage.store import StoreError

    meter = Meter(call.output)
    with _store(call, meter, dry_run) as store, stopping(cancel):
        importer = Importer(
            store,
            clock=lambda: datetime.now(UTC),
            progress=lambda file, done, total, records: meter.show(file, done, total, plural(records, "record")),
            cancel=cancel,
        )
        try:
            take(importer)
        except StoreError:
            meter.clear()
            if importer.report.files:
                _print(call.output, importer.report, dry_run)
            raise
    meter.clear()
    report = importer.report
    if call.output.json:
        call.output.document(document(report))
    else:
        _print(call.output, report, dry_run)
    if cancel.is_set():
        call.output.tell("interrupted: what is counted here is kept, and importing again goes on from there")
    return exit_code(report, interrupted=cancel.is_set())


def _take(importer: Importer, paths: tuple[str, ...], format: str | None, cancel: threading.Event) -> None:
    for piped, some in groupby(paths, lambda path: path == STDIN):
        if cancel.is_set():
            break
        if piped:
            importer.stream(cast("BinaryIO", Input(sys.stdin.buffer, cancel)), format)
        else:
            importer.paths(some, format)


@contextmanager
def _store(call: Call, meter: Meter, dry_run: bool) -> Iterator[Any]:
    """The store to import into; for a dry run a copy of it that is thrown away."""
    from storage.store import Store

    path = call.store
    if not dry_run:
        with Store.open(path, create=True, progress=meter.count) as store:
            if store.rebuilt is not None:
                meter.clear()
                call.output.tell("the store's tables were of another version and have been made again")
            yield store
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="affidavit-dry-run-") as folder:
        copy = os.path.join(folder, "store.db")
        if os.path.exists(path):
            _copy(path, copy)
        with Store.open(copy, create=True) as store:
            yield store


def _copy(path: str, copy: str) -> None:
    from storage import driver
    from storage.store import check, refused

    check(path)
    try:
        connection = driver.connect_reader(path)
        try:
            connection.execute("PRAGMA query_only=OFF")
            connection.execute("VACUUM INTO ?", (copy,))
        finally:
            connection.close()
    except driver.Error as error:
        raise refused(path, error) from error


@contextmanager
def stopping(cancel: threading.Event, *signals: signal.Signals) -> Iterator[None]:
    """ctrl+c (or ``signals``) sets ``cancel``, so that work ends between two transactions; a second ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = [(one, signal.signal(one, stop)) for one in signals or (signal.SIGINT,)]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)


class Input:
    """Standard input that ends when somebody asks to stop, also while nothing arrives."""

    def __init__(self, stream: IO[bytes], cancel: threading.Event) -> None:
        self._stream = stream
        self._cancel = cancel
        try:
            self._handle: int | None = stream.fileno() if os.name == "posix" else None
        except OSError:
            self._handle = None

    def read(self, limit: int) -> bytes:
        """Some bytes, at most ``limit``; none at the end or once it was asked to stop."""
        if self._handle is None:
            return self._stream.read(limit)
        import select

        while not self._cancel.is_set():
            ready, _, _ = select.select([self._handle], [], [], POLL)
            if ready:
                return os.read(self._handle, limit)
        return b""


def exit_code(report: ImportReport, *, interrupted: bool) -> int:
    """130 interrupted, 2 a named input is unusable, 3 a part could not be read, else 0."""
    if interrupted:
        return 130
    if any(file.named and file.skipped and file.skipped not in HARMLESS for file in report.files):
        return 2
    stopped = any(
        file.stopped or file.skipped == "unreadable" or (file.note or "").startswith(STOPPED) for file in report.files
    )
    return 3 if stopped or report.total("unreadable") else 0


def document(report: ImportReport) -> dict[str, Any]:
    """The report as ``--json`` prints it."""
    totals = {name: report.total(name) for name in ("records", "mapped", "unknown", "duplicates", "unreadable")}
    return {
        "files": [_file(file) for file in report.files],
        "sessions": report.sessions,
        "events": report.events,
        **totals,
        "unreadableList": [
            {"file": file, "line": line, "offset": offset, "reason": reason}
            for file, line, offset, reason in report.unreadable_list
        ],
        "pending": [{"file": file, "offset": offset} for file, offset in report.pending],
        "bytes": report.bytes,
    }


def _file(file: FileReport) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": file.path,
        "format": file.format,
        "records": file.records,
        "mapped": file.mapped,
        "unknown": file.unknown,
        "duplicates": file.duplicates,
        "unreadable": file.unreadable,
    }
    return found if file.skipped is None else {**found, "skipped": file.skipped}


def _print(output: Output, report: ImportReport, dry_run: bool) -> None:
    from affidavit.proof.parsing import REASONS

    _print_sums(output, report, dry_run)
    _print_notes(output, report)
    for file in report.files:
        if file.skipped is not None and file.named:
            output.tell(f"skipped {file.path}: {_because(file)}")
    found = [(file.path, _because(file)) for file in report.files if file.skipped is not None and not file.named]
    if found:
        output.say()
        output.table([Column("skipped", shrinks=True, least=24, tail=True), Column("because")], found[:MOST_NAMED])
    if len(found) > MOST_NAMED:
        output.say(f"and {plural(len(found) - MOST_NAMED, 'file')} more; --json names them all")
    if report.unreadable_list:
        output.say()
        output.table(
            [
                Column("unreadable in", shrinks=True, least=24, tail=True),
                Column("line", right=True),
                Column("byte", right=True),
                Column("reason", shrinks=True, least=24),
            ],
            [
                (path, number(line), number(offset), REASONS.get(reason, reason))
                for path, line, offset, reason in report.unreadable_list
            ],
        )
    for path, offset in report.pending:
        output.path("pending ", path, f" byte {number(offset)}")
        output.say("  the last line is cut short; it is read once its rest is there")


def _print_sums(output: Output, report: ImportReport, dry_run: bool) -> None:
    taken = [file for file in report.files if file.skipped is None]
    files = plural(len(taken), "file")
    if not taken:
        output.say(f"no session log in {plural(len(report.files), 'file')}")
    elif not report.total("records") and not report.bytes:
        output.say(f"nothing new in {files}")
    else:
        output.say(
            f"{'would import' if dry_run else 'imported'} {size(report.bytes)} from {files}: "
            f"{plural(report.sessions, 'new session')}, {plural(report.events, 'new event')}"
        )
        sums = [f"{number(report.total(name))} {name}" for name in ("mapped", "unknown", "duplicates", "unreadable")]
        output.say(f"{plural(report.total('records'), 'record')} = {' + '.join(sums)}")


def _because(file: FileReport) -> str:
    """Why a file was skipped."""
    from storage.detect import SKIPS

    assert file.skipped is not None
    words = ({NOTHING_CONFORMS: "no line of it conforms"} | SKIPS)[file.skipped]
    return f"{words} ({file.note})" if file.note else words


def _print_notes(output: Output, report: ImportReport) -> None:
    """What there is to say of files that were read: the first ten of each kind, and how many more there are."""
    noted: dict[str, list[str]] = {}
    for file in report.files:
        if file.skipped is None and file.note:
            noted.setdefault(file.note, []).append(file.path)
    for note, paths in noted.items():
        output.say()
        output.say(f"{note} ({plural(len(paths), 'file')}):")
        for path in paths[:MOST_NAMED]:
            output.path("  ", path)
        if len(paths) > MOST_NAMED:
            output.say(f"  and {number(len(paths) - MOST_NAMED)} more")
