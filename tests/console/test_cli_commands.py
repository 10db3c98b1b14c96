"""What each command prints, and with which code it ends."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.console.cli_runner import Runner, own
from tests.journeys.driving import affidavit
from tests.storage import claude_fixtures
from tests.storage.claude_fixtures import SESSION


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runner:
    return Runner(monkeypatch, tmp_path)


@pytest.fixture
def filled(cli: Runner) -> Runner:
    """The same on a store that holds one session."""
    assert cli("import", str(cli.log())).code == 0
    return cli


def first_session(cli: Runner) -> dict[str, object]:
    (session,) = cli("sessions", "--json").json["sessions"]
    return dict(session)


def events(cli: Runner) -> list[dict[str, object]]:
    return list(cli("show", f"session/{first_session(cli)['id']}", "--json").json["events"])


# ---------------------------------------------------------------------------------------------- the top


def test_a_mistyped_verb_is_an_error_with_a_suggestion_and_never_an_address(cli):
    done = cli("sesions")
    assert done.code == 2
    assert done.raw == b""
    assert "did you mean sessions?" in done.err


@pytest.mark.parametrize("word", ["import/", "./log.jsonl", "sesion/s1", "turn/s1/0"])
def test_a_word_with_a_slash_is_an_address_or_an_error(cli, word):
    done = cli(word)
    assert done.code == 2
    assert done.err.startswith("affidavit: ")


@pytest.mark.parametrize("words", [(), ("session/s1",), ("demo",)])
def test_without_a_terminal_the_console_names_the_plain_command(cli, words):
    done = cli(*words)
    assert done.code == 2
    assert "there is no terminal" in done.err
    assert ("affidavit show session/s1" if words == ("session/s1",) else "affidavit sessions") in done.err


def test_options_of_the_console_are_refused_before_other_commands(cli):
    assert cli("--read-only", "sessions").code == 2
    assert cli("--no-mouse", "config", "path").code == 2


def test_every_command_has_a_help_page_and_a_line_in_the_list(cli):
    listed = cli("--help").out
    for name in ("import", "record", "sessions", "show", "search", "rebuild", "demo", "schema", "doctor", "config"):
        assert re.search(rf"^  {name} +\w", listed, re.MULTILINE)
        page = cli(name, "--help")
        assert page.code == 0
        assert "Usage: affidavit " + name in page.out


@pytest.mark.parametrize("words", [("--version",), ("--store", "x.db", "--version")])
def test_the_version_is_one_line(cli, words):
    done = cli(*words)
    assert done.code == 0
    assert re.fullmatch(r"affidavit \d+\.\d+\.\d+\n", done.out)


def test_a_store_that_is_not_there_is_refused_with_what_to_do(cli):
    for words in (("sessions",), ("show", "session/s1"), ("search", "x"), ("rebuild",)):
        done = cli(*words, "--store", str(cli.folder / "none.db"))
        assert done.code == 2
        assert "none.db" in done.err
        assert "import" in done.err
    assert not (cli.folder / "none.db").exists()


def test_a_file_that_is_no_store_is_refused_and_left_as_it_was(cli):
    file = cli.file("notes.db", b"not a database, but somebody's notes" * 100)
    before = file.read_bytes()
    for words in (("sessions",), ("import", str(cli.log()))):
        done = cli(*words, "--store", str(file))
        assert done.code == 2
        assert "notes.db" in done.err
    assert file.read_bytes() == before


def test_a_broken_settings_file_stops_commands_that_need_it_and_names_the_line(cli, home):
    file = home / "config" / "affidavit" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("mouse = true\nmask = 7\n")
    done = cli("sessions")
    assert done.code == 2
    assert f"{file}:2: mask" in done.err
    assert cli("config", "check").code == 1
    assert cli("config", "path").out == f"{file}\n"
    assert cli("doctor").code == 1


def test_config_check_names_the_line_of_every_mistake_in_every_file(cli, home):
    folder = home / "config" / "affidavit"
    folder.mkdir(parents=True)
    assert cli("config", "check").out.count("does not exist") == 3
    (folder / "keys.toml").write_text('copy = "J"\nfould = "x"\n')
    done = cli("config", "check")
    assert done.code == 1
    assert f"{folder / 'keys.toml'}:2: fould: there is no such action (did you mean fold?)" in done.out
    assert "config.toml does not exist" in done.out
    assert [p["line"] for p in cli("config", "check", "--json").json["problems"]] == [2]
    assert cli("doctor").code == 1
    (folder / "keys.toml").write_text('copy = "J"\n')
    assert cli("config", "check").code == 0


# ---------------------------------------------------------------------------------------------- import


def test_import_accounts_for_every_record_in_the_documented_shape(cli):
    log = cli.log()
    log.write_bytes(log.read_bytes() + b"not json\n" + b'{"type":"user","uu')
    done = cli("import", "--json", str(log))
    assert done.code == 3
    report = done.json
    assert list(report) == [
        "files", "sessions", "events", "records", "mapped", "unknown", "duplicates", "unreadable", "unreadableList",
        "pending", "bytes",
    ]  # fmt: skip
    (file,) = report["files"]
    assert list(file) == ["path", "format", "records", "mapped", "unknown", "duplicates", "unreadable"]
    assert (file["path"], file["format"], report["sessions"], report["unreadable"]) == (str(log), "claude-code", 1, 1)
    for account in (file, report):
        assert account["records"] == sum(account[name] for name in ("mapped", "unknown", "duplicates", "unreadable"))
    (unreadable,) = report["unreadableList"]
    assert list(unreadable) == ["file", "line", "offset", "reason"]
    data = log.read_bytes()
    assert data[unreadable["offset"] :].startswith(b"not json")
    assert unreadable["line"] == data[: unreadable["offset"]].count(b"\n") + 1
    (pending,) = report["pending"]
    assert data[pending["offset"] :] == b'{"type":"user","uu'
    assert report["bytes"] == len(data)


def test_people_are_told_the_same_in_words(cli):
    log = cli.log()
    log.write_bytes(log.read_bytes() + b"not json\n")
    done = cli("import", str(log))
    assert done.code == 3
    assert "1 new session" in done.out
    assert re.search(rf"^{re.escape(str(log))} +15 +[0-9 ]+  not JSON$", done.out, re.MULTILINE)


def test_importing_again_adds_nothing(filled):
    report = filled("import", "--json", str(filled.log())).json
    assert (report["sessions"], report["events"], report["records"]) == (0, 0, 0)


def test_what_is_no_log_is_an_error_where_it_was_named_and_a_remark_where_it_was_found(cli):
    log = cli.log()
    notes = cli.file("projects/-home-ada-acme/notes.txt", b"dear diary\n" * 50)
    named = cli("import", str(notes))
    assert named.code == 2
    assert str(notes) in named.err
    found = cli("import", "--json", str(cli.folder / "projects"))
    assert found.code == 0
    files = {Path(file["path"]).name: file.get("skipped") for file in found.json["files"]}
    assert files == {log.name: None, "notes.txt": "not_a_log"}


@pytest.mark.parametrize("name", ["nowhere.jsonl", "nowhere/"])
def test_a_path_that_is_not_there_is_an_error_and_the_others_are_imported(cli, name):
    done = cli("import", str(cli.folder / name), str(cli.log()))
    assert done.code == 2
    assert "nowhere" in done.err
    assert len(cli("sessions", "--json").json["sessions"]) == 1


def test_two_paths_count_as_one_import(cli):
    first = cli.file("a.jsonl", own("one", text="a"))
    second = cli.file("b.jsonl", own("two", text="b"))
    cli.stdin = own("three", text="c")
    report = cli("import", "--json", str(first), str(second), "-").json
    assert (report["sessions"], report["events"]) == (3, 3)


def test_a_dry_run_tells_the_same_and_leaves_nothing(cli):
    log = str(cli.log())
    would = cli("import", "--dry-run", "--json", log).json
    assert cli("sessions").code == 2
    assert cli("import", "--json", log).json == would
    again = cli("import", "--dry-run", "--json", log).json
    assert (again["sessions"], again["records"]) == (0, 0)


def test_an_unknown_format_is_refused_with_the_known_ones(cli):
    done = cli("import", "--format", "cloud-code", str(cli.log()))
    assert done.code == 2
    assert "claude-code" in done.err


def test_standard_input_can_be_imported_and_recorded(cli):
    cli.stdin = cli.log().read_bytes()
    report = cli("import", "--json", "-").json
    assert (report["files"][0]["path"], report["files"][0]["format"], report["sessions"]) == ("-", "claude-code", 1)
    cli.stdin = own(text="recorded by a program")
    assert cli("record", "--json").json["sessions"] == 1
    assert cli("search", "recorded", "--json").json["total"] == {"value": 1, "exact": True}


def test_record_refuses_lines_that_do_not_conform_and_takes_the_others(cli):
    cli.stdin = own(text="first") + own(kind="nothing") + own(text="third")
    done = cli("record", "--json")
    assert done.code == 3
    report = done.json
    assert (report["records"], report["mapped"], report["unreadable"]) == (3, 2, 1)
    (refused,) = report["unreadableList"]
    assert (refused["file"], refused["line"]) == ("-", 2)
    assert "kind" in refused["reason"]


def test_record_of_nothing_usable_is_an_unusable_input(cli):
    cli.stdin = b"hello\n"
    assert cli("record").code == 2


# ------------------------------------------------------------------------------- sessions, show, search


def test_sessions_print_the_documented_shape(filled):
    session = first_session(filled)
    assert list(session) == [
        "id", "nativeId", "agent", "title", "startedAt", "endedAt", "events", "turns", "lanes", "branches", "parent",
        "models", "tokens", "unreadable", "flags",
    ]  # fmt: skip
    assert re.fullmatch(r"s[0-9a-f]{12}", str(session["id"]))
    assert (session["nativeId"], session["agent"], session["title"]) == (SESSION, "claude-code", "Fix the role test")
    assert (session["turns"], session["lanes"], session["branches"]) == (2, 1, 1)
    assert session["tokens"] == {"input": 29, "output": 165, "cacheRead": 640, "cacheWrite": 0}
    assert session["startedAt"] == "2026-03-02T09:00:02.000Z"


def test_sessions_can_be_narrowed_and_ordered(cli):
    cli.stdin = own("one", text="a", at="2026-01-01T00:00:00Z", title="B yours") + own(
        "two", text="b", at="2026-02-01T00:00:00Z", title="A mine"
    )
    cli("record")

    def titles(*words: str) -> list[str]:
        return [session["title"] for session in cli("sessions", "--json", *words).json["sessions"]]

    assert titles() == ["A mine", "B yours"]
    assert titles("--reverse") == ["B yours", "A mine"]
    assert titles("--sort", "title") == ["A mine", "B yours"]
    assert titles("--limit", "1") == ["A mine"]
    assert titles("--since", "2026-01-15") == ["A mine"]
    assert titles("--until", "2026-01-15") == ["B yours"]
    assert titles("--filter", "YOURS") == ["B yours"]
    assert titles("--agent", "claude-code") == []
    assert cli("sessions", "--since", "yesterday").code == 2


def test_the_table_of_sessions_fits_a_narrow_terminal_and_is_whole_in_a_pipe(filled):
    assert "Fix the role test" in filled("sessions").out
    assert "1 session" in filled("sessions").err


def test_show_prints_a_whole_session_in_the_documented_shape(filled):
    document = filled("show", f"session/{first_session(filled)['id']}", "--json").json
    assert list(document) == ["session", "events"]
    assert document["session"] == first_session(filled)
    assert document["session"]["events"] == len(document["events"])
    for index, event in enumerate(document["events"]):
        assert list(event) == [
            "id", "address", "index", "kind", "turn", "lane", "branch", "at", "parent", "actor", "tool", "summary",
            "text", "refs", "model", "tokens", "inferred", "abandoned", "flags", "copies", "source",
            "copiesAt",
        ]  # fmt: skip
        assert event["index"] == index
        assert event["address"] == f"session/{document['session']['id']}#{event['id']}"
        assert list(event["source"]) == ["file", "line", "offset", "length"]


def test_every_event_leads_back_to_its_very_bytes(filled):
    data = filled.log().read_bytes()
    shown = events(filled)
    assert len(shown) > 10
    for event in shown:
        source = event["source"]
        raw = filled("show", str(event["address"]), "--raw").raw
        assert raw == data[source["offset"] : source["offset"] + source["length"]]
        assert json.loads(raw)
        assert source["line"] == data[: source["offset"]].count(b"\n") + 1
    assert filled("show", f"session/{SESSION}", "--raw").raw == data


def test_a_prefix_of_an_id_is_enough_and_one_of_several_is_refused_with_the_candidates(filled):
    shown = events(filled)
    one = filled("show", f"session/{SESSION[:8]}#{shown[3]['id']}", "--json").json
    assert [{key: event[key] for key in shown[3]} for event in one["events"]] == [shown[3]]
    filled.stdin = own(SESSION + "-other", text="x")
    filled("record")
    done = filled("show", f"session/{SESSION[:8]}")
    assert done.code == 2
    assert done.err.count("session/s") == 2
    assert filled("show", f"session/{SESSION}", "--json").json["session"]["nativeId"] == SESSION


def test_a_record_that_stands_several_times_in_a_log_is_shown_once_and_counted(cli, tmp_path):
    (line,) = (json.dumps(one) for one in claude_fixtures.chain(claude_fixtures.person("hi")))
    path = tmp_path / "four.jsonl"
    path.write_text(f"{line}\n" * 4, "utf-8")
    assert cli("import", str(path), "--json").json["duplicates"] == 3
    assert cli("show", f"session/{first_session(cli)['id']}").out.count("×4") == 1


def test_a_turn_shows_its_events_alone(filled):
    shown = events(filled)
    second = filled("show", f"turn/{SESSION}/2", "--json").json["events"]
    assert second == [event for event in shown if event["turn"] == 2]
    assert second[0]["kind"] == "user.message"
    done = filled("show", f"turn/{SESSION}/3")
    assert done.code == 2
    assert "2 turns" in done.err


def test_an_entry_shows_the_ledgers_own_bytes(filled):
    raw = filled("show", "entry/0", "--raw").raw
    assert json.loads(raw)["type"] == "import.revision"
    assert filled("show", "entry/0", "--json").json == {"address": "entry/0", "entry": json.loads(raw)}
    assert "import.revision" in filled("show", "entry/0").out
    assert filled("show", "entry/99").code == 2


@pytest.mark.parametrize("address", ["memory/m1@2", "candidate/c1", "snapshot/r1/rule#1", "context/none/1", "gate/g"])
def test_an_address_of_what_the_store_does_not_hold_is_told_so(filled, address):
    done = filled("show", address)
    assert done.code == 2
    assert "there is no " in done.err
    assert "lists what there is" in done.err


@pytest.mark.parametrize("address", ["conclusion/c"])
def test_an_address_of_a_kind_the_store_does_not_hold_is_told_so(filled, address):
    done = filled("show", address)
    assert done.code == 2
    assert "nothing of the kind " + address.partition("/")[0] in done.err


def test_show_refuses_what_contradicts_itself(filled):
    assert filled("show", f"session/{SESSION}", "--raw", "--json").code == 2
    assert filled("show", f"session/{SESSION}", "--raw", "--mask").code == 2


def test_search_prints_the_documented_shape_and_leads_to_the_event(filled):
    document = filled("search", "role test", "--json").json
    assert list(document) == ["hits", "total"]
    assert document["total"] == {"value": len(document["hits"]), "exact": True}
    for hit in document["hits"]:
        assert list(hit) == ["address", "kind", "at", "excerpt"]
        (event,) = filled("show", hit["address"], "--json").json["events"]
        assert "role" in event["text"].lower()


def test_search_can_be_narrowed(filled):
    assert filled("search", "role", "--kind", "user.message", "--json").json["total"]["value"] == 1
    assert filled("search", "role", "--session", SESSION, "--json").json["total"]["value"] >= 1
    assert len(filled("search", "role", "--limit", "1", "--json").json["hits"]) == 1
    done = filled("search", "role", "--kind", "user.mesage")
    assert done.code == 2
    assert "user.message" in done.err


@pytest.mark.parametrize("text", ["don't", "POL-358", "src/x.py", '"', "AND", "*", "", "(", "a OR b", "x" * 5_000])
def test_whatever_is_searched_for_is_taken_literally(filled, text):
    done = filled("search", text, "--json")
    assert done.code == 0
    assert done.json["total"]["exact"]


def test_rebuilding_changes_nothing_that_is_shown(filled):
    before = filled("show", f"session/{SESSION}", "--json").raw
    done = filled("rebuild", "--json")
    assert done.code == 0
    assert done.json["entries"] == 2
    assert filled("show", f"session/{SESSION}", "--json").raw == before


# --------------------------------------------------------------------------------------------- the rest


def test_masking_hides_paths_in_words_and_in_data(filled):
    assert "/home/ada" in filled("show", f"session/{SESSION}").out
    assert "/home/ada" not in filled("show", f"session/{SESSION}", "--mask").out
    assert "/home/ada" not in filled("--mask", "show", f"session/{SESSION}", "--json").out


def test_a_mask_in_the_settings_is_for_people_not_for_programs(filled, home):
    file = home / "config" / "affidavit" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("mask = true\n")
    assert "/home/ada" not in filled("show", f"session/{SESSION}").out
    assert "/home/ada" in filled("show", f"session/{SESSION}", "--json").out


def test_nothing_a_session_says_can_act_on_a_terminal(cli):
    hostile = "\x1b]52;c;aGk=\x07 \x9b31m \u202e [/red] [@click=app.quit]x[/]\r\x1b[2J"
    cli.stdin = own("hostile", text=hostile, title=hostile, tool=hostile[:9], project=hostile)
    cli("record")
    session = first_session(cli)
    for words in (("sessions",), ("show", f"session/{session['id']}"), ("search", "click"), ("import", hostile)):
        done = cli(*words)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err), words
    shown = cli("show", f"session/{session['id']}", "--json")
    assert shown.json["events"][0]["text"] == hostile
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", shown.raw)


def test_doctor_says_what_is_linked_and_what_is_wrong(cli):
    done = cli("doctor", "--json")
    assert done.code == 0
    report = done.json
    assert report["holds"] is True
    assert report["sqlite"]["journalMode"] in ("wal", "delete")
    assert report["store"]["exists"] is False
    bad = cli.file("bad.db", b"nothing like a database" * 100)
    wrong = cli("doctor", "--json", "--store", str(bad))
    assert wrong.code == 1
    assert [finding["about"] for finding in wrong.json["findings"] if finding["wrong"]] == ["store"]


def test_doctor_describes_a_store(filled):
    store = filled("doctor", "--json").json["store"]
    assert (store["exists"], store["entries"], store["schemaVersion"]) == (True, 2, 1)
    assert store["bytes"] > 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(cli, shell):
    done = cli("completion", shell)
    assert done.code == 0
    assert "_AFFIDAVIT_COMPLETE" in done.out


def test_a_shell_completes_commands_and_the_addresses_of_sessions(filled):
    uid = first_session(filled)["id"]

    def completed(words: str) -> str:
        environment = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_AFFIDAVIT_COMPLETE": "bash_complete"}
        done = affidavit(**environment)
        assert done.code == 0
        assert done.err == ""
        return done.out

    assert "plain,sessions" in completed("affidavit ses")
    assert f"plain,session/{uid}" in completed("affidavit show session/")
    assert f"plain,session/{uid}" in completed("affidavit verify ")
    assert f"plain,session/{uid}" in completed("affidavit ses")
    assert f"plain,{uid}" in completed("affidavit search --session s")
    events = filled("show", f"session/{uid}", "--json").json["events"]
    prompt = next(event["address"] for event in events if event["kind"] == "user.message")
    assert f"plain,{prompt}" in completed(f"affidavit show session/{uid}#")
    assert f"plain,{prompt}" in completed(f"affidavit show {prompt[:-6]}")
    assert f"plain,turn/{uid}/2" in completed(f"affidavit show turn/{uid}/")
    assert completed("affidavit show session/nowhere#").strip() == ""
    assert completed("affidavit show --store /nowhere/at/all.db ses").strip() == ""


def test_the_schema_takes_what_record_takes(cli):
    schema = cli("schema").json
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "session.event" in json.dumps(schema)


def test_the_demo_is_made_beside_the_store_in_use_and_names_what_to_look_at(cli):
    done = cli("demo", "--no-open", "--json")
    assert done.code == 0
    made = done.json
    assert list(made) == ["store", "sessions", "tamperedStore"]
    assert made["sessions"] == len(cli("sessions", "--json", "--store", made["store"]).json["sessions"]) == 3
    words = cli("demo", "--no-open").out
    assert made["store"] in words
    assert made["tamperedStore"] in words
    assert not Path(made["store"]).with_name("store.db").exists()
