"""What this machine and this terminal offer: facts for ``doctor``, none of them needed to run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NETWORKED = frozenset(
    [
        "9p",
        "afs",
        "afpfs",
        "ceph",
        "cifs",
        "coda",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs",
        "gfs2",
        "glusterfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb2",
        "smb3",
        "smbfs",
        "webdav",
    ]
)
"""File systems on which SQLite's locks cannot be relied on."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The terminal a command was started in. ``colours``: how many it says it shows; 0: none."""

    tty: bool
    term: str
    program: str
    columns: int
    rows: int
    colours: int
    no_color: bool
    tmux: bool
    ssh: bool


def terminal(environment: Mapping[str, str] = os.environ) -> Terminal:
    """What the environment and the standard streams say of the terminal."""
    import shutil

    size = shutil.get_terminal_size()
    term = environment.get("TERM", "")
    tty = console_can_open(environment) is None
    return Terminal(
        tty=tty,
        term=term,
        program=environment.get("TERM_PROGRAM", ""),
        columns=size.columns,
        rows=size.lines,
        colours=_colours(term, environment) if tty else 0,
        no_color=bool(environment.get("NO_COLOR")),
        tmux=bool(environment.get("TMUX")),
        ssh=bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY")),
    )


def console_can_open(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why a full-screen console cannot open here; ``None``: it can."""
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    if not all(stream is not None and stream.isatty() for stream in streams):
        return "there is no terminal to draw on"
    if environment.get("TERM") in (None, "", "dumb"):
        return "this terminal cannot draw (TERM is " + (environment.get("TERM") or "not set") + ")"
    return None


def background(environment: Mapping[str, str] = os.environ) -> str | None:
    """``light`` or ``dark``, where the terminal says (``COLORFGBG``, as rxvt, Konsole and others set it)."""
    last = environment.get("COLORFGBG", "").rpartition(";")[2]
    if not (last.isascii() and last.isdigit()):
        return None
    return "light" if int(last) in (7, *range(9, 16)) else "dark"


def _colours(term: str, environment: Mapping[str, str]) -> int:
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return 16_777_216
    if "256color" in term:
        return 256
    return 0 if term in ("", "dumb") else 16


def file_system(path: Path) -> str | None:
    """Kind of file system that holds ``path`` (or the nearest folder above it that exists); ``None``: not known."""
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    place = place.resolve()
    try:
        if sys.platform == "linux":
            mounts = _linux_mounts(Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape"))
        elif sys.platform == "darwin":
            listed = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=True)
            mounts = _darwin_mounts(listed.stdout)
        else:
            return None
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    holding = [folder for folder in mounts if place.is_relative_to(folder)]
    return mounts[max(holding, key=len)] if holding else None


def _linux_mounts(text: str) -> dict[str, str]:
    """Mount points and their kinds, from ``proc_pid_mountinfo(5)``; the last mount on a folder counts."""
    mounts = {}
    for line in text.split("\n"):
        before, dash, after = line.partition(" - ")
        if dash and len(fields := before.split(" ")) > 4:
            folder = (
                fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
            )
            mounts[folder] = after.split(" ")[0]
    return mounts


def _darwin_mounts(text: str) -> dict[str, str]:
    """Mount points and their kinds, from lines as ``/dev/disk1s1 on /Volumes/x (apfs, local)``."""
    mounts = {}
    for line in text.split("\n"):
        place, bracket, options = line.rpartition(" (")
        _, on, folder = place.partition(" on ")
        if bracket and on:
            mounts[folder] = options.partition(",")[0].rstrip(")")
    return mounts


def free_bytes(path: Path) -> int | None:
    """Bytes free where ``path`` would be written; ``None``: not known."""
    import shutil

    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return None
