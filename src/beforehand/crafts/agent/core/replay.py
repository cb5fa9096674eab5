"""A session from the log again: `folded` decides the same once more for every event, and writes nothing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beforehand.crafts.agent.core.deciding import stopped_at
from beforehand.crafts.agent.core.session import Session, Step, advanced, commanded, given_up
from beforehand.crafts.agent.core.session_state import COMMANDED, DISTURBED, ENDED, UPDATED, SessionState
from beforehand.model.decision import Decision
from beforehand.model.event import Event
from beforehand.model.reason import Reason
from beforehand.model.usage import Usage
from beforehand.ports.body import Refused


def folded(state: SessionState, event: Event) -> SessionState:
    """The state after an event of the log: the same is decided once more."""
    data = event.data
    if event.kind == COMMANDED:
        session, step = _commanded_again(state, event)
        history = (*state.history, replace(step, changes=()))
        return replace(state, session=session, history=history, last_said=event.ts)
    if event.kind == DISTURBED:
        session, _ = advanced(state.session, int(data["givenTick"]))
        body = session.body.disturbed(data["fault"])
        return state if isinstance(body, Refused) else replace(state, session=replace(session, body=body))
    if event.kind == UPDATED:
        return _updated(state, data, event.ts)
    if event.kind == ENDED and state.is_open:
        session, _ = given_up(advanced(state.session, int(data["tick"]))[0], data.get("reason", ""))
        return replace(state, session=replace(session, status=data["status"]))
    if event.kind == "decisionOpened":
        decision = Decision.model_validate(data)
        return replace(state, decision=decision, asked=state.asked + 1, lease_s=None, steerer="")
    if event.kind in ("decisionAnswered", "decisionWithdrawn"):
        return replace(state, decision=None, last_said=event.ts)
    if event.kind in ("modelAsked", "modelAnswered"):
        return _asked_model(state, event)
    return state


def refusals(state: SessionState, event: Event) -> tuple[Reason, ...]:
    """Why a command of the log was refused, from the state before it: the same is decided once more."""
    return _commanded_again(state, event)[1].refused


def _commanded_again(state: SessionState, event: Event) -> tuple[Session, Step]:
    data = event.data
    tick = None if state.session.clock == "virtual" else int(data["givenTick"])
    return commanded(state.session, data["command"], tick=tick, waited=data.get("waited"))


def _updated(state: SessionState, data: Mapping[str, Any], at: int) -> SessionState:
    if data.get("givenTick") is not None:
        state = replace(state, session=advanced(state.session, int(data["givenTick"]))[0])
    if data.get("stopped"):
        state, _ = stopped_at(state, None)
    watched = state.session.watched or data["steeredBy"] == "person"
    session = replace(state.session, watched=watched, max_steps=data.get("maxSteps"))
    budget = {"budget": data["budget"]} if "budget" in data else {}
    return replace(
        state,
        steered_by=data["steeredBy"],
        session=session,
        held=bool(data.get("held")),
        options={**state.options, **budget},
        turn=int(data.get("turn", 0)),
        steerer=data.get("steerer", ""),
        lease_s=data.get("leaseS"),
        last_said=at,
    )


def _asked_model(state: SessionState, event: Event) -> SessionState:
    """What was used so far; an ask that nobody waited for any more was a request all the same."""
    if event.kind == "modelAsked":
        lost = Usage(requests=1, money=0) if state.asking else Usage(money=0)
        return replace(state, used=state.used.plus(lost), asking=True)
    return replace(state, used=state.used.plus(Usage.model_validate(event.data["usage"])), asking=False)
