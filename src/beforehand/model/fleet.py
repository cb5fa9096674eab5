"""The words of a fleet scene: nodes and edges, worksites, robots, streams and settings.

Field names are the spec's own, camelCase on the wire. Two kinds of words live here: what a scene file says
(`FleetScene` and its parts, checked and frozen), and what is true at run time (`Worksite`, `Robot`, `Task`, `Stream`:
plain frozen records that are replaced, never changed, so that a tick over thousands of them stays cheap).
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from beforehand.model.base import WireModel
from beforehand.model.machine import SIM, Machine
from beforehand.model.quick import quick

Occupancy = Literal["unknown", "empty", "filled", "reserved"]
WorksiteType = Literal["pickup", "dropoff", "buffer", "charger", "park"]
LoadState = Literal["empty", "loaded", "unknown"]
LoadSource = Literal["task", "sensor", "manual", "unknown"]
RobotStatus = Literal["online", "offline", "blocked"]
TaskStatus = Literal["created", "active", "held", "stale", "completed", "failed", "canceled"]
Phase = Literal[
    "idle", "moving_to_pick", "picking", "moving_to_drop", "dropping", "parking", "charging", "error", "held"
]

Name = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e7, le=1e7)]
Length = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1e7)]
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1e7)]
Amount = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e7)]
Share = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]


class Node(WireModel):
    id: Name
    x: Number
    y: Number


class Edge(WireModel):
    from_: Name = Field(alias="from")
    to: Name
    one_way: Flag = False
    length_m: Length | None = None
    """Metres; the distance between the two nodes when absent."""


class PalletSpec(WireModel):
    """A type of pallet in the scene's catalogue."""

    pallet_type: Name
    length_m: Length
    width_m: Length
    height_m: Length | None = None
    weight_kg: Amount | None = None
    """How heavy one is at most, with its load."""
    recfile: Name | None = None
    """The recognition file for it, used where a pick recognises and names none."""


class WorksiteSpec(WireModel):
    worksite_id: Name
    worksite_type: WorksiteType
    group_id: str | None = None
    entry_node_id: Name
    action_node_id: Name | None = None
    occupancy: Occupancy | None = None
    """What stands there at the start: `unknown` when absent, `empty` for chargers and park places."""
    pallet_type: Name | None = None
    """The one type of pallets that stand there; absent, nobody knows and any may."""
    pick_params: Mapping[str, Any] | None = None
    drop_params: Mapping[str, Any] | None = None

    @property
    def node_id(self) -> str:
        """The one node a robot is sent to: the action node if there is one, else the entry."""
        return self.action_node_id or self.entry_node_id

    @property
    def initial_occupancy(self) -> Occupancy:
        if self.occupancy is not None:
            return self.occupancy
        return "empty" if self.worksite_type in ("charger", "park") else "unknown"


class RobotSpec(WireModel):
    robot_id: Name
    node_id: Name
    battery: Share = 1.0
    load_state: LoadState = "unknown"
    speed_mps: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=100)] = 1.0
    park_node_id: Name | None = None
    length_m: Length = 1.6
    width_m: Length = 1.0
    """How much ground its body covers, with what it carries."""
    completion_statuses: Annotated[tuple[int, ...], Field(min_length=1)] = (4, 6)
    capacity: Annotated[int, Field(strict=True, ge=1, le=20)] = 1
    """How many pallets it carries at once."""
    pallet_types: tuple[Name, ...] | None = None
    """The types it may carry; any when absent."""
    max_load_kg: Amount | None = None
    fork_profile: Name | None = None
    """The file of the home that says what its fork can do."""
    link: Machine = SIM
    """What leads to the robot: a kind, or a mapping with the kind and what it needs."""


class StreamSpec(WireModel):
    stream_id: Name
    kind: Name = "pickDrop"
    enabled: Flag = True
    params: Mapping[str, Any] = Field(default_factory=dict)
    """What the stream's kind asks for; checked by that kind's handler."""
    priority: Number = 0
    quota: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] | None = None
    """With `arbitration: quota`, how many tasks it may start in one `quotaWindowS`; no limit when absent."""
    meta: Mapping[str, Any] = Field(default_factory=dict)


