"""A session: one who steers, one body, one command at a time; what each command changes and what is replied.

`commanded` is the whole of it: the session and a line of text in, the session after it and a Step out. A refused
command changes nothing and no time passes. Only `skip` lets virtual time pass; with other clocks the tick of a command
says how much has.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from beforehand.crafts.agent.core.command_text import Command, read_command
from beforehand.crafts.agent.core.world import ticks
from beforehand.model.reason import Reason
from beforehand.ports.body import TICKS_PER_S, Body, Change, Refused

Status = Literal["open", "ended", "failed"]
Clock = Literal["virtual", "charged", "realtime"]
CLOCKS: tuple[Clock, ...] = ("virtual", "charged", "realtime")
MOST_REFUSED = 5
"""So many refused commands in a row end a session that nobody watches."""


@dataclass(frozen=True, slots=True)
class Session:
    body: Body
    clock: Clock = "virtual"
    watched: bool = False
    """Whether a person steers, who may be wrong as often as they like."""
    max_steps: int | None = None
    status: Status = "open"
    reason: str = ""
    steps: int = 0
    refused_in_row: int = 0
    reached: bool | None = None
    """Once it is over: whether the goal was reached when everything was stopped."""

    @property
    def goal_reached(self) -> bool | None:
        return self.body.goal_reached() if self.status == "open" else self.reached


@dataclass(frozen=True, slots=True)
class Step:
    """A command and what came of it."""

    command: str
    reply: str
    state: str
    tick: int
    refused: tuple[Reason, ...] = ()
    changes: tuple[Change, ...] = ()

    def wire(self) -> dict[str, Any]:
        return {"command": self.command, "reply": self.reply, "state": self.state, "atS": self.tick / TICKS_PER_S}


def commanded(
    session: Session, text: str, *, tick: int | None = None, waited: int | None = None
) -> tuple[Session, Step]:
    """The session after a line of text.

    With clocks that go on by themselves `tick` says when it was said; `waited`, how many ticks a skip has waited then.
    """
    session, changes = advanced(session, tick)
    if session.status != "open":
        return _refused(session, text, [_over(session)], changes, counts=False)
    session = replace(session, steps=session.steps + 1)
    command = read_command(text)
    if isinstance(command, Reason):
        return _limited(*_refused(session, text, [command], changes))
    if command.verb == "skip" and waited is not None:
        return _limited(*_waited(session, text, command, changes, waited))
    return _limited(*_run(session, text, command, changes))


def advanced(session: Session, tick: int | None, wake_on: str | None = None) -> tuple[Session, list[Change]]:
    """The session when time has gone on to a tick; nothing moves once it is over."""
    if tick is None or tick <= session.body.tick or session.status != "open":
        return session, []
    body, changes = session.body.passed(tick, wake_on)
    return replace(session, body=body), changes


def given_up(session: Session, reason: str) -> tuple[Session, list[Change]]:
    """End a session as failed, with everything stopped."""
    if session.status != "open":
        return session, []
    session, changes = _all_stopped(session)
    return replace(session, status="failed", reason=reason), changes


def _over(session: Session) -> Reason:
    how = "has ended" if session.status == "ended" else "has failed"
    return Reason(code="session.over", about="session", says=f"The session {how}.", try_next="Start a new session.")


# -- refusing --------------------------------------------------------------------------------------------------------


def _refused(
    session: Session, text: str, reasons: Iterable[Reason], changes: Iterable[Change], *, counts: bool = True
) -> tuple[Session, Step]:
    found = tuple(reasons)
    if counts:
        session = replace(session, refused_in_row=session.refused_in_row + 1)
    said = " ".join(f"{reason.says} {reason.try_next}".strip() for reason in found)
    return session, Step(text, f"Refused. {said}", session.body.state_text(), session.body.tick, found, tuple(changes))


def _limited(session: Session, step: Step) -> tuple[Session, Step]:
    """End a session that has used up its steps or is not understood any more."""
    reason = ""
    if session.status == "open" and session.refused_in_row >= MOST_REFUSED and not session.watched:
        reason = f"{MOST_REFUSED} commands in a row were refused."
    elif session.status == "open" and session.max_steps is not None and session.steps >= session.max_steps:
        reason = f"The most steps allowed, {session.max_steps}, were used up."
    if not reason:
        return session, step
    session, changes = given_up(session, reason)
    reply = f"{step.reply} {reason} The session has failed, and everything is stopped."
    return session, replace(step, reply=reply, state=session.body.state_text(), changes=(*step.changes, *changes))


# -- running ---------------------------------------------------------------------------------------------------------


def _run(session: Session, text: str, command: Command, changes: list[Change]) -> tuple[Session, Step]:
    if command.verb == "start":
        return _start(session, text, command, changes)
    if command.verb == "stop":
        return _stop(session, text, command, changes)
    if command.verb == "skip":
        return _skip(session, text, command, changes)
    names = [action.text for action in session.body.actions if action.stage in ("moving", "acting")]
    session, stopped = _all_stopped(session)
    cancelled = f" Cancelled: {', '.join(names)}." if names else ""
    session = replace(session, status="ended")
    return _replied(session, text, f"The session has ended.{cancelled}", command, [*changes, *stopped])


def _replied(
    session: Session, text: str, reply: str, command: Command, changes: Iterable[Change]
) -> tuple[Session, Step]:
    session = replace(session, refused_in_row=0)
    reply = f"{command.note} {reply}" if command.note else reply
    return session, Step(text, reply, session.body.state_text(), session.body.tick, (), tuple(changes))


def _start(session: Session, text: str, command: Command, changes: list[Change]) -> tuple[Session, Step]:
    begun = session.body.start(command.action)
    if isinstance(begun, Refused):
        return _refused(session, text, begun.reasons, changes)
    body, change = begun
    reply = f"Started {change.text}."
    if change.stage == "failed":
        reply = f"Started {change.text}, and it failed: {change.why}."
    return _replied(replace(session, body=body), text, reply, command, [*changes, change])


def _stop(session: Session, text: str, command: Command, changes: list[Change]) -> tuple[Session, Step]:
    stopped = session.body.stop(command.action)
    if isinstance(stopped, Refused):
        return _refused(session, text, stopped.reasons, changes)
    body, change = stopped
    return _replied(replace(session, body=body), text, f"Stopped {change.text}.", command, [*changes, change])


def _all_stopped(session: Session) -> tuple[Session, list[Change]]:
    """Stop everything; whether the goal is reached is judged as it was before."""
    session = replace(session, reached=session.body.goal_reached())
    body, changes = session.body, []
    for action in session.body.actions:
        stopped = body.stop(action.text)
        if not isinstance(stopped, Refused):
            body, change = stopped
            changes.append(change)
    return replace(session, body=body), changes


def _skip(session: Session, text: str, command: Command, changes: list[Change]) -> tuple[Session, Step]:
    before = session.body.tick
    session, more = advanced(session, before + ticks(command.seconds), command.wake_on)
    return _waited(session, text, command, [*changes, *more], session.body.tick - before)


def _waited(session: Session, text: str, command: Command, changes: list[Change], waited: int) -> tuple[Session, Step]:
    reply = f"Waited for {waited / TICKS_PER_S:.1f}s. Current state:"
    return _replied(session, text, reply, command, changes)
