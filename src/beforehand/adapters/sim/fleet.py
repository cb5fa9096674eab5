"""A simulated fleet: the robots of a scene in virtual time, at the level of commands and telemetry.

It has no clock and no chance in it: the same commands at the same times give the same reports, byte for byte. Between
what happens nothing is computed; positions and batteries are in closed form, so a day passes as fast as its events.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from beforehand.adapters.sim import forklift, mishaps
from beforehand.adapters.sim.body import NEVER_MS, Body, SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.pallets import Pallets, Place
from beforehand.adapters.sim.readings import Position, face, position, telemetry
from beforehand.adapters.sim.roads import Roads
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene, Occupancy
from beforehand.model.reason import unknown
from beforehand.model.robot import Ack, GoTarget, RobotCommand, Telemetry

_VERSION = 1
MOST_KEYS = 500
_QUIET_STEP_MS = 10_000
_MOST_LOOKS = 10_000
_FLAT = 0.00005
"""Less than this is reported as no charge at all."""


def _wire(item: Telemetry | Ack) -> dict[str, Any]:
    return item._asdict() if isinstance(item, Telemetry) else asdict(item)


class SimFleet:
    """The robots of one scene.

    Time begins with the first call that names it. Times never go back: an earlier one is read as the latest known.
    """

    def __init__(
        self, scene: FleetScene, faults: Sequence[FaultSpec] = (), settings: SimSettings | None = None
    ) -> None:
        self.settings = settings or SimSettings()
        self._scene_name = scene.name
        self._pallets = Pallets(scene)
        self._bodies = {spec.robot_id: Body.of(spec, 0) for spec in scene.robots}
        self._faults = list(faults)
        self._check_faults(self._faults)
        chargers = frozenset(site.node_id for site in scene.worksites if site.worksite_type == "charger")
        costs = scene.settings if chargers else None
        self._yard = forklift.Yard(Roads(scene), self._pallets, self.settings, costs, chargers, self._later)
        half_ms = round(scene.settings.offline_after_s * 500)
        self._heartbeat_ms = self.settings.heartbeat_ms or max(self.settings.period_ms, min(2000, half_ms))
        self._queue: list[tuple[int, int, str, str, Any]] = []
        self._count = 0
        self._now_ms: int | None = None
        self._quiet, self._quiet_step_ms = False, _QUIET_STEP_MS
        self._out: list[Telemetry | Ack] = []
        self._fault_keys: list[str] = []

    # -- what a driver calls

    def command(self, cmd: RobotCommand, now_ms: int) -> None:
        """Hand a command to its robot; the answer comes with the reports."""
        now_ms = self._play(now_ms)
        body = self._bodies.get(cmd.robot_id)
        if body is None:
            says = unknown("robot", cmd.robot_id, self._bodies).says
            self._out.append(Ack(cmd.key, cmd.robot_id, now_ms, False, "robot.unknown", says))
            return
        if body.has("offline") or body.hit("lost_command"):
            return
        answer = forklift.take(self._yard, body, cmd, now_ms)
        due_ms = now_ms + self.settings.ack_ms
        if not body.hit("lost_ack"):
            late_ms = body.ack_delay_ms if body.hit("late_ack") else 0
            self._later(due_ms + late_ms, body, "ack", [cmd.key, answer.ok, answer.code, answer.says])
        if isinstance(cmd, GoTarget):
            self._later(due_ms, body, "show", None)
        else:
            self._report_change(body, now_ms)

    def advance(self, now_ms: int) -> list[Telemetry | Ack]:
        """Let time pass; everything the robots reported up to now, in the order it arrived."""
        self._play(now_ms)
        out, self._out = self._out, []
        return out

    def settle(self, now_ms: int) -> None:
        """Let time pass with nobody listening, as between two runs of a server: robots go on, reports are lost."""
        self._play_quietly(now_ms)
        self._out = []

    def catch_up(self, now_ms: int) -> None:
        """Let a long time pass at once, as after a machine has slept: what was done is done, old reports are lost."""
        self._play_quietly(now_ms)
        self._out = [item for item in self._out if isinstance(item, Ack)]

    def _play_quietly(self, now_ms: int) -> None:
        """Let time pass in so few looks that any time passes soon; then everybody reports anew."""
        self._quiet_step_ms = max(_QUIET_STEP_MS, (now_ms - (self._now_ms or now_ms)) // _MOST_LOOKS)
        self._quiet = True
        now_ms = self._play(now_ms)
        self._quiet = False
        self._queue = [item for item in self._queue if item[3] != "period"]
        heapq.heapify(self._queue)
        self._put(now_ms, "", "period", None)
        for body in self._bodies.values():
            body.reported_ms = NEVER_MS

    def next_ms(self) -> int | None:
        """When the next thing will happen by itself; None before time has begun."""
        return self._queue[0][0] if self._queue else None

    def read(self, robot_id: str, now_ms: int) -> Telemetry | None:
        """The robot's state on request, as after a restart of the server; None where it does not answer."""
        now_ms = self._play(now_ms)
        body = self._bodies.get(robot_id)
        if body is None or body.has("offline"):
            return None
        body.seq += 1
        return telemetry(self._yard, body, now_ms)

    def inject(self, fault: FaultSpec, now_ms: int, key: str = "") -> None:
        """Let a fault happen `at_s` seconds from now; one with a key once, however often it is asked for."""
        self._check_faults([fault])
        if key and key in self._fault_keys:
            return
        self._fault_keys = [*self._fault_keys, key][-MOST_KEYS:] if key else self._fault_keys
        now_ms = self._play(now_ms)
        self._put(now_ms + round(1000 * fault.at_s), fault.robot_id, "strike", fault.wire())

    # -- what is really there

    @property
    def robots(self) -> int:
        """How many there are."""
        return len(self._bodies)

    def is_reachable(self, robot_id: str) -> bool:
        """Whether the robot answers at all; a fault of a script may keep it from it."""
        return not self._bodies[robot_id].has("offline")

    def pallets(self) -> dict[str, Place]:
        """Every pallet and the worksite or robot it is at; their number changes only by a person's hand."""
        return self._pallets.where()

    def positions(self, now_ms: int | None = None) -> dict[str, Position]:
        """Where every robot is now, or at a moment since the last call that nothing has happened after."""
        now_ms = self._now_ms or 0 if now_ms is None else now_ms
        yard = self._yard
        return {name: position(yard, body, now_ms, body.share_driven(now_ms)) for name, body in self._bodies.items()}

    def set_occupancy(self, worksite_id: str, occupancy: Occupancy) -> None:
        """A person brings a pallet (`filled`) or takes it away (`empty`); other words change nothing."""
        if occupancy in ("filled", "empty"):
            self._pallets.set_at(worksite_id, occupancy == "filled")

    def set_load(self, robot_id: str, loaded: bool) -> None:
        """A person puts a pallet on a robot's fork or takes it off."""
        if robot_id in self._bodies:
            self._pallets.set_on(robot_id, loaded)

    # -- keeping and taking up again

    def snapshot(self) -> dict[str, Any]:
        """All of it as JSON-ready data. One taken after each command is enough: the rest follows from time."""
        return {
            "version": _VERSION,
            "scene": self._scene_name,
            "nowMs": self._now_ms,
            "count": self._count,
            "queue": [list(item) for item in sorted(self._queue)],
            "robots": {robot_id: body.wire() for robot_id, body in self._bodies.items()},
            "pallets": self._pallets.snapshot(),
            **({"faultKeys": list(self._fault_keys)} if self._fault_keys else {}),
            "out": [{"is": type(item).__name__, **_wire(item)} for item in self._out],
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take up what `snapshot` gave; what the scene has lost since is passed over, what is new begins anew."""
        if data.get("version") != _VERSION or data.get("scene") != self._scene_name:
            raise BadInputError(
                f"This is not a snapshot of the robots of {self._scene_name}.",
                hint="Start without it: the robots then stand where the scene puts them.",
            )
        for robot_id, wire in data["robots"].items():
            if robot_id in self._bodies and self._fits(wire):
                self._bodies[robot_id] = Body.from_wire(wire)
        self._pallets.restore(data["pallets"], self._bodies)
        self._now_ms, self._count = data["nowMs"], data["count"]
        self._fault_keys = list(data.get("faultKeys", ()))
        known = {"", *self._bodies}
        # It was kept in order, and a sorted list is a heap.
        self._queue = [(t, n, who, what, arg) for t, n, who, what, arg in data["queue"] if who in known]
        kinds = {"Telemetry": Telemetry, "Ack": Ack}
        self._out = [kinds[item["is"]](**{k: v for k, v in item.items() if k != "is"}) for item in data["out"]]

    def _fits(self, wire: Mapping[str, Any]) -> bool:
        """Whether the scene still has the nodes that a kept robot speaks of."""
        leg, order = wire["leg"], wire["order"]
        named = [wire["node"], leg and leg["to"], order and order["target"]]
        return all(node in self._yard.roads for node in named if node)

    # -- the queue

    def _later(self, at_ms: int, body: Body, what: str, arg: Any) -> None:
        self._put(at_ms, body.robot_id, what, arg)

    def _put(self, at_ms: int, who: str, what: str, arg: Any) -> None:
        self._count += 1
        heapq.heappush(self._queue, (at_ms, self._count, who, what, arg))

    def _play(self, now_ms: int) -> int:
        """Everything up to now, in order; what that moment is."""
        if self._now_ms is None:
            self._begin(now_ms)
        now_ms = max(now_ms, self._now_ms or 0)
        while self._queue and self._queue[0][0] <= now_ms:
            at_ms, _, who, what, arg = heapq.heappop(self._queue)
            if what == "period":
                self._period(at_ms)
            else:
                body = self._bodies[who]
                self._happen(body, what, arg, at_ms)
                self._report_change(body, at_ms)
        self._now_ms = now_ms
        return now_ms

    def _begin(self, now_ms: int) -> None:
        self._now_ms = now_ms
        for body in self._bodies.values():
            body.battery_ms = now_ms
            body.plugged = body.node in self._yard.chargers
        self._put(now_ms, "", "period", None)
        for fault in self._faults:
            self._put(now_ms + round(1000 * fault.at_s), fault.robot_id, "strike", fault.wire())

    def _happen(self, body: Body, what: str, arg: Any, at_ms: int) -> None:
        match what:
            case "end":
                forklift.end(self._yard, body, arg, at_ms)
            case "begin":
                forklift.begin(self._yard, body, arg, at_ms)
            case "ack" if not body.has("offline"):
                self._out.append(Ack(arg[0], body.robot_id, at_ms, *arg[1:]))
            case "fail" if body.order is not None and body.order.key == arg:
                forklift.fail(self._yard, body, f"{body.robot_id} reports an internal fault.", at_ms)
            case "cancel" if body.order is not None and body.order.key == arg:
                forklift.cancel(self._yard, body, at_ms, by_hand=True)
            case "strike":
                mishaps.strike(self._yard, body, FaultSpec.model_validate(arg), at_ms)
            case "heal":
                mishaps.heal(self._yard, body, FaultSpec.model_validate(arg), at_ms)
            case _:
                pass

    def _period(self, at_ms: int) -> None:
        """The regular reports: of those on their way each time, of the others at the heartbeat."""
        self._put(at_ms + (self._quiet_step_ms if self._quiet else self.settings.period_ms), "", "period", None)
        standing_ms, costs = at_ms - self._heartbeat_ms, self._yard.costs
        for body in self._bodies.values():
            if (body.leg is not None and not body.halts) or body.reported_ms <= standing_ms:
                report = self._report(body, at_ms)
                if costs is not None and (report is None or not report.battery):
                    self._watch_battery(body, at_ms)

    def _watch_battery(self, body: Body, at_ms: int) -> None:
        spent = body.battery_at(at_ms, self._yard.costs, body.share_driven(at_ms)) < _FLAT
        if spent and not body.plugged and "flat" not in body.halts:
            mishaps.run_flat(self._yard, body, at_ms)
            self._report_change(body, at_ms)

    # -- reports

    def _report_change(self, body: Body, at_ms: int) -> None:
        shown = face(self._yard, body)
        if body.face != shown and not self._quiet:
            body.face = shown
            self._report(body, at_ms)

    def _report(self, body: Body, at_ms: int) -> Telemetry | None:
        """Say how it is; None where nobody hears it."""
        if self._quiet:
            return None
        body.reported_ms = at_ms
        if body.conditions or body.strikes or body.held_back is not None:
            return self._report_faultily(body, at_ms)
        body.seq += 1
        report = telemetry(self._yard, body, at_ms)
        self._out.append(report)
        return report

    def _report_faultily(self, body: Body, at_ms: int) -> Telemetry | None:
        if body.has("offline"):
            return None
        body.seq += 1
        report = telemetry(self._yard, body, at_ms)
        if body.held_back is not None:
            self._out += [report, body.held_back]
            body.held_back = None
        elif body.hit("out_of_order"):
            body.held_back = report
        else:
            self._out.append(report)
            if body.hit("duplicate"):
                self._out.append(report)
        return report

    def _check_faults(self, faults: Sequence[FaultSpec]) -> None:
        missing = sorted({fault.robot_id for fault in faults} - set(self._bodies))
        told = [unknown("robot", name, self._bodies, inside=self._scene_name) for name in missing]
        if told:
            says = " ".join(one.says for one in told)
            raise BadInputError(says, nearest=told[0].nearest, hint="Correct the names in the faults.")
