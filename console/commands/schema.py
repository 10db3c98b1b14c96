"""``affidavit schema``: what a program may write to ``affidavit record``."""

from __future__ import annotations

from console.commands.call import Call, command


@command(
    "schema",
    "Print the JSON Schema of what record takes",
    prints="a JSON Schema (draft 2020-12)",
    store=False,
    mask=False,
)
def schema_command(call: Call) -> int:
    """Print the JSON Schema of one line of Affidavit's own JSON Lines, which record takes.

    It is a JSON document with or without --json.
    """
    from affidavit.lines import json_schema

    call.output.document(json_schema())
    return 0