class Settings(WireModel):
    dispatch: Literal["nearest", "first", "optimal"] = "nearest"
    arbitration: Literal["priority", "roundRobin", "quota", "preempt"] = "priority"
    error_policy: Literal["freeze", "recover"] = "freeze"
    park_node_id: Name | None = None
    charge_start_threshold: Share = 0.2
    charge_stop_threshold: Share = 0.8
    max_wait_s: Seconds = 600
    aging_per_s: Amount = 0.01
    start_timeout_s: Seconds = 10
    step_timeout_s: Seconds = 600
    offline_after_s: Seconds = 5
    pick_height_m: Amount = 1.2
    drop_height_m: Amount = 0.1
    traffic_mode: Literal["NONE", "RESERVE"] = "NONE"
    """`RESERVE`: a robot drives only on ground that it holds, and no two hold ground that overlaps."""
    tick_s: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.01, le=60)] = 0.5
    broker: Annotated[str, Field(max_length=1000)] | None = None
    """Where robots are reached that speak over a message broker: `mqtt://host:port`."""

    quota_window_s: Seconds = 60
    """The window that a stream's `quota` counts in."""
    lease_s: Seconds = 3600
    """How long a task may hold its worksites, what people pause not counted, before it is `stale` and one is asked."""
    retries: Annotated[int, Field(strict=True, ge=0, le=20)] = 2
    """With `errorPolicy: recover`, how often a step that failed or did not start is tried again."""
    retry_delay_s: Seconds = 5
    """The first wait before such a retry; it doubles each time."""
    battery_per_m: Amount = 0.0002
    """Share of a full battery that one metre costs; batteries run down only where there is a charger."""
    battery_per_s: Amount = 0.00001
    """Share of a full battery that one second costs, driving or not."""
    charge_per_s: Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0, le=1)] = 0.0005
    """Share of a full battery that one second on a charger gives."""


class FleetScene(WireModel):
    kind: Literal["fleet"] = "fleet"
    name: Name
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    pallets: tuple[PalletSpec, ...] = ()
    worksites: tuple[WorksiteSpec, ...] = ()
    robots: tuple[RobotSpec, ...] = ()
    streams: tuple[StreamSpec, ...] = ()
    settings: Settings = Field(default_factory=Settings)

    @property
    def has_chargers(self) -> bool:
        return any(site.worksite_type == "charger" for site in self.worksites)


# What is true at run time; `model/records.py` copies these records, and writes them for the wire without what is None.


@quick
@dataclass(frozen=True, slots=True)
class Worksite:
    worksite_id: str
    worksite_type: WorksiteType
    entry_node_id: str
    action_node_id: str | None = None
    group_id: str | None = None
    occupancy: Occupancy = "unknown"
    reserved_by: str | None = None
    """The task that holds it, or, for chargers and park places, the robot."""
    occupancy_before: Occupancy | None = None
    """What lies under the reservation."""
    since_ts_ms: int = 0
    """When what lies there last changed."""
    failures: int = 0
    """Failed picks or drops here in a row; too many take it out of dispatch until a person looks at it."""
    rest_until_ts_ms: int = 0
    """Not used for new work before this time, after a failure."""
    brought_by: str | None = None
    """The shuttle that brought what lies here; it does not take it back by itself."""

    @property
    def node_id(self) -> str:
        return self.action_node_id or self.entry_node_id

    @property
    def lies(self) -> Occupancy:
        """What physically lies there, reservation or not."""
        return self.occupancy_before or self.occupancy if self.occupancy == "reserved" else self.occupancy


@quick
@dataclass(frozen=True, slots=True)
class Stream:
    stream_id: str
    kind: str = "pickDrop"
    enabled: bool = True
    priority: float = 0.0
    quota: int | None = None
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    meta: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    cursor: str | None = None
    """The drop place it used last, from which a rotation goes on."""
    tasks_created: int = 0
    tasks_completed: int = 0
    last_task_ts_ms: int | None = None
    window_start_ts_ms: int = 0
    window_count: int = 0
    """Tasks started since `windowStartTsMs`, for the quota."""


@quick
@dataclass(frozen=True, slots=True)
class Errand:
    """Something a robot does for itself, never a task: driving to a park place or a charger and standing there."""

    kind: Literal["park", "charge"]
    node_id: str
    key: str
    worksite_id: str | None = None
    state: Literal["due", "sent", "running", "canceling", "there"] = "due"
    sent_ts_ms: int = 0
    level: float | None = None
    """For charging: the battery level it stays for."""
    ordered: bool = False
    """A person asked for it, so it is not given up for work before it is done."""


