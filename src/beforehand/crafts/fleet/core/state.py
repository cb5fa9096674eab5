"""The state of one scene's fleet and how events change it.

`evolve` is the only way state changes: the live state is the fold of the events of every tick, so a replay of the log
gives the same. It changes the state it is given, in place, and returns it; `decide` never does. Apart stands `seen`,
the last report of each robot: positions and battery are not logged, and a restart asks the robots for them anew.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from beforehand.crafts.fleet.core.routes import Routes
from beforehand.crafts.fleet.core.streams import KINDS, Candidate, Pallets
from beforehand.crafts.fleet.core.traffic.memory import TrafficMemory
from beforehand.model.decision import Decision
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene, PalletSpec, Robot, RobotSpec, Stream, Task, Worksite, WorksiteSpec
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.records import changed, from_wire, lay_out_records, wire_of
from beforehand.model.robot import Telemetry
from beforehand.ports.compiled import has_scipy

ENDED = ("completed", "failed", "canceled")
KEPT_ENDED = 1000
"""How many ended tasks stay in the state; older ones are in the log."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Why nothing new starts: a person stopped the fleet, or these stand in error under `freeze`."""

    person: bool = False
    tasks: tuple[str, ...] = ()
    robots: tuple[str, ...] = ()
    """Robots without a task that stand in error under `freeze`."""

    def __bool__(self) -> bool:
        return self.person or bool(self.tasks) or bool(self.robots)

    def wire(self) -> dict[str, Any]:
        return {"person": self.person, "tasks": list(self.tasks), "robots": list(self.robots)}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Hold":
        """What `wire` wrote; before there were robots in it, none could freeze a fleet."""
        return cls(data["person"], tuple(data["tasks"]), tuple(data.get("robots", ())))


class Seen(NamedTuple):
    """The last report of a robot and when it came in; `heard` is false until there was one."""

    report: Telemetry
    at_ms: int
    heard: bool = True


@dataclass(slots=True)
class FleetState:
    scene: FleetScene
    routes: Routes
    specs: dict[str, WorksiteSpec]
    robot_specs: dict[str, RobotSpec]
    pallets: dict[str, PalletSpec]
    """The catalogue, by type."""
    params: dict[str, Any]
    places: dict[str, tuple[str, ...]]
    """Worksite ids by worksite type."""
    users: Mapping[str, tuple[str, ...]]
    """For each worksite of a stream the streams that have it in one of their groups."""
    sharing: frozenset[str]
    """Streams that have a worksite in common with another one."""
    worksites: dict[str, Worksite]
    robots: dict[str, Robot]
    streams: dict[str, Stream]
    tasks: dict[str, Task] = field(default_factory=dict)
    open_tasks: dict[str, None] = field(default_factory=dict)
    """Ids of the tasks that have not ended, oldest first."""
    decisions: dict[str, Decision] = field(default_factory=dict)
    hold: Hold = Hold()
    tasks_made: int = 0
    decisions_made: int = 0
    completed: int = 0
    failed: int = 0
    canceled: int = 0
    seen: dict[str, Seen] = field(default_factory=dict)
    # What follows from the above, kept so that a tick looks only at what it has to.
    untasked: set[str] = field(default_factory=set)
    """Robots without a task."""
    on_errands: set[str] = field(default_factory=set)
    """Robots with an errand."""
    failing: set[str] = field(default_factory=set)
    """Worksites where the last step failed."""
    firsts: dict[str, Candidate | None] = field(default_factory=dict)
    """What a stream offered first when it was last asked, if nothing it looks at has changed since."""
    passed: dict[Pallets, frozenset[str]] = field(default_factory=dict)
    """Where a tick had no time to look at all work: what it and those before it looked at in vain, and for whom."""
    no_work: bool = False
    """The streams were asked and had nothing, and nothing they look at has changed since: no need to ask again."""
    pending: set[str] = field(default_factory=set)
    """Open tasks that wait for a robot or have an order to send."""
    since_ms: int = 0
    """When this process took the fleet up: what happened before, it has not watched."""
    log: LogIdentity = UNNAMED
    """The log whose keys new orders are sent with."""
    order_keys: dict[str, str] = field(default_factory=dict)
    """The key of each robot's last order, as far as this log knows."""
    asked_in: dict[str, str] = field(default_factory=dict)
    """The generation of the log in which somebody was last asked what a robot did for another one."""
    traffic: TrafficMemory | None = None
    """The ground and what is planned on it; None where ground is not shared out."""
    robot_places: dict[str, int] = field(init=False)
    """The robots' order in the scene."""
    has_chargers: bool = field(init=False)
    has_choosy_robots: bool = field(init=False)
    """Whether some robot may not carry everything."""

    def __post_init__(self) -> None:
        self.has_chargers = "charger" in self.places
        choosy = (robot.pallet_types is not None or robot.max_load_kg is not None for robot in self.scene.robots)
        self.has_choosy_robots = any(choosy)
        self.robot_places = {name: number for number, name in enumerate(self.robots)}
        self.index()

    def index(self) -> None:
        """Works out anew what is kept beside the records."""
        self.untasked = {name for name, robot in self.robots.items() if robot.task_id is None}
        self.on_errands = {name for name, robot in self.robots.items() if robot.errand is not None}
        self.pending = {name for name in self.open_tasks if _pends(self.tasks[name])}
        self.failing = {name for name, site in self.worksites.items() if site.failures}
        self.firsts = {}
        self.passed = {}
        self.no_work = False

    @property
    def owner(self) -> str:
        return f"fleet:{self.scene.name}"


