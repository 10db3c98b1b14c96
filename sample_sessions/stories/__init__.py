"""The three stories. Each gives its log files by their path below the agent's folder of projects."""

from __future__ import annotations

from collections.abc import Callable

from sample_sessions.stories import changed_the_default, fixed_in_the_fixture, helpers_and_a_crash

Story = Callable[[], dict[str, str]]

STORIES: dict[str, Story] = {
    "fixed in the fixture": fixed_in_the_fixture.files,
    "changed the default": changed_the_default.files,
    "helpers and a crash": helpers_and_a_crash.files,
}
"""Name of each story and what makes its files: path below ``projects`` to text."""
