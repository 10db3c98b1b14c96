"""What views of a list have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on

from console.screens.view import View
from console.widgets.list_pane import ListPane
from console.widgets.living_list import LivingList
from console.widgets.notice import Notice
from console.widgets.virtual_list import VirtualList


class ListView(View):
    """A view whose rows are opened, filtered and gone through in a list."""

    WHAT: ClassVar[str] = "the rows"
    """What a reading list is said to read."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: LivingList[Any] = LivingList(lambda: self.console_app.pool, id=f"{self.NAME}-list")
        self._list_pane = ListPane(
            self._rows, what=self.WHAT, empty=self._say_empty, failed=self._say_failed, id=f"{self.NAME}-pane"
        )

    @property
    def main_list(self) -> VirtualList[Any]:
        return self._rows

    def focus_main(self) -> None:
        self._list_pane.focus_main()

    def _say_empty(self, notice: Notice) -> None:
        """Say in the place of the list why nothing is in it."""
        raise NotImplementedError

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        """Say in the place of the list that it could not be read."""
        raise NotImplementedError

    def do_open(self) -> None:
        """Open the row under the cursor."""
        raise NotImplementedError

    @on(VirtualList.Opened)
    def _opened_by_mouse(self, event: VirtualList.Opened) -> None:
        event.stop()
        self.do_open()
        self.tell()

    def do_hit_next(self) -> None:
        self._rows.do_down()

    def do_hit_previous(self) -> None:
        self._rows.do_up()

    def masked(self) -> None:
        self._rows.redraw()
