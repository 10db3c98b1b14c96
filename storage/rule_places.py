"""Where rule files stand: the folder one is for, and links that are called like one."""

from __future__ import annotations

import os

from storage.readers import rules

SETTINGS_FOLDERS = frozenset({".claude", ".codex", ".gemini", ".github", ".cursor", ".amazonq", ".clinerules"})
"""Folders whose rules are for the folder they stand in."""


def tree_of(path: str) -> str:
    """The folder a rule file is for: its own, or the one that holds its agent's folder of settings."""
    folder = os.path.dirname(path)
    at = folder
    while at != (above := os.path.dirname(at)):
        if os.path.basename(at) in SETTINGS_FOLDERS:
            return above
        at = above
    return folder


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def placed(path: str) -> str:
    """The one name a file has, however it is named: its real path; of a link that is called like a rule file the link's
    own, since an agent looks for that name and reads what it leads to."""
    if os.path.islink(path) and rules.kind_of(path) is not None:
        return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return os.path.realpath(path)


def is_rule_link(path: str) -> bool:
    """Whether a link is called like a rule file and leads to a file below the folder such a one is for."""
    if rules.kind_of(path) in (None, rules.OTHER):
        return False
    target = os.path.realpath(path)
    return within(target, tree_of(placed(path))) and os.path.isfile(target)
