"""What a session decides: `decide(state, input, now)` gives the state after it, and the events to make durable.

The log has every command with the tick at which it was given; poses, stages and the world follow from those. `folded`
builds the state from the log again by deciding the same once more, and writes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from beforehand.crafts.agent.core.inputs import (
    Answered,
    CalledOff,
    Held,
    LetGo,
    Said,
    SessionInput,
    Steer,
    SteeringFailed,
    TakenUp,
    TimePassed,
    WentWrong,
)
from beforehand.crafts.agent.core.session import Session, Step, advanced, commanded, given_up
from beforehand.model.decision import Answer, Decision
from beforehand.model.event import Event, Verdict, iso
from beforehand.model.reason import Reason
from beforehand.ports.body import TICKS_PER_S, Body, Change, Refused

SteeredBy = Literal["person", "file", "policy", "model"]
IDLE_MS = 30 * 60 * 1000
STARTED, COMMANDED, DISTURBED, UPDATED, ENDED = (
    "sessionStarted",
    "commandGiven",
    "worldDisturbed",
    "sessionUpdated",
    "sessionEnded",
)


# -- the state -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionState:
    session_id: str
    scene: str
    session: Session
    steered_by: SteeredBy = "person"
    goal: str | None = None
    instruction: str | None = None
    model: str | None = None
    by: str = ""
    key: str | None = None
    """The step of a plan that this session carries out."""
    started_at: int = 0
    last_said: int = 0
    decision: Decision | None = None
    """What a person is asked; nothing goes on until it is answered."""
    asked: int = 0
    held: bool = False
    """Whether somebody holds everything."""
    begins: str = ""
    """The state before the first command, in words."""
    history: tuple[Step, ...] = ()
    """The commands so far and what came of them, the newest last."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What a model is given: its `budget`, and whether it sees `pictures`."""

    @property
    def owner(self) -> str:
        return f"session:{self.session_id}"

    @property
    def body(self) -> Body:
        return self.session.body

    @property
    def is_open(self) -> bool:
        return self.session.status == "open"

    @property
    def stands(self) -> bool:
        """Whether nothing may move: a person is asked, or holds everything."""
        return self.held or self.decision is not None

    def head(self) -> dict[str, Any]:
        """The session as HTTP shows it."""
        found = {
            "sessionId": self.session_id,
            "scene": self.scene,
            "status": self.session.status,
            "steeredBy": self.steered_by,
            "clock": self.session.clock,
            "goal": self.goal,
            "instruction": self.instruction,
            "model": self.model,
            "by": self.by or None,
            "key": self.key,
            "maxSteps": self.session.max_steps,
            **self.options,
            "startedAt": iso(self.started_at),
            "steps": self.session.steps,
            "tick": self.body.tick,
            "atS": self.body.tick / TICKS_PER_S,
            "state": self.body.state_text(),
            "actions": [action.wire() for action in self.body.actions],
            "goalReached": self.session.goal_reached,
            "reason": self.session.reason or (self.decision.evidence.get("reason") if self.decision else None),
            "waitsFor": self.decision.id if self.decision else None,
            "held": True if self.held else None,
        }
        return {name: value for name, value in found.items() if value is not None or name == "goalReached"}


def started(state: SessionState, document: Mapping[str, Any], now: int, correlation_id: str = "") -> Event:
    """The event a session begins with: its scene and the world as it is then."""
    data = {**state.head(), "document": document, "world": state.body.wire()}
    return _event(state, STARTED, data, now, correlation_id)


def _event(state: SessionState, kind: str, data: Mapping[str, Any], now: int, correlation_id: str = "") -> Event:
    about = {"sessionId": state.session_id}
    return Event(kind, about, data, now, scene=state.scene, correlation_id=correlation_id, owner=state.owner)


# -- deciding --------------------------------------------------------------------------------------------------------


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
    return _called_off(state, given, now)


def _over(state: SessionState) -> Reason:
    says = f"The session {state.session_id} is over."
    return Reason(code="session.over", about=state.session_id, says=says, try_next="Start a new session.")


def _said(state: SessionState, given: Said, now: int) -> tuple[SessionState, Verdict[Steer]]:
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
    events = [_event(state, COMMANDED, _command_data(state, step, given, tick), now)]
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
        events.append(_event(state, "actionUpdated", data, now))
    return events


def _ended(state: SessionState, now: int) -> tuple[SessionState, list[Event]]:
    """The session is over: its world is kept, and a person is asked where nobody was watching and it failed."""
    events = [_event(state, ENDED, {**state.head(), "world": state.body.wire()}, now)]
    if state.session.status == "failed" and state.steered_by == "model" and state.key is None:
        state, opened = _asked(
            state,
            "sessionFailed",
            f"The session for “{state.goal or state.session_id}” has failed",
            {"reason": state.session.reason, "state": state.body.state_text(), "lastCommands": _last(state)},
            {"again": "A new session with the same goal is started.", "leave": "It stays as it is."},
            now,
        )
        events.append(opened)
    return state, events


def _last(state: SessionState) -> list[dict[str, str]]:
    return [{"command": step.command, "reply": step.reply} for step in state.history[-5:]]


def _asked(
    state: SessionState, kind: str, title: str, evidence: Mapping[str, Any], effects: Mapping[str, str], now: int
) -> tuple[SessionState, Event]:
    decision = Decision(
        id=f"{state.session_id}-{state.asked + 1}",
        kind=kind,
        owner=state.owner,
        title=title,
        about={"sessionId": state.session_id, "scene": state.scene},
        evidence=dict(evidence),
        verbs=tuple(effects),
        effects=dict(effects),
        if_unanswered="Everything stays stopped.",
        asked_by=state.owner,
        opened_at=iso(now),
    )
    state = replace(state, decision=decision, asked=state.asked + 1)
    about = {"sessionId": state.session_id, "decisionId": decision.id}
    return state, Event("decisionOpened", about, decision.wire(), now, scene=state.scene, owner=state.owner)


