"""Filters by name: chosen, saved and forgotten, from the filter's line and from the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.saved_filters import PARTS, SavedFilter
from console.screens.view import Place
from console.widgets.chooser import Choice, Chooser

if TYPE_CHECKING:
    from console.app import AffidavitApp

_NAMES = {"sessions": "Sessions", "timeline": "timeline", "search": "Search", "verify": "Verify"}


class Saving:
    """See the module."""

    def __init__(self, app: AffidavitApp) -> None:
        self._app = app

    def do_filters(self) -> None:
        """Offer the filters of the view in front: to use, to save the present one, to forget."""
        app, view = self._app, self._app.view
        if view is None or view.NAME not in PARTS:
            return
        here = [saved for saved in app.services.filters() if saved.view == view.NAME]
        now = view.filter_parts()
        why = "" if now else "no filter is on"
        choices = [self._use(saved, checked=bool(now) and saved.parts == now) for saved in here]
        choices.append(
            Choice("save:", "save the present filter by a name", note=self._said(now), why=why, group="Save")
        )
        choices += [Choice(f"forget:{saved.name}", self._name(saved), group="Forget") for saved in here]
        app.push_screen(Chooser(f"Filters of {_NAMES[view.NAME]}", choices), self._chosen)

    def offered(self) -> list[Choice]:
        """Every saved filter, for the palette."""
        front = self._app.view.NAME if self._app.view is not None else ""
        found = []
        for saved in self._app.services.filters():
            why = "open a session first" if saved.view == "timeline" != front else ""
            found.append(self._use(saved, group="Saved filters", why=why, view=_NAMES[saved.view]))
        return found

    def _use(
        self, saved: SavedFilter, *, checked: bool = False, group: str = "Use", why: str = "", view: str = ""
    ) -> Choice:
        said = self._said(saved.parts)
        note = f"{view}: {said}" if view else said
        return Choice(f"saved:{saved.name}", self._name(saved), note=note, group=group, checked=checked, why=why)

    def _name(self, saved: SavedFilter) -> str:
        return self._app.outside.line(saved.name, 48)

    def _said(self, parts: object) -> str:
        """What a filter holds, in a few words."""
        if not isinstance(parts, dict):
            return ""
        words = []
        for part, held in parts.items():
            if isinstance(held, tuple):
                held = " ".join(held)
            words.append(part if held is True else f"not {part}" if held is False else f"{part} {held}")
        return self._app.outside.line(" · ".join(words), 44)

    def _chosen(self, choice: str | None) -> None:
        kind, _, name = (choice or "").partition(":")
        app = self._app
        if kind == "save":
            app.shell.ask("name", "save as", "", "a name for this filter")
        elif kind == "forget":
            reason = app.services.forget_filter(name)
            app.shell.flash(reason or f"forgotten: {app.outside.line(name, 48)}", "person" if reason else "text")
        elif kind == "saved":
            self.use(name)

    def save(self, name: str) -> None:
        """Keep the present filter of the view in front by a name."""
        app, view = self._app, self._app.view
        if view is None:
            return
        name = name.strip()
        other = next((saved for saved in app.services.filters() if saved.name == name), None)
        if other is not None and other.view != view.NAME:
            reason = f"{app.outside.line(name, 48)} is a filter of {_NAMES[other.view]} already"
        else:
            reason = app.services.keep_filter(SavedFilter(name, view.NAME, view.filter_parts()))
        said = f"saved: {app.outside.line(name, 48)}"
        app.shell.flash(app.outside.line(reason, 160) if reason else said, "person" if reason else "holds")

    def use(self, name: str) -> None:
        """Put a saved filter on, in the view it belongs to."""
        app = self._app
        saved = next((saved for saved in app.services.filters() if saved.name == name), None)
        if saved is None or app.view is None:
            return
        if saved.view != app.view.NAME:
            app.go(Place(saved.view))
        self._put_on(saved)

    def _put_on(self, saved: SavedFilter) -> None:
        app = self._app
        if app.arriving:
            app.call_after_refresh(self._put_on, saved)
        elif app.view is not None and saved.view == app.view.NAME:
            app.view.use_parts(saved.parts)
            app.shell.flash(f"filter: {self._name(saved)}")
