"""What the console looks like: one accent for focus, colour only where it means something.

Each theme gives every ink and ground of :mod:`console.widgets.ink` a colour and a text style. State is never told
by colour alone, so the plain theme, which has none, loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from textual.theme import BUILTIN_THEMES, Theme

from console.widgets.ink import INKS

_STYLES = {
    "head": "bold",
    "guess": "italic",
    "key": "bold",
    "hit": "bold",
    "accent": "bold",
}
"""Text styles that hold in every theme."""


@dataclass(frozen=True)
class Look:
    """The colours of one theme. ``styles`` overrides text styles; ``grounds`` are (background, text style)."""

    title: str
    dark: bool
    background: str
    foreground: str
    inks: dict[str, str]
    grounds: dict[str, tuple[str, str]]
    styles: dict[str, str] = field(default_factory=dict)
    ansi: bool = False

    def variables(self) -> dict[str, str]:
        """Every variable the style sheets use."""
        # What Textual's own widgets need of a theme in the terminal's colours, it has only in its own such themes.
        base = BUILTIN_THEMES["ansi-dark" if self.dark else "ansi-light"] if self.ansi else None
        names: dict[str, str] = dict(base.variables) if base is not None else {}
        for ink in INKS:
            names[f"ink-{ink}"] = self.inks.get(ink, self.foreground)
            names[f"ink-{ink}-style"] = self.styles.get(ink, _STYLES.get(ink, "none"))
        for ground, (colour, style) in self.grounds.items():
            names[f"ground-{ground}"] = colour
            names[f"ground-{ground}-style"] = style
        return names

    def theme(self, name: str) -> Theme:
        """The look as Textual knows it."""
        return Theme(
            name=name,
            primary=self.inks["accent"],
            accent=self.inks["accent"],
            foreground=self.foreground,
            background=self.background,
            surface=self.background,
            panel=self.grounds["band"][0],
            warning=self.inks["person"],
            error=self.inks["fails"],
            success=self.inks["holds"],
            dark=self.dark,
            ansi=self.ansi,
            variables=self.variables(),
        )


DARK = Look(
    title="dark",
    dark=True,
    background="#12151b",
    foreground="#cfd3dc",
    inks={
        "text": "#b4bac7",
        "head": "#f2f4f8",
        "quiet": "#808999",
        "faint": "#4a5263",
        "user": "#f3dfae",
        "agent": "#b8c6f2",
        "tool": "#b9b2a6",
        "runtime": "#8d95a3",
        "outside": "#d8d3ea",
        "holds": "#7fc892",
        "fails": "#f47c7c",
        "person": "#eeb457",
        "guess": "#d8ac6a",
        "unknown": "#808999",
        "evidence": "#7cc4c9",
        "memory": "#d093d8",
        "accent": "#61afff",
        "key": "#dfe4ee",
        "off": "#5a6272",
        "hit": "#ffd866",
        "gone": "#6b7383",
    },
    grounds={
        "cursor": ("#22304a", "none"),
        "cursor-off": ("#1d222c", "none"),
        "band": ("#191d25", "none"),
    },
)

LIGHT = Look(
    title="light",
    dark=False,
    background="#fbfaf7",
    foreground="#2b2f36",
    inks={
        "text": "#3d434d",
        "head": "#101319",
        "quiet": "#666d79",
        "faint": "#b3b7bf",
        "user": "#7a4d00",
        "agent": "#2f4595",
        "tool": "#5d554a",
        "runtime": "#646b77",
        "outside": "#4b3c78",
        "holds": "#1d7436",
        "fails": "#b8232f",
        "person": "#8f5700",
        "guess": "#8a5d14",
        "unknown": "#666d79",
        "evidence": "#0d6a70",
        "memory": "#85308f",
        "accent": "#0b62c4",
        "key": "#15181e",
        "off": "#a0a5ae",
        "hit": "#9c4a00",
        "gone": "#7c828d",
    },
    grounds={
        "cursor": ("#d9e6f8", "none"),
        "cursor-off": ("#ebeae5", "none"),
        "band": ("#f1efe9", "none"),
    },
)

CONTRAST = Look(
    title="high contrast",
    dark=True,
    background="#000000",
    foreground="#ffffff",
    inks={
        "text": "#ffffff",
        "head": "#ffffff",
        "quiet": "#d0d0d0",
        "faint": "#9a9a9a",
        "user": "#ffe97a",
        "agent": "#a8d4ff",
        "tool": "#e6dccb",
        "runtime": "#d0d0d0",
        "outside": "#ecdcff",
        "holds": "#6dff8f",
        "fails": "#ff8a8a",
        "person": "#ffc34d",
        "guess": "#ffc34d",
        "unknown": "#d0d0d0",
        "evidence": "#7df3ff",
        "memory": "#ff9dff",
        "accent": "#5cc8ff",
        "key": "#ffffff",
        "off": "#a8a8a8",
        "hit": "#ffff00",
        "gone": "#b0b0b0",
    },
    grounds={
        "cursor": ("#00407a", "bold"),
        "cursor-off": ("#333333", "none"),
        "band": ("#1c1c1c", "none"),
    },
    styles={"fails": "bold", "person": "bold", "hit": "bold underline"},
)


def _ansi(dark: bool) -> Look:
    bright = "ansi_bright_" if dark else "ansi_"
    return Look(
        title="terminal's own colours, " + ("dark" if dark else "light"),
        dark=dark,
        ansi=True,
        background="ansi_default",
        foreground="ansi_default",
        inks={
            "user": f"{bright}yellow" if dark else "ansi_magenta",
            "agent": f"{bright}blue",
            "tool": "ansi_default",
            "outside": "ansi_default",
            "holds": "ansi_green",
            "fails": f"{bright}red",
            "person": "ansi_yellow" if dark else "ansi_red",
            "guess": "ansi_yellow" if dark else "ansi_red",
            "evidence": "ansi_cyan",
            "memory": "ansi_magenta",
            "accent": f"{bright}cyan" if dark else "ansi_blue",
            "hit": f"{bright}yellow" if dark else "ansi_red",
        },
        grounds={
            "cursor": ("ansi_default", "reverse"),
            "cursor-off": ("ansi_default", "bold"),
            "band": ("ansi_default", "none"),
        },
        styles={
            "quiet": "dim",
            "faint": "dim",
            "runtime": "dim",
            "unknown": "dim",
            "off": "dim",
            "gone": "dim",
            "hit": "bold underline",
        },
    )


PLAIN = Look(
    title="no colour",
    dark=True,
    ansi=True,
    background="ansi_default",
    foreground="ansi_default",
    inks=dict.fromkeys(INKS, "ansi_default"),
    grounds={
        "cursor": ("ansi_default", "reverse"),
        "cursor-off": ("ansi_default", "bold"),
        "band": ("ansi_default", "none"),
    },
    styles={
        "user": "bold",
        "quiet": "dim",
        "faint": "dim",
        "runtime": "dim",
        "unknown": "dim",
        "off": "dim",
        "gone": "dim",
        "fails": "bold",
        "hit": "bold underline",
    },
)

LOOKS: dict[str, Look] = {
    "dark": DARK,
    "light": LIGHT,
    "contrast": CONTRAST,
    "ansi-dark": _ansi(dark=True),
    "ansi-light": _ansi(dark=False),
}
"""Every theme a person can choose, in the order the theme key goes through them."""
