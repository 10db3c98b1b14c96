"""Panels made from the registry of actions: help, palette, the copy menu; and the way out to a pager or an editor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from console.actions import Action, in_view, key_text
from console.screens.view import Copy
from console.themes import LOOKS
from console.widgets.chooser import Choice, Chooser

if TYPE_CHECKING:
    from console.app import AffidavitApp
    from console.handing_over import Program

_FORMS = "session/ID  session/ID#EVENT  turn/SESSION/7  entry/1234  payload/SHA256"


LEGEND = (
    "",
    "The signs",
    "✓ holds, or ended well      ✗ failed, or does not hold      ! needs a look",
    "? not recorded, or not checked      ~ inferred, not recorded itself      · quiet",
    "▸ what the agent set out to do, or a fold that opens      ╎ abandoned      │ in a sub-agent",
    "⌕ evidence      ◆ memory      ×4 stands so often in the log",
)
"""What the glyphs mean, at the end of help."""


class Menus:
    """Panels over the view in front."""

    def __init__(self, app: AffidavitApp) -> None:
        self._app = app

    def _choice(self, action: Action, *, keys: bool) -> Choice:
        app = self._app
        view = app.view
        assert view is not None
        why = view.why(action, app.situation())
        shown = " ".join(dict.fromkeys(key_text(key) for key in app.keys.of(action)))
        return Choice(
            action.id,
            action.tooltip if keys else f"{action.label}: {action.tooltip}",
            key=shown,
            group=action.group,
            why=why or "",
            words=f"{action.label} {action.id}",
        )

    def do_help(self) -> None:
        """Every key that works here, to find and to run."""
        view = self._app.view
        if view is None:
            return
        choices = [self._choice(action, keys=True) for action in _by_group(view.NAME) if action.keys]
        self._app.push_screen(Chooser(f"What works in {view.TITLE}", choices, notes=LEGEND, wide=True), self._run)

    def do_palette(self) -> None:
        """Every action, theme, session and address, by name."""
        app = self._app
        if app.view is None:
            return
        choices = [self._choice(action, keys=False) for action in _by_group(app.view.NAME) if action.id != "palette"]
        names = LOOKS if not app.no_color else {}
        choices += [
            Choice(f"theme:{name}", f"theme: {look.title}", group="Themes", checked=name == app.theme)
            for name, look in names.items()
        ]
        choices += app.saving.offered()
        app.push_screen(
            Chooser("Do, open or go to", choices, placeholder=_FORMS, finder=app.finding.find, at_checked=False),
            self._run,
        )

    def _run(self, choice: str | None) -> None:
        if choice is None:
            return
        kind, _, rest = choice.partition(":")
        if kind == "theme" and rest:
            self._app.choose_theme(rest)
        elif kind == "saved" and rest:
            self._app.saving.use(rest)
        elif kind == "address" and rest:
            self._app.finding.go_to(rest)
        else:
            self._app.action_act(choice)

    # copying

    def do_copy(self) -> None:
        """Offer what can be copied of what the cursor is on."""
        view = self._app.view
        if view is not None:
            view.prepare_copies(self._offer)

    def _offer(self, copies: Sequence[Copy]) -> None:
        by_id = {copy.id: copy for copy in copies}
        if not copies:
            self._app.shell.flash("there is nothing to copy here", "person")
            return

        def chosen(choice: str | None) -> None:
            if choice is not None:
                self._app.shell.flash(f"{by_id[choice].label}: {self.copy_text(by_id[choice].text)}", "holds")

        choices = [Choice(copy.id, copy.label, note=_glimpse(copy.text)) for copy in copies]
        self._app.push_screen(Chooser("Copy", choices), chosen)

    def copy_text(self, text: str) -> str:
        """Copy a safe text and say which way it went."""
        driver = self._app._driver
        write: Callable[[str], object] | None = None
        if driver is not None:

            def write(sequence: str) -> None:
                driver.write(sequence)
                driver.flush()

        try:
            done = self._app.services.copy(text, write)
        except Exception as error:  # a clipboard must never end the console
            return "not copied: " + self._app.outside.line(str(error), 80)
        return f"copied: {done.note}" if done.way != "none" else done.note

    # pager and editor

    def do_pager(self) -> None:
        """Hand what the cursor is on to the pager."""
        view = self._app.view
        if view is not None:
            view.prepare_text(lambda text: self._hand_over(text, "pager"))

    def do_editor(self) -> None:
        """Hand a copy of it to the editor."""
        view = self._app.view
        if view is not None:
            view.prepare_text(lambda text: self._hand_over(text, "editor"))

    def _hand_over(self, text: str, program: Program) -> None:
        from console.handing_over import hand_over

        note = hand_over(self._app, text, program)
        if note:
            self._app.shell.flash(note, "person")


def _by_group(view: str) -> list[Action]:
    """The actions of a view, what only it has first, each group together."""
    here = sorted(in_view(view), key=lambda action: action.views is None)
    groups = list(dict.fromkeys(action.group for action in here))
    return [action for group in groups for action in here if action.group == group]


def _glimpse(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line[:48] + ("…" if len(line) > 48 or "\n" in text.strip() else "")
