"""What people do with a session beside steering it: they end it, take it over, keep it and have it go on."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.inbox import answer_decision
from beforehand.crafts.agent.core.inputs import CalledOff, TakenOver
from beforehand.crafts.agent.core.session_state import ENDED
from beforehand.crafts.agent.sessions import Sessions, refuse_refused, session_over
from beforehand.model.errors import ConflictError
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter

MOST_STOPPED = 200
"""Events of one decision that are looked at; a body has a few actions under way."""


async def renew_session(sessions: Sessions, session_id: str, turn: int) -> dict[str, Any]:
    """The command that steers is still there; ConflictError where somebody else steers by now."""
    driver = await sessions.driver(session_id)
    if not driver.hear(turn):
        who = driver.state.steerer or "Nobody in particular"
        raise ConflictError(f"{who} steers the session {session_id} by now.", code="session.taken_over")
    return await sessions.show(session_id)


async def end_session(
    sessions: Sessions, session_id: str, *, by: str = "", note: str = "", turn: int | None = None
) -> dict[str, Any]:
    """End a session, whoever steers it and whether or not anybody drives it; gives it with what was cancelled.

    With `turn` only where nobody has taken it over since.
    """
    says = f"Ended by {by or 'a person'}{f': {note}' if note else ''}."
    driver, verdict = sessions.live.get(session_id), None
    if driver is None or not driver.state.is_open:
        verdict = await sessions.settle(await sessions.open_row(session_id), CalledOff(says, turn=turn))
        driver = sessions.live.get(session_id)
    if driver is not None:
        verdict = await sessions.stopped(driver, CalledOff(says, tick=driver.tick_if_real(), turn=turn))
    if verdict is None:
        raise session_over(session_id, (await sessions.show(session_id))["status"])
    refuse_refused(verdict)
    cancelled = [event.data["action"] for event in verdict.events if event.data.get("stage") == "stopped"]
    ended = next(event.data for event in verdict.events if event.kind == ENDED)
    head = {name: value for name, value in ended.items() if name not in ("world", "sceneHash")}
    return {**await sessions.told(head), "cancelled": cancelled}


async def take_session_over(
    sessions: Sessions, session_id: str, *, by: str = "", lease_s: float | None = None, turn: int | None = None
) -> dict[str, Any]:
    """Whoever calls steers from here on, and nobody else; gives the session with what was stopped for that."""
    driver = await sessions.taken_up(await sessions.open_row(session_id))
    given = TakenOver(by or "a person", driver.tick_if_real(), lease_s, turn)
    verdict = await sessions.asked_of(driver, given)
    refuse_refused(verdict)
    driver.hear(driver.state.turn)
    stopped = [event.data["action"] for event in verdict.events if event.data.get("stage") == "stopped"]
    taken = next(event.data for event in verdict.events if event.data.get("takenOver"))
    head = {name: value for name, value in taken.items() if name not in ("givenTick", "takenOver", "stopped")}
    return {**await sessions.told(head), "cancelled": stopped}


async def handed_over(sessions: Sessions, first: Event) -> dict[str, Any]:
    """What ending or taking over came to, from the first of its events: all of one decision have the same time."""
    found = await sessions.runtime.store.events(first.seq - 1, MOST_STOPPED, EventFilter(owner=first.owner))
    ended = [event for event in found if event.ts == first.ts and event.data.get("stage") == "stopped"]
    session = await sessions.show(str(first.about["sessionId"]))
    return {**session, "cancelled": [event.data["action"] for event in ended]}


async def resume_session(
    sessions: Sessions, session_id: str, value: Mapping[str, Any], *, by: str = ""
) -> dict[str, Any]:
    """Have whoever steered go on, with more to use where `value` says so; ConflictError where nothing waits."""
    row = await sessions.open_row(session_id)
    if not row.get("waitsFor"):
        says = f"The session {session_id} goes on already: nobody is asked about it."
        raise ConflictError(says, code="session.not_waiting")
    await sessions.taken_up(row)
    await answer_decision(sessions.runtime, row["waitsFor"], "resume", value=dict(value) or None, by=by)
    return await sessions.show(session_id)
