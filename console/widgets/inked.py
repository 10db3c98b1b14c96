"""The base of everything the console draws: lines of ink turned into strips, through one guard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from console.widgets.ink import INKS, Ink, cells, fit
from console.widgets.safe import printable

GROUNDS = ("cursor", "cursor-off", "band")
"""Backgrounds a whole line may stand on: the row with the focus, the row without, a quiet band."""


class Inked(Widget):
    """A widget that draws itself line by line from :class:`Ink`.

    The only place where the console makes segments; nothing else may write text to the screen.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{name}" for name in (*INKS, *GROUNDS)}

    DEFAULT_CSS = "\n".join(
        [
            "Inked { background: $background; color: $foreground; }",
            *(f"Inked .ink--{name} {{ color: $ink-{name}; text-style: $ink-{name}-style; }}" for name in INKS),
            *(
                f"Inked .ink--{name} {{ background: $ground-{name}; text-style: $ground-{name}-style; }}"
                for name in GROUNDS
            ),
        ]
    )

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._inks: dict[tuple[str, str], Style] = {}

    def notify_style_update(self) -> None:
        self._inks.clear()
        super().notify_style_update()

    def ink(self, name: str, ground: str = "") -> Style:
        """The terminal style of an ink on a ground."""
        key = (name, ground)
        style = self._inks.get(key)
        if style is None:
            style = self.rich_style + self.get_component_rich_style(f"ink--{name}", partial=True)
            if ground:
                under = self.get_component_rich_style(f"ink--{ground}", partial=True)
                if under.reverse:
                    # Reversed, each ink would become a block of its own colour: the row is one block instead.
                    style = self.rich_style + Style(bold=style.bold, underline=style.underline)
                style += Style(bgcolor=under.bgcolor, reverse=under.reverse, bold=under.bold or style.bold)
            self._inks[key] = style
        return style

    def strip(self, line: Iterable[Ink], room: int, ground: str = "") -> Strip:
        """One line of exactly ``room`` cells. Neighbouring runs that look the same become one."""
        runs: list[list[str]] = []
        styles: list[Style] = []
        used = 0
        for ink in fit(tuple(line), room):
            text = printable(ink.text)
            if not text:
                continue
            style = self.ink(ink.style, ground)
            used += cells(text)
            # Blanks show no foreground: they join what stands before them, which saves bytes on the wire.
            joins = styles and (style == styles[-1] or (text.isspace() and not styles[-1].underline))
            if joins:
                runs[-1].append(text)
            else:
                runs.append([text])
                styles.append(style)
        if used < room:
            blank = " " * (room - used)
            if styles and not styles[-1].underline:
                runs[-1].append(blank)
            else:
                runs.append([blank])
                styles.append(self.ink("text", ground))
        segments = [Segment("".join(run), style) for run, style in zip(runs, styles, strict=True)]
        return Strip(segments).crop(0, room)

    def blank(self) -> Strip:
        """An empty line as wide as the widget."""
        return self.strip((), self.size.width)
