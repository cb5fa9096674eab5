"""`beforehand agent steer`: the state above, a command below, one after another."""

import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from beforehand.cli.prompt import read_line, read_part
from beforehand.cli.screen import print_err, print_out
from beforehand.crafts.agent.session_face import open_session

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

WELCOME = 'Commands: start("action"), stop("action"), skip(seconds), end(). ? shows what is around.'


async def steer_by_hand(settings: "Settings", scene: str, goal: str | None) -> dict[str, Any]:
    """Read commands until the session is over or there are no more; what is left running is ended then."""
    async with open_session(settings, scene, {"goal": goal}) as session:
        shown = await session.show()
        print_err(WELCOME)
        lines = _typed()
        while shown["status"] == "open":
            print_out(shown["state"], "")
            typed = await anext(lines, None)
            if typed is None:
                shown = await session.say("end()")
                break
            if typed.strip() in ("?", "help"):
                print_out(await session.surroundings(), "")
                continue
            if typed.strip():
                shown = await session.say(typed)
                print_out(shown["reply"])
        return {"status": shown["status"], "reason": shown.get("reason", ""), "goalReached": shown["goalReached"]}


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
