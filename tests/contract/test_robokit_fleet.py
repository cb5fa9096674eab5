"""Fleets whose robots are on the wire: real TCP on loopback, links that break, robots that die, and spoilt frames."""

from contextlib import AsyncExitStack

import pytest
from tests.contract.robokit_floor import Spoiling, SpoilingProxy, floor, live

from beforehand.adapters.robokit.robot import Manners
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.crafts.fleet.core.state import evolve, initial
from beforehand.crafts.fleet.wire_testing import FastClock, linked, robots_on_the_wire


async def proxied(stack, wire, spoiling, seed=1) -> dict[str, SpoilingProxy]:
    """A proxy before every robot."""
    proxies = {}
    for number, (name, robot) in enumerate(wire.robots.items()):
        proxies[name] = SpoilingProxy(robot.ports, spoiling, 100 * seed + number)
        await proxies[name].open()
        stack.push_async_callback(proxies[name].close)
    return proxies


def transported(wire) -> list[str]:
    return sorted(operation for _, _, operation in wire.hall.done if operation)


def places(wire) -> list[str]:
    return sorted(place.id for place in wire.hall.pallets().values())


@pytest.mark.parametrize(
    "manners",
    [
        Manners(),
        Manners(versions=(2,), sensor=None),
        Manners(unknown=frozenset({1100, 1101, 1102, 9300}), sensor="hook_isFull"),
        Manners(unknown=frozenset({1020, 1060}), sensor="fork_pressure_actual", bare_errors=True),
        Manners(unknown=frozenset({1110, 4005}), sensor="roller_isFull", needs_control=False),
    ],
    ids=["all", "header 2, no sensor", "single questions", "no 1020", "no ids, no control"],
)
async def test_a_fleet_over_robokit_works_until_idle(manners, tmp_path):
    clock = FastClock(90)
    async with robots_on_the_wire(floor(3, 4), clock, manners) as wire, live(wire.scene, clock, tmp_path) as fleet:
        await fleet.until_idle()
        assert fleet.state.completed == 4
        assert fleet.violations() == []
    assert transported(wire) == ["ForkLoad"] * 4 + ["ForkUnload"] * 4
    assert places(wire) == [f"DROP_{n}" for n in range(4)]
    assert {robot.holder for robot in wire.robots.values()} == {""}, "control is given back"


async def test_a_robot_that_says_nothing_to_what_it_does_not_know_is_understood_all_the_same(tmp_path):
    clock = FastClock(10)
    manners = Manners(mute=frozenset({1000, 1060, 1100, 1101, 1102, 1110, 4005, 9300}), needs_control=False)
    async with robots_on_the_wire(floor(1, 1), clock, manners) as wire:
        scene = linked(wire.scene, {name: robot.ports for name, robot in wire.robots.items()}, answerLimitS=0.1)
        async with live(scene, clock, tmp_path) as fleet:
            await fleet.until_idle()
            assert fleet.state.completed == 1
    assert transported(wire) == ["ForkLoad", "ForkUnload"]


async def test_robots_that_take_single_orders_only_are_given_the_parts(tmp_path):
    clock = FastClock(90)
    async with (
        robots_on_the_wire(floor(2, 2), clock, Manners(composite=False)) as wire,
        live(wire.scene, clock, tmp_path) as fleet,
    ):
        await fleet.until_idle()
        assert fleet.state.completed == 2
        assert fleet.violations() == []
    assert places(wire) == ["DROP_0", "DROP_1"]
    assert transported(wire) == [], "no order was taken that drives and lifts in one"


async def test_simulated_and_real_robots_work_side_by_side(tmp_path):
    clock = FastClock(90)
    async with (
        robots_on_the_wire(floor(4, 4), clock, only=("RB-00", "RB-01")) as wire,
        live(wire.scene, clock, tmp_path) as fleet,
    ):
        await fleet.until_idle()
        assert fleet.state.completed == 4
        assert fleet.violations() == []
        workers = {task.robot_id for task in fleet.state.tasks.values()}
    assert workers == {"RB-00", "RB-01", "RB-02", "RB-03"}
    assert transported(wire) == ["ForkLoad"] * 2 + ["ForkUnload"] * 2


