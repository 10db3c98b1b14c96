"""What every view of the console has in common: its keys, its chrome, its place in the history, its filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.containers import Container

from console.actions import Action, Situation, in_view
from console.widgets.ink import Ink, Line

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from console.saved_filters import Part
    from console.widgets.virtual_list import VirtualList


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person is or was. ``state`` is what the view needs to show it again exactly as it was."""

    view: str
    session: str = ""
    event: str = ""
    state: object = None


@dataclass(frozen=True, slots=True)
class Copy:
    """One thing that can be copied: what it is, and its text (already safe to show)."""

    id: str
    label: str
    text: str


def bindings(view: str, *, everywhere: bool = False) -> list[Binding]:
    """The key bindings of a view (or those of every view) as Textual takes them, made from the registry."""
    return [
        Binding(
            ",".join(action.keys),
            f"app.act('{action.id}')",
            action.label,
            show=False,
            id=action.id,
            tooltip=action.tooltip,
        )
        for action in in_view(view)
        if action.keys and (action.views is None) == everywhere
    ]


class View(Container):
    """A view fills the space between the chrome. One of each kind is made when it is first needed, and kept."""

    NAME: ClassVar[str] = ""
    TITLE: ClassVar[str] = ""

    DEFAULT_CSS = """
    View { height: 1fr; width: 1fr; }
    """

    @property
    def console_app(self) -> AffidavitApp:
        """The application, with its pool, its history and what it knows of the store."""
        return cast("AffidavitApp", self.app)

    @property
    def main_list(self) -> VirtualList[object] | None:
        """The list that answers to keys when nothing else does."""
        return None

    # chrome

    def crumbs(self) -> tuple[Line, Line] | None:
        """What stands in the top line instead of the tabs, left and right."""
        return None

    def second(self) -> tuple[Line, Line] | None:
        """What the line below the top one says; ``None`` where the view draws that line itself."""
        return ((), ())

    def missing(self) -> Line:
        """What is missing from view, for the bottom line."""
        return ()

    def standing(self) -> Line:
        """The integrity of what is shown, for the bottom line."""
        return self.console_app.standing.line()

    def situation(self, now: Situation) -> Situation:
        """``now`` with what this view knows."""
        return now

    def why(self, action: Action, now: Situation) -> str | None:
        """Why an action cannot be used here now."""
        return action.why(now)

    # history

    def place(self) -> Place:
        """Where the person is, to come back to."""
        return Place(self.NAME)

    def arrive(self, place: Place) -> None:
        """Show a place of this view, and take the focus."""
        raise NotImplementedError

    # the filter line

    filter_hint: ClassVar[str] = "words to look for"

    @property
    def filter_text(self) -> str:
        """The filter that is on now."""
        return ""

    def preview(self, text: str) -> None:
        """Show what a filter would leave, while it is typed."""

    def preview_hint(self) -> Line:
        """How much the filter that is typed leaves."""
        return ()

    def filter_parts(self) -> dict[str, Part]:
        """The filter that is on now as it can be saved, without what stands as it does at first."""
        return {}

    def use_parts(self, parts: Mapping[str, Part]) -> None:
        """Put a saved filter on, in the place of the present one."""

    def answered(self, value: str) -> None:
        """What was typed where the view asked for something."""

    def focus_main(self) -> None:
        """Give the focus to what the keys are mostly for."""
        if self.main_list is not None:
            self.main_list.focus()

    def leave(self) -> bool:
        """Leave the innermost transient state, if there is one, and say whether there was."""
        return False

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        """Gather what can be copied of what the cursor is on, and give it to the menu."""
        give(())

    def prepare_text(self, give: Callable[[str], None]) -> None:
        """Gather the whole safe text of what the cursor is on, for the pager."""

    def masked(self) -> None:
        """What must not be seen by others is hidden from now on, or shown again."""

    def judged(self) -> None:
        """What is known of the integrity of what is shown has changed."""

    behind: frozenset[int] = frozenset()
    """Sessions into which events came while another view was in front."""

    def grown(self, sessions: frozenset[int]) -> None:
        """Another program has added to the store: events of these sessions, or none."""

    def freshened(self) -> None:
        """Other sessions are live than before, or other things new since the last visit."""

    def worked(self) -> None:
        """A job of the console has gone on, or ended."""

    def tell(self) -> None:
        """Have the chrome say anew what has changed."""
        self.console_app.tell()


def dot(*parts: str, style: str = "quiet") -> Line:
    """Parts that are not empty, with a middle dot between them."""
    return (Ink(style, " · ".join(part for part in parts if part)),)
