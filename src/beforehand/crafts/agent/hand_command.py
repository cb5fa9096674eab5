"""`beforehand agent steer` and `take-over`: the state above, a command below, one after another."""

import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from beforehand.cli.exits import explain
from beforehand.cli.prompt import read_line, read_part
from beforehand.cli.screen import print_err, print_out
from beforehand.crafts.agent.session_face import SessionFace, open_session, taken_over
from beforehand.model.errors import ConflictError

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

WELCOME = 'Commands: start("action"), stop("action"), skip(seconds), end(). ? shows what is around.'
_FOR_NOW = ("hold.everything", "session.waits")
"""What refuses a command now and may not later; the session stays this command's."""


async def steer_by_hand(settings: "Settings", scene: str, goal: str | None, lease_s: float) -> dict[str, Any]:
    """Read commands until the session is over or there are no more; what is left running is ended then."""
    async with open_session(settings, scene, {"goal": goal}, lease_s) as session:
        return await _steered(session)


async def steer_on(settings: "Settings", session_id: str, lease_s: float) -> dict[str, Any]:
    """The same in a session that somebody else steered."""
    async with taken_over(settings, session_id, lease_s) as session:
        return await _steered(session)


async def _steered(session: SessionFace) -> dict[str, Any]:
    shown = await session.show()
    print_err(WELCOME)
    lines = _typed()
    while shown["status"] == "open":
        print_out(shown["state"], "")
        typed = await session.unless_lost(_next(lines))
        if typed is None:
            shown = await session.say("end()")
            break
        if typed.strip() in ("?", "help"):
            print_out(await session.surroundings(), "")
        elif typed.strip():
            shown = await _said(session, typed) or shown
    return {"status": shown["status"], "reason": shown.get("reason", ""), "goalReached": shown["goalReached"]}


async def _said(session: SessionFace, typed: str) -> dict[str, Any] | None:
    """The session after a command; None where it is not taken for now."""
    try:
        shown = await session.say(typed)
    except ConflictError as error:
        if error.code not in _FOR_NOW:
            raise
        explain(error)
        return None
    print_out(shown["reply"])
    return shown


async def _next(lines: AsyncIterator[str]) -> str | None:
    return await anext(lines, None)


async def _typed() -> AsyncIterator[str]:
    """Lines from the terminal, or from whatever standard input is; the loop goes on meanwhile."""
    if sys.stdin.isatty():
        while (line := await read_line("> ")) is not None:
            yield line
        return
    left = b""
    while part := await read_part():
        *whole, left = (left + part).split(b"\n")
        for raw in whole:
            yield raw.decode("utf-8", "replace")
    if left:
        yield left.decode("utf-8", "replace")