async def test_a_link_that_is_cut_in_the_middle_of_a_command_loses_and_doubles_nothing(tmp_path):
    clock = FastClock(60)
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(robots_on_the_wire(floor(2, 3, startTimeoutS=60), clock))
        proxies = await proxied(stack, wire, Spoiling())
        scene = linked(wire.scene, {name: proxy.ports for name, proxy in proxies.items()}, answerLimitS=0.5)
        fleet = await stack.enter_async_context(live(scene, clock, tmp_path))
        for count in range(6):
            await fleet.until(lambda state, seen=count: len(fleet.commands()) > seen)
            for proxy in proxies.values():
                await proxy.cut()
        await fleet.until_idle("redo")
        assert fleet.state.completed == 3
        assert fleet.violations() == []
    assert transported(wire) == ["ForkLoad"] * 3 + ["ForkUnload"] * 3
    assert places(wire) == ["DROP_0", "DROP_1", "DROP_2"]


@pytest.mark.parametrize(
    "spoiling",
    [
        Spoiling(split=40, merge=30, delay=20),
        Spoiling(duplicate=30, swap=2),
        Spoiling(truncate=2, corrupt=2),
        Spoiling(split=10, merge=10, delay=5, truncate=1, corrupt=1, duplicate=10, swap=1),
    ],
    ids=["split and late", "twice and out of order", "cut off and corrupt", "all of it"],
)
async def test_spoilt_frames_lose_and_double_nothing(spoiling, tmp_path):
    clock = FastClock(10)
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(robots_on_the_wire(floor(2, 2), clock))
        proxies = await proxied(stack, wire, spoiling)
        scene = linked(wire.scene, {name: proxy.ports for name, proxy in proxies.items()}, answerLimitS=0.5)
        fleet = await stack.enter_async_context(live(scene, clock, tmp_path))
        await fleet.until_idle("redo")
        assert fleet.state.completed == 2
        assert fleet.violations() == []
        assert all(proxy.spoiled for proxy in proxies.values())
    assert transported(wire) == ["ForkLoad"] * 2 + ["ForkUnload"] * 2
    assert places(wire) == ["DROP_0", "DROP_1"]


async def test_a_robot_that_dies_and_comes_back_has_forgotten_its_order_and_a_person_is_asked(tmp_path):
    clock = FastClock(60)
    async with robots_on_the_wire(floor(1, 1), clock) as wire, live(wire.scene, clock, tmp_path) as fleet:
        await fleet.until(lambda state: any(task.command_state == "running" for task in state.tasks.values()))
        wire.hall.inject(FaultSpec(at_s=0, robot_id="RB-00", fault="restart", for_s=20))
        await fleet.until(lambda state: bool(state.decisions))
        (decision,) = fleet.state.decisions.values()
        assert decision.title == "floor-t1 is held: RB-00 has restarted and forgotten its order."
        await fleet.until_idle("redo")
        assert fleet.state.completed == 1
        assert fleet.violations() == []
    assert transported(wire) == ["ForkLoad", "ForkUnload"]


async def test_a_robot_whose_control_somebody_has_is_never_taken_from_them_and_says_who(tmp_path):
    clock = FastClock(60)
    scene = floor(1, 1, errorPolicy="freeze")
    async with robots_on_the_wire(scene, clock) as wire, live(wire.scene, clock, tmp_path) as fleet:
        robot = wire.robots["RB-00"]
        robot.holder = "Roboshop"
        await fleet.until(lambda state: bool(state.decisions))
        (decision,) = fleet.state.decisions.values()
        assert decision.title == "floor-t1 is held: RB-00 refused the order: Roboshop has control of it."
        assert robot.holder == "Roboshop"
        assert robot.heard == []
        robot.holder = ""
        await fleet.until_idle("redo")
        assert fleet.state.completed == 1
        assert robot.holder == "beforehand"


