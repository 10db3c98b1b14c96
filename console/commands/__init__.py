"""The commands, one file each or one a small family.

To add a command: write its file, and name it in :data:`COMMANDS`. It is imported only when it is asked for.
"""

COMMANDS: dict[str, str] = {
    "import": "importing",
    "record": "record",
    "sessions": "sessions",
    "show": "show",
    "search": "search",
    "snapshots": "snapshots",
    "replay": "replay",
    "rules": "rules",
    "candidates": "candidates",
    "queue": "queue",
    "check": "check",
    "propose": "propose",
    "memories": "memories",
    "approve": "reviewing",
    "reject": "reviewing",
    "rewrite": "reviewing",
    "rescope": "reviewing",
    "ask": "reviewing",
    "merge": "reviewing",
    "withdraw": "reviewing",
    "revoke": "reviewing",
    "deprecate": "reviewing",
    "renew": "reviewing",
    "undo": "reviewing",
    "claim": "reviewing",
    "release": "reviewing",
    "recall": "recall",
    "verify": "verify",
    "rebuild": "rebuild",
    "backup": "backup",
    "demo": "demo",
    "schema": "schema",
    "doctor": "doctor",
    "config": "config",
    "completion": "completion",
}
"""Every command and the module of this package that holds it, in the order of the help page."""
