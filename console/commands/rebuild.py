"""``affidavit rebuild``: the derived tables made again from the ledger."""

from __future__ import annotations

import threading

from console.commands.call import Call, command
from console.commands.importing import stopping
from console.progress import Meter
from console.words import plural


@command("rebuild", "Make the derived tables again from the ledger", prints="entries")
def rebuild_command(call: Call) -> int:
    """Make every derived table, the search index and the index of workspaces again from the recorded bytes.

    The recorded bytes are not touched, and the present tables stay in use until the new ones are whole. ctrl+c leaves
    them as they are.
    """
    from storage.rebuild import rebuild
    from storage.refold import Cancelled
    from storage.store import Store, refusing
    from storage.workspace.remaking import remake

    cancel = threading.Event()
    meter = Meter(call.output)
    with stopping(cancel), Store.open(call.store, progress=meter.count) as store:
        try:
            entries = store.rebuilt or rebuild(store, progress=meter.count, cancel=cancel)
            with refusing(store.path):
                remake(store)
        except Cancelled:
            meter.clear()
            call.output.tell("interrupted: the tables are as they were")
            return 130
    meter.clear()
    if call.output.json:
        call.output.document({"entries": entries})
    else:
        call.output.say(f"made again from {plural(entries, 'entry')}")
    return 0
