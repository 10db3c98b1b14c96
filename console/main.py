"""The ``affidavit`` command. Nothing is loaded before it is known what was asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and gives its exit code.

    0 done and everything holds, 1 a check did not hold, 2 wrong usage or a refused command, 3 done but part of
    the input could not be read, 130 interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["--version"]:
        print(version_line())
        return 0
    from console.commands.run import run

    return run(given)


def version_line() -> str:
    """Name and version of the program."""
    from importlib.metadata import version

    return f"affidavit {version('affidavit')}"


if __name__ == "__main__":
    sys.exit(main())