def _pends(task: Task) -> bool:
    return task.robot_id is None or task.command_state == "due"


def initial(scene: FleetScene, now_ms: int = 0) -> FleetState:
    """The fleet as the scene file has it, before anything happened: its pallets wait from now on."""
    params = {}
    for stream in scene.streams:
        params[stream.stream_id] = KINDS[stream.kind].params.model_validate(dict(stream.params))
    users = _users(scene, params)
    lay_out_records()
    if scene.settings.dispatch == "optimal" and has_scipy():
        import scipy.optimize  # noqa: F401  Importing it takes a while: better now than in the first tick.
    return FleetState(
        scene=scene,
        routes=Routes(scene),
        specs={site.worksite_id: site for site in scene.worksites},
        robot_specs={robot.robot_id: robot for robot in scene.robots},
        pallets={pallet.pallet_type: pallet for pallet in scene.pallets},
        params=params,
        places=_places(scene),
        users=users,
        sharing=frozenset(name for names in users.values() if len(names) > 1 for name in names),
        worksites={site.worksite_id: _worksite(site, now_ms) for site in scene.worksites},
        robots={robot.robot_id: _robot(robot) for robot in scene.robots},
        streams={
            stream.stream_id: Stream(
                stream.stream_id,
                stream.kind,
                stream.enabled,
                stream.priority,
                stream.quota,
                params=dict(stream.params),
                meta=dict(stream.meta),
            )
            for stream in scene.streams
        },
        seen={robot.robot_id: _unseen(robot.robot_id, robot.node_id, robot.battery) for robot in scene.robots},
        traffic=TrafficMemory.of(scene),
    )


def _places(scene: FleetScene) -> dict[str, tuple[str, ...]]:
    kinds: dict[str, tuple[str, ...]] = {}
    for site in scene.worksites:
        kinds[site.worksite_type] = (*kinds.get(site.worksite_type, ()), site.worksite_id)
    return kinds


