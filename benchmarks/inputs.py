"""Makes the inputs: a synthetic session log of any length, the same every time."""

from __future__ import annotations

import json
import random
from itertools import islice
from pathlib import Path

from benchmarks import floors

WORDS = ("token", "cache", "parser", "session", "admin", "role", "fixture", "mock", "retry", "index", "ledger")
SHOWN = "run"
"""What every page of such a session shows: the word for a shell command."""
SESSION = "5e551011-0000-4000-8000-000000000001"


def session_log(path: Path, records: int) -> Path:
    """A log of ``records`` records of about 1.1 kB; kept if it is there already."""
    if path.exists():
        return path
    making = path.with_suffix(".part")
    if floors.stand():
        floors.call("make", str(making), records)
    else:
        write(making, records)
    making.rename(path)
    return path


def one_session(file: Path, log: Path, number: int) -> Path:
    """A copy of a log as another session's."""
    session = f"{SESSION[:-12]}{number:012d}".encode()
    with log.open("rb") as lines, file.open("wb") as sink:
        sink.writelines(line.replace(SESSION.encode(), session) for line in lines)
    return file


def session_tree(folder: Path, log: Path, sessions: int, records: int) -> int:
    """Deals a log's records out to ``sessions`` files of ``records`` each, every one a session; gives their bytes."""
    size = 0
    with log.open("rb") as lines:
        for number in range(sessions):
            session = f"{SESSION[:-12]}{number:012d}"
            file = folder / f"project-{number % 20:02d}" / f"{session}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            dealt = b"".join(islice(lines, records)).replace(SESSION.encode(), session.encode())
            file.write_bytes(dealt)
            size += len(dealt)
    return size


SYLLABLES = ("ka", "to", "mi", "ses", "ro", "le", "ad", "min", "us", "er", "par", "lo", "ck", "ve", "in", "dex")


def workspace(folder: Path, files: int) -> Path:
    """A folder of small files of code and documents, about 1.4 kB each; kept if it is there already."""
    if folder.exists():
        return folder
    making = folder.with_suffix(".part")
    chance = random.Random(7)
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(4_000)]
    for number in range(files):
        names = [chance.choice(words) + chance.choice(words).title() for _ in range(8)]
        ending, text = workspace_file(chance, words, names, number)
        file = making / f"pkg{number % 50:02d}" / f"mod{number // 50 % 20:02d}" / f"{names[0]}{number}.{ending}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    making.rename(folder)
    return folder


def workspace_file(chance: random.Random, words: list[str], names: list[str], number: int) -> tuple[str, str]:
    """(ending, text) of one file: of ten, six are TypeScript, three Python, one a document."""

    def some(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    if number % 10 < 6:
        functions = [
            f"export function {name}(a: string) {{\n  // {some(10)}\n"
            f"  return {some(1)}(a, '{some(1)}').{some(1)};\n}}\n\n"
            for name in names
        ]
        return "ts", f"import {{ {names[0]} }} from '../mod{number % 20:02d}/{names[1]}';\n\n" + "".join(functions)
    if number % 10 < 9:
        functions = [f"def {name}(a):\n    # {some(10)}\n    return {some(1)}(a)['{some(1)}']\n\n" for name in names]
        return "py", f"from .{names[1]} import {names[0]}\n\n" + "".join(functions)
    return "md", f"# {names[0]}\n\n" + "".join(f"## {name}\n\n{some(40)}\n\n" for name in names[1:6])


def write(path: Path, records: int) -> None:
    """The same kind of log where the floors' own maker is not at hand."""
    chance, parent = random.Random(7), None
    with path.open("w", encoding="utf-8") as sink:
        for number in range(records):
            id = f"{number:08x}-0000-4000-8000-{chance.getrandbits(48):012x}"
            words = " ".join(chance.choices(WORDS, k=90))
            sink.write(json.dumps(record(number, id, parent, words)) + "\n")
            parent = id


def record(number: int, id: str, parent: str | None, words: str) -> dict[str, object]:
    """One record: in turn a person's message or a result, a tool call, and a text."""
    role = "user" if number % 3 == 0 else "assistant"
    content: object
    if number % 3 == 1:
        content = [{"type": "tool_use", "id": f"toolu_{number:08x}", "name": "Bash", "input": {"command": words[:200]}}]
    elif number % 3 == 0 and number:
        content = [{"type": "tool_result", "tool_use_id": f"toolu_{number - 2:08x}", "content": words}]
    else:
        content = [{"type": "text", "text": words}]
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{number:08x}", "type": "message", "model": "invented-model"}
        message["usage"] = {"input_tokens": 900, "output_tokens": 60}
    day, hour, minute, second = number // 86400 % 28 + 1, number // 3600 % 24, number // 60 % 60, number % 60
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/w/project",
        "sessionId": SESSION,
        "version": "2.1.126",
        "gitBranch": "main",
        "type": role,
        "uuid": id,
        "timestamp": f"2026-05-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.000Z",
        "message": message,
    }