def _went_wrong(state: SessionState, given: WentWrong, now: int) -> tuple[SessionState, Verdict[Steer]]:
    session, changes = advanced(state.session, given.tick)
    body = session.body.disturbed(given.fault)
    if isinstance(body, Refused):
        return state, Verdict(reasons=body.reasons)
    state = replace(state, session=replace(session, body=body))
    data = {"sessionId": state.session_id, "givenTick": body.tick, "fault": dict(given.fault)}
    return state, Verdict((_event(state, DISTURBED, data, now), *_action_events(state, changes, now)))


def _stopped(state: SessionState, tick: int | None) -> tuple[SessionState, list[Change]]:
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
    if state.key is not None:  # whoever runs the plan is asked about the step
        return _called_off(state, CalledOff(given.says, failed=True, tick=given.tick), now)
    state, changes = _stopped(state, given.tick)
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
    )
    data = {**state.head(), "givenTick": state.body.tick, "stopped": True}
    events = (_event(state, UPDATED, data, now), *_action_events(state, changes, now), opened)
    return state, Verdict(events)


def _taken_up(state: SessionState, now: int) -> tuple[SessionState, Verdict[Steer]]:
    """After a start: a virtual session that a person steers just goes on; anything else is asked about."""
    if state.decision is not None or (state.session.clock == "virtual" and state.steered_by in ("person", "file")):
        return state, Verdict()
    moving = [action.text for action in state.body.actions if action.stage in ("moving", "acting")]
    if state.session.clock == "virtual" or state.key is not None:
        return _steering_failed(state, SteeringFailed("The server was started again."), now)
    state, changes = _stopped(state, None)
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
    return state, Verdict((_event(state, UPDATED, data, now), *_action_events(state, changes, now), opened))


def _held(state: SessionState, given: Held | LetGo, now: int) -> tuple[SessionState, Verdict[Steer]]:
    holds = isinstance(given, Held)
    if state.held == holds:
        return state, Verdict()
    changes: list[Change] = []
    if isinstance(given, Held):
        state, changes = _stopped(state, given.tick)
    state = replace(state, held=holds, last_said=now)
    data = {**state.head(), "givenTick": state.body.tick, **({"stopped": True} if holds else {})}
    goes_on = not state.stands and state.steered_by in ("model", "policy")
    events = (_event(state, UPDATED, data, now), *_action_events(state, changes, now))
    return state, Verdict(events, (Steer(),) if goes_on else ())


def _called_off(state: SessionState, given: CalledOff, now: int) -> tuple[SessionState, Verdict[Steer]]:
    session, changes = advanced(state.session, given.tick)
    session, more = given_up(session, given.says)
    status: Literal["ended", "failed"] = "failed" if given.failed else "ended"
    state = replace(state, session=replace(session, status=status), decision=None)
    events = _action_events(state, [*changes, *more], now)
    state, ended = _ended(state, now)
    return state, Verdict((*events, *ended))


def _answered(state: SessionState, given: Answered, now: int) -> tuple[SessionState, Verdict[Steer]]:
    if state.decision is None or state.decision.id != given.decision.id:
        says = "This decision does not wait for an answer any more."
        return state, Verdict(reasons=(Reason(code="decision.closed", about=given.decision.id, says=says),))
    answer = Answer(verb=given.verb, note=given.note, by=given.by, at=iso(now))
    done = state.decision.model_copy(update={"status": "answered", "answer": answer})
    about = {"sessionId": state.session_id, "decisionId": done.id}
    answered = Event("decisionAnswered", about, done.wire(), now, scene=state.scene, owner=state.owner)
    state = replace(state, decision=None, last_said=now)
    if given.verb == "end" and state.is_open:
        state, verdict = _called_off(state, CalledOff(f"Ended by {given.by or 'a person'}."), now)
        return state, Verdict((answered, *verdict.events))
    if given.verb == "take-over":
        state = replace(state, steered_by="person", session=replace(state.session, watched=True))
    commands = (Steer(),) if given.verb == "resume" and state.steered_by in ("model", "policy") else ()
    data = {**state.head(), "givenTick": state.body.tick}
    return state, Verdict((answered, _event(state, UPDATED, data, now)), commands)


# -- from the log ----------------------------------------------------------------------------------------------------


def refusals(state: SessionState, event: Event) -> tuple[Reason, ...]:
    """Why a command of the log was refused, from the state before it: the same is decided once more."""
    return _commanded_again(state, event)[1].refused


def _commanded_again(state: SessionState, event: Event) -> tuple[Session, Step]:
    data = event.data
    tick = None if state.session.clock == "virtual" else int(data["givenTick"])
    return commanded(state.session, data["command"], tick=tick, waited=data.get("waited"))


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
        if data.get("stopped"):
            state, _ = _stopped(state, int(data["givenTick"]))
        watched = state.session.watched or data["steeredBy"] == "person"
        session = replace(state.session, watched=watched)
        return replace(state, steered_by=data["steeredBy"], session=session, held=bool(data.get("held")))
    if event.kind == ENDED and state.is_open:
        session, _ = given_up(advanced(state.session, int(data["tick"]))[0], data.get("reason", ""))
        return replace(state, session=replace(session, status=data["status"]))
    if event.kind == "decisionOpened":
        return replace(state, decision=Decision.model_validate(data), asked=state.asked + 1)
    if event.kind in ("decisionAnswered", "decisionWithdrawn"):
        return replace(state, decision=None, last_said=event.ts)
    return state
