"""The one line a person types into: filters, addresses, searches."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from console.widgets.bar import Bar
from console.widgets.ink import Ink


class Typed(Input):
    """An input that shows what it holds one sign a character, whatever was pasted into it.

    The value keeps every character as it was typed; only the picture of it is made harmless.
    """

    DEFAULT_CSS = """
    Typed, Typed:focus {
        border: none; height: 1; width: 1fr; padding: 0; color: $ink-head;
        background: $background; background-tint: transparent;
    }
    Typed > .input--cursor { background: $ink-accent; color: $background; text-style: $cursor-style; }
    Typed > .input--placeholder { color: $ink-faint; }
    Typed > .input--selection { background: $ground-cursor; }
    """

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False

    @property
    def _value(self) -> Text:
        shown = "".join(sign if sign.isprintable() else "�" for sign in self.value)
        return Text(shown, no_wrap=True, overflow="ignore", end="")


class Prompt(Horizontal):
    """A label, a line to type into, and to the right what the words so far would give."""

    DEFAULT_CSS = """
    Prompt { height: 1; background: $background; }
    Prompt > Bar { width: auto; }
    Prompt > #prompt-label { width: 10; }
    Prompt > #prompt-hint { width: 40%; }
    """

    class Changed(Message):
        """Something was typed."""

        def __init__(self, prompt: Prompt, value: str) -> None:
            super().__init__()
            self.prompt = prompt
            self.value = value

    class Submitted(Message):
        """Enter was pressed."""

        def __init__(self, prompt: Prompt, value: str) -> None:
            super().__init__()
            self.prompt = prompt
            self.value = value

    class Asked(Message):
        """Tab was pressed: what else could stand here is asked for."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "ask", show=False)]

    def action_ask(self) -> None:
        self.post_message(self.Asked())

    def compose(self) -> ComposeResult:
        yield Bar(id="prompt-label")
        yield Typed(id="prompt-input")
        yield Bar(id="prompt-hint")

    def open(self, label: str, value: str, placeholder: str) -> None:
        """Take the place over and wait for words."""
        box = self.query_one("#prompt-label", Bar)
        box.styles.width = len(label) + 2
        box.say((Ink("text", " "), Ink("key", label)))
        typed = self.query_one(Typed)
        typed.placeholder = placeholder
        with typed.prevent(Input.Changed):
            typed.value = value
        typed.cursor_position = len(value)
        self.hint(())
        self.display = True
        # At once, not when the loop comes to it: the next key typed must not be taken for a command.
        self.screen.set_focus(typed, scroll_visible=False)

    def hint(self, words: tuple[Ink, ...]) -> None:
        """Say to the right what the words typed so far would give."""
        self.query_one("#prompt-hint", Bar).say((), (*words, Ink("text", " ")))

    @property
    def value(self) -> str:
        return self.query_one(Typed).value

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Submitted(self, event.value))
