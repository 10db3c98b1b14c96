"""The key map: what a person may write, how every mistake in it is told, and that the console follows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_driver import stage
from textual.keys import _character_to_key

from console import key_map
from console.actions import ACTIONS, BY_ID
from console.key_map import Keys, canonical


def write(folder: Path, text: str) -> Path:
    file = folder / "keys.toml"
    file.write_text(text, "utf-8")
    return file


def test_without_a_file_every_action_has_its_own_keys(tmp_path: Path) -> None:
    keys, problems = key_map.read(tmp_path / "none.toml")
    assert problems == []
    assert all(keys.of(action) == action.keys for action in ACTIONS)


@pytest.mark.parametrize("sign", [chr(code) for code in range(33, 127)])
def test_a_sign_has_the_name_that_the_terminal_library_gives_it(sign: str) -> None:
    assert canonical(sign) == _character_to_key(sign)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ctrl+X", "ctrl+x"), ("alt+left", "alt+left"), ("shift+ctrl+up", "ctrl+shift+up"), ("Page Down", "pagedown"),
        ("esc", "escape"), ("F5", "f5"), ("ctrl+]", "ctrl+right_square_bracket"), ("question_mark", "question_mark"),
        ("+", "plus"), ("ctrl++", "ctrl+plus"), (" ", "space"),
    ],
)  # fmt: skip
def test_a_key_may_be_written_as_people_do(written: str, name: str) -> None:
    assert canonical(written) == name


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ('\nfould = "x"', 2, "fould", "did you mean fold?"),
        ('fold = "hyper+x"', 1, "fold", "cannot be held down"),
        ("fold = 7", 1, "fold", "must be a key"),
        ("fold = []", 1, "fold", "must be a key"),
        ('fold = "bogus"', 1, "fold", "is not a key"),
        ('fold = "ctrl+m"', 1, "fold", "cannot tell ctrl+m from enter"),
        ('copy = "ctrl+c"', 1, "copy", "says how to leave"),
        ('copy = "J"\nfold = "y"\n"raw" = "?"', 3, "raw", "? is 'help' already"),
        ('"prompt.next" = "z"', 1, "prompt.next", "z is 'fold' already"),
        ('prompt.next = "z"', 1, "prompt.next", "z is 'fold' already"),
        ('fold = "x"\nlanes = "x"', 2, "lanes", "x is 'fold' already"),
        ("fold = ", 1, None, "not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_left_out(
    tmp_path: Path, text: str, line: int, key: str | None, words: str
) -> None:
    file = write(tmp_path, text)
    keys, problems = key_map.read(file)
    (problem,) = problems
    assert (problem.file, problem.line, problem.key) == (str(file), line, key)
    assert words in str(problem)
    if key in BY_ID:
        assert keys.of(BY_ID[str(key)]) == BY_ID[str(key)].keys


def test_two_actions_may_change_keys_with_each_other(tmp_path: Path) -> None:
    keys, problems = key_map.read(write(tmp_path, 'fold = "t"\nlanes = "z"\n'))
    assert problems == []
    assert (keys.text("fold"), keys.text("lanes")) == ("t", "z")


def test_the_same_key_may_serve_actions_that_never_work_in_one_place(tmp_path: Path) -> None:
    _, problems = key_map.read(write(tmp_path, '"verify.run" = "x"\nfold = "x"\n'))
    assert problems == []


async def test_the_console_follows_the_map_in_what_it_does_and_in_what_it_shows() -> None:
    keys = Keys({"copy": ("Y", "ctrl+y"), "help": ("f1",), "prompt.next": ("greater_than_sign",), "leave": ("x",)})
    async with stage(size=(120, 50), keys=keys) as it:
        await it.play("""
            keys    Y copy
            keys    f1 keys
            press   enter
            keys    > prompt
            press   greater_than_sign
            row     10:02:59
            press   right_square_bracket
            row     10:02:59
            press   f1
            see     f1
            see     Y ctrl+y
            press   escape
            press   slash
            type    nothing says this
            press   enter
            see     x  take the filter away
            press   x
            gone    take the filter away
        """)


async def test_a_mistake_in_the_map_is_told_when_the_console_opens() -> None:
    async with stage(told=["/home/user/.config/affidavit/keys.toml:2: fould: there is no such action"]) as it:
        await it.play("""
            see     Something in your files was left out
            see     keys.toml:2: fould
            press   escape
            row     Fix the failing role test
        """)
