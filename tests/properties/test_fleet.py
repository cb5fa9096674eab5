"""Whatever the scene, the streams, the faults and the people do: the fleet's invariants hold and the log replays.

Each example is a scene and a script drawn from a seed, worked through in virtual time.
"""

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.inputs import (
    AnswerDecision,
    FleetInput,
    FleetVerb,
    PatchStream,
    PatchWorksite,
    RequestTransport,
    RobotVerb,
    TaskVerb,
)
from beforehand.crafts.fleet.core.invariants import Invariants
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.state import snapshot
from beforehand.crafts.fleet.core.verbs import TASK_VERBS
from beforehand.crafts.fleet.core.why import why
from beforehand.crafts.fleet.testing import Shift
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import CancelTarget

STRIKES = [
    "offline",
    "blocked",
    "paused_by_hand",
    "low_battery",
    "dead_battery",
    "restart",
    "late_ack",
    "lost_ack",
    "lost_command",
    "status5",
    "status6",
    "duplicate",
    "out_of_order",
]
MISLEADING = ["mispick", "misdrop", "cancelled_by_hand", "lost_position", "sensor_wrong"]
"""Faults after which no core can know what lies where; the books must still be in order."""
SEEDS = st.integers(0, 2**32)


def draw_scene(draw: random.Random, one_way_for_pallets: bool = False) -> FleetScene | None:
    size = draw.randint(8, 14)
    nodes = [{"id": f"N{n}", "x": draw.randint(0, 30), "y": draw.randint(0, 30)} for n in range(size)]
    edges: list[dict[str, Any]] = [{"from": f"N{n}", "to": f"N{draw.randrange(n)}"} for n in range(1, size)]
    for _ in range(draw.randint(0, 3)):
        start, end = draw.sample(range(size), 2)
        one_way = draw.random() < 0.5
        if all({edge["from"], edge["to"]} != {f"N{start}", f"N{end}"} for edge in edges):
            edges.append({"from": f"N{start}", "to": f"N{end}", "oneWay": one_way})
    count = draw.randint(3, 7)
    names = [f"W{n}" for n in range(count)]
    lies = ["filled", "empty"] * 4 + ["unknown"]
    sites = [
        {"worksiteId": name, "worksiteType": "buffer", "entryNodeId": f"N{n}", "occupancy": draw.choice(lies)}
        for n, name in enumerate(names)
    ]
    for kind, letter in (("charger", "C"), ("park", "P")):
        for n in range(draw.randint(0, 2)):
            # Each has its own place of work, off one of the nodes.
            node, place = f"N{draw.randrange(size)}", f"{letter}{n}"
            nodes.append({"id": f"A{place}", "x": 21, "y": len(nodes)})
            edges.append({"from": node, "to": f"A{place}"})
            sites.append({"worksiteId": place, "worksiteType": kind, "entryNodeId": node, "actionNodeId": f"A{place}"})
    robots = [
        {
            "robotId": f"R{n}",
            "nodeId": f"N{draw.randrange(size)}",
            "battery": draw.choice([1.0, 1.0, 0.5, 0.3]),
            "loadState": "empty",
            "capacity": draw.choice([1, 1, 2, 3]),
        }
        for n in range(draw.randint(1, 4))
    ]
    streams = [draw_stream(draw, f"S{n}", names, one_way_for_pallets) for n in range(draw.randint(1, 3))]
    document = {
        "kind": "fleet",
        "name": "drawn",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": robots,
        "streams": streams,
        "settings": {
            "dispatch": draw.choice(["nearest", "first", "optimal"]),
            "arbitration": draw.choice(["priority", "roundRobin", "quota", "preempt"]),
            "errorPolicy": draw.choice(["freeze", "recover"]),
            "chargePerS": 0.01,
            "leaseS": draw.choice([3600, 3600, 60]) if not one_way_for_pallets else 3600,
        },
    }
    try:
        return read_fleet(document)
    except BadInputError:
        return None


