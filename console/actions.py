"""Every action of the console, once: bindings, keys line, help, palette and cheat sheet are made from this list.

An action is carried out by the method ``do_`` + its id (dots as underscores) of the view in front, of the list in
it, or of the application, whichever has it first. ``why`` answers why it cannot be used now, or ``None``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Situation:
    """What the reasons of actions are worked out from. Made anew whenever something of it may have changed."""

    view: str = "sessions"
    row: bool = False
    """A row stands under the cursor and is drawn."""
    loading: bool = False
    filtered: bool = False
    hits: bool = False
    """There are search hits to go through."""
    back: bool = False
    forward: bool = False
    read_only: bool = False
    busy: str = ""
    """What is being done meanwhile: ``import``, ``verify`` or nothing."""
    lanes: int = 1
    branches: int = 1
    """The main chain and what was abandoned."""
    empty: bool = False
    """The store is missing or holds no session."""
    transient: bool = False
    """There is something for escape to leave."""
    new: bool = False
    """Something here is new since the person's last visit."""
    sortable: bool = False
    undoable: bool = False
    """The last decision of this visit can be taken back."""
    below: int = 0
    """How much hangs on the row under the cursor."""
    facets: bool = False


DETAILS = frozenset({"timeline", "entry", "rules", "snapshot", "context", "gate"})
"""Views that show one thing of a list: escape goes back from them once there is nothing else to leave."""

Reason = Callable[[Situation], "str | None"]


def _always(_now: Situation) -> str | None:
    return None


def _row(now: Situation) -> str | None:
    if now.loading:
        return "the rows are still being read"
    return None if now.row else "there is no row under the cursor"


def _rows(now: Situation) -> str | None:
    return None if now.row else "there are no rows here"


def _hits(now: Situation) -> str | None:
    if now.hits or now.filtered:
        return None
    return "nothing is searched for: / or 6 does that"


def _back(now: Situation) -> str | None:
    return None if now.back else "this is where you started"


def _forward(now: Situation) -> str | None:
    return None if now.forward else "you have not gone back from anywhere"


def _sort(now: Situation) -> str | None:
    if now.view == "timeline":
        return "events stand in the order they happened"
    if now.view == "search":
        return "hits stand newest first"
    return None if now.sortable else "this list has one order"


def _facets(now: Situation) -> str | None:
    return None if now.facets else "there is nothing to narrow down here"


def _writes(now: Situation) -> str | None:
    if now.read_only:
        return "the console was opened with --read-only"
    if now.busy:
        return f"wait for the {now.busy} to end, or stop it with escape"
    return None


def _idle(now: Situation) -> str | None:
    if now.empty:
        return "the store is empty"
    return f"wait for the {now.busy} to end, or stop it with escape" if now.busy else None


def _lanes(now: Situation) -> str | None:
    return _row(now) or (None if now.lanes > 1 else "this session has no sub-agents: one lane")


def _decides(now: Situation) -> str | None:
    if now.read_only:
        return "the console was opened with --read-only"
    if now.loading:
        return "it is still being read; nothing is decided about what is not drawn"
    return None if now.row else "there is nothing to decide about"


def _undo(now: Situation) -> str | None:
    if now.read_only:
        return "the console was opened with --read-only"
    return None if now.undoable else "nothing was decided here yet"


def _below(now: Situation) -> str | None:
    return _row(now) or (None if now.below else "nothing hangs on this row: no sub-agent, no fork")


def _tree(now: Situation) -> str | None:
    return "with a filter every session that fits stands at its own place" if now.filtered else _rows(now)


def _branches(now: Situation) -> str | None:
    if now.loading:
        return "the rows are still being read"
    return None if now.branches > 1 else "nothing was abandoned in this session: one branch"


def _new(now: Situation) -> str | None:
    return None if now.new else "nothing here is new since your last visit"


def _filled(now: Situation) -> str | None:
    return "the store is empty" if now.empty else None


