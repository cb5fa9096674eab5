"""Sessions as the log has them: a first state from what was asked for, and any later one from the events since."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from beforehand.crafts.agent.core.replay import folded
from beforehand.crafts.agent.core.session import Clock, Session, advanced
from beforehand.crafts.agent.core.session_state import STARTED, SessionState, SteeredBy
from beforehand.crafts.agent.core.verbs import Verbs
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.crafts.agent.homes import hash_of
from beforehand.crafts.agent.worlds import open_world
from beforehand.model.event import Event, from_iso
from beforehand.model.usage import Usage
from beforehand.ports.store import EventFilter, Store

CHUNK = 1_000
OPTIONS = ("budget", "pictures")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session is started with."""

    scene: str
    goal: str | None = None
    instruction: str | None = None
    model: str | None = None
    steered_by: SteeredBy = "person"
    clock: Clock = "virtual"
    max_steps: int | None = None
    by: str = ""
    key: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """For a model: its `budget`, and whether it sees `pictures`."""
    lease_s: float | None = None
    """How long the command that asks for it, and steers, may be silent."""


def first_state(
    session_id: str,
    asked: Asked,
    scene: HomeScene,
    world: Mapping[str, Any] | None,
    verbs: Verbs,
    now: int,
    note: str = "",
) -> SessionState:
    """A session before its first command."""
    body = open_world(scene, world=world, goal=asked.goal, verbs=verbs)
    return SessionState(
        session_id,
        asked.scene,
        Session(body, asked.clock, asked.steered_by == "person", asked.max_steps),
        asked.steered_by,
        asked.goal or body.goal_text,
        asked.instruction,
        asked.model,
        asked.by,
        asked.key,
        started_at=now,
        last_said=now,
        begins=body.state_text(),
        options=asked.options,
        steerer=asked.by if asked.lease_s is not None else "",
        lease_s=asked.lease_s,
        scene_hash=hash_of(scene),
        note=note,
    )


def _begun(event: Event, verbs: Verbs) -> SessionState:
    data = event.data
    asked = Asked(
        data["scene"],
        data.get("goal"),
        data.get("instruction"),
        data.get("model"),
        data["steeredBy"],
        data["clock"],
        data.get("maxSteps"),
        data.get("by", ""),
        data.get("key"),
        {name: data[name] for name in OPTIONS if name in data},
        data.get("leaseS"),
    )
    scene = HomeScene.model_validate(data["document"])
    at = from_iso(data["startedAt"])
    state = first_state(data["sessionId"], asked, scene, data["world"], verbs, at, data.get("note", ""))
    return replace(state, last_said=event.ts)


async def read_session(
    store: Store, session_id: str, verbs: Verbs, until_tick: int | None = None, before: int | None = None
) -> SessionState | None:
    """A session as the log has it, or as it was at a tick, or before an event; None where there is none."""
    state: SessionState | None = None
    after, owner = 0, f"session:{session_id}"
    while events := await store.events(after=after, limit=CHUNK, only=EventFilter(owner=owner)):
        for event in events:
            if state is None and event.kind == STARTED:
                state = _begun(event, verbs)
            elif state is not None:
                if event.seq == before:
                    return state
                if until_tick is not None and int(event.data.get("givenTick", 0)) > until_tick:
                    return at_tick(state, until_tick)
                last, state = state, folded(state, event)
                if until_tick is not None and state.body.tick > until_tick:
                    return at_tick(last, until_tick)
        after = events[-1].seq
    if state is None or not state.asking:
        return state
    lost = Usage(requests=1, money=0)  # it was asked when the process died, and the answer is lost
    return replace(state, used=state.used.plus(lost), asking=False)


def at_tick(state: SessionState, tick: int) -> SessionState:
    """A session as it was at a tick, after everything that was commanded up to then."""
    session, _ = advanced(state.session, tick)
    return replace(state, session=session)