def _users(scene: FleetScene, params: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    users: dict[str, dict[str, None]] = {}
    for stream in scene.streams:
        for group in KINDS[stream.kind].groups(params[stream.stream_id]).values():
            for site in group:
                users.setdefault(site, {})[stream.stream_id] = None
    return {site: tuple(names) for site, names in users.items()}


def _worksite(site: WorksiteSpec, now_ms: int) -> Worksite:
    return Worksite(
        site.worksite_id,
        site.worksite_type,
        site.entry_node_id,
        site.action_node_id,
        site.group_id,
        site.initial_occupancy,
        since_ts_ms=now_ms,
    )


def _robot(robot: RobotSpec) -> Robot:
    source, sure = ("manual", "low") if robot.load_state != "unknown" else ("unknown", "low")
    return Robot(
        robot.robot_id,
        load_state=robot.load_state,
        load_state_source=source,  # type: ignore[arg-type]
        load_state_confidence=sure,  # type: ignore[arg-type]
    )


def _unseen(robot_id: str, node_id: str | None, battery: float | None) -> Seen:
    return Seen(Telemetry(robot_id, 0, -1, boot=-1, node_id=node_id, battery=battery), -1, heard=False)


# Folding events


def evolve(state: FleetState, event: Event) -> FleetState:
    """The state after the event; the given one is changed in place. Kinds that are not the fleet's are passed over."""
    folded = FOLDS.get(event.kind)
    if folded is not None:
        folded(state, event)
        state.no_work = state.no_work and event.kind == "robotUpdated"
    return state


def _task_created(state: FleetState, event: Event) -> None:
    task = from_wire(Task, event.data)
    state.tasks[task.task_id] = task
    state.open_tasks[task.task_id] = None
    state.pending.add(task.task_id)
    state.tasks_made += 1
    if task.stream_id is not None:
        state.firsts.pop(task.stream_id, None)
        state.streams[task.stream_id] = after_created(
            state.streams[task.stream_id], task, event.ts, state.scene.settings.quota_window_s
        )


def after_created(stream: Stream, task: Task, ts: int, window_s: float) -> Stream:
    """The stream's cursor and counts once it has started this task."""
    anew = ts - stream.window_start_ts_ms >= window_s * 1000 or stream.tasks_created == 0
    return changed(
        stream,
        cursor=task.target_id,
        tasks_created=stream.tasks_created + 1,
        last_task_ts_ms=ts,
        window_start_ts_ms=ts if anew else stream.window_start_ts_ms,
        window_count=1 if anew else stream.window_count + 1,
    )


def _task_updated(state: FleetState, event: Event) -> None:
    task = from_wire(Task, event.data)
    before = state.tasks.get(task.task_id)
    state.tasks[task.task_id] = task
    if task.command_key is not None and task.robot_id is not None:
        state.order_keys[task.robot_id] = task.command_key
    over = task.status in ENDED
    (state.pending.add if _pends(task) and not over else state.pending.discard)(task.task_id)
    if not over or (before is not None and before.status in ENDED):
        return
    state.open_tasks.pop(task.task_id, None)
    setattr(state, task.status, getattr(state, task.status) + 1)
    if task.status == "completed" and task.stream_id is not None:
        stream = state.streams[task.stream_id]
        state.streams[task.stream_id] = changed(stream, tasks_completed=stream.tasks_completed + 1)
    _forget_oldest(state)


def _forget_oldest(state: FleetState) -> None:
    if len(state.tasks) - len(state.open_tasks) > KEPT_ENDED:
        for task_id in state.tasks:
            if task_id not in state.open_tasks:
                del state.tasks[task_id]
                return


def _worksite_updated(state: FleetState, event: Event) -> None:
    site = from_wire(Worksite, event.data)
    (state.failing.add if site.failures else state.failing.discard)(site.worksite_id)
    _put_site(state, site)


def _put_site(state: FleetState, site: Worksite) -> None:
    state.worksites[site.worksite_id] = site
    for stream_id in state.users.get(site.worksite_id, ()):
        state.firsts.pop(stream_id, None)


def _robot_updated(state: FleetState, event: Event) -> None:
    robot = from_wire(Robot, event.data)
    state.robots[robot.robot_id] = robot
    (state.untasked.add if robot.task_id is None else state.untasked.discard)(robot.robot_id)
    (state.on_errands.discard if robot.errand is None else state.on_errands.add)(robot.robot_id)
    if robot.errand is not None and robot.errand.state in ("sent", "running"):
        state.order_keys[robot.robot_id] = robot.errand.key
    seen = state.seen.get(robot.robot_id)
    if seen is None or not seen.heard:
        state.seen[robot.robot_id] = _unseen(robot.robot_id, event.data.get("nodeId"), event.data.get("battery"))


def _pallet_moved(state: FleetState, event: Event) -> None:
    """The one event in which a pallet changes place: worksite and fork together."""
    data = event.data
    site, robot = state.worksites[data["worksiteId"]], state.robots[data["robotId"]]
    here = {"occupancy": data["occupancy"], "reserved_by": None, "occupancy_before": None, "since_ts_ms": event.ts}
    _put_site(state, changed(site, **here))
    state.robots[robot.robot_id] = changed(robot, load_state=data["loadState"])


def _stream_updated(state: FleetState, event: Event) -> None:
    stream = state.streams[event.data["streamId"]]
    state.firsts.pop(stream.stream_id, None)
    priority = event.data.get("priority", stream.priority)
    state.streams[stream.stream_id] = changed(stream, enabled=event.data["enabled"], priority=priority)


def _hold_changed(state: FleetState, event: Event) -> None:
    state.hold = Hold.of(event.data)


def _decision_opened(state: FleetState, event: Event) -> None:
    state.decisions_made += 1
    decision = state.decisions[event.data["id"]] = Decision.model_validate(dict(event.data))
    if decision.evidence.get("orderKey"):  # somebody is asked about it, once
        state.order_keys[decision.about["robotId"]] = decision.evidence["orderKey"]
    if decision.evidence.get("log"):  # and about what came after the last order that this log knows
        state.asked_in[decision.about["robotId"]] = decision.evidence["log"]


def _decision_closed(state: FleetState, event: Event) -> None:
    state.decisions.pop(event.data["id"], None)


FOLDS: Mapping[str, Callable[[FleetState, Event], None]] = {
    "taskCreated": _task_created,
    "taskUpdated": _task_updated,
    "worksiteUpdated": _worksite_updated,
    "robotUpdated": _robot_updated,
    "palletPicked": _pallet_moved,
    "palletDropped": _pallet_moved,
    "streamUpdated": _stream_updated,
    "fleetHeld": _hold_changed,
    "fleetCleared": _hold_changed,
    "decisionOpened": _decision_opened,
    "decisionAnswered": _decision_closed,
    "decisionWithdrawn": _decision_closed,
}


# On the wire


def robot_wire(robot: Robot, seen: Seen) -> dict[str, Any]:
    """A robot as the API and events show it: what is decided about it and where it was last seen."""
    shown = wire_of(robot)
    report = seen.report
    if report.node_id is not None:
        shown["nodeId"] = report.node_id
    if report.battery is not None:
        shown["battery"] = round(report.battery, 4)
    shown["lastSeenTsMs"] = max(0, seen.at_ms)
    return shown


def shown(state: FleetState) -> dict[str, Any]:
    """Everything live, as the API shows it."""
    return {
        "robots": [robot_wire(robot, state.seen[robot_id]) for robot_id, robot in state.robots.items()],
        "worksites": [wire_of(site) for site in state.worksites.values()],
        "streams": [wire_of(stream) for stream in state.streams.values()],
        "tasks": [wire_of(task) for task in state.tasks.values()],
        "decisions": [decision.wire() for decision in state.decisions.values()],
        "hold": {"held": bool(state.hold), **state.hold.wire()},
    }


def snapshot(state: FleetState) -> dict[str, Any]:
    """Everything the events have built, as JSON-ready data; what was last seen is not part of it."""
    return {
        "scene": state.scene.name,
        "worksites": [wire_of(site) for site in state.worksites.values()],
        "robots": [wire_of(robot) for robot in state.robots.values()],
        "streams": [wire_of(stream) for stream in state.streams.values()],
        "tasks": [wire_of(task) for task in state.tasks.values()],
        "openTasks": list(state.open_tasks),
        "decisions": [decision.wire() for decision in state.decisions.values()],
        "hold": state.hold.wire(),
        "orderKeys": dict(state.order_keys),
        "askedIn": dict(state.asked_in),
        "counts": [state.tasks_made, state.decisions_made, state.completed, state.failed, state.canceled],
    }


def restore(scene: FleetScene, data: Mapping[str, Any]) -> FleetState:
    """The state that `snapshot` wrote, for the same scene."""
    state = initial(scene)
    state.worksites = {site["worksiteId"]: from_wire(Worksite, site) for site in data["worksites"]}
    state.robots = {robot["robotId"]: from_wire(Robot, robot) for robot in data["robots"]}
    state.streams = {stream["streamId"]: from_wire(Stream, stream) for stream in data["streams"]}
    state.tasks = {task["taskId"]: from_wire(Task, task) for task in data["tasks"]}
    state.open_tasks = dict.fromkeys(data["openTasks"])
    state.decisions = {one["id"]: Decision.model_validate(one) for one in data["decisions"]}
    state.hold = Hold.of(data["hold"])
    state.order_keys = dict(data.get("orderKeys", {}))
    state.asked_in = dict(data.get("askedIn", {}))
    counts = data["counts"]
    state.tasks_made, state.decisions_made, state.completed, state.failed, state.canceled = counts
    state.index()
    return state