@quick
@dataclass(frozen=True, slots=True)
class Robot:
    robot_id: str
    status: RobotStatus = "online"
    phase: Phase = "idle"
    load_state: LoadState = "unknown"
    load_state_source: LoadSource = "unknown"
    load_state_confidence: Literal["high", "low"] = "low"
    doubted_load: Literal["empty", "loaded"] | None = None
    """What its load sensor read when it contradicted the robot's own word; believed again once it reads otherwise."""
    task_id: str | None = None
    errand: Errand | None = None
    errands: int = 0
    """How many errands it has had, for their keys."""
    errand_rest_ts_ms: int = 0
    """No errand before this time, after one that failed."""
    errand_failures: int | None = None
    """Errands in a row that came to nothing; too many, and a person is asked."""
    lost_ts_ms: int | None = None
    """Since when it has not known where it is; absent while it does."""
    failed_at: tuple[str, ...] | None = None
    """The worksites of its last failed tasks, none done since: failures that follow a robot are its own."""
    wish: Literal["park", "charge"] | None = None
    """An errand a person asked for that has not begun yet."""
    held: bool = False
    """A person holds it: it finishes nothing and starts nothing until released."""
    paused: bool = False
    """It was told to pause and not yet to go on."""
    paused_ts_ms: int | None = None
    """When it was last told to pause, or to go on."""
    resume_key: str | None = None
    """The command to go on that it has neither confirmed nor followed yet."""
    out_of_service: bool = False
    error: str | None = None
    orphan_key: str | None = None
    """An order given up while it could not be told; it is cancelled when the robot can be reached again."""
    boot: int = 0
    """The boot count it last reported; a change means it has forgotten its order."""
    way: tuple[str, ...] | None = None
    """With `trafficMode: RESERVE`: the nodes it may drive over for its order, the last one passed first."""
    way_at: int | None = None
    """Where in the whole way of its order that first node is."""
    waits_for: str | None = None
    """The robot that holds the ground it needs next."""
    waits_says: str | None = None
    waits_since_ts_ms: int | None = None
    waits_on_purpose: str | None = None
    """The robot in trouble that a person has said it shall wait for."""
    yields_to: str | None = None
    """The robot that it lets by first."""


@quick
@dataclass(frozen=True, slots=True)
class Trace:
    """What is known of an order that is out: how its robot was before, and what it has shown of it since."""

    status_before: int = 0
    load_before: Literal["empty", "loaded"] | None = None
    target_before: str | None = None
    ran: bool | None = None
    """It was seen to run."""
    named: bool | None = None
    """The robot has named it by its key."""
    away_ts_ms: int | None = None
    """When the robot was last seen away from the place, once it has come there."""
    cancel_heard: bool | None = None
    """The robot has answered that it was told to cancel."""


@quick
@dataclass(frozen=True, slots=True)
class Leg:
    """One pallet of a task that carries several."""

    source_id: str
    target_id: str
    state: Literal["waiting", "carried", "dropped"] = "waiting"


@quick
@dataclass(frozen=True, slots=True)
class Task:
    task_id: str
    stream_id: str | None
    source_id: str
    target_id: str
    robot_id: str | None = None
    status: TaskStatus = "created"
    step: Literal["pick", "drop", "done"] = "pick"
    phase: Phase = "idle"
    priority: float = 0.0
    committed: bool = False
    """The drop is locked: the robot carries the pallet and has come within the commit distance."""
    command_key: str | None = None
    command_state: Literal["none", "due", "sent", "running", "paused", "canceling"] = "none"
    attempt: int = 0
    """How many commands this task has sent; part of each command's key."""
    retries: int = 0
    """Retries of the present step."""
    sent_ts_ms: int = 0
    deadline_ts_ms: int | None = None
    """When the present wait (start or step) times out."""
    remaining_ms: int | None = None
    """What was left of that wait when the task was paused."""
    lease_ts_ms: int | None = None
    lease_remaining_ms: int | None = None
    retry_ts_ms: int | None = None
    waits_for: Literal["person", "robot", "retry"] | None = None
    """While held: what ends it."""
    then: Literal["resend", "next", "skip", "cancel", "fail", "hand-back", "fail-loaded"] | None = None
    """While a command is being cancelled: what follows once the robot has let go."""
    next_target_id: str | None = None
    """While the robot lets go of its order: where the pallet goes instead. Both places are reserved until then."""
    not_robot_id: str | None = None
    """The robot that handed it back; it gets the task again only where no other can take it, and not at once."""
    not_until_ts_ms: int | None = None
    """Until when it never gets it again."""
    at_place_ts_ms: int | None = None
    """Since when the robot has stood at the place of the present step with its order running."""
    trace: Trace | None = None
    """Of the order that is out, or was last."""
    in_doubt: bool | None = None
    """What became of that order is not known: a person is asked, and it is neither booked nor ordered again."""
    by_hand: bool | None = None
    """A person did the step before, and the present one has not begun."""
    legs: tuple[Leg, ...] | None = None
    """The pallets of a task that carries several; source and target are then those of the one it is at."""
    error_code: str | None = None
    error: str | None = None
    created_ts_ms: int = 0
    updated_ts_ms: int = 0
    ended_ts_ms: int | None = None
