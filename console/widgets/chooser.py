"""A panel to choose one of some things from by typing: help, palette, copy menu, facets, orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import Input

from console.widgets.bar import Bar
from console.widgets.ink import Ink, Line, cells, cut, spread
from console.widgets.inked import Inked
from console.widgets.prompt import Typed


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose. All its words must be safe to show.

    ``key`` is shown before the label, ``note`` after it; ``why`` says why it cannot be chosen now. ``words`` are
    further words it is found by.
    """

    id: str
    label: str
    key: str = ""
    note: str = ""
    group: str = ""
    why: str = ""
    checked: bool = False
    words: str = ""

    def fits(self, typed: Sequence[str]) -> bool:
        """Whether every typed word stands somewhere in it."""
        haystack = f"{self.label} {self.note} {self.group} {self.words}".casefold()
        return all(word in haystack or word == self.key.casefold() for word in typed)


Finder = Callable[[str, Callable[[Sequence[Choice]], None]], None]
"""Finds further choices for what is typed, and gives them to the callback on the event loop."""


class Choices(Inked):
    """The choices that fit, by group, with one of them under the cursor."""

    DEFAULT_CSS = "Choices { height: auto; width: 1fr; }"

    class Picked(Message):
        """A choice was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Choice | str] = []
        self.cursor = 0
        self.top = 0
        self.at_checked = True
        """Whether the cursor begins on the choice that is in force."""
        self._key_room = 0

    def show(self, choices: Sequence[Choice], notes: Sequence[str] = ()) -> None:
        """Show these, the cursor on the first that can be chosen; below them lines that only tell."""
        self.lines = []
        group = ""
        for choice in choices:
            if choice.group != group:
                group = choice.group
                if self.lines:
                    self.lines.append("")
                self.lines.append(group)
            self.lines.append(choice)
        self.lines += notes
        self._key_room = max((cells(choice.key) for choice in choices), default=0)
        places = [i for i, line in enumerate(self.lines) if isinstance(line, Choice)]
        usable = [i for i in places if not self._at(i).why]
        checked = [i for i in usable if self._at(i).checked] if self.at_checked else []
        self.cursor = (checked or usable or places or [0])[0]
        self.top = 0
        self._settle()
        self.refresh(layout=True)

    def _at(self, index: int) -> Choice:
        line = self.lines[index]
        assert isinstance(line, Choice)
        return line

    @property
    def choice(self) -> Choice | None:
        if self.cursor < len(self.lines) and isinstance(line := self.lines[self.cursor], Choice):
            return line
        return None

    def move(self, by: int) -> None:
        """Go ``by`` choices up or down, over headings."""
        places = [i for i, line in enumerate(self.lines) if isinstance(line, Choice)]
        if not places:
            return
        at = places.index(self.cursor) if self.cursor in places else 0
        self.cursor = places[min(max(at + by, 0), len(places) - 1)]
        self._settle()
        self.refresh()

    def _settle(self) -> None:
        height = max(self._height, 1)
        above = self.cursor - 1 if self.cursor and isinstance(self.lines[self.cursor - 1], str) else self.cursor
        self.top = max(min(self.top, above), self.cursor - height + 1, 0)
        if not any(isinstance(line, Choice) for line in self.lines[self.cursor + 1 :]):
            # The last choice shows the lines below it too: no key leads onto them.
            self.top = max(len(self.lines) - height, min(self.top, above), 0)

    @property
    def _height(self) -> int:
        """Lines for choices: where they do not all fit, the last line says so."""
        return self.size.height - (1 if len(self.lines) > self.size.height > 2 else 0)

    def on_resize(self) -> None:
        # What was settled before there was any room says nothing.
        self.top = 0
        self._settle()
        self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:  # noqa: ARG002
        # What is around it takes seven lines and a margin of two.
        return max(min(len(self.lines), self.app.size.height - 10), 1)

    def on_click(self, event: events.Click) -> None:
        index = self.top + event.y
        if index < len(self.lines) and isinstance(self.lines[index], Choice):
            self.cursor = index
            self.refresh()
            self.post_message(self.Picked())

    def on_mouse_scroll_down(self) -> None:
        self.move(3)

    def on_mouse_scroll_up(self) -> None:
        self.move(-3)

    def render_line(self, y: int) -> Strip:
        room = self.size.width
        index = self.top + y
        if not self.lines and y == 0:
            return self.strip((Ink("quiet", "  nothing fits"),), room)
        if index >= len(self.lines):
            return self.blank()
        if y >= self._height:
            more = len(self.lines) - self.top - self._height
            return self.strip((Ink("accent", f"  ↓ {more} more" if more else ""),), room)
        line = self.lines[index]
        if isinstance(line, str):
            return self.strip((Ink("quiet", f"  {line}"),), room)
        here = index == self.cursor
        return self.strip(self._line(line, room, here), room, "cursor" if here else "")

    def _line(self, choice: Choice, room: int, here: bool) -> Line:
        inks = [Ink("accent", "▌ ") if here else Ink("text", "  ")]
        if self._key_room:
            key = choice.key + " " * (self._key_room - cells(choice.key) + 2)
            inks.append(Ink("off" if choice.why else "key", key))
        inks.append(Ink("off" if choice.why else "text", choice.label))
        note = choice.why or choice.note
        end = (Ink("quiet", cut(note, room // 2)),) if note else ()
        tick = (Ink("accent", " ✓"),) if choice.checked else ()
        return spread(inks, (*end, *tick, Ink("text", " ")), room)


class Chooser(ModalScreen[str | None]):
    """See the module. Gives the id of what was chosen, or ``None``."""

    DEFAULT_CSS = """
    Chooser { align: center top; background: $background 60%; }
    Chooser > #chooser-panel {
        width: 84; max-width: 94%; height: auto; max-height: 100%; margin: 2 0 0 0; padding: 1 1 0 1;
        background: $ground-band; border-left: outer $ink-accent;
    }
    Chooser.-roomy > #chooser-panel { width: 116; }
    Chooser Bar, Chooser Choices, Chooser Typed, Chooser Typed:focus { background: $ground-band; }
    Chooser #chooser-line { height: 1; margin: 0 0 1 0; padding: 0 0 0 2; }
    Chooser #chooser-foot { margin: 1 0 0 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up,ctrl+p", "move(-1)", show=False, priority=True),
        Binding("pagedown,ctrl+d", "move(10)", show=False, priority=True),
        Binding("pageup,ctrl+u", "move(-10)", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        *,
        placeholder: str = "type to find",
        finder: Finder | None = None,
        at_checked: bool = True,
        notes: Sequence[str] = (),
        wide: bool = False,
    ) -> None:
        super().__init__(classes="-roomy" if wide else None)
        self._notes = tuple(notes)
        self._title = title
        self._choices = tuple(choices)
        self._placeholder = placeholder
        self._finder = finder
        self._found: tuple[Choice, ...] = ()
        self._list = Choices()
        self._list.at_checked = at_checked
        self._typing: Timer | None = None
        self._hasty = False
        """Enter was pressed before what was typed had been looked for."""

    def compose(self) -> ComposeResult:
        with Vertical(id="chooser-panel"):
            yield Bar(id="chooser-title")
            yield Typed(placeholder=self._placeholder, id="chooser-line")
            yield self._list
            yield Bar(id="chooser-foot")

    def on_mount(self) -> None:
        self.query_one("#chooser-title", Bar).say((Ink("head", f"  {self._title}"),))
        keys = (("enter", "choose"), ("↑ ↓", "move"), ("esc", "leave"))
        foot = [ink for key, what in keys for ink in (Ink("key", f"  {key}"), Ink("quiet", f" {what} "))]
        self.query_one("#chooser-foot", Bar).say(foot)
        self._fit("")
        self.set_focus(self.query_one(Typed), scroll_visible=False)

    @property
    def choices(self) -> Choices:
        return self._list

    @property
    def text(self) -> str:
        """What can be chosen now, line by line."""
        lines = self.choices.lines
        return "\n".join(
            line if isinstance(line, str) else " ".join(filter(None, (line.key, line.label, line.why or line.note)))
            for line in lines
        )

    def _fit(self, typed: str) -> None:
        words = typed.casefold().split()
        fitting = [choice for choice in self._choices if choice.fits(words)]
        self.choices.show(fitting + list(self._found), () if words else self._notes)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._found = ()
        self._hasty = False
        self._fit(event.value)
        if self._typing is not None:
            self._typing.stop()
        if self._finder is not None and event.value.strip():
            self._typing = self.set_timer(0.08, self._find)

    def _find(self) -> None:
        typed = self.query_one(Typed).value
        if self._finder is None:
            return

        def found(choices: Sequence[Choice]) -> None:
            if self.is_current and self.query_one(Typed).value == typed:
                self._found = tuple(choices)
                self._fit(typed)
                if self._hasty:
                    self._chosen()

        self._finder(typed, found)

    @on(Input.Submitted)
    @on(Choices.Picked)
    def _chosen(self) -> None:
        if not self.is_current:
            return  # the second of two clicks, or a key behind the one that chose
        choice = self.choices.choice
        if choice is None:
            self._hasty = self._finder is not None and not self._found
            return
        if choice.why:
            foot = self.query_one("#chooser-foot", Bar)
            foot.say((Ink("person", f"  ! {choice.label}: "), Ink("text", choice.why)))
            return
        self.dismiss(choice.id)

    def action_move(self, by: int) -> None:
        self.choices.move(by)

    def action_leave(self) -> None:
        if self.is_current:
            self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        if not self.query_one("#chooser-panel").region.contains(event.screen_x, event.screen_y):
            self.action_leave()
