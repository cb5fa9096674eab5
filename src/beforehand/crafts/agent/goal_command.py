"""`beforehand agent run --goal`: a session that a model or the policy steers, followed to its end."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from beforehand.crafts.agent.session_face import open_session
from beforehand.model.errors import ConflictError

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

LOOK_S = 0.1


async def run_goal(
    settings: "Settings",
    scene: str,
    asked: dict[str, Any],
    show: Callable[[dict[str, Any]], None],
    lease_s: float,
) -> dict[str, Any]:
    """Start it, show every command as it comes, and give the whole when it is over or waits for a person."""
    async with open_session(settings, scene, asked, lease_s) as session:
        told = 0
        while True:
            head = await session.show()
            commands = await session.commands()
            for command in commands[told:]:
                show(command)
            told = len(commands)
            if head["status"] != "open" or head.get("waitsFor"):
                break
            if head.get("turn", 0) != session.turn:
                who = head.get("steerer", "A person")
                raise ConflictError(
                    f"{who} has taken the session over, and goes on with it.", code="session.taken_over"
                )
            await asyncio.sleep(LOOK_S)
    steps = [{name: command[name] for name in ("command", "reply", "state", "atS")} for command in commands]
    reason = {"reason": head["reason"]} if head.get("reason") else {}
    waits = {"waitsFor": head["waitsFor"]} if head.get("waitsFor") else {}
    return {"steps": steps, "status": head["status"], **reason, **waits, "goalReached": head["goalReached"]}
