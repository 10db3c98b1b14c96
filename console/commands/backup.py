"""``affidavit backup``: a verified copy of the store."""

from __future__ import annotations

import os
import threading

import click

from console.commands.call import Call, Refused, command
from console.commands.importing import stopping
from console.progress import Meter
from console.words import number, plural, size


@command("backup", "Write a verified copy of the store", prints="path, bytes, entries, root, holds, failures[…]")
@click.argument("path", metavar="PATH")
def backup_command(call: Call, path: str) -> int:
    """Write a copy of the store to PATH, which must not exist, and verify it before it gets that name.

    Others may read and write the store meanwhile: the copy holds what was in it when the copy began. Exit code 1
    where the copy does not hold; then it is not kept, and affidavit verify says what is wrong with the store.
    """
    from storage.backup import NotWhole, backup
    from storage.refold import Cancelled

    cancel = threading.Event()
    meter = Meter(call.output)
    try:
        with stopping(cancel):
            report = backup(call.store, path, progress=meter.count, cancel=cancel)
    except Cancelled:
        meter.clear()
        call.output.tell("interrupted: no copy was made")
        return 130
    except NotWhole as error:
        meter.clear()
        failures = [{"address": one.address, "class": one.kind, "detail": one.detail} for one in error.report.failures]
        if call.output.json:
            call.output.document({"path": path, "holds": False, "failures": failures})
        call.output.tell(
            f"the copy does not hold ({plural(len(failures), 'failure')}) and was not kept; verify the store"
        )
        return 1
    except FileExistsError:
        raise Refused(f"{path}: something is there already", "name a file that does not exist") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    meter.clear()
    bytes_ = os.path.getsize(path)
    root = report.root.hex() if report.root else ""
    if call.output.json:
        found = {"path": path, "bytes": bytes_, "entries": report.entries, "root": root, "holds": True, "failures": []}
        call.output.document(found)
    else:
        call.output.path(f"{size(bytes_)}, {number(report.entries)} entries, verified: ", path)
    return 0
