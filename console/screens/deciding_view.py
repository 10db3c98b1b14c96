"""What views share in which people decide: a thing drawn whole, a reason, a decision bound to what was drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from console.actions import Situation
from console.screens.list_view import ListView
from console.services import Asked, Decided
from console.widgets.ink import Ink
from console.widgets.text_view import TextView


@dataclass(frozen=True, slots=True)
class Shown:
    """A thing as it was drawn: its id, and the digest of what of it stands on the screen."""

    id: str
    hash: str


class DecidingView(ListView):
    """See the module. A key acts only on what is drawn; nothing is decided without a reason."""

    def __init__(self) -> None:
        super().__init__()
        self.text = TextView(id=f"{self.NAME}-text")
        self._shown: Shown | None = None
        self._asked: Asked | None = None
        self._wants = ""
        """What the line that is typed answers: ``content``, ``scope``, ``confirm`` or ``reason``."""
        self._last: str | None = None
        """The decision that ``undo`` takes back."""

    @property
    def now_shown(self) -> Shown | None:
        """What is drawn whole, of the row under the cursor."""
        return self._shown

    def situation(self, now: Situation) -> Situation:
        rows = self._rows
        return replace(
            now,
            row=rows.item is not None,
            loading=rows.reading or (rows.item is not None and self._shown is None),
            undoable=self._last is not None,
            transient=now.transient or self.has_class("-whole"),
        )

    def reload(self) -> None:
        """Read the list anew, the cursor staying where it is."""
        raise NotImplementedError

    # asking

    def decide(self, verb: str, **given: Any) -> None:
        """Begin a decision about what is drawn: ask for what it needs, the reason last."""
        if self._shown is None:
            self.console_app.shell.flash("it is still being read; nothing was decided", "person")
            return
        self._asked = Asked(verb, self._shown.id, "", self._shown.hash, **given)
        needs = {"rewrite": "content", "rescope": "scope", "forget": "confirm"}.get(verb, "reason")
        self._want(needs)

    def _want(self, what: str) -> None:
        assert self._asked is not None
        self._wants = what
        short = self._asked.object[:8]
        label, value, hint = {
            "content": (f"rewrite {short} as: ", self.words(), "its new words"),
            "scope": (f"rescope {short} to: ", self.scope(), "LEVEL:KEY, such as repo:acme/app"),
            "confirm": (f"forget {short} for good: type its id: ", "", self._asked.object),
            "reason": (f"{self._asked.verb} {short}, because: ", "", "why; it is kept with the decision"),
        }[what]
        self.console_app.shell.ask("decide", label, value, hint)

    def words(self) -> str:
        """What the thing drawn says, to begin a rewrite from."""
        return ""

    def scope(self) -> str:
        """Where the thing drawn applies, to begin a rescope from."""
        return ""

    def answered(self, value: str) -> None:
        asked, shell = self._asked, self.console_app.shell
        if asked is None:
            return
        value = value.strip()
        if self._wants == "confirm":
            if value != asked.object:
                shell.flash("that is not its id; nothing was forgotten", "person")
                self._asked = None
                return
        elif not value:
            self._asked = None
            shell.flash("nothing was decided: a reason is needed", "person")
            return
        elif self._wants == "content":
            self._asked = replace(asked, content=value)
        elif self._wants == "scope":
            self._asked = replace(asked, scope=value)
        else:
            self._carry_out(replace(asked, reason=value))
            return
        self.call_after_refresh(self._want, "reason")

    def _carry_out(self, asked: Asked) -> None:
        self._asked = None
        app = self.console_app
        app.shell.flash(f"{asked.verb} …")

        def done(decided: Decided) -> None:
            if decided.refused is not None:
                app.shell.flash(f"✗ {decided.words}", "fails")
            else:
                self._last = None if asked.verb == "undo" else decided.decision or self._last
                undo = (
                    " · u takes it back" if decided.decision and asked.verb not in ("claim", "release", "undo") else ""
                )
                app.shell.flash(f"✓ {decided.words}{undo}", "holds")
            self.reload()

        services = app.services
        app.pool.ask((self, "decide", asked), lambda _archive: services.decide(asked), done, app.failed, slow=True)

    # verbs that views share

    def do_rewrite(self) -> None:
        self.decide("rewrite")

    def do_rescope(self) -> None:
        self.decide("rescope")

    def do_forget(self) -> None:
        self.decide("forget")

    def do_undo(self) -> None:
        if self._last is not None:
            self._asked = Asked("undo", self._last, "")
            self._want("reason")

    def do_open(self) -> None:
        self.set_class(not self.has_class("-whole"), "-whole")
        (self.text if self.has_class("-whole") else self._rows).focus()

    def leave(self) -> bool:
        if self.has_class("-whole"):
            self.remove_class("-whole")
            self._rows.focus()
            return True
        if self._rows.error is not None:
            self.reload()
            return True
        return False

    def draw_nothing(self, words: str) -> None:
        """Say in the place of a thing why it is not drawn."""
        self._shown = None
        self.text.show(((Ink("quiet", words),),), ())
        self.tell()
