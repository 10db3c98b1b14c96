"""What views of events have in common: a list, and the event under its cursor whole beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container

from console.screens.event_pane.pane import EventPane
from console.screens.list_view import ListView
from console.screens.timeline.copying import copies_of, whole_text
from console.screens.view import Copy
from console.widgets.ink import Line

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.queries.models import SessionRow


class EventsView(ListView):
    """A list of events, and the one under its cursor whole beside it (or, with ``-whole``, instead of it)."""

    def __init__(self) -> None:
        super().__init__()
        self.pane = EventPane()

    def body(self) -> ComposeResult:
        """The list with the event beside it."""
        with Container(id=f"{self.NAME}-body"):
            yield self._list_pane
            yield self.pane

    def event_key(self) -> int | None:
        """The event under the cursor."""
        raise NotImplementedError

    @on(EventPane.Settled)
    def _settled(self) -> None:
        self.tell()

    def standing(self) -> Line:
        told = self.pane.told
        return self.console_app.standing.entry(told.number, told.address) if told else self.console_app.standing.line()

    def masked(self) -> None:
        super().masked()
        self.pane.again()

    def offer_copies(
        self,
        give: Callable[[Sequence[Copy]], None],
        find: Callable[[Archive], tuple[SessionRow, Sequence[int]]],
    ) -> None:
        """Give what can be copied of the events that ``find``, in a reading thread, says."""
        app = self.console_app
        outside, command = app.outside, app.services.command
        app.pool.ask(
            (self, "copy"), lambda archive: copies_of(archive, *find(archive), outside, command), give, app.failed
        )

    def prepare_text(self, give: Callable[[str], None]) -> None:
        key, form, app = self.event_key(), self.pane.form, self.console_app
        if key is not None:
            outside = app.outside
            app.pool.ask((self, "copy"), lambda archive: whole_text(archive, key, form, outside), give, app.failed)