async def test_a_robot_that_does_not_answer_delays_nobody(tmp_path):
    clock = FastClock(60)
    mute = FaultSpec(at_s=0, robot_id="RB-00", fault="offline")
    async with (
        robots_on_the_wire(floor(3, 3), clock, faults=[mute]) as wire,
        live(wire.scene, clock, tmp_path) as fleet,
    ):
        await fleet.until(lambda state: state.completed == 3)
        assert "RB-00" not in {task.robot_id for task in fleet.state.tasks.values()}
        assert not fleet.state.decisions
        assert fleet.violations() == []
    assert places(wire) == ["DROP_0", "DROP_1", "DROP_2"]


async def test_a_pallet_that_is_not_recognised_is_a_reason_people_read(tmp_path):
    clock = FastClock(60)
    scene = floor(1, 1, errorPolicy="freeze")
    params = {"operation": "ForkLoad", "recognize": True, "recfile": "plt/p0001.plt", "end_height": 0.5}
    sites = tuple(
        site.model_copy(update={"pick_params": params}) if site.worksite_type == "pickup" else site
        for site in scene.worksites
    )
    scene = scene.model_copy(update={"worksites": sites})
    unseen = FaultSpec(at_s=0, robot_id="RB-00", fault="not_recognised")
    async with (
        robots_on_the_wire(scene, clock, faults=[unseen]) as wire,
        live(wire.scene, clock, tmp_path) as fleet,
    ):
        await fleet.until(lambda state: bool(state.decisions))
        (decision,) = fleet.state.decisions.values()
        assert decision.title.endswith("It did not recognise the pallet.")
        await fleet.until_idle("redo")
        assert fleet.state.completed == 1


async def test_after_a_restart_of_the_server_the_robots_are_read_and_nothing_is_done_twice(tmp_path):
    clock = FastClock(60)
    async with robots_on_the_wire(floor(2, 2), clock) as wire:
        async with live(wire.scene, clock, tmp_path) as fleet:
            await fleet.until(lambda state: sum(t.command_state == "running" for t in state.tasks.values()) == 2)
            events = fleet.store.log
        state = initial(wire.scene)
        for event in events:
            evolve(state, event)
        async with live(wire.scene, clock, tmp_path, state) as fleet:
            await fleet.until_idle()
            assert fleet.state.completed == 2
            assert not fleet.state.decisions
    assert transported(wire) == ["ForkLoad"] * 2 + ["ForkUnload"] * 2


@pytest.mark.soak
async def test_fifty_robots_over_robokit(tmp_path):
    clock = FastClock(5)
    async with robots_on_the_wire(floor(50, 60), clock) as wire, live(wire.scene, clock, tmp_path) as fleet:
        await fleet.until_idle("redo")
        assert fleet.state.completed == 60
        assert fleet.violations() == []
    assert transported(wire) == ["ForkLoad"] * 60 + ["ForkUnload"] * 60
    assert places(wire) == sorted(f"DROP_{n}" for n in range(60))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10))
async def test_spoilt_frames_by_many_dice(seed, tmp_path):
    clock = FastClock(10)
    spoiling = Spoiling(split=10, merge=10, delay=5, truncate=2, corrupt=2, duplicate=10, swap=2)
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(robots_on_the_wire(floor(3, 4), clock))
        proxies = await proxied(stack, wire, spoiling, seed)
        scene = linked(wire.scene, {name: proxy.ports for name, proxy in proxies.items()}, answerLimitS=0.5)
        fleet = await stack.enter_async_context(live(scene, clock, tmp_path))
        await fleet.until_idle("redo")
        assert fleet.violations() == []
    assert places(wire) == [f"DROP_{n}" for n in range(4)]
    assert transported(wire) == ["ForkLoad"] * 4 + ["ForkUnload"] * 4