def _transient(now: Situation) -> str | None:
    if now.transient or (now.back and now.view in DETAILS):
        return None
    return "nothing to leave; backspace goes back, q quits"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a person can do.

    ``label`` is a word or two for the keys line, ``tooltip`` a sentence for help. ``keys`` are Textual's key names,
    the first one shown; without keys it stands in the palette only. ``views`` says where it exists (``None``:
    everywhere). ``foot`` is its place in the keys line by view, ``0`` keeps it out; with ``foot_in`` it stands there
    in those views only.
    """

    id: str
    label: str
    tooltip: str
    keys: tuple[str, ...] = ()
    group: str = "Everywhere"
    views: frozenset[str] | None = None
    foot: int = 0
    why: Reason = _always
    foot_in: frozenset[str] | None = None

    @property
    def method(self) -> str:
        """Name of the method that carries it out."""
        return "do_" + self.id.replace(".", "_")

    def lives_in(self, view: str) -> bool:
        return self.views is None or view in self.views


_SHORT = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at", "hyphen_minus": "minus",
    "plus_sign": "plus", "low_line": "underscore",
}  # fmt: skip


def sign_name(sign: str) -> str:
    """What the terminal library calls the key of a sign: ``[`` is ``left_square_bracket``."""
    name = unicodedata.name(sign, "").lower().replace("-", "_").replace(" ", "_")
    return _SHORT.get(name, name)


SIGNS = {sign_name(chr(code)): chr(code) for code in range(33, 127) if not chr(code).isalnum()}
"""Signs by the names of their keys."""

_KEY_NAMES = SIGNS | {"escape": "esc", "pagedown": "page down", "pageup": "page up"}


def key_text(key: str) -> str:
    """A key's name as help shows it: ``question_mark`` is ``?``, ``alt+left`` is ``alt ←``."""
    *held, last = key.split("+")
    last = _KEY_NAMES.get(last, last)
    last = {"left": "←", "right": "→", "up": "↑", "down": "↓"}.get(last, last)
    return "+".join([*held, last])


_SESSIONS = frozenset({"sessions"})
_TIMELINE = frozenset({"timeline"})
_BYTES = frozenset({"timeline", "entry", "context"})
_CONTEXT = frozenset({"context"})
_SNAPSHOT = frozenset({"snapshot"})
_SEARCH = frozenset({"search"})
_VERIFY = frozenset({"verify"})
_RULES = frozenset({"rules"})

_QUEUE = frozenset({"queue"})
_MEMORIES = frozenset({"memories"})
_GOVERNED = _QUEUE | _MEMORIES

ACTIONS: tuple[Action, ...] = (
    Action("approve", "approve", "Let this candidate into the store", ("a",), "Queue", _QUEUE, 2, _decides),
    Action("reject", "reject", "Turn this candidate down, with a reason", ("x",), "Queue", _QUEUE, 3, _decides),
    Action("rewrite", "rewrite", "Say it in other words: a new version, checked at once", ("w",), "Queue", _GOVERNED, 4,
           _decides),
    Action("rescope", "rescope", "Say where it applies: a new version", ("c",), "Queue", _GOVERNED, 5, _decides),
    Action("ask", "ask", "Leave it pending with a question: the reason", ("e",), "Queue", _QUEUE, 0, _decides),
    Action("merge", "merge", "Fold it into another that says the same", ("m",), "Queue", _QUEUE, 0, _decides),
    Action("claim", "claim", "Take it to decide about it alone, or give it back", ("C",), "Queue", _QUEUE, 0, _decides),
    Action("withdraw", "withdraw", "Take it back without a judgement", (), "Queue", _QUEUE, 0, _decides),
    Action("undo", "undo", "Take the last decision back, as a new decision", ("u",), "Queue", _GOVERNED, 6, _undo),
    Action("revoke", "revoke", "Take this memory out of use: no agent gets it again", ("v",), "Memories", _MEMORIES, 2,
           _decides),
    Action("deprecate", "deprecate", "Keep this memory as history only", ("D",), "Memories", _MEMORIES, 3, _decides),
    Action("renew", "renew", "Say that this memory still holds", ("R",), "Memories", _MEMORIES, 0, _decides),
    Action("forget", "forget", "Erase this memory's texts for good; its id is asked for", ("F",), "Memories", _MEMORIES,
           0, _decides),
    Action("open", "open", "Open what the cursor is on, or show it over the whole screen", ("enter",), "Lists",
           foot=1, why=_row),
    Action("prompt.next", "prompt", "Go to the next message that begins a turn", ("right_square_bracket",),
           "Timeline", _TIMELINE, 3, _rows),
    Action("prompt.previous", "prompt before", "Go to the previous message that begins a turn",
           ("left_square_bracket",), "Timeline", _TIMELINE, 0, _rows),
    Action("problem.next", "problem", "Go to the next failed check, failed tool or error",
           ("right_curly_bracket",), "Timeline", _TIMELINE, 4, _rows),
    Action("problem.previous", "problem before", "Go to the previous failed check, failed tool or error",
           ("left_curly_bracket",), "Timeline", _TIMELINE, 0, _rows),
    Action("fold", "fold", "Fold or unfold the turn or sub-agent the cursor is in", ("z",), "Timeline", _TIMELINE,
           6, _row),
    Action("fold.all", "fold every turn", "Show one line a turn", (), "Timeline", _TIMELINE, 0, _rows),
    Action("fold.none", "unfold everything", "Show every turn and every sub-agent open", (), "Timeline", _TIMELINE,
           0, _rows),
    Action("lanes", "lanes", "Go round: sub-agents folded, all lanes open, this lane alone", ("t",), "Timeline",
           _TIMELINE, 0, _lanes),
    Action("branches", "branches", "Go round: abandoned branches in their place, alone in view, left out", ("b",),
           "Timeline", _TIMELINE, 0, _branches),
    Action("raw", "raw", "Show the recorded bytes of this event: as text, as hex, and back", ("r",), "Timeline",
           _BYTES, 8, _row),
    Action("hidden", "hidden", "Show what is hidden at first: what the runtime says of itself; and hide it again",
           ("h",), "Timeline", _TIMELINE, 0, _filled),
    Action("context", "saw", "Show what the model saw here: every text in front of it in this request", ("i",),
           "Timeline", _TIMELINE, 5, _row),
    Action("request.next", "next request", "Go to the next model request of the session", ("right_square_bracket",),
           "What the model saw", _CONTEXT, 3),
    Action("request.previous", "request before", "Go to the model request before", ("left_square_bracket",),
           "What the model saw", _CONTEXT, 4),
    Action("request.snapshot", "retrieval", "Open the retrieval that was made for this request", ("S",),
           "What the model saw", _CONTEXT, 5),
    Action("what.if", "what if", "Type other settings: what of the recorded candidates would have been visible", ("W",),
           "Snapshot", _SNAPSHOT, 4),
    Action("gate.runs", "gate runs", "List what the recall gate judged, or back to the snapshots",
           ("tab",), "Snapshots", frozenset({"snapshots", "gates"}), 4),
    Action("swap", "selected or rejected", "Show what was chosen, or what was turned away", ("tab",), "Snapshot",
           _SNAPSHOT, 3),
    Action("rules", "rules", "Show the rule files in force at this event, such as CLAUDE.md", ("I",), "Timeline",
           _TIMELINE, 0, _row),
    Action("rule.next", "next file", "Go to the next rule file's text", ("right_square_bracket",), "Rule files", _RULES,
           3, _row),
    Action("rule.previous", "file before", "Go to the text of the rule file before", ("left_square_bracket",),
           "Rule files", _RULES, 0, _row),
    Action("verify.run", "run", "Check everything: every entry, hash and table from the first on", ("r",), "Verify",
           _VERIFY, 3, _idle),
    Action("verify.new", "only new", "Check only what is newer than the last run that held", ("l",), "Verify",
           _VERIFY, 4, _idle),
    Action("filter", "filter", "Show only rows that contain some words", ("slash",), "Everywhere", foot=7,
           why=_filled),
    Action("facets", "narrow", "Narrow the list down by what its rows have in common", ("f",), "Lists", foot=0,
           why=_facets),
    Action("new", "new", "Show only sessions with something new since your last visit; in a timeline: go to the next "
           "event that is new", ("U",), "Lists", _SESSIONS | _TIMELINE, 0, _new),
    Action("sort", "sort", "Put the list in another order", ("s",), "Lists", _SESSIONS | _TIMELINE | _SEARCH, 0,
           _sort),
    Action("below", "sub-agents", "Open or fold what hangs on this session: sub-agents, and in the tree forks", ("z",),
           "Sessions", _SESSIONS, 0, _below),
    Action("tree", "tree", "Go round: each session at its own time, forks beneath their origin, all of it open",
           ("t",), "Sessions", _SESSIONS, 0, _tree),
    Action("import", "import", "Read an agent's sessions into this store", ("i",), "Sessions", _SESSIONS, 8,
           _writes),
    Action("demo", "open the demo", "Open the demo store: three sessions that tell a story", (), "Sessions",
           _SESSIONS, 0, _writes),
    Action("down", "down", "Go one row down", ("j", "down"), "Lists", why=_rows),
    Action("up", "up", "Go one row up", ("k", "up"), "Lists", why=_rows),
    Action("first", "first", "Go to the first row", ("g", "home"), "Lists", why=_rows),
    Action("last", "last", "Go to the last row", ("G", "end"), "Lists", why=_rows),
    Action("page.down", "page down", "Go half a page down", ("ctrl+d", "pagedown"), "Lists", why=_rows),
    Action("page.up", "page up", "Go half a page up", ("ctrl+u", "pageup"), "Lists", why=_rows),
    Action("mark", "mark", "Mark this row, for copying several at once", ("space",), "Lists", why=_row),
    Action("hit.next", "next hit", "Go to the next match of the filter or the search", ("n",), why=_hits),
    Action("hit.previous", "previous hit", "Go to the previous match of the filter or the search", ("N",),
           why=_hits),
    Action("copy", "copy", "Copy text, address, hash, JSON, citation or command", ("y",), foot=9, why=_row),
    Action("pager", "pager", "Open what the cursor is on in $PAGER", ("o",), why=_row),
    Action("editor", "editor", "Open a copy of what the cursor is on in $EDITOR; nothing written there is kept", ("O",),
           why=_row),
    Action("filters", "saved filters", "Use a filter that was saved by a name, save this one, or forget one", (),
           "Lists", frozenset({"sessions", "timeline", "search", "verify"})),
    Action("address", "go to", "Go to an address, such as session/ID#EVENT", ("colon",), foot=10),
    Action("back", "back", "Go back to where you were before", ("backspace", "alt+left"),
           foot=2, foot_in=DETAILS, why=_back),
    Action("forward", "forward", "Go forward again", ("alt+right",), why=_forward),
    Action("go.queue", "Queue", "See what waits for a decision", ("1",), why=_always),
    Action("go.sessions", "Sessions", "List every session", ("2",), why=_always),
    Action("go.snapshots", "Snapshots", "List every retrieval that was recorded", ("3",), why=_always),
    Action("go.gates", "Gate runs", "List every recall that the gate judged", (), why=_always),
    Action("go.memories", "Memories", "List what agents may be given", ("4",), why=_always),
    Action("go.verify", "Verify", "See what is checked and what holds", ("5",), why=_always),
    Action("go.search", "Search", "Search the text of every session", ("6",), why=_filled),
    Action("leave", "leave", "Leave what is open or running (a prompt, filter, full screen, import), then go back",
           ("escape",), why=_transient),
    Action("mask", "mask", "Hide paths, mails, hosts and secrets, for a shared screen", ("M",)),
    Action("theme", "theme", "Go to the next theme", ("T",)),
    Action("palette", "palette", "Find an action, a session or an address by its name", ("ctrl+p",)),
    Action("help", "keys", "Show every key that works here, and run it", ("question_mark",), foot=11),
    Action("quit", "quit", "Leave the console", ("q", "ctrl+q")),
)  # fmt: skip
"""The registry, in the order help shows it."""

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}


def in_view(view: str) -> Iterator[Action]:
    """The actions that exist in a view."""
    return (action for action in ACTIONS if action.lives_in(view))


def keys_line(view: str) -> list[Action]:
    """What the keys line of a view names, most useful first; at most seven."""
    there = (action for action in in_view(view) if action.foot_in is None or view in action.foot_in)
    named = sorted((action for action in there if action.foot), key=lambda action: action.foot)
    return named[:6] + named[-1:] if len(named) > 7 else named


def clashes(actions: tuple[Action, ...] = ACTIONS) -> list[tuple[str, str, str]]:
    """(key, id, id) of every two actions that would answer to the same key in the same view."""
    found: list[tuple[str, str, str]] = []
    for index, one in enumerate(actions):
        for other in actions[index + 1 :]:
            together = one.views is None or other.views is None or one.views & other.views
            if together:
                found.extend((key, one.id, other.id) for key in one.keys if key in other.keys)
    return found
