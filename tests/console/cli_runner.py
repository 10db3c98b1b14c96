"""Runs the command line inside the test's own process, on invented logs."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from console.main import main
from tests.storage.claude_fixtures import SESSION, lines, session


@dataclass(frozen=True)
class Done:
    """What a command gave: exit code, standard output as bytes, standard error as text."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8")

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


class Runner:
    """Runs one command after another; ``stdin`` is what the next one reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self.folder = folder
        self.stdin = b""

    def __call__(self, *words: str) -> Done:
        out, err = io.BytesIO(), io.BytesIO()
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(self.stdin), "utf-8"))
            patch.setattr(sys, "stdout", stdout := io.TextIOWrapper(out, "utf-8", newline="\n"))
            patch.setattr(sys, "stderr", stderr := io.TextIOWrapper(err, "utf-8", newline="\n", write_through=True))
            code = main(list(words))
            if not stdout.closed:
                stdout.flush()
            stderr.flush()
        assert "Traceback" not in err.getvalue().decode()
        return Done(code, out.getvalue(), err.getvalue().decode())

    def file(self, name: str, data: bytes) -> Path:
        """An invented file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def log(self) -> Path:
        """An invented session of two turns, as Claude Code would have left it."""
        return self.file(f"projects/-home-ada-acme/{SESSION}.jsonl", lines(session()))


def own(session: str = "own-1", **fields: Any) -> bytes:
    """A line of our own."""
    return json.dumps({"type": "session.event", "session": session, "kind": "note", **fields}).encode() + b"\n"
