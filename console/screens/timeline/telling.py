"""What the timeline says of its session in the lines around it, and of a sub-agent in the place of an event."""

from __future__ import annotations

from console.screens.sessions.columns import AGENTS, project, total
from console.screens.timeline.folding import Outlook
from console.screens.timeline.source import LaneItem, Shape
from console.screens.view import dot
from console.widgets import figures
from console.widgets.ink import Ink, Line, width
from console.widgets.safe import Outside
from storage.queries.models import LaneRow, SessionRow


def crumbs(session: SessionRow, within: Line, room: int, outside: Outside) -> tuple[Line, Line]:
    """The way to a session and what ``within`` it is in view, and what is known of it, in so many cells."""
    when = figures.span(session.started, session.ended)
    most = max(room - width(to_sessions()) - width(within) - (len(when) + 4 if within else 2), 12)
    start = (*to_sessions(), Ink("outside", outside.line(session.title, most) or "no title"), *within)
    agent = AGENTS.get(session.agent) or outside.line(session.agent)
    parts = [
        f"{agent} {outside.line(session.version, 12)}".strip(),
        outside.line(project(session), 28),
        outside.line(session.git_branch, 24),
        when,
    ]
    # The title comes first: what does not fit beside it is left out, the least telling part before others.
    for least in (2, 1, 0):
        if width(start) + width(dot(*parts)) + 4 > room:
            parts[least] = ""
    return start, dot(*parts)


def lane_crumb(alone: int | None, shape: Shape, branches_only: bool, outside: Outside) -> Line:
    """What of the session is alone in view, at the end of the way to it; nothing if all of it is."""
    if branches_only:
        return Ink("faint", " ▸ "), Ink("head", "abandoned branches")
    if alone is None:
        return ()
    lane = shape.lanes.get(alone)
    name = f"sub-agent {alone}" if alone else "the main lane"
    title = outside.line(lane.title or lane.name, 40) if lane is not None and alone else ""
    return Ink("faint", " ▸ "), Ink("head", name), *((Ink("agent", f" {title}"),) if title else ())


def to_sessions() -> Line:
    """The beginning of the way to every session."""
    return Ink("accent", "Sessions", "go.sessions"), Ink("faint", " ▸ ")


def counts(session: SessionRow) -> Line:
    """How much a session holds."""
    tokens = total(session.tokens)
    words = dot(
        figures.plural(session.events, "event"),
        figures.plural(session.turns, "turn"),
        figures.plural(session.lanes, "lane") if session.lanes > 1 else "",
        f"{figures.short(tokens)} tokens" if tokens else "",
    )
    problems = (Ink("fails", f" · ✗ {figures.number(session.problems)}"),) if session.problems else ()
    return (*words, *problems)


def lane_counts(lane: LaneRow, parent: LaneRow | None, outside: Outside) -> Line:
    """How much a lane holds that is alone in view, and what it hangs on."""
    words = [f"{figures.plural(lane.events, 'event')} in this lane"]
    if lane.turn:
        words.append(f"started in turn {lane.turn}")
    if parent is not None and parent.lane:
        words.append(f"by {outside.line(parent.title or parent.name, 30)}")
    return dot(*words)


def missing(session: SessionRow, outlook: Outlook, hidden: str) -> list[str]:
    """What of a session is not in view, and why. ``hidden``: how many events, in figures or a word."""
    filter = outlook.filter
    why = ["filter"] if filter.text or filter.kinds is not None or filter.problems_only else []
    why += sorted(kind.replace("lifecycle", "runtime") for kind in filter.hide_kinds)
    if outlook.alone is not None:
        why.append("other lanes")
    if filter.branches_only:
        why.append("main chain")
    elif not filter.abandoned:
        why.append("abandoned")
    return [
        f"{figures.number(session.unreadable)} unreadable",
        f"{figures.number(session.unknown)} unknown",
        f"{hidden} hidden" + (f" ({', '.join(why)})" if why and hidden != "0" else ""),
        "h shows" if filter.hide_kinds and hidden != "0" else "h hides" if not filter.hide_kinds else "",
    ]


def lane_facts(item: LaneItem, outside: Outside) -> list[Line]:
    """What is known of a sub-agent, in the place of an event."""
    lane = item.lane
    return [
        (Ink("head", "sub-agent "), Ink("quiet", f"   lane {lane.lane}, {lane.depth} deep")),
        (Ink("agent", outside.line(item.title)),),
        (Ink("quiet", "id       "), Ink("outside", outside.line(lane.name))),
        (Ink("quiet", "holds    "), Ink("text", figures.plural(item.events, "event"))),
        (),
        (Ink("key", "enter"), Ink("quiet", " closes it" if item.open else " opens it")),
    ]