def draw_stream(draw: random.Random, name: str, sites: list[str], one_way: bool) -> dict[str, Any]:
    cut = draw.randint(1, len(sites) - 1)
    order = list(sites) if one_way else draw.sample(sites, len(sites))
    picks, rest = order[:cut], order[cut:]
    kind = draw.choice(["pickDrop", "pickDrop", "roundRobin", "replenish", "buffered", "batch", "batch", "shuttle"])
    params: dict[str, Any] = {"pickGroup": picks, "dropGroup": rest}
    if kind == "buffered" and len(rest) > 1:
        params |= {"bufferGroup": rest[:1], "dropGroup": rest[1:]}
    elif kind == "buffered":
        kind = "pickDrop"
    if kind == "replenish":
        params["threshold"] = draw.randint(1, len(rest))
    if kind == "batch":
        params |= {"batchSize": draw.randint(2, 3), "partial": draw.random() < 0.7}
    if kind == "shuttle":
        params |= {"pickGroup": picks[:1], "dropGroup": rest[:1], "bothWays": not one_way and draw.random() < 0.7}
    params["dropPolicy"] = {
        "selection": draw.choice(["first_available_in_order", "last_available_in_order"]),
        "commitDistanceM": draw.choice([0, 5, 100]),
    }
    if kind != "batch" and draw.random() < 0.3:
        params["dropPolicy"]["accessRule"] = "preceding_empty"
    quota = {"quota": draw.randint(1, 2)} if draw.random() < 0.3 else {}
    return {"streamId": name, "kind": kind, "priority": draw.choice([0, 0, 1, 5]), "params": params, **quota}


def draw_sim(draw: random.Random, scene: FleetScene, strikes: list[str]) -> SimFleet:
    faults = [
        FaultSpec(
            at_s=float(draw.randint(0, 120)),
            robot_id=draw.choice(scene.robots).robot_id,
            fault=draw.choice(strikes),  # type: ignore[arg-type]
            for_s=draw.choice([None, 3.0, 20.0]),
        )
        for _ in range(draw.randint(0, 3))
    ]
    return SimFleet(scene, faults, SimSettings(task_ids=draw.random() < 0.5, load_sensor=draw.random() < 0.4))


def draw_wish(draw: random.Random, shift: Shift, by_hand: bool) -> FleetInput:
    """Something a person might ask for. `by_hand` wishes move pallets behind the robots' backs."""
    state = shift.state
    robot = draw.choice(list(state.robots))
    wishes: list[FleetInput] = [
        RobotVerb(robot, draw.choice(["hold", "release", "release", "park", "charge", "out-of-service", "in-service"])),
        FleetVerb(draw.choice(["hold", "clear", "clear"])),
        PatchStream(draw.choice(list(state.streams)), draw.random() < 0.7),
        RequestTransport(draw.choice(list(state.worksites)), draw.choice(list(state.worksites))),
    ]
    verbs = [verb for verb in TASK_VERBS if by_hand or verb != "done-by-hand"]
    if state.tasks:
        value = draw.choice([None, "W0", {"targetId": "W1"}, "nowhere"])
        wishes += [TaskVerb(draw.choice(list(state.tasks)), draw.choice(verbs), value)] * 4
    for decision in state.decisions.values():
        allowed = [verb for verb in decision.verbs if by_hand or verb not in ("done-by-hand", "unloaded")]
        wishes += [AnswerDecision(decision.id, draw.choice(allowed))] * 2
    if by_hand:
        wishes.append(RobotVerb(robot, "set-load", draw.choice(["empty", "loaded", None])))
        wishes.append(PatchWorksite(f"W{draw.randint(0, 2)}", draw.choice(["filled", "empty", "unknown"])))
    return draw.choice(wishes)


@given(SEEDS)
@settings(max_examples=120)
def test_invariants_hold_and_the_log_replays_whatever_happens(seed: int) -> None:
    draw = random.Random(seed)
    scene = draw_scene(draw)
    if scene is None:
        return
    shift = Shift(scene, draw_sim(draw, scene, STRIKES + MISLEADING))
    for _ in range(draw.randint(100, 400)):
        shift.tick(*([draw_wish(draw, shift, by_hand=True)] if draw.random() < 0.05 else []))
        if draw.random() < 0.01:
            shift.restart()
    assert shift.check.violations == []
    assert snapshot(shift.replayed()) == snapshot(shift.state)
    for name in (*shift.state.robots, *shift.state.tasks, *shift.state.streams):
        assert all(reason.says for reason in why(shift.state, name, shift.now))
        assert why(shift.state, name, shift.now)


