"""A shift in virtual time: the same core against simulated robots, as fast as it can be worked out.

The same scene gives the same result and the same log, byte for byte. It always ends: a scene in which pallets could go
round for ever is stopped after two hours, and any scene after a long time in which nothing happened.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.decide import step
from beforehand.crafts.fleet.core.hands import Hall, follow_hands
from beforehand.crafts.fleet.core.inputs import FleetInput
from beforehand.crafts.fleet.core.invariants import Invariants
from beforehand.crafts.fleet.core.state import FleetState, initial, shown
from beforehand.crafts.fleet.core.streams import KINDS, ways_of
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, RobotCommand, Telemetry

ROUND_S = 2 * 3600.0
LONGEST_S = 365 * 24 * 3600.0
WATCH_TICKS = 100


class Simulator(Protocol):
    """Robots that can be commanded and that report, in whatever time they are given."""

    def command(self, cmd: RobotCommand, now_ms: int) -> None: ...

    def advance(self, now_ms: int) -> list[Telemetry | Ack]: ...


@runtime_checkable
class Floor(Protocol):
    """A simulator that knows where every pallet truly is."""

    def pallets(self) -> Mapping[str, tuple[str, str]]: ...


Watch = Callable[[FleetState, int], None]
"""Shown the state and the time in milliseconds every so often."""


@dataclass(slots=True)
class Result:
    state: FleetState
    sim_seconds: float
    ticks: int
    ended: Literal["idle", "time", "bound"]
    events: list[Event] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def wire(self) -> dict[str, Any]:
        """What `fleet simulate -o json` prints."""
        state = self.state
        live = shown(state)
        return {
            "tasksCompleted": state.completed,
            "tasksFailed": state.failed,
            "simSeconds": self.sim_seconds,
            "ticks": self.ticks,
            "robots": live["robots"],
            "worksites": live["worksites"],
            "streams": live["streams"],
            "invariantViolations": self.violations,
        }


def simulate(
    scene: FleetScene,
    sim: Simulator,
    *,
    for_s: float | None = None,
    inputs: Sequence[tuple[float, FleetInput]] = (),
    keep_events: bool = True,
    watch: Watch | None = None,
) -> Result:
    """Runs for `for_s` virtual seconds, or until nothing is left to do.

    `inputs` are what people do meanwhile: pairs of when, in seconds, and what.
    """
    state = initial(scene)
    check = Invariants(scene)
    result = Result(state, 0.0, 0, "idle")
    todo = sorted(inputs, key=lambda pair: pair[0])
    tick_ms = round(scene.settings.tick_s * 1000)
    end_ms = round(1000 * (for_s if for_s is not None else _bound_s(scene)))
    patience_ms = round(1000 * _patience_s(scene))
    now = quiet_since = number = 0
    while True:
        said: list[FleetInput] = []
        while todo and todo[0][0] * 1000 <= now:
            said.append(todo.pop(0)[1])
        state, verdict = step(state, [*sim.advance(now), *said], now)
        if said and isinstance(sim, Hall):
            follow_hands(sim, said, verdict)
        result.ticks += 1
        if watch is not None and result.ticks % WATCH_TICKS == 0:
            watch(state, now)
        for command in verdict.commands:
            sim.command(command, now)
        for event in verdict.events:
            number += 1
            check.see(event)
            if keep_events:
                result.events.append(event.numbered(number))
        check.settle()
        if verdict.events or verdict.commands:
            quiet_since = now
        if for_s is None and not todo and not verdict.commands and is_settled(state, now):
            break
        if now + tick_ms > end_ms or (for_s is None and now - quiet_since > patience_ms):
            result.ended = "time" if for_s is not None else "bound"
            break
        now += tick_ms
    result.sim_seconds = (end_ms if result.ended == "time" else now) / 1000
    result.violations = check.end()
    if isinstance(sim, Floor):
        result.violations += check.differing(sim.pallets().values())
    return result


def _bound_s(scene: FleetScene) -> float:
    """Where no pallet can come back to where it was, the work ends by itself; else two hours show enough."""
    return ROUND_S if _goes_round(scene) else LONGEST_S


def _patience_s(scene: FleetScene) -> float:
    settings = scene.settings
    waits = (settings.max_wait_s, settings.step_timeout_s, settings.quota_window_s, settings.lease_s)
    return 2 * max(*waits, 1.0 / settings.charge_per_s)


def _goes_round(scene: FleetScene) -> bool:
    ahead: dict[str, set[str]] = {}
    for stream in scene.streams:
        handler = KINDS[stream.kind]
        for sources, targets in ways_of(handler, handler.params.model_validate(dict(stream.params))):
            for site in sources:
                ahead.setdefault(site, set()).update(targets)
    done: set[str] = set()
    return any(_meets_itself(site, ahead, done) for site in ahead)


def _meets_itself(start: str, ahead: dict[str, set[str]], done: set[str]) -> bool:
    """Whether a walk from here can come to a place a second time."""
    if start in done:
        return False
    stack: list[tuple[str, list[str]]] = [(start, sorted(ahead.get(start, ())))]
    path = {start}
    while stack:
        site, rest = stack[-1]
        if rest:
            following = rest.pop()
            if following in path:
                return True
            if following not in done:
                path.add(following)
                stack.append((following, sorted(ahead.get(following, ()))))
        else:
            stack.pop()
            path.discard(site)
            done.add(site)
    return False
