"""The pages made from the code are what the code would make now, and say what people look for."""

from console import docs
from console.actions import ACTIONS
from console.commands import COMMANDS
from console.settings import THEMES
from console.themes import LOOKS


def test_the_pages_in_the_repository_are_not_stale(capsys):
    assert docs.main(["--check"]) == 0, capsys.readouterr().out


def test_a_stale_page_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(docs, "FOLDER", tmp_path)
    assert docs.main(["--check"]) == 1
    assert "docs/cli.md" in capsys.readouterr().out
    assert docs.main([]) == 0
    assert docs.main(["--check"]) == 0
    (tmp_path / "keys.md").write_text("old")
    assert docs.main(["--check"]) == 1


def test_every_command_and_every_action_has_its_place():
    pages = docs.pages()
    for command in COMMANDS:
        assert f"affidavit {command}" in pages["cli.md"]
    for action in ACTIONS:
        assert action.tooltip in pages["keys.md"]


def test_every_theme_of_the_console_can_be_chosen_in_the_settings():
    assert set(THEMES) == {"auto", *LOOKS}
