"""A failure nobody foresaw: the person gets a panel, the log gets no text of theirs."""

import io
import stat

import pytest

from console import crash
from console.main import main

SECRET = "sk-test-secret of a session\x1b]0;owned\x07"


def failed() -> Exception:
    """An error that carries text from a session in its message, its cause and its local variables."""
    hidden = SECRET
    try:
        try:
            raise KeyError(hidden)
        except KeyError as cause:
            raise RuntimeError(f"could not read {hidden}") from cause
    except RuntimeError as error:
        return error


def test_the_log_says_where_and_what_kind_but_nothing_that_was_read():
    file = crash.record(failed())
    text = file.read_text()
    assert "RuntimeError from KeyError" in text
    assert "test_cli_crash.py" in text
    assert " failed" in text
    assert "sk-test" not in text
    assert "could not read" not in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_panel_shows_the_message_harmlessly_names_the_log_and_no_variables():
    stream = io.StringIO()
    crash.report(failed(), stream)
    text = stream.getvalue()
    assert "could not read" in text
    assert "\x1b" not in text
    assert "\x07" not in text
    assert str(crash.log_file()) in text
    assert "hidden" not in text


def test_where_no_log_can_be_written_the_panel_says_so(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(crash, "state_folder", lambda: blocked / "state")
    stream = io.StringIO()
    crash.report(failed(), stream)
    assert "could not be written" in stream.getvalue()


def test_a_log_that_has_grown_large_is_set_aside():
    file = crash.record(failed())
    file.write_bytes(b"x" * (crash.LARGEST_LOG + 1))
    crash.record(failed())
    assert file.stat().st_size < 10_000
    assert file.with_suffix(".log.1").stat().st_size > crash.LARGEST_LOG


def test_a_command_that_fails_ends_with_2_and_no_traceback(monkeypatch, capsys):
    from console.commands import config

    def broken(*_: object) -> None:
        raise failed()

    monkeypatch.setattr(config.settings, "config_file", broken)
    assert main(["config", "path"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "affidavit.log" in err
    assert "Traceback" not in err
    assert "\x1b" not in err


@pytest.mark.parametrize("stop", [KeyboardInterrupt, BrokenPipeError])
def test_being_stopped_is_no_failure(monkeypatch, capsys, stop):
    from console.commands import config

    def stopped() -> None:
        raise stop

    monkeypatch.setattr(config.settings, "config_file", stopped)
    code = main(["config", "path"])
    assert code == (130 if stop is KeyboardInterrupt else 0)
    assert not crash.log_file().exists()
    assert "Traceback" not in capsys.readouterr().err
