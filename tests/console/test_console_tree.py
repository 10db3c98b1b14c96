"""Sessions as a tree: sub-agents, forks and copies, folded and open, and the way into one of them and back."""

from __future__ import annotations

from console_driver import stage
from console_fakes import World


def family() -> World:
    """Session 4 was forked twice (1, 2); the second fork was copied (0)."""
    world = World(sessions=40)
    world.families = {1: (4, "fork"), 2: (4, "fork"), 0: (2, "copy")}
    return world


async def test_sub_agents_open_beneath_their_session_and_fold_again() -> None:
    async with stage() as it:
        await it.play("""
            row     Fix the failing role test
            row     2 ▸
            press z
            row     2 ▾
            see     ├ sub-agent look for other fixtures
            see     └ sub-agent look for other fixtures
            press j
            row     ├ sub-agent
            press z
            status  nothing hangs on this row
            press k z
            gone    sub-agent
        """)


async def test_the_tree_goes_round_and_hides_no_session() -> None:
    async with stage(family()) as it:
        await it.play("""
            status  1 of 40 sessions
            press   t
            status  forks and copies beneath
            press   g
            status  40 sessions
            status  3 beneath others
            gone    fork Bump
            press   j
            row     Move the ledger
            press   z
            row     4 ▾
            see     ├ fork Bump the parser to v4
            see     └ fork Why is the invoice
            press   t
            see     └ ~ copy Fix the
            press   t
            status  every session at its own time
            press   g
            status  1 of 40 sessions
        """)


async def test_a_sub_agent_opens_alone_and_back_restores_the_list() -> None:
    async with stage() as it:
        await it.play("""
            press   j z j
            row     sub-agent
            press   enter
            top     Bump the parser to v4 ▸ sub-agent 1
            second  3 events in this lane
            status  other lanes
            press   backspace
            row     ├ sub-agent
            top     2 Sessions
        """)


async def test_with_a_filter_every_session_that_fits_stands_at_its_own_place() -> None:
    async with stage(family()) as it:
        await it.play("""
            press   t slash
            type    invoice
            press   enter
            row     Why is the invoice total wrong
            status  7 sessions
            press   t
            status  with a filter every session that fits stands at its own place
        """)


async def test_a_lane_alone_is_a_place_to_come_back_from() -> None:
    async with stage() as it:
        await it.play("""
            press   enter t
            status  lanes: all 3 lanes open
            press   t
            status  lanes: only the main lane
            top     ▸ the main lane
            press   backspace
            gone    the main lane
            second  320 events
        """)


async def test_abandoned_branches_are_one_key_away() -> None:
    world = World()
    world.overrides = {0 * 10_000_000 + number: {"branch": 1} for number in range(16, 32)}
    world.session_overrides = {0: {"branches": 2}}
    async with stage(world) as it:
        await it.play("""
            press   enter b
            status  abandoned branches: alone
            top     ▸ abandoned branches
            press   j
            status  main chain
            see     ╎
            press   b
            status  abandoned branches: left out
            gone    ╎
            press   b
            status  in their place
            press   backspace
            top     Sessions ▸ Fix the failing role test
            press   backspace j enter b
            status  nothing was abandoned
        """)
