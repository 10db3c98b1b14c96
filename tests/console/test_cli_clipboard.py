"""Copying: the ways are tried in order, and no result claims more than is known."""

import base64
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from console.clipboard import LONGEST_SEQUENCE, CopyResult, copy, likely_way, osc52

XTERM = {"TERM": "xterm-256color"}
TMUX = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux-1/default,1,0"}


class Programs:
    """Programs that were started, and how each ends: an exit code or an error."""

    def __init__(self, *ends: int | Exception) -> None:
        self.ends = list(ends)
        self.started: list[tuple[str, ...]] = []
        self.given: list[bytes] = []

    def __call__(self, words: Sequence[str], data: bytes) -> int:
        self.started.append(tuple(words))
        self.given.append(data)
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end


def copied(folder: Path, programs: Programs, text: str = "evidence", **how: object) -> tuple[CopyResult, list[str]]:
    sent: list[str] = []
    settings: dict[str, object] = {"terminal": sent.append, "environment": XTERM, **how}
    return copy(text, folder=folder, run=programs, **settings), sent  # type: ignore[arg-type]


def test_a_configured_command_comes_first(tmp_path):
    programs = Programs(0)
    result, sent = copied(tmp_path, programs, command=("wl-copy", "-n"), environment=TMUX)
    assert result.way == "command"
    assert "wl-copy" in result.note
    assert (programs.started, programs.given, sent) == ([("wl-copy", "-n")], [b"evidence"], [])


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (1, "failed with code 1"),
        (FileNotFoundError(), "was not found"),
        (PermissionError(), "could not be started"),
        (subprocess.TimeoutExpired("x", 5), "did not finish"),
    ],
)
def test_a_command_that_fails_is_told_and_the_next_way_is_tried(tmp_path, end, words):
    result, sent = copied(tmp_path, Programs(end), command=("gone",))
    assert result.way == "osc52"
    assert f"gone {words}" in result.note
    assert sent == [osc52(b"evidence")]


def test_inside_tmux_its_buffer_is_loaded_and_no_sequence_is_sent(tmp_path):
    programs = Programs(0)
    result, sent = copied(tmp_path, programs, environment=TMUX)
    assert result.way == "tmux"
    assert programs.started == [("tmux", "load-buffer", "-w", "-")]
    assert sent == []


def test_an_older_tmux_keeps_it_in_its_buffer_and_says_that_this_is_all(tmp_path):
    programs = Programs(1, 0)
    result, _ = copied(tmp_path, programs, environment=TMUX)
    assert result.way == "tmux"
    assert "cannot pass it on" in result.note
    assert programs.started[1] == ("tmux", "load-buffer", "-")


def test_where_tmux_fails_a_file_is_left_since_it_would_drop_a_sequence_silently(tmp_path):
    result, sent = copied(tmp_path, Programs(1, 1), environment=TMUX)
    assert result.way == "file"
    assert sent == []


def test_a_terminal_is_asked_without_claiming_that_it_obeyed(tmp_path):
    result, sent = copied(tmp_path, Programs())
    assert result.way == "osc52"
    assert "does not say" in result.note
    (sequence,) = sent
    assert base64.b64decode(sequence.removeprefix("\x1b]52;c;").removesuffix("\x07")) == b"evidence"


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"TERM": "dumb"},
        {"TERM": "linux"},
        {"TERM": "screen"},
        {"TERM": "xterm-256color", "STY": "1.pts"},
        {"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"},
    ],
)
def test_a_terminal_known_to_have_no_clipboard_is_not_asked(tmp_path, environment):
    result, sent = copied(tmp_path, Programs(), environment=environment)
    assert result.way == "file"
    assert sent == []
    assert likely_way(None, tty=True, environment=environment)[0] == "file"


def test_a_text_too_long_for_the_terminal_goes_to_a_file_and_the_note_says_why(tmp_path):
    result, sent = copied(tmp_path, Programs(), "x" * (LONGEST_SEQUENCE + 1))
    assert result.way == "file"
    assert "too long" in result.note
    assert sent == []


def test_the_file_is_named_readable_by_its_owner_only_and_holds_the_text(tmp_path):
    result, _ = copied(tmp_path / "state", Programs(), "é\n一", terminal=None)
    assert result.way == "file"
    assert result.path is not None
    assert result.path in result.note
    assert Path(result.path).read_bytes() == "é\n一".encode()
    assert stat.S_IMODE(Path(result.path).stat().st_mode) == 0o600


def test_where_nothing_works_it_says_that_nothing_was_copied(tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("")
    result, _ = copied(blocked / "state", Programs(), terminal=None)
    assert result.way == "none"
    assert "not copied" in result.note


def test_what_is_copied_can_do_nothing_where_it_is_pasted(tmp_path):
    programs = Programs(0)
    result, _ = copied(tmp_path, programs, "a\x1b[201~rm -rf /\r", command=("cat",))
    assert b"\x1b" not in programs.given[0]
    assert "marks" in result.note


def test_the_likely_way_is_the_way_taken(tmp_path):
    for environment, command in ((XTERM, None), (TMUX, None), (XTERM, ("cat",))):
        way, _ = likely_way(command, tty=True, environment=environment)
        result, _ = copied(tmp_path, Programs(0), environment=environment, command=command)
        assert result.way == way
    assert likely_way(None, tty=False, environment=XTERM)[0] == "file"


def test_a_real_program_receives_exactly_the_text(tmp_path):
    target = tmp_path / "taken"
    result = copy("two\nlines", folder=tmp_path, command=("tee", str(target)), environment=XTERM)
    assert result.way == "command"
    assert target.read_text() == "two\nlines"
