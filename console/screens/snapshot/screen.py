"""One snapshot: the funnel, what was chosen and what was turned away by name, and the text the model was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from affidavit.retrieval.misleading import WAYS
from affidavit.session.address import AddressError
from affidavit.session.address import parse as parse_address
from console.actions import Action, Situation
from console.finding import NotFound, resolve
from console.screens.list_view import ListView
from console.screens.snapshot.found import Found, Item, read_snapshot
from console.screens.snapshot.lines import about, funnel, item_head, item_line
from console.screens.snapshot.otherwise import HINT, moved_line, parse
from console.screens.view import Copy, Place, bindings, dot
from console.widgets import figures
from console.widgets.bar import Bar
from console.widgets.ink import Ink, Line
from console.widgets.listed import Listed
from console.widgets.notice import Notice
from console.widgets.safe import Outside
from console.widgets.text_view import TextView
from console.widgets.virtual_list import VirtualList
from console.widgets.wrapping import pieces

if TYPE_CHECKING:
    from affidavit.retrieval.what_if import Moved, WhatIf

STEPS = 5


class SnapshotView(ListView):
    """See the module."""

    NAME = "snapshot"
    TITLE = "snapshot"
    WHAT = "the snapshot"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("snapshot")]

    def __init__(self) -> None:
        super().__init__()
        self._place = Place("snapshot")
        self._found: Found | None = None
        self._rejected = False
        self._otherwise = ""
        """Other settings as they were typed; while there are any, the list shows what they would change."""
        self._what: WhatIf | None = None
        self._wrong = ""
        self._funnel = [Bar(classes="funnel") for _ in range(STEPS)]
        self._tabs = Bar(id="snapshot-tabs")
        self._text = TextView(id="snapshot-text")

    def compose(self) -> ComposeResult:
        yield from self._funnel
        yield self._tabs
        with Container(id="snapshot-body"):
            yield self._list_pane
            yield self._text

    # reading

    def arrive(self, place: Place) -> None:
        if self._found is None or (place.session, place.event) != (self._place.session, self._place.event):
            self._place, self._found, self._otherwise = place, None, ""
            self._rows.clear()
            self.console_app.pool.ask(
                (self, "snapshot"), lambda archive: read_snapshot(archive, place.session), self._show, self._fail
            )
        self.focus_main()

    def place(self) -> Place:
        return self._place

    def _show(self, found: Found) -> None:
        self._found = found
        wanted = self._place.event
        self._rejected = not found.selected and bool(found.rejected)
        self._place = replace(self._place, session=found.row.uid)
        self._say_funnel()
        self._list()
        labels = [item.seen.citation if item.seen else None for item in found.selected]
        if wanted in labels:
            self.call_after_refresh(self._rows.move, labels.index(wanted))
        elif wanted:
            self.console_app.shell.flash(
                f"this snapshot has no citation {self.console_app.outside.line(wanted, 40)}", "person"
            )
        self.tell()

    def _list(self) -> None:
        if self._found is None:
            return
        if self._otherwise:
            self._list_otherwise(self._found)
            return
        items = self._found.rejected if self._rejected else self._found.selected
        draw = partial(_draw, outside=self.console_app.outside)
        self._rows.show(Listed(items, lambda item: (item.seen is None, item.number), draw), total=len(items))
        self._say_tabs()
        if not items:
            self._text.show((), ())

    def _list_otherwise(self, found: Found) -> None:
        """What would have become visible, and what would have gone, under the settings typed."""
        from affidavit.retrieval.what_if import Moved, what_if

        changed, self._wrong = parse(self._otherwise)
        self._what = None if changed is None else what_if(found.body, changed)
        rows: list[tuple[str, Moved]] = []
        if self._what is not None:
            told = (("appears", self._what.appeared), ("goes", self._what.gone), ("resized", self._what.resized))
            rows = [(word, one) for word, moved in told for one in moved]
            rows += [("unknown", Moved(id, id, why, why, *[None] * 4)) for id, why in self._what.unknown]
        draw = partial(_draw_moved, outside=self.console_app.outside)
        self._rows.show(Listed(rows, lambda row: (row[0], row[1].candidate_id), draw), total=len(rows))
        self._text.show((), ())
        self._say_tabs()

    def _fail(self, error: Exception) -> None:
        if isinstance(error, NotFound):
            self.console_app.shell.flash(self.console_app.outside.line(str(error), 160), "person")
            self.console_app.do_back()
        else:
            self.console_app.failed(error)

    @property
    def item(self) -> Item | None:
        """The candidate under the cursor."""
        item: Any = self._rows.item
        return item if isinstance(item, Item) else None

    @on(VirtualList.Moved)
    def _moved(self) -> None:
        found, item = self._found, self.item
        if found is None or item is None:
            return
        outside = self.console_app.outside
        head = item_head(item, found, outside)
        if item.seen is None:
            self._text.show([*head, (Ink("quiet", "Its text is not in the snapshot."),)], ())
        elif item.seen.text is None:
            self._text.show([*head, (Ink("unknown", "? its text was not recorded"),)], ())
        else:
            self._text.show(head, pieces(outside.block(item.seen.text)), "tool")

    def _say_failed(self, notice: Notice, error: Exception) -> None:
        self.console_app.show_error(notice, "The snapshot could not be read", error)

    def _say_empty(self, notice: Notice) -> None:
        if self._found is None:
            return
        if self._otherwise:
            said = self._wrong or "The model would have been shown the same under these settings."
            notice.say(
                Ink("head", "What if"), [(Ink("text", self.console_app.outside.line(said, 100)),)], (("esc", "leave"),)
            )
            return
        title, why = self._emptiness(self._found)
        notice.say(
            Ink("head", title), [(Ink("text", why),)], (("tab", "selected or rejected"), ("backspace", "go back"))
        )

    def _emptiness(self, found: Found) -> tuple[str, str]:
        """Which of the different kinds of nothing this is."""
        counts = found.counts
        if self._rejected:
            if counts["recalled"] == counts["selected"]:
                return "Nothing was turned away", "Everything that was found is visible."
            return "Not recorded by name", "Something was turned away; the snapshot does not say what."
        if counts["recalled"] is None:
            return "Not recorded", "The snapshot does not say what was found."
        if counts["recalled"] == 0:
            return "Nothing recalled", "No source held anything that fits the question within the scope."
        if counts["trimmed"] and not counts["selected"]:
            return "All trimmed", "What passed every other stage found no room in the budget: see rejected."
        return "All filtered", "What was found was turned away before it reached the budget: see rejected."

    # chrome

    def on_resize(self) -> None:
        self._say_funnel()

    def _say_funnel(self) -> None:
        if self._found is None:
            return
        for bar, line in zip(
            self._funnel, funnel(self._found, self.size.width - 1, self.console_app.outside), strict=True
        ):
            bar.say(line)

    def _say_tabs(self) -> None:
        if self._found is None:
            return
        inks: list[Ink] = [Ink("text", "   ")]
        if self._otherwise:
            said = self.console_app.outside.line(self._otherwise, 60)
            inks += [
                Ink("head", "What if "),
                Ink("hit", said),
                Ink("quiet", "   the recorded candidates, no new search"),
            ]
            self._tabs.say(tuple(inks))
            return
        for word, items, front in (
            ("Selected", self._found.selected, not self._rejected),
            ("Rejected", self._found.rejected, self._rejected),
        ):
            inks += [
                Ink("head" if front else "quiet", f"{word} ({figures.number(len(items))})", "swap"),
                Ink("text", "   "),
            ]
        misleads = [one for one in self._found.findings if not one.caught]
        if misleads:
            ways = " · ".join(dict.fromkeys(WAYS[one.way] for one in misleads))
            inks.append(Ink("person", f"! it misleads: {ways}   "))
        missing = self._found.body.get("missingEvidence")
        if isinstance(missing, list) and missing:
            said = self.console_app.outside.line(", ".join(map(str, missing)), 60)
            inks.append(Ink("person", f"! required but not found: {said}"))
        self._tabs.say(tuple(inks))

    def crumbs(self) -> tuple[Line, Line]:
        outside = self.console_app.outside
        if self._found is None:
            return (Ink("accent", "Snapshots", "go.snapshots"),), ()
        row = self._found.row
        worst = (
            Ink("fails", " ✗ A VISIBLE TEXT DIFFERS FROM ITS HASH ") if row.verdict == "differs" else Ink("text", "")
        )
        return (
            Ink("accent", "Snapshots", "go.snapshots"),
            Ink("faint", " ▸ "),
            Ink("outside", outside.line(row.id, 30)),
            Ink("faint", "  "),
            Ink("quiet", outside.line(row.question, max(self.size.width - 90, 10))),
        ), (worst,)

    def second(self) -> tuple[Line, Line]:
        if self._found is None:
            return (), ()
        return dot(*about(self._found.body, self.console_app.outside)), ()

    def missing(self) -> Line:
        found = self._found
        if found is None:
            return (Ink("quiet", "reading …"),)
        recalled, selected = found.counts["recalled"], found.counts["selected"]
        unnamed = 0 if recalled is None or selected is None else recalled - selected - len(found.rejected)
        parts = [
            f"{figures.number(len(found.selected))} visible",
            f"{figures.number(len(found.rejected))} turned away by name",
        ]
        if unnamed:
            parts.append(f"{figures.number(abs(unnamed))} not named")
        budget = found.body.get("budget")
        if isinstance(budget, dict) and isinstance(budget.get("maxTokens"), int):
            parts.append(f"{budget.get('estimatedTokens')} of {budget['maxTokens']} tokens")
        return dot(*parts)

    def standing(self) -> Line:
        if self._found is None:
            return super().standing()
        place = self._found.place
        return self.console_app.standing.entry(place.entry, f"snapshot/{self._found.row.uid}")

    def why(self, action: Action, now: Situation) -> str | None:
        if action.id == "filter":
            return "a snapshot stands as it was recorded; 3 lists and filters them"
        return super().why(action, now)

    def situation(self, now: Situation) -> Situation:
        return replace(
            now,
            row=self.item is not None,
            loading=self._found is None,
            transient=now.transient or self.has_class("-whole") or bool(self._otherwise),
        )

    # actions

    def do_swap(self) -> None:
        self._rejected = not self._rejected
        self._list()
        self.focus_main()
        self.tell()

    def do_open(self) -> None:
        """Go to where a candidate stands, if that is in the store; else show its text over the whole screen."""
        item, app = self.item, self.console_app
        if item is None:
            return
        ref = item.word("sourceRef")
        try:
            address = parse_address(_address_of(ref))
        except AddressError:
            self.set_class(not self.has_class("-whole"), "-whole")
            (self._text if self.has_class("-whole") else self._rows).focus()
            return

        def failed(_error: Exception) -> None:
            app.shell.flash(f"{app.outside.line(ref, 80)} is not in this store", "person")

        app.pool.ask((self, "source"), lambda archive: resolve(archive, address), app.go, failed)

    # what if

    def do_what_if(self) -> None:
        self.console_app.shell.ask("filter", "W ", self._otherwise, HINT)

    @property
    def filter_text(self) -> str:
        return self._otherwise

    def preview(self, text: str) -> None:
        self._otherwise = text
        self._list()
        self.console_app.shell.hint(self.preview_hint())
        self.tell()

    def preview_hint(self) -> Line:
        if not self._otherwise or self._what is None:
            return (Ink("person", self.console_app.outside.line(self._wrong, 60)),) if self._wrong else ()
        what = self._what
        tokens = f"{figures.number(what.tokens)} tokens"
        return dot(f"+{len(what.appeared)} −{len(what.gone)}", f"{len(what.visible)} visible", tokens)

    def leave(self) -> bool:
        if self._otherwise:
            self.preview("")
            return True
        if self.has_class("-whole"):
            self.remove_class("-whole")
            self._rows.focus()
            return True
        return False

    def masked(self) -> None:
        super().masked()
        self._say_funnel()
        self._moved()

    def prepare_copies(self, give: Callable[[Sequence[Copy]], None]) -> None:
        found, item = self._found, self.item
        if found is None:
            return
        app = self.console_app
        address = f"snapshot/{found.row.uid}"
        copies = [
            Copy("address", "address", address),
            Copy("command", "command that opens it", app.services.command(address)),
        ]
        if item is not None and item.seen is not None:
            if item.seen.citation:
                label = app.outside.line(item.seen.citation)
                copies.append(Copy("citation", "citation", f"{address}/{label}"))
            if item.seen.text is not None:
                copies.append(Copy("text", "text", app.outside.block(item.seen.text)))
            if item.seen.actual is not None:
                copies.append(Copy("hash", "hash of the text", item.seen.actual))
        give(copies)

    def prepare_text(self, give: Callable[[str], None]) -> None:
        if self.item is not None and self.item.seen is not None and self.item.seen.text is not None:
            give(self.console_app.outside.block(self.item.seen.text))


def _address_of(ref: str) -> str:
    """A source reference as an address, where it is one: a digest names recorded bytes."""
    return f"payload/{ref.removeprefix('sha256:')}" if ref.startswith("sha256:") else ref


def _draw_moved(row: tuple[str, Moved], room: int, *, outside: Outside) -> Line:
    return moved_line(row[0], row[1], room, outside)


def _draw(item: Item, room: int, *, outside: Outside) -> Line:
    return item_line(item, room, outside)
