"""From a command line to a command, and from whatever happens there to one of five exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

import click

from affidavit.session.address import AddressError
from affidavit.text.display import display_block
from console.commands.call import COMPLETION_VARIABLE, Refused
from console.commands.group import affidavit
from console.settings import PROGRAM, SettingsError

DONE, FAILED, REFUSED, PARTLY, INTERRUPTED = 0, 1, 2, 3, 130


def run(arguments: Sequence[str]) -> int:
    """Runs one command line. Never raises, but ``SystemExit`` from answering a shell's request for completion."""
    try:
        if COMPLETION_VARIABLE in os.environ:
            affidavit.main(list(arguments), prog_name=PROGRAM)
        with affidavit.make_context(PROGRAM, list(arguments)) as context:
            code = affidavit.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except Exception as error:
        return _told(error)


def _told(error: Exception) -> int:
    """Says what went wrong in words; what nobody foresaw goes to the log, with a panel that names it."""
    if isinstance(error, click.UsageError):
        complain(error.format_message(), _usage(error))
    elif isinstance(error, click.ClickException):
        complain(error.format_message())
    elif isinstance(error, SettingsError):
        complain("\n".join(map(str, error.problems)), f"{PROGRAM} config check lists what is wrong")
    elif isinstance(error, (Refused, AddressError)):
        complain(error.reason, error.hint)
    elif _is(error, "storage.store", "StoreError"):
        complain(str(error))
    elif _is(error, "storage.queries.records", "RecordError"):
        complain(str(error), "" if hasattr(error, "by") else f"{PROGRAM} verify says what else does not hold")
        return REFUSED if hasattr(error, "by") else FAILED
    else:
        from console.crash import report

        report(error)
    return REFUSED


def _is(error: Exception, module: str, name: str) -> bool:
    """Whether an error is of a class of a module that is not loaded just to ask."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(error, getattr(loaded, name))


def _usage(error: click.UsageError) -> str:
    if error.ctx is None:
        return ""
    return error.ctx.get_usage() + f"\n{error.ctx.command_path} --help says more"


def complain(reason: str, hint: str = "", stream: TextIO | None = None) -> None:
    """What went wrong and what to do, on standard error, harmless to a terminal whatever it quotes."""
    stream = stream if stream is not None else sys.stderr
    lines = [f"{PROGRAM}: {reason}"] + ([hint] if hint else [])
    text = display_block("\n".join(lines)) + "\n"
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        stream.write(text.encode("ascii", "backslashreplace").decode())
    except OSError:
        pass


def _reader_gone() -> int:
    """Whoever read our output has had enough, as ``head`` does; that is no failure of ours."""
    with suppress(OSError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- open until the interpreter ends, which flushes it
    return DONE
