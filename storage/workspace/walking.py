"""Walking a workspace folder: what may be read of it, without ever leaving it.

Every folder is opened through the one above it and no link is followed, so nothing that is moved or exchanged on the
way leads out of the root. ``.gitignore`` files, ``.git/info/exclude`` and the folders no project means to be read are
respected. What is left out is counted, and listed where a person might miss it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from storage.workspace.ignoring import Rules

MOST_BYTES: Final = 1 << 20
"""A larger file is not indexed."""

DEEPEST: Final = 100
"""Folders inside each other; each is held open while what is in it is read."""

MOST_LISTED: Final = 1_000
"""Paths that are listed of those left out; all are counted."""

RULES_BYTES: Final = 256 * 1024
"""Of a ``.gitignore`` file, what counts."""

SKIPS: Final = {
    "ignored": "a .gitignore leaves it out, or its folder is one of a tool's own",
    "binary": "its bytes are no text",
    "too_large": f"it is larger than {MOST_BYTES >> 10} KiB",
    "link": "it is a symbolic link, and links are not followed",
    "special": "it is neither a file nor a folder",
    "secret": "it is made to hold credentials",
    "name": "its name is no UTF-8",
    "too_deep": f"it lies more than {DEEPEST} folders deep",
    "unreadable": "the system does not let it be read",
}
"""Why something was not indexed."""

NEVER: Final = frozenset(
    {
        ".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache",
        ".pytest_cache", ".ruff_cache", ".hypothesis", ".DS_Store",
    }
)  # fmt: skip
"""Names that are left out whatever a ``.gitignore`` says."""

_CREDENTIALS = re.compile(
    r"\.env(?:\.(?!(?:example|sample|template|dist)\Z)[\w.-]+)?|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx)",
    re.IGNORECASE,
)
_HEAD = re.compile(rb"ref: refs/heads/((?!/)[^\0-\x20\x7f~^:?*\[\\]{1,200})\n?\Z")
_COMMIT = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\n?\Z")
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


class Stat(NamedTuple):
    """What tells cheaply whether a file was changed; times in nanoseconds."""

    size: int
    mtime: int
    ctime: int


@dataclass(slots=True)
class Left:
    """What was left out: how many by reason, and the first of them by path (``ignored`` is only counted)."""

    counts: Counter[str] = field(default_factory=Counter)
    listed: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, why: str) -> None:
        """One more."""
        self.counts[why] += 1
        if why != "ignored" and len(self.listed) < MOST_LISTED:
            self.listed.append((path, why))


class Found:
    """A file met on the walk; it can be read until the next one is asked for.

    ``path``: from the root, with slashes.
    """

    __slots__ = ("_folder", "_name", "path", "stat")

    def __init__(self, path: str, name: str, folder: int, stat: Stat) -> None:
        self.path = path
        self.stat = stat
        self._name = name
        self._folder = folder

    def read(self) -> tuple[bytes, Stat] | None:
        """Its bytes and what it was like just before; ``None`` where it is no file of a fit size any more."""
        data = _read(self._name, self._folder, MOST_BYTES + 1)
        return None if data is None or len(data[0]) > MOST_BYTES else data


def _read(name: str, folder: int, most: int) -> tuple[bytes, Stat] | None:
    """The first ``most`` bytes of a regular file in an open folder. Raises ``OSError``."""
    handle = os.open(name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        parts = []
        left = most
        while left > 0 and (part := os.read(handle, left)):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    return b"".join(parts), Stat(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class _Level(NamedTuple):
    """Rules of a folder, and how long the path to it is (with its slash)."""

    rules: Rules
    length: int


class Walk:
    """The files below a root, in a stable order: a folder's own by name, then its folders'. Raises ``OSError``.

    ``root`` may be reached through a link; nothing below it is. ``left`` is complete when the walk is.
    ``exclude``: device and inode of files that are never met (the store itself).
    """

    def __init__(self, root: str, exclude: frozenset[tuple[int, int]] = frozenset()) -> None:
        self.root = os.path.realpath(root)
        self.exclude = exclude
        self.left = Left()
        self._levels: list[_Level] = []

    def check(self) -> None:
        """Whether the root can be walked at all; raises ``OSError`` where not."""
        if not _is_text(self.root):
            raise OSError(errno.EILSEQ, "its path is no UTF-8", _shown(self.root))
        os.close(os.open(self.root, _FOLDER))

    def __iter__(self) -> Iterator[Found]:
        handle = os.open(self.root, _FOLDER)
        try:
            rules = self._excluded(handle)
            self._levels = [_Level(rules, 0)] if rules else []
            yield from self._folder(handle, "", 0)
        finally:
            os.close(handle)

    def _folder(self, handle: int, base: str, depth: int) -> Iterator[Found]:
        rules = self._rules(".gitignore", handle)
        if rules:
            self._levels.append(_Level(rules, len(base)))
        folders: list[str] = []
        with os.scandir(handle) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        for entry in entries:
            found = self._entry(entry, base, handle, folders)
            if found is not None:
                yield found
        for name in folders:
            yield from self._enter(handle, base, name, depth + 1)
        if rules:
            self._levels.pop()

    def _enter(self, above: int, base: str, name: str, depth: int) -> Iterator[Found]:
        if depth > DEEPEST:
            self.left.add(base + name, "too_deep")
            return
        try:
            handle = os.open(name, _FOLDER, dir_fd=above)
        except OSError as error:
            self._failed(base + name, error)
            return
        try:
            yield from self._folder(handle, f"{base}{name}/", depth)
        except OSError as error:
            self._failed(base + name, error)
        finally:
            os.close(handle)

    def _entry(self, entry: os.DirEntry[str], base: str, handle: int, folders: list[str]) -> Found | None:
        """The file an entry is; a folder is added to ``folders``."""
        name = entry.name
        path = base + name
        folder = entry.is_dir(follow_symlinks=False)
        if name in NEVER or self._ignored(path, name, folder):
            self.left.add(path, "ignored")
            return None
        if not _is_text(name):
            self.left.add(_shown(path), "name")
            return None
        if folder:
            folders.append(name)
            return None
        if entry.is_symlink():
            self.left.add(path, "link")
            return None
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._failed(path, error)
            return None
        why = self._unfit(name, status)
        if why == "itself":
            return None
        if why is not None:
            self.left.add(path, why)
            return None
        return Found(path, name, handle, Stat(status.st_size, status.st_mtime_ns, status.st_ctime_ns))

    def _unfit(self, name: str, status: os.stat_result) -> str | None:
        if not stat.S_ISREG(status.st_mode):
            return "special"
        if _CREDENTIALS.fullmatch(name):
            return "secret"
        if self.exclude and (status.st_dev, status.st_ino) in self.exclude:
            return "itself"
        return "too_large" if status.st_size > MOST_BYTES else None

    def _ignored(self, path: str, name: str, folder: bool) -> bool:
        for level in reversed(self._levels):
            found = level.rules.decide(path[level.length :], name, folder)
            if found is not None:
                return found
        return False

    def _failed(self, path: str, error: OSError) -> None:
        # What was exchanged for a link or is gone since it was listed is not there; only what is kept from us is.
        gone = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE)
        if error.errno not in gone:
            self.left.add(path, "unreadable")

    @staticmethod
    def _rules(name: str, handle: int) -> Rules | None:
        """The rules of a file in an open folder, if there is one; a link is none."""
        try:
            read = _read(name, handle, RULES_BYTES)
        except OSError:
            return None
        return Rules.of(read[0].decode("utf-8", "surrogateescape")) if read is not None else None

    def _excluded(self, handle: int) -> Rules | None:
        """``.git/info/exclude``."""
        opened = [handle]
        try:
            for name in (".git", "info"):
                opened.append(os.open(name, _FOLDER, dir_fd=opened[-1]))
            return self._rules("exclude", opened[-1])
        except OSError:
            return None
        finally:
            for one in opened[1:]:
                os.close(one)


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def head_of(root: str) -> tuple[str | None, str | None]:
    """(branch, commit) that are checked out at a root, each ``None`` where git does not say in plain words.

    A worktree's ``.git`` is a file that names a folder elsewhere; of that folder only ``HEAD`` is read, and only a
    branch's name or a commit is taken from it.
    """
    folder = os.path.join(root, ".git")
    with suppress(OSError):
        if not os.path.islink(folder) and os.path.isfile(folder):
            named = _small(folder)
            if not named.startswith(b"gitdir: "):
                return None, None
            folder = os.path.join(root, os.fsdecode(named[8:].rstrip(b"\n")))
        elif os.path.islink(folder) or not os.path.isdir(folder):
            return None, None
        head = _small(os.path.join(folder, "HEAD"))
        if match := _COMMIT.match(head):
            return None, match[1].decode("ascii")
        if (match := _HEAD.match(head)) and b".." not in match[1]:
            with suppress(UnicodeDecodeError):
                return match[1].decode("utf-8"), _commit_of(folder, match[1])
    return None, None


def _commit_of(folder: str, branch: bytes) -> str | None:
    """The commit a branch stands at, where it has a file of its own."""
    with suppress(OSError):
        match = _COMMIT.match(_small(os.path.join(folder, "refs", "heads", os.fsdecode(branch))))
        return match[1].decode("ascii") if match else None
    return None


def _small(path: str) -> bytes:
    handle = os.open(path, _FILE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        return os.read(handle, 4_096)
    finally:
        os.close(handle)
