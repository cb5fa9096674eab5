"""Robots of another maker: the link against a robot that shares no code with ours, with the habits of several."""

from contextlib import ExitStack, closing

import pytest
from tests.contract.other_robokit import CANCELLED, Habits, OtherRobot
from tests.contract.robokit_floor import floor, live

from beforehand.app.clock import WallClock
from beforehand.crafts.fleet.wire_testing import linked


def others(stack: ExitStack, scene, habits: Habits):
    nodes = [node.id for node in scene.nodes]
    robots = {
        robot.robot_id: stack.enter_context(closing(OtherRobot(str(robot.node_id), nodes, habits)))
        for robot in scene.robots
    }
    return robots, linked(scene, {name: robot.ports for name, robot in robots.items()})


def transports(robots) -> list[tuple[str, str | None]]:
    return sorted((node, operation) for robot in robots.values() for node, operation in robot.done if operation)


@pytest.mark.parametrize(
    "habits",
    [
        Habits(needs_control=True, one_caller=True, says_ret_code=False, tail=True),
        Habits(unknown=(1020, 1101, 1102, 1110), sensor="fork_pressure_actual"),
        Habits(unknown=(1060, 1100, 1101, 1102, 1110), dribbles=True),
        Habits(ends_with=CANCELLED, sensor="goods_region"),
    ],
    ids=["control, one caller, bytes behind the JSON", "no 1020", "no status of all", "ends with 6"],
)
async def test_a_fleet_of_another_maker_works_until_idle(habits, tmp_path):
    with ExitStack() as stack:
        robots, scene = others(stack, floor(2, 2, tickS=0.1), habits)
        async with live(scene, WallClock(), tmp_path) as fleet:
            await fleet.until_idle()
            assert fleet.state.completed == 2
            assert fleet.violations() == []
        assert transports(robots) == [
            ("D0", "ForkUnload"),
            ("D1", "ForkUnload"),
            ("P0", "ForkLoad"),
            ("P1", "ForkLoad"),
        ]
        assert {robot.holder for robot in robots.values()} == {""}, "control is given back"


async def test_a_6_that_nothing_confirms_is_asked_about(tmp_path):
    with ExitStack() as stack:
        robots, scene = others(stack, floor(1, 1, errorPolicy="freeze"), Habits(ends_with=CANCELLED, takes_s=0.8))
        async with live(scene, WallClock(), tmp_path) as fleet:
            await fleet.until(lambda state: bool(state.decisions))
            (decision,) = fleet.state.decisions.values()
            assert "redo" in decision.verbs
            assert fleet.state.completed == 0
        assert transports(robots) == [("P0", "ForkLoad")]
