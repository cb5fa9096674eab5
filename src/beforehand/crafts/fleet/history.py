"""A fleet's state from the log: its last activation, or a later snapshot, and every event since.

Reading never writes, so that a fleet can also be looked at beside whoever leads the home, or when nobody does.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.crafts.fleet.core.state import FleetState, Seen, evolve, initial, restore, snapshot
from beforehand.loop.fold import folding
from beforehand.model.errors import UnreadableError
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter, Store

log = Log("beforehand.fleet")
ACTIVATED = "fleetActivated"
CHUNK = 5_000


async def rebuilt(runtime: Runtime, scene: FleetScene) -> FleetState:
    """The state of a fleet that is made live; a scene that is new or changed begins here, and the log says so.

    While tasks of the scene as it was are open, that one goes on: the state's own scene says which it is.
    """
    began = await _last_activation(runtime.store, scene.name)
    document = scene.wire()
    state = initial(scene, runtime.now())
    if began is not None:
        with folding(f"The fleet {scene.name}"):
            old, _ = await _replayed(runtime.store, began)
        if began.data["scene"] == document or old.open_tasks:
            return old
        _carry_over(old, state)
    await runtime.log(
        ACTIVATED,
        {"scene": document, "state": snapshot(state)},
        owner=state.owner,
        scene=scene.name,
        sceneId=scene.name,
    )
    return state


async def looked_up(store: Store, name: str, *, aside: bool = False) -> tuple[FleetState, int] | None:
    """The state a fleet was left in and when, for looking only; None where it was never live.

    What the robots said last is taken for what they would say now. `aside` leaves the event loop to others meanwhile.
    """
    began = await _last_activation(store, name)
    if began is None:
        return None
    with folding(f"The fleet {name}"):
        state, ts = await _replayed(store, began, aside=aside)
    state.seen = {robot_id: Seen(seen.report, ts) for robot_id, seen in state.seen.items()}
    return state, ts


async def left_in_log(store: Store, name: str, *, aside: bool = False) -> tuple[FleetState, int] | None:
    """The same for one of several fleets; None also where it cannot be read, which is why it is not live."""
    try:
        return await looked_up(store, name, aside=aside)
    except UnreadableError as error:
        log.warning("a fleet cannot be read from the log", scene=name, says=error.says)
        return None


async def _last_activation(store: Store, name: str) -> Event | None:
    only = EventFilter(kinds=frozenset({ACTIVATED}), owner=f"fleet:{name}")
    last: Event | None = None
    while found := await store.events(after=last.seq if last else 0, limit=CHUNK, only=only):
        last = found[-1]
    return last


async def _replayed(store: Store, began: Event, *, aside: bool = False) -> tuple[FleetState, int]:
    scene = FleetScene.model_validate(began.data["scene"])  # It was checked then; the checks may have grown since.
    owner = f"fleet:{scene.name}"
    state, after, ts = restore(scene, began.data["state"]), began.seq, began.ts
    saved = await store.snapshot(owner)
    if saved is not None and saved[0] > after:
        state, after = restore(scene, saved[1]), saved[0]
    while events := await store.events(after=after, limit=CHUNK, only=EventFilter(owner=owner)):
        if aside:
            await asyncio.to_thread(_fold, state, events)
        else:
            _fold(state, events)
        after, ts = events[-1].seq, events[-1].ts
    for name, site in state.worksites.items():
        if site.since_ts_ms == 0:  # Older logs did not say when the pallets of the scene file began to wait.
            state.worksites[name] = replace(site, since_ts_ms=began.ts)
    return state, ts


def _fold(state: FleetState, events: Iterable[Event]) -> None:
    for event in events:
        evolve(state, event)


def _carry_over(old: FleetState, state: FleetState) -> None:
    """What lies where it lay stays; counting goes on, so that no id is given twice."""
    for name, site in old.worksites.items():
        if name in state.worksites and site.worksite_type == state.worksites[name].worksite_type:
            state.worksites[name] = replace(state.worksites[name], occupancy=site.lies, since_ts_ms=site.since_ts_ms)
    for name, robot in old.robots.items():
        if name in state.robots:
            load: Mapping[str, Any] = {
                "load_state": robot.load_state,
                "load_state_source": robot.load_state_source,
                "load_state_confidence": robot.load_state_confidence,
                "out_of_service": robot.out_of_service,
                "errands": robot.errands,
                "boot": robot.boot,
            }
            state.robots[name] = replace(state.robots[name], **load)
    state.tasks_made, state.decisions_made = old.tasks_made, old.decisions_made
