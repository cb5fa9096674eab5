"""What a session decides: `decide(state, input, now)` gives the state after it, and the events to make durable.

The log has every command with the tick at which it was given; poses, stages and the world follow from those (`replay`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from beforehand.crafts.agent.core.budget import AGAIN_VALUE, RESUME_VALUE, raised
from beforehand.crafts.agent.core.inputs import (
    Answered,
    CalledOff,
    Held,
    LetGo,
    Said,
    SessionInput,
    Steer,
    SteeringFailed,
    TakenOver,
    TakenUp,
    TimePassed,
    Unheard,
    WentWrong,
)
from beforehand.crafts.agent.core.session import Step, advanced, commanded, given_up
from beforehand.crafts.agent.core.session_state import COMMANDED, DISTURBED, ENDED, UPDATED, SessionState, event_of
from beforehand.crafts.agent.core.steering_rights import refusal, taken_over
from beforehand.model.decision import Answer, Decision
from beforehand.model.event import Event, Verdict, iso
from beforehand.model.reason import Reason
from beforehand.ports.body import TICKS_PER_S, Change, Refused


def decide(state: SessionState, given: SessionInput, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if isinstance(given, Answered):
        return _answered(state, given, now)
    if isinstance(given, Said):
        return _said(state, given, now)
    if not state.is_open:
        return state, Verdict(reasons=(_over(state),))
    if isinstance(given, TimePassed):
        session, changes = advanced(state.session, given.tick)
        state = replace(state, session=session)
        return state, Verdict(tuple(_action_events(state, changes, now)))
    if isinstance(given, WentWrong):
        return _went_wrong(state, given, now)
    if isinstance(given, SteeringFailed):
        return _steering_failed(state, given, now)
    if isinstance(given, TakenUp):
        return _taken_up(state, now)
    if isinstance(given, Held | LetGo):
        return _held(state, given, now)
    if isinstance(given, TakenOver):
        return _taken_over(state, given, now)
    if isinstance(given, Unheard):
        return _unheard(state, given, now)
    return _called_off(state, given, now)


def _over(state: SessionState) -> Reason:
    says = f"The session {state.session_id} is over."
    return Reason(code="session.over", about=state.session_id, says=says, try_next="Start a new session.")


def _said(state: SessionState, given: Said, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if given.used is not None:
        state = replace(state, used=given.used)
    if state.is_open and (not_theirs := refusal(state, given)) is not None:
        return state, Verdict(reasons=(not_theirs,))
    if state.decision is not None:
        says = f"Nothing moves until a person has answered: “{state.decision.title}”."
        return state, Verdict(
            reasons=(Reason(code="session.waits", about=state.session_id, says=says, try_next="Answer in the inbox."),)
        )
    if not state.is_open:
        return state, Verdict(reasons=(_over(state),))
    if state.held:
        says = "Everything is held, so nothing starts to move."
        try_next = "Clear the hold first: POST /api/v1/clear."
        return state, Verdict(
            reasons=(Reason(code="hold.everything", about=state.session_id, says=says, try_next=try_next),)
        )
    tick = state.body.tick if given.tick is None else max(given.tick, state.body.tick)
    session, step = commanded(state.session, given.text, tick=given.tick, waited=given.waited)
    state = replace(state, session=session, last_said=now, history=(*state.history, replace(step, changes=())))
    events = [event_of(state, COMMANDED, _command_data(state, step, given, tick), now)]
    events += _action_events(state, step.changes, now)
    if not state.is_open:
        state, more = _ended(state, now)
        events += more
    return state, Verdict(tuple(events), reasons=step.refused)


def _command_data(state: SessionState, step: Step, given: Said, tick: int) -> dict[str, Any]:
    data = {
        **state.head(),
        "command": step.command,
        "givenTick": tick,
        "reply": step.reply,
        "refused": bool(step.refused),
        "saidBy": given.by or None,
        "waited": given.waited,
    }
    return {name: value for name, value in data.items() if value is not None or name == "goalReached"}


def _action_events(state: SessionState, changes: Iterable[Change], now: int) -> list[Event]:
    durations = {action.text: action.duration_s for action in state.body.actions}
    events = []
    for change in changes:
        later = (state.body.tick - change.tick) / TICKS_PER_S
        data: dict[str, Any] = {
            "sessionId": state.session_id,
            "action": change.text,
            "stage": change.stage,
            "tick": change.tick,
            "atS": change.tick / TICKS_PER_S,
        }
        if change.text in durations:
            data["durationS"] = round(max(0.0, durations[change.text] - later), 3)
        if change.why:
            data["reason"] = change.why
        events.append(event_of(state, "actionUpdated", data, now))
    return events


def _ended(state: SessionState, now: int) -> tuple[SessionState, list[Event]]:
    """The session is over: its world is kept, and a person is asked where nobody was watching and it failed."""
    data = {**state.head(), "world": state.body.wire(), "sceneHash": state.scene_hash}
    events = [event_of(state, ENDED, data, now)]
    if state.session.status == "failed" and state.steered_by == "model" and state.key is None:
        state, opened = _asked(
            state,
            "sessionFailed",
            f"The session for “{state.goal or state.session_id}” has failed",
            {"reason": state.session.reason, "state": state.body.state_text(), "lastCommands": _last(state)},
            {"again": "A new session with the same goal is started.", "leave": "It stays as it is."},
            now,
            {"again": AGAIN_VALUE},
        )
        events.append(opened)
    return state, events


def _last(state: SessionState) -> list[dict[str, str]]:
    return [{"command": step.command, "reply": step.reply} for step in state.history[-5:]]


def _asked(
    state: SessionState,
    kind: str,
    title: str,
    evidence: Mapping[str, Any],
    effects: Mapping[str, str],
    now: int,
    values: Mapping[str, dict[str, Any]] | None = None,
) -> tuple[SessionState, Event]:
    """A person is asked; a command that steered may leave then, and its session waits for the answer."""
    decision = Decision(
        id=f"{state.session_id}-{state.asked + 1}",
        kind=kind,
        owner=state.owner,
        title=title,
        about={"sessionId": state.session_id, "scene": state.scene},
        evidence=dict(evidence),
        verbs=tuple(effects),
        effects=dict(effects),
        values=dict(values or {}),
        if_unanswered="Everything stays stopped.",
        asked_by=state.owner,
        opened_at=iso(now),
    )
    state = replace(state, decision=decision, asked=state.asked + 1, lease_s=None, steerer="")
    about = {"sessionId": state.session_id, "decisionId": decision.id}
    return state, Event("decisionOpened", about, decision.wire(), now, scene=state.scene, owner=state.owner)


def _went_wrong(state: SessionState, given: WentWrong, now: int) -> tuple[SessionState, Verdict[Steer]]:
    session, changes = advanced(state.session, given.tick)
    body = session.body.disturbed(given.fault)
    if isinstance(body, Refused):
        return state, Verdict(reasons=body.reasons)
    state = replace(state, session=replace(session, body=body))
    data = {"sessionId": state.session_id, "givenTick": body.tick, "fault": dict(given.fault)}
    return state, Verdict((event_of(state, DISTURBED, data, now), *_action_events(state, changes, now)))


def stopped_at(state: SessionState, tick: int | None) -> tuple[SessionState, list[Change]]:
    """Everything stopped, the session still open."""
    session, changes = advanced(state.session, tick)
    body = session.body
    for action in body.actions:
        ended = body.stop(action.text)
        if not isinstance(ended, Refused):
            body, change = ended
            changes.append(change)
    return replace(state, session=replace(session, body=body)), changes


def _steering_failed(state: SessionState, given: SteeringFailed, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if given.used is not None:
        state = replace(state, used=given.used)
    if state.steered_by == "person":  # somebody has taken it over meanwhile
        return state, Verdict()
    return _nobody_steers(state, given, now)


def _nobody_steers(state: SessionState, given: SteeringFailed, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if state.key is not None:  # whoever runs the plan is asked about the step
        return _called_off(state, CalledOff(given.says, failed=True, tick=given.tick), now)
    state, changes = stopped_at(replace(state, last_said=now), given.tick)
    state, opened = _asked(
        state,
        "steering",
        f"Nobody steers the session for “{state.goal or state.session_id}” any more",
        {"reason": given.says, "state": state.body.state_text(), "lastCommands": _last(state)},
        {
            "resume": "The model or the policy is asked again, from the present state.",
            "take-over": "A person steers from here on.",
            "end": "The session ends.",
        },
        now,
        {"resume": RESUME_VALUE} if state.steered_by == "model" else None,
    )
    data = {**state.head(), "givenTick": state.body.tick, "stopped": True}
    events = (event_of(state, UPDATED, data, now), *_action_events(state, changes, now), opened)
    return state, Verdict(events)


def _taken_up(state: SessionState, now: int) -> tuple[SessionState, Verdict[Steer]]:
    """After a start: a virtual session that a person steers just goes on; anything else is asked about."""
    if state.decision is not None or (state.session.clock == "virtual" and state.steered_by in ("person", "file")):
        return state, Verdict()
    moving = [action.text for action in state.body.actions if action.stage in ("moving", "acting")]
    if state.session.clock == "virtual" or state.key is not None:
        return _nobody_steers(state, SteeringFailed("The server was started again."), now)
    state, changes = stopped_at(replace(state, last_said=now), None)
    state, opened = _asked(
        state,
        "inDoubt",
        f"What has the body of {state.scene} done since the server stopped?",
        {"wasUnderWay": moving, "state": state.body.state_text()},
        {
            "resume": "The session goes on from the state in the log; nothing is started again by itself.",
            "take-over": "A person steers from here on, from the state in the log.",
            "end": "The session ends.",
        },
        now,
    )
    data = {**state.head(), "givenTick": state.body.tick, "stopped": True}
    return state, Verdict((event_of(state, UPDATED, data, now), *_action_events(state, changes, now), opened))


def _held(state: SessionState, given: Held | LetGo, now: int) -> tuple[SessionState, Verdict[Steer]]:
    holds = isinstance(given, Held)
    if state.held == holds:
        return state, Verdict()
    changes: list[Change] = []
    if isinstance(given, Held):
        state, changes = stopped_at(state, given.tick)
    state = replace(state, held=holds, last_said=now)
    data = {**state.head(), "givenTick": state.body.tick, **({"stopped": True} if holds else {})}
    goes_on = not state.stands and state.steered_by in ("model", "policy")
    events = (event_of(state, UPDATED, data, now), *_action_events(state, changes, now))
    return state, Verdict(events, (Steer(),) if goes_on else ())


def _called_off(state: SessionState, given: CalledOff, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if given.turn is not None and given.turn != state.turn:
        return state, Verdict(reasons=(taken_over(state),))
    session, changes = advanced(state.session, given.tick)
    session, more = given_up(session, given.says)
    status: Literal["ended", "failed"] = "failed" if given.failed else "ended"
    withdrawn = [] if state.decision is None else [_withdrawn(state, state.decision, given.says, now)]
    state = replace(state, session=replace(session, status=status), decision=None)
    events = _action_events(state, [*changes, *more], now)
    state, ended = _ended(state, now)
    return state, Verdict((*events, *withdrawn, *ended))


def _withdrawn(state: SessionState, decision: Decision, why: str, now: int) -> Event:
    about = {"sessionId": state.session_id, "decisionId": decision.id}
    data = {**decision.wire(), "status": "withdrawn", "why": why}
    return Event("decisionWithdrawn", about, data, now, scene=state.scene, owner=state.owner)


def _unheard(state: SessionState, given: Unheard, now: int) -> tuple[SessionState, Verdict[Steer]]:
    """Whoever steered has gone without a word; where a person is asked already, that stays as it is."""
    if state.lease_s is None or state.decision is not None:
        return state, Verdict()
    says = f"The command that steered it has not been heard from for {state.lease_s:g} s."
    if not state.lease_s:
        says = "The command that steered it has died."
    return _called_off(state, CalledOff(says, tick=given.tick), now)


def _taken_over(state: SessionState, given: TakenOver, now: int) -> tuple[SessionState, Verdict[Steer]]:
    """What a model or the policy has under way is stopped; a person hands over what goes on as it is."""
    if given.turn is not None and given.turn != state.turn:
        return state, Verdict(reasons=(taken_over(state),))
    events: list[Event] = []
    if state.decision is not None:
        state, answered = _closed(state, state.decision, Answered(state.decision, "take-over", by=given.by), now)
        events.append(answered)
    stops = state.steered_by in ("model", "policy")
    session, changes = advanced(state.session, given.tick)
    state = replace(state, session=session)
    if stops:
        state, more = stopped_at(state, None)
        changes += more
    state = _steered_by(state, given.by, given.lease_s, now)
    data = {**state.head(), "givenTick": state.body.tick, "takenOver": True, **({"stopped": True} if stops else {})}
    return state, Verdict((*events, event_of(state, UPDATED, data, now), *_action_events(state, changes, now)))


def _steered_by(state: SessionState, who: str, lease_s: float | None, now: int) -> SessionState:
    session = replace(state.session, watched=True)
    turn = state.turn + 1
    return replace(state, steered_by="person", session=session, steerer=who, turn=turn, lease_s=lease_s, last_said=now)


def _closed(state: SessionState, decision: Decision, given: Answered, now: int) -> tuple[SessionState, Event]:
    """What was asked is answered."""
    answer = Answer(verb=given.verb, value=given.value or None, note=given.note, by=given.by, at=iso(now))
    done = decision.model_copy(update={"status": "answered", "answer": answer})
    about = {"sessionId": state.session_id, "decisionId": done.id}
    event = Event("decisionAnswered", about, done.wire(), now, scene=state.scene, owner=state.owner)
    return replace(state, decision=None, last_said=now), event


def _answered(state: SessionState, given: Answered, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if state.decision is None or state.decision.id != given.decision.id:
        says = "This decision does not wait for an answer any more."
        return state, Verdict(reasons=(Reason(code="decision.closed", about=given.decision.id, says=says),))
    state, answered = _closed(state, state.decision, given, now)
    if not state.is_open:
        return state, Verdict((answered,))
    if given.verb == "end":
        state, verdict = _called_off(state, CalledOff(f"Ended by {given.by or 'a person'}."), now)
        return state, Verdict((answered, *verdict.events))
    if given.verb == "take-over":
        state = _steered_by(state, given.by, None, now)
    if given.verb == "resume" and given.value:
        state = raised(state, given.value)
    commands = (Steer(),) if given.verb == "resume" and state.steered_by in ("model", "policy") else ()
    data = {**state.head(), "givenTick": state.body.tick}
    return state, Verdict((answered, event_of(state, UPDATED, data, now)), commands)
