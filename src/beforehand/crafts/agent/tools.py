"""A session as one step of a plan: `agent.errand` carries a goal out with the body of a home.

It is tried on a copy of the present world first, at the last moment: what could not be finished is never begun. The
session goes on in real time and is in the log like any other; after a crash the step asks it what became of it.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from beforehand.crafts.agent.core.errand import Tried, tried
from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.inputs import CalledOff
from beforehand.crafts.agent.core.session_state import SessionState
from beforehand.crafts.agent.homes import KIND
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.sessions import Sessions
from beforehand.model.errors import BeforehandError, DriftError, Fault, UnavailableError
from beforehand.model.words import counted
from beforehand.ports.body import TICKS_PER_S
from beforehand.ports.tool import STOPPED, Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

ERRAND_TOOL = "agent.errand"
_TEXT = {"type": "string", "minLength": 1, "maxLength": 2_000}


class Errand(Tool):
    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self.spec = ToolSpec(
            name=ERRAND_TOOL,
            description="Carries a goal out with the body of a home, such as bringing a mug to the table.",
            input_schema={
                "type": "object",
                "properties": {
                    "scene": {**_TEXT, "description": "The home's scene."},
                    "goal": {**_TEXT, "description": "What is to be so afterwards, in words."},
                },
                "required": ["goal"],
                "additionalProperties": False,
            },
            effect="physical",
            can_probe=True,
            scene_kind=KIND,
            machine="home:{scene}",
            pace=sessions.pace,
            output="The state afterwards, and how long it took.",
            estimate_s=30.0,
        )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        scene, goal = str(args.get("scene")), str(args["goal"])
        found = await self._tried(scene, goal)
        if found.why_not:
            says = f"“{goal}” cannot be carried out as things are: {found.why_not}"
            raise DriftError(says, {"now": {"state": found.body.state_text()}, "says": [says]})
        asked = Asked(scene, goal, steered_by="policy", clock="realtime", by="a plan", key=context.key)
        try:
            state = await self._sessions.start(asked, correlation_id=context.correlation_id)
        except BeforehandError as error:
            raise Fault(error.says, code=error.code, untouched=True) from None
        context.log(f"It is session {state.session_id}.")
        return await self._followed(state.session_id, found.seconds, context)

    async def _tried(self, scene: str, goal: str) -> Tried:
        body = await self._sessions.body_of(scene, goal)
        if not isinstance(body, HomeBody):
            raise Fault(f"The world of {scene} cannot be tried beforehand.", code="agent.other_world", untouched=True)
        return tried(body)

    async def _followed(self, session_id: str, seconds: float, context: ToolContext) -> Any:
        driver = self._sessions.live.get(session_id)
        taken_over_by = ""

        def follow(state: SessionState) -> None:
            nonlocal taken_over_by
            context.progress(_percent(state.body.tick / TICKS_PER_S, seconds))
            if state.steered_by == "person" and not taken_over_by:
                taken_over_by = state.steerer or "A person"
                context.log(f"{taken_over_by} has taken the session over. The step waits until they have ended it.")

        if driver is not None:
            driver.on_change = follow
        try:
            session = await self._sessions.until_over(session_id)
        except asyncio.CancelledError as ended:
            if STOPPED in ended.args:
                await self._call_off(session_id)
            raise
        if not session["goalReached"]:
            why = session.get("reason") or "The errand ended before it was done."
            by = f"{taken_over_by} took the session over, and it ended before the goal was reached. "
            raise Fault(f"{by if taken_over_by else ''}{why}", code="agent.not_reached")
        return _value(session)

    async def stop(self, args: Mapping[str, Any], context: ToolContext) -> bool:
        """Everything is stopped at once; the call ends with what became of it."""
        session = await self._session(args, context)
        if session is None:
            return False
        await self._call_off(session["sessionId"])
        return True

    async def _call_off(self, session_id: str) -> None:
        driver = self._sessions.live.get(session_id)
        if driver is not None:
            with suppress(UnavailableError):
                given = CalledOff("The step was stopped.", failed=True, tick=driver.tick_now())
                await driver.brake(given, f"The session {session_id} is over, and its body stands.")

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        found = await self._session(args, context)
        if found is None:
            return ProbeAnswer("not_begun", says="The session was never started.", from_log=True)
        session = await self._sessions.looked_after(found["sessionId"])
        if session["goalReached"]:
            return ProbeAnswer("happened", _value(session), f"{session['goal']}: done.", from_log=True)
        if session["status"] == "open":
            return ProbeAnswer("running", says=f"The session {session['sessionId']} goes on.")
        return ProbeAnswer("unknown", says=f"It was interrupted. {session['state']}", from_log=True)

    async def _session(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any] | None:
        for session in await self._sessions.listed(str(args.get("scene"))):
            if session.get("key") == context.key:
                return session
        return None

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        found = await self._tried(str(args.get("scene")), str(args["goal"]))
        problems = (found.why_not,) if found.why_not else ()
        says = f"{args['goal']}: {counted(len(found.commands), 'command')}, {found.seconds:.1f} s."
        return Preview(says, found.seconds, {"state": found.body.state_text()}, problems=problems)


def _percent(passed_s: float, whole_s: float) -> float:
    return min(99.0, 100.0 * passed_s / whole_s) if whole_s else 99.0


def _value(session: Mapping[str, Any]) -> dict[str, Any]:
    return {"sessionId": session["sessionId"], "state": session["state"], "seconds": session["atS"]}