@given(SEEDS)
@settings(max_examples=120)
def test_the_books_agree_with_the_floor_once_everything_stands(seed: int) -> None:
    draw = random.Random(seed)
    scene = draw_scene(draw)
    if scene is None:
        return
    strikes = [name for name in STRIKES if name != "offline"]
    shift = Shift(scene, draw_sim(draw, scene, strikes))
    before = len(shift.robots.pallets())
    for _ in range(draw.randint(100, 400)):
        shift.tick(*([draw_wish(draw, shift, by_hand=False)] if draw.random() < 0.04 else []))
    assert len(shift.robots.pallets()) == before
    if not any(isinstance(command, CancelTarget) for command in shift.commands):
        assert not shift.differing, "called off at the last moment, a robot may have finished before it says so"
    if any(shift.state.tasks[task].command_state not in ("none", "due") for task in shift.state.open_tasks):
        return
    if any(robot.orphan_key or robot.status != "online" for robot in shift.state.robots.values()):
        return
    standing = {place.id for place in shift.robots.pallets().values() if place.kind == "worksite"}
    for site in shift.state.worksites.values():
        if site.worksite_type == "buffer" and site.lies in ("filled", "empty"):
            assert (site.lies == "filled") == (site.worksite_id in standing)


@given(SEEDS)
@settings(max_examples=100)
def test_everything_that_can_be_done_is_done(seed: int) -> None:
    """Without faults and without a way back for pallets, a shift ends by itself with nothing failed or left open."""
    draw = random.Random(seed)
    scene = draw_scene(draw, one_way_for_pallets=True)
    if scene is None:
        return
    sim = SimFleet(scene, (), SimSettings(task_ids=draw.random() < 0.5, load_sensor=draw.random() < 0.4))
    result = simulate(scene, sim)
    assert result.ended == "idle"
    assert result.violations == []
    assert (result.state.failed, result.state.canceled, len(result.state.open_tasks)) == (0, 0, 0)
    assert not result.state.hold


@given(
    dispatch=st.sampled_from(["nearest", "first", "optimal"]),
    arbitration=st.sampled_from(["priority", "roundRobin", "quota", "preempt"]),
    robots=st.integers(1, 3),
    loops=st.integers(1, 4),
    priority=st.sampled_from([0, 1, 100, 100_000]),
    max_wait_s=st.sampled_from([30, 120]),
    shared=st.booleans(),
)
@settings(max_examples=60)
def test_nothing_waits_for_ever_however_busy_other_streams_are(
    dispatch: str, arbitration: str, robots: int, loops: int, priority: int, max_wait_s: int, shared: bool
) -> None:
    """A pallet of the least stream, and a transport asked for, start within the bound that the dispatch states."""
    scene = busy_scene(dispatch, arbitration, robots, loops, priority, max_wait_s, shared)
    asked = RequestTransport("ASKED", "ROOM", -1.0)
    result = simulate(scene, SimFleet(scene), for_s=900, inputs=[(0.0, asked)])
    tasks = [task for task in result.state.tasks.values() if task.ended_ts_ms is not None]
    longest_s = max((task.ended_ts_ms or 0) - task.created_ts_ms for task in tasks if task.stream_id) / 1000
    before = (2 * loops + 2) * (2 if dispatch == "optimal" else 1)
    bound_s = max_wait_s + (before / robots + 1) * longest_s
    bound_s += scene.settings.quota_window_s if arbitration == "quota" else 0
    quiet = next(task for task in result.state.tasks.values() if task.stream_id == "quiet")
    assert quiet.created_ts_ms <= bound_s * 1000
    started = next(e.ts for e in result.events if e.kind == "taskUpdated" and e.data["taskId"] == asked_task(result))
    assert started <= bound_s * 1000
    assert result.state.completed > 2 * robots


