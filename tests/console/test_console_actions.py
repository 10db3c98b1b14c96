"""The registry of actions is the only source of keys, and nothing in it is a promise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from console.actions import ACTIONS, BY_ID, Action, Situation, clashes, in_view, key_text, keys_line
from console.app import AffidavitApp
from console.finding import Finding
from console.jobs import Jobs
from console.menus import Menus
from console.saving import Saving
from console.screens.context.screen import ContextView
from console.screens.entry.screen import EntryView
from console.screens.memories.screen import MemoriesView
from console.screens.queue.screen import QueueView
from console.screens.search.screen import SearchView
from console.screens.sessions.screen import SessionsView
from console.screens.snapshot.screen import SnapshotView
from console.screens.snapshots.screen import SnapshotsView
from console.screens.start.screen import StartView
from console.screens.timeline.screen import TimelineView
from console.screens.verify.screen import VerifyView
from console.screens.view import View, bindings
from console.widgets.virtual_list import VirtualList

VIEWS: dict[str, type[View]] = {
    "sessions": SessionsView,
    "timeline": TimelineView,
    "search": SearchView,
    "verify": VerifyView,
    "entry": EntryView,
    "start": StartView,
    "queue": QueueView,
    "memories": MemoriesView,
    "snapshots": SnapshotsView,
    "snapshot": SnapshotView,
    "context": ContextView,
}


def test_no_key_means_two_things_in_one_view() -> None:
    assert clashes() == []


def test_a_clash_is_found_and_names_both() -> None:
    twice = (*ACTIONS, Action("other", "other", "Something else", ("z",), views=frozenset({"timeline"})))
    assert ("z", "fold", "other") in clashes(twice)


def test_every_action_has_a_label_and_a_sentence() -> None:
    for action in ACTIONS:
        assert action.label, action.id
        assert len(action.tooltip) > 10, action.id
        assert not action.tooltip.endswith("."), action.id


def handlers(action: Action) -> Iterator[tuple[str, bool]]:
    """For each view an action lives in: whether something carries it out there, or it is always refused."""
    for name, view in VIEWS.items():
        if action.lives_in(name):
            most = Situation(view=name, row=True, filtered=True, hits=True, back=True, forward=True, lanes=3)
            parts = (view, VirtualList, AffidavitApp, Menus, Saving, Jobs, Finding)
            yield name, action.why(most) is not None or any(hasattr(one, action.method) for one in parts)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_every_action_is_carried_out_by_something_where_it_lives(action: Action) -> None:
    assert all(done for _view, done in handlers(action)), dict(handlers(action))


@pytest.mark.parametrize(
    ("view", "keys"),
    [
        ("sessions", "j k g G ctrl+d ctrl+u space enter f s i / n N y o M T : ? q esc ctrl+p backspace 1 2 3 4 5 6"),
        ("timeline", "] [ } { z t r i j k g G enter f s / n N y o M T : ? q esc"),
        ("verify", "r enter / y : ?"),
        ("search", "enter f n N y o / : ?"),
        ("queue", "a x w c e m C u j k enter y : ?"),
        ("memories", "w c u F v D R j k enter f y : ?"),
    ],
)
def test_the_keys_are_the_documented_ones(view: str, keys: str) -> None:
    there = {key_text(key) for action in in_view(view) for key in action.keys}
    assert set(keys.split()) <= there


@pytest.mark.parametrize("view", VIEWS)
def test_the_keys_line_names_at_most_seven_and_help(view: str) -> None:
    line = keys_line(view)
    assert len(line) <= 7
    assert line[-1].id == "help"
    assert all(one.foot < other.foot for one, other in pairwise(line))


@pytest.mark.parametrize("view", VIEWS)
def test_bindings_carry_the_ids_of_actions_so_that_keys_can_be_mapped_anew(view: str) -> None:
    bound = {binding.id for binding in (*bindings(view), *bindings("", everywhere=True))}
    assert bound == {action.id for action in in_view(view) if action.keys}


SITUATIONS = [
    Situation(),
    Situation(row=True, back=True, forward=True, filtered=True, hits=True, lanes=3, facets=True, sortable=True),
    Situation(loading=True),
    Situation(read_only=True, busy="import", empty=True),
]


@pytest.mark.parametrize("now", SITUATIONS)
def test_a_reason_is_a_sentence_that_goes_on_from_the_label(now: Situation) -> None:
    for action in ACTIONS:
        why = action.why(now)
        assert why is None or (why and not why.endswith(".") and why[0].islower()), (action.id, why)


def test_what_writes_is_refused_in_a_read_only_console() -> None:
    refused = [action.id for action in ACTIONS if action.why(Situation(read_only=True, row=True))]
    assert "import" in refused
    assert "demo" in refused


def test_an_action_on_a_row_is_refused_while_rows_are_read() -> None:
    for name in ("open", "copy", "fold", "raw", "pager", "mark"):
        assert BY_ID[name].why(Situation(loading=True, row=True)) == "the rows are still being read"
