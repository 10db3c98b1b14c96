"""The rows of Sessions: every session at its own time, or beneath the one it came from; sub-agents beneath theirs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from console.screens.sessions.columns import session_line
from console.screens.sessions.node import Node
from console.screens.timeline.source import titled
from console.widgets.ink import Line
from console.widgets.safe import Outside
from console.widgets.source import Cursor
from storage.archive import SessionFilter
from storage.queries.models import LaneRow, Page

if TYPE_CHECKING:
    from storage.archive import Archive

Shape = Literal["flat", "folded", "open"]
"""Every session at its own time; or forks beneath what they came from, at first folded away or all in view."""

WORDS: dict[Shape, str] = {
    "flat": "every session at its own time",
    "folded": "forks and copies beneath the session they came from",
    "open": "the same, with everything in it open",
}

NEXT: dict[Shape, Shape] = {"flat": "folded", "folded": "open", "open": "flat"}

DEEPEST = 40
"""How deep the tree is shown; what lies deeper is opened from its own session."""


@dataclass(frozen=True)
class NodeSource:
    """Sessions in one order under one filter. With a filter every session that fits stands at its own place."""

    filter: SessionFilter
    sort: Any
    descending: bool
    outside: Outside
    now: Callable[[], datetime]
    broken: Callable[[str], str] = lambda _uid: ""
    """What the last verification found wrong with a session, by its uid, in two words."""
    shape: Shape = "flat"
    toggled: frozenset[Hashable] = frozenset()
    """Nodes that are open although others are not, or the other way round."""
    news: Callable[[int], str] = lambda _session: ""
    """That a session is live, or new, by its number, in a glyph and a word."""
    two_way: bool = True

    @property
    def nested(self) -> bool:
        return self.shape != "flat" and self.filter == SessionFilter()

    def load(self, archive: Archive, cursor: Cursor | None, direction: Any, inclusive: bool, limit: int) -> Page[Node]:
        if cursor is not None and len(cursor) == 3:
            cursor = archive.session_cursor(int(str(cursor[0])), self.sort)
        how = {
            "sort": self.sort, "descending": self.descending, "cursor": cursor, "direction": direction,
            "inclusive": inclusive, "limit": limit,
        }  # fmt: skip
        page = archive.tops(**how) if self.nested else archive.sessions(self.filter, **how)
        counts = archive.below_counts([row.key for row in page.rows]) if self.nested else {}
        nodes: list[Node] = []
        for row in page.rows:
            relation = "" if self.nested else row.relation or ""
            node = Node(row, relation=relation, below=counts.get(row.key, 0), top=row.key)
            nodes += self._branch(archive, node)
        return Page(tuple(nodes), page.before, page.after)

    def _branch(self, archive: Archive, node: Node) -> list[Node]:
        """A session and, as far as they are open, what hangs on it: its sub-agents, then the sessions."""
        row = node.row
        node = replace(node, below=node.below + max(row.lanes - 1, 0))
        if not node.below:
            return [node]
        node = replace(node, open=(self.shape == "open") != (node.key in self.toggled))
        nodes = [node]
        if node.open and node.depth < DEEPEST:
            nodes += self._agents(archive, node)
            if self.nested:
                kin = archive.below(row.key)
                counts = archive.below_counts([each.row.key for each in kin])
                for each in kin:
                    hung = Node(
                        each.row, None, each.relation, node.depth + 1, counts.get(each.row.key, 0), top=node.top
                    )
                    nodes += self._branch(archive, replace(hung, last=each is kin[-1]))
        return nodes

    def _agents(self, archive: Archive, node: Node) -> list[Node]:
        lanes = _in_order([lane for lane in titled(archive, archive.lanes(node.row.key)) if lane.lane])
        more = self.nested and node.below > node.row.lanes - 1
        return [
            Node(
                node.row, lane, "sub-agent", node.depth + max(lane.depth, 1),
                last=not more and lane is lanes[-1], top=node.top,
            )
            for lane in lanes
        ]  # fmt: skip

    def key(self, item: Node) -> Hashable:
        return item.key

    def place(self, item: Node) -> Cursor:
        """Where to begin reading so that a row is read: at the session of the top level above it.

        Told from the cursors of pages by its length: what stands in those only the store knows.
        """
        return (item.top, "session", self.sort)

    def stands(self, _archive: Archive, item: Node) -> Cursor | None:
        return self.place(item)

    def line(self, item: Node, room: int) -> Line:
        news = "" if item.lane is not None else self.news(item.row.key)
        return session_line(item, room, self.outside, self.now(), self.broken(item.row.uid), news)


def _in_order(lanes: Sequence[LaneRow]) -> list[LaneRow]:
    """Lanes with those that another started after it."""
    known = {lane.lane for lane in lanes}
    under: dict[int | None, list[LaneRow]] = {}
    for lane in lanes:
        parent = lane.parent if lane.parent in known and lane.parent != lane.lane else None
        under.setdefault(parent, []).append(lane)
    found: list[LaneRow] = []
    waiting = under.pop(None, [])[::-1]
    while waiting:
        lane = waiting.pop()
        found.append(lane)
        waiting += under.pop(lane.lane, [])[::-1]
    # What a damaged log lets hang in a circle is shown all the same.
    return found + [lane for lanes in under.values() for lane in lanes]