def asked_task(result: Any) -> str:
    return next(str(e.data["taskId"]) for e in result.events if e.kind == "taskCreated" and "streamId" not in e.data)


def busy_scene(
    dispatch: str, arbitration: str, robots: int, loops: int, priority: int, max_wait_s: int, shared: bool
) -> FleetScene:
    """Pallets that go to and fro for ever in streams of high priority, and one pallet in a stream of low priority.

    With `shared`, the busy streams would like the drop place of the quiet one too.
    """
    names = [f"{side}{n}" for n in range(2 * loops) for side in "AB"] + ["PICK", "DROP", "ASKED", "ROOM"]
    filled = {name for name in names if name.startswith("A") and name != "ASKED"} | {"PICK", "ASKED"}
    sites = [
        {
            "worksiteId": name,
            "worksiteType": "buffer",
            "entryNodeId": f"N{n}",
            "occupancy": "filled" if name in filled else "empty",
        }
        for n, name in enumerate(names)
    ]
    streams: list[dict[str, Any]] = [{"streamId": "quiet", "params": {"pickGroup": ["PICK"], "dropGroup": ["DROP"]}}]
    for n in range(loops):
        here, there = [f"A{n}", f"A{n + loops}"], [f"B{n}", f"B{n + loops}"]
        more = ["DROP"] if shared and n == 0 else []
        out = {"pickGroup": here, "dropGroup": [*there, *more]}
        back = {"pickGroup": [*there, *more], "dropGroup": here}
        streams.append({"streamId": f"out{n}", "priority": priority, "params": out})
        streams.append({"streamId": f"back{n}", "priority": priority, "params": back})
    return read_fleet(
        {
            "name": "busy",
            "nodes": [{"id": f"N{n}", "x": 3 * n, "y": 0} for n in range(len(names))],
            "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(len(names) - 1)],
            "worksites": sites,
            "robots": [{"robotId": f"R{n}", "nodeId": f"N{n}"} for n in range(robots)],
            "streams": streams,
            "settings": {"dispatch": dispatch, "arbitration": arbitration, "maxWaitS": max_wait_s},
        }
    )


@given(SEEDS)
@settings(max_examples=15)
def test_the_same_scene_and_faults_give_the_same_log(seed: int) -> None:
    def log() -> list[Any]:
        draw = random.Random(seed)
        scene = draw_scene(draw)
        if scene is None:
            return []
        return [event.wire() for event in simulate(scene, draw_sim(draw, scene, STRIKES), for_s=120).events]

    assert log() == log()


def test_the_checker_sees_what_it_should() -> None:
    """The invariants are worth something only if a broken log breaks them."""
    scene = read_fleet(
        {
            "name": "two",
            "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "B", "x": 1, "y": 0}],
            "edges": [{"from": "A", "to": "B"}],
            "worksites": [
                {"worksiteId": "P", "worksiteType": "pickup", "entryNodeId": "A", "occupancy": "empty"},
                {"worksiteId": "Q", "worksiteType": "dropoff", "entryNodeId": "B", "occupancy": "filled"},
            ],
            "robots": [{"robotId": "R", "nodeId": "A"}],
        }
    )
    from beforehand.model.event import Event

    check = Invariants(scene)
    moved = {"robotId": "R", "taskId": "t1"}
    check.see(Event("palletPicked", {}, {**moved, "worksiteId": "P"}, 0))
    check.see(Event("palletPicked", {}, {**moved, "worksiteId": "P"}, 0))
    check.see(Event("palletDropped", {}, {**moved, "taskId": "t2", "worksiteId": "Q"}, 0))
    for task in ("t1", "t2"):
        data = {"taskId": task, "robotId": "R", "status": "active", "targetId": "Q"}
        check.see(Event("taskCreated", {}, data, 0))
    check.settle()
    text = " ".join(check.end())
    for part in ("which was empty", "second pallet", "which was filled", "did not carry", "two tasks at once"):
        assert part in text
