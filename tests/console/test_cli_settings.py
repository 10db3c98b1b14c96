"""The settings file: what it may say, and how every mistake in it is told."""

from pathlib import Path

import pytest

from console import settings, written
from console.settings import Settings, SettingsError


def write(folder: Path, text: str | bytes) -> Path:
    file = folder / "config.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_without_a_file_everything_has_its_default(tmp_path):
    assert settings.load(tmp_path / "none.toml") == Settings()


def test_every_setting_is_read(tmp_path):
    file = write(
        tmp_path,
        'me = "alex"\nstore = "~/logs.db"\ntheme = "light"\nmouse = false\n'
        'copy_command = "xclip -selection clipboard"\nmask = true\n',
    )
    assert settings.load(file) == Settings(
        me="alex",
        store=str(Path.home() / "logs.db"),
        theme="light",
        mouse=False,
        copy_command=("xclip", "-selection", "clipboard"),
        mask=True,
    )


def test_a_relative_store_lies_beside_the_settings_file(tmp_path):
    assert settings.load(write(tmp_path, 'store = "mine.db"')).store == str(tmp_path / "mine.db")


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ('\nmausk = true\n', 2, "mausk", "mask"),
        ('mouse = "no"', 1, "mouse", "true or false"),
        ('# note\ntheme = "pink"', 2, "theme", "dark"),
        ("copy-command = []", 1, "copy-command", "copy_command"),
        ("copy_command = []", 1, "copy_command", "xclip"),
        ('copy_command = "unclosed \' quote"', 1, "copy_command", "quotation"),
        ('me = ""', 1, "me", "not empty"),
        ('store = "a\\u001b[2Jb"', 1, "store", "control"),
        ("[keyz]\nx = 1", 1, "keyz", "no such setting"),
        ("mouse = true\nmouse = false\n", 2, None, "not valid TOML"),
        ("mask = \n", 1, None, "not valid TOML"),
        ('me = "a', 1, None, "not valid TOML"),
        (b"mask = true\n# \xff", 2, None, "byte 14 is not UTF-8"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line_its_key_and_what_to_write(tmp_path, text, line, key, words):
    file = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        settings.load(file)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.key) == (str(file), line, key)
    assert words in str(problem)


def test_all_mistakes_are_told_at_once(tmp_path):
    _, problems = settings.read(write(tmp_path, "mouse = 1\nmask = 2\nmask2 = 3"))
    assert [problem.key for problem in problems] == ["mouse", "mask", "mask2"]


def test_a_file_without_end_is_not_read_whole(tmp_path):
    _, (problem,) = settings.read(write(tmp_path, b"#" * (written.LARGEST_FILE + 1)))
    assert "larger" in problem.reason


def test_the_store_named_most_closely_wins():
    written = Settings(store="/written.db")
    assert settings.store_path("/option.db", written, {"AFFIDAVIT_STORE": "/env.db"}) == "/option.db"
    assert settings.store_path(None, written, {"AFFIDAVIT_STORE": "/env.db"}) == "/env.db"
    assert settings.store_path(None, written, {}) == "/written.db"
    assert settings.store_path(None, Settings(), {}) == str(settings.default_store())


def test_a_store_may_be_named_by_a_url_of_a_file_and_no_other():
    assert settings.store_path("sqlite:////tmp/x.db", Settings()) == "/tmp/x.db"
    for url in ("postgresql://db.example.com/x", "https://example.com/x.db", "sqlite:///"):
        with pytest.raises(ValueError, match="a store is a file"):
            settings.store_path(url, Settings())


def test_who_acts_is_the_systems_user_unless_the_settings_say_otherwise():
    assert settings.me(Settings()) == "tester"
    assert settings.me(Settings(me="alex")) == "alex"


def test_the_demo_never_shares_the_persons_own_store():
    assert settings.demo_store() != settings.default_store()
    assert settings.demo_store().parent == settings.default_store().parent
