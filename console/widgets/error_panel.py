"""What went wrong, in words that can be copied, over a console that goes on running."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from console.widgets.bar import Bar
from console.widgets.ink import Ink
from console.widgets.text_view import TextView

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from console.widgets.safe import Outside


def describe(error: BaseException, outside: Outside) -> str:
    """An error in safe words: what it says, and what to do where it knows."""
    said = str(error).strip() or "no further words"
    if hasattr(error, "reason") and hasattr(error, "hint"):
        return outside.block(said[:4_000])
    return outside.block(f"{type(error).__name__}: {said[:4_000]}")


class ErrorPanel(ModalScreen[None]):
    """See the module."""

    DEFAULT_CSS = """
    ErrorPanel { align: center middle; background: $background 60%; }
    ErrorPanel > Vertical {
        width: 90; max-width: 94%; height: 14; max-height: 86%; padding: 1 1 0 2; background: $ground-band;
        border-left: outer $ink-fails;
    }
    ErrorPanel Bar, ErrorPanel TextView { background: $ground-band; }
    ErrorPanel TextView { margin: 1 0; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", show=False),
        Binding("y", "copy", show=False),
        Binding("j,down", "text('down')", show=False),
        Binding("k,up", "text('up')", show=False),
    ]

    def __init__(self, title: str, words: str) -> None:
        super().__init__()
        self.words = words
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Bar(id="error-title")
            yield TextView(id="error-text")
            yield Bar(id="error-foot")

    def on_mount(self) -> None:
        self.query_one("#error-title", Bar).say((Ink("fails", "✗ "), Ink("head", self._title)))
        keys = (("y", "copy this"), ("esc", "go on"))
        foot = [ink for key, what in keys for ink in (Ink("key", key), Ink("quiet", f" {what}   "))]
        self.query_one("#error-foot", Bar).say(foot)
        self.query_one(TextView).show((), self.words.split("\n"))
        self.query_one(TextView).focus()

    def action_copy(self) -> None:
        note = cast("AffidavitApp", self.app).menus.copy_text(self.words)
        self.query_one("#error-foot", Bar).say((Ink("text", note),))

    def action_text(self, way: str) -> None:
        getattr(self.query_one(TextView), f"do_{way}")()

    def action_leave(self) -> None:
        if self.is_current:
            self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        if not self.query_one(Vertical).region.contains(event.screen_x, event.screen_y):
            self.action_leave()
