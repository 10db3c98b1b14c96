"""What this machine offers: where a store lies, what its terminal can do, what agents left on it."""

from pathlib import Path

import pytest

from console import discover, machine

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:40 / /home/alex/my\\040files rw - nfs4 server.example.com:/export rw
41 40 0:41 / /home/alex/my\\040files/local rw - xfs /dev/sdb1 rw
42 22 0:42 / /mnt rw - ext4 /dev/sdc1 rw
43 42 0:43 / /mnt rw master:3 - fuse.sshfs me@host.example.com: rw
"""


def test_mounts_are_read_as_the_kernel_writes_them():
    assert machine._linux_mounts(MOUNTS) == {
        "/": "ext4",
        "/home/alex/my files": "nfs4",
        "/home/alex/my files/local": "xfs",
        "/mnt": "fuse.sshfs",
    }


def test_mounts_are_read_as_macos_prints_them():
    text = "/dev/disk3s1s1 on / (apfs, sealed, local)\n//me@nas.example.com/x on /Volumes/a (b) (smbfs, nodev)\n"
    assert machine._darwin_mounts(text) == {"/": "apfs", "/Volumes/a (b)": "smbfs"}


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "smbfs", "9p"])
def test_file_systems_of_other_machines_are_known(kind):
    assert kind in machine.NETWORKED


def test_a_place_that_does_not_exist_yet_is_judged_by_the_folder_above(tmp_path):
    there = tmp_path / "not" / "yet" / "store.db"
    assert machine.free_bytes(there) == pytest.approx(machine.free_bytes(tmp_path), rel=0.1)
    assert machine.file_system(there) == machine.file_system(tmp_path)


def test_without_a_terminal_the_console_says_why_it_cannot_open():
    assert machine.console_can_open({"TERM": "xterm"}) == "there is no terminal to draw on"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_claude_sessions_are_counted_with_their_helpers_bytes(home):
    projects = home / ".claude" / "projects"
    write(projects / "-work-a" / "one.jsonl", "12345")
    write(projects / "-work-a" / "one" / "subagents" / "agent-x.jsonl", "123")
    write(projects / "-work-a" / "agent-old.jsonl", "12")
    write(projects / "-work-b" / "two.jsonl", "1")
    write(projects / "-work-b" / "notes.txt", "not a log")
    (projects / "-work-b" / "again.jsonl").symlink_to(projects / "-work-b" / "two.jsonl")
    (found,) = discover.discover({})
    assert (found.folder, found.agent, found.sessions, found.bytes) == (str(projects), "Claude Code", 2, 11)


def test_what_claude_keeps_beside_its_sessions_is_offered_too(home):
    claude = home / ".claude"
    write(claude / "history.jsonl", "12345")
    write(claude / "file-history" / "s" / "ab@v1", "123")
    write(claude / "file-history" / "s" / "ab@v2", "1234")
    write(claude / "todos" / "s-agent-s.json", "[]")
    write(claude / "settings.json", "{}")
    (claude / "tasks").symlink_to(claude / "todos")
    found = [(Path(one.folder).name, one.what, one.sessions, one.files, one.bytes) for one in discover.discover({})]
    assert found == [
        ("history.jsonl", "prompts", 0, 1, 5),
        ("file-history", "file versions", 0, 2, 7),
        ("todos", "to-do lists", 0, 1, 2),
    ]
    names = ["history.jsonl", "file-history", "todos"]
    assert [Path(path).name for path in discover.beside(str(claude / "projects"), {})] == names
    assert discover.beside(str(claude), {}) == []


def test_rules_for_every_project_are_offered_too_also_where_they_are_links(home):
    write(home / "mine" / "rules.md", "# Mine")
    write(home / ".claude" / "rules" / "style.md", "# S")
    write(home / ".codex" / "AGENTS.md", "# A")
    write(home / ".codex" / "memories" / "raw_memories.md", "# Raw")
    (home / ".claude" / "CLAUDE.md").symlink_to(home / "mine" / "rules.md")
    found = [(one.agent, Path(one.folder).name, one.what, one.files, one.bytes) for one in discover.discover({})]
    assert found == [
        ("Claude Code", "CLAUDE.md", discover.RULES, 1, 6),
        ("Claude Code", "rules", discover.RULES, 1, 3),
        ("Codex", "AGENTS.md", discover.RULES, 1, 3),
        ("Codex", "memories", "memories", 1, 5),
    ]
    assert discover.beside(str(home / ".codex" / "sessions"), {}) == [
        str(home / ".codex" / name) for name in ("AGENTS.md", "memories")
    ]


def test_a_moved_configuration_folder_is_followed(tmp_path):
    write(tmp_path / "projects" / "p" / "s.jsonl", "1")
    (found,) = discover.discover({"CLAUDE_CONFIG_DIR": str(tmp_path)})
    assert found.sessions == 1


def test_codex_sessions_are_offered_beside_claudes(home):
    write(home / ".claude" / "projects" / "p" / "one.jsonl", "12345")
    write(home / ".codex" / "sessions" / "2026" / "05" / "14" / "rollout-a.jsonl", "123")
    write(home / ".codex" / "sessions" / "2026" / "05" / "13" / "rollout-b.jsonl.zst", "12")
    write(home / ".codex" / "archived_sessions" / "rollout-c.jsonl", "1")
    write(home / ".codex" / "history.jsonl", "1234567")
    found = [(one.agent, Path(one.folder).name, one.sessions, one.bytes) for one in discover.discover({})]
    assert found == [
        ("Claude Code", "projects", 1, 5),
        ("Codex", "sessions", 2, 5),
        ("Codex", "archived_sessions", 1, 1),
    ]
    moved = discover.discover({"CODEX_HOME": str(home / ".codex"), "CLAUDE_CONFIG_DIR": str(home)})
    assert [one.agent for one in moved] == ["Codex", "Codex"]


def test_nothing_is_offered_where_nothing_lies():
    assert discover.discover({}) == []
