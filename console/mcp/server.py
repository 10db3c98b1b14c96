"""The server itself: the protocol's official SDK over standard input and output, one call at a time."""

from __future__ import annotations

import json
import logging
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from affidavit.text.marks import marked
from console.main import version_line
from console.mcp.tools import INSTRUCTIONS, TOOLS, ToolDone, call
from storage.agent_asking import AgentSession
from storage.store import StoreError

LONGEST_NAME = 80

log = logging.getLogger(__name__)


def serve(session: AgentSession) -> None:
    """Serve one agent until it closes its end."""
    anyio.run(_serve, session)


async def _serve(session: AgentSession) -> None:
    one_at_a_time = anyio.CapacityLimiter(1)

    async def list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(name) for name in TOOLS])

    async def call_tool(context: ServerRequestContext[Any], asked: types.CallToolRequestParams) -> types.CallToolResult:
        name = _client_name(context)
        if name is not None:
            session.client = name
        done = await anyio.to_thread.run_sync(_carried_out, session, asked, limiter=one_at_a_time)
        said = json.dumps(done.answer, ensure_ascii=False, indent=1)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=said)], structured_content=done.answer, is_error=done.failed
        )

    server: Server[Any] = Server(
        "affidavit",
        version=version_line().split()[-1],
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
    await anyio.to_thread.run_sync(_closed, session)


def _carried_out(session: AgentSession, asked: types.CallToolRequestParams) -> ToolDone:
    try:
        return call(session, asked.name, asked.arguments or {})
    except StoreError as error:
        return ToolDone({"error": _no_record(error)}, failed=True)
    except Exception:
        # What nobody foresaw: an agent is told that nothing was done, and not what this process holds.
        log.exception("a call of %s failed", asked.name[:LONGEST_NAME])
        return ToolDone({"error": "this call failed in a way nobody foresaw; nothing was handed over"}, failed=True)


def _no_record(error: StoreError) -> str:
    if error.reason == "locked":
        return "another program holds the store, so nothing could be recorded or handed over; try again"
    if error.reason == "read_only":
        return "the store can only be read, so nothing can be recorded, and nothing is handed over"
    return f"the store cannot be used ({error.reason}), so nothing is handed over"


def _closed(session: AgentSession) -> None:
    try:
        session.close()
    except StoreError as error:
        log.warning("the end of the session is not recorded: %s", error.reason)


def _described(name: str) -> types.Tool:
    tool = TOOLS[name]
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.takes.model_json_schema(by_alias=True),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads, destructive_hint=False, idempotent_hint=False, open_world_hint=False
        ),
    )


def _client_name(context: ServerRequestContext[Any]) -> str | None:
    """What the agent's program calls itself, as one short line."""
    about = context.session.client_params
    if about is None:
        return None
    said = " ".join(marked(about.client_info.title or about.client_info.name).split())
    return said[:LONGEST_NAME] or None
