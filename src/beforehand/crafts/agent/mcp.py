"""Sessions for programs that call over MCP: they may look on, and give no command."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.cli.asking import path_to
from beforehand.crafts.agent.sessions import Sessions
from beforehand.ports.mcp import HomeAccess, McpAnswer, McpTool

_NAME = {"type": "string", "minLength": 1, "maxLength": 200}


async def list_sessions(access: HomeAccess, given: Mapping[str, Any]) -> McpAnswer:
    scene, still_open = given.get("scene"), given.get("open") or None

    async def here(runtime: Runtime) -> Any:
        return await runtime.service(Sessions).listed(scene, open=still_open)

    found = await access.look(path_to("sessions", scene=scene, open="true" if still_open else ""), here)
    told = [f"- {one['sessionId']}: {one['status']}, in {one['scene']}" for one in found]
    return McpAnswer("\n".join(["Sessions, newest first:", *told]) if told else "No sessions.", {"sessions": found})


async def show_session(access: HomeAccess, given: Mapping[str, Any]) -> McpAnswer:
    session_id = given["sessionId"]

    async def here(runtime: Runtime) -> Any:
        return await runtime.service(Sessions).show(session_id)

    found = await access.look(path_to("sessions", session_id), here)
    return McpAnswer(f"Session {session_id} in {found['scene']} is {found['status']}.", {"session": found})


TOOLS = (
    McpTool(
        "list_sessions",
        "Sessions",
        "The sessions in which a body is or was steered, newest first. They cannot be steered from here.",
        list_sessions,
        {
            "scene": {**_NAME, "description": "Only in this scene."},
            "open": {"type": "boolean", "description": "Only those that go on."},
        },
    ),
    McpTool(
        "show_session",
        "A session",
        "One session as it is: its goal, its actions and how far they are.",
        show_session,
        {"sessionId": {**_NAME, "description": "The session's id."}},
        ("sessionId",),
    ),
)
