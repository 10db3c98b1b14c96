"""A list, and what stands in its place while there is nothing in it: reading, nothing, or what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.timer import Timer

from console.widgets.ink import Ink
from console.widgets.notice import Notice
from console.widgets.virtual_list import VirtualList

_PATIENCE = 0.25
"""Seconds an empty list may stay blank before it says that it is reading."""


class ListPane(Container):
    """Shows the list while it has rows, else a notice. Both take the focus, so that keys always work."""

    DEFAULT_CSS = """
    ListPane { height: 1fr; width: 1fr; }
    """

    def __init__(
        self,
        rows: VirtualList[Any],
        *,
        what: str,
        empty: Callable[[Notice], None],
        failed: Callable[[Notice, Exception], None],
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.rows = rows
        self.notice = Notice()
        self.notice.display = False
        self._what = what
        self._empty = empty
        self._failed = failed
        self._waiting: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self.rows
        yield self.notice

    @on(VirtualList.Changed)
    def _changed(self) -> None:
        self.settle()

    def settle(self) -> None:
        """Show what there is to show now."""
        rows = self.rows
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        if rows.rows:
            self._show(notice=False)
        elif rows.error is not None:
            self._failed(self.notice, rows.error)
            self._show(notice=True)
        elif rows.reading or rows.after is not None:
            self._waiting = self.set_timer(_PATIENCE, self._still_reading)
        elif rows.source is not None:
            self._empty(self.notice)
            self._show(notice=True)

    def _still_reading(self) -> None:
        if not self.rows.rows and (self.rows.reading or self.rows.after is not None):
            keys = (("back", "go back"), ("address", "go elsewhere"))
            self.notice.say(Ink("quiet", f"Reading {self._what} …"), (), keys)
            self._show(notice=True)

    def _show(self, *, notice: bool) -> None:
        if self.notice.display == notice:
            return
        had_focus = self.has_focus_within
        self.notice.display = notice
        self.rows.display = not notice
        if had_focus:
            self.focus_main()

    def focus_main(self) -> None:
        """Give the focus to whichever of the two is shown."""
        (self.notice if self.notice.display else self.rows).focus()
