"""What every robot link promises, whichever robots are behind it. Each link is one more way to make a `Rig`."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from beforehand.adapters.robokit.link import open_robokit_link
from beforehand.adapters.robokit.robot import Manners
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.link import SimLink
from beforehand.crafts.fleet.multi_link import LinkPart, MultiLink
from beforehand.crafts.fleet.testing import ScriptedLink
from beforehand.crafts.fleet.wire_testing import FastClock, robots_on_the_wire
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, CancelTarget, GoTarget, PauseRobot, ResumeRobot, Telemetry
from beforehand.ports.robot import LinkRequest, RobotLink

SCENE = {
    "name": "two_nodes",
    "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "B", "x": 6, "y": 0}, {"id": "C", "x": 12, "y": 0}],
    "edges": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
}


class SteppedClock:
    """Time passes when somebody sleeps: whoever waits is woken at once, at the time they asked for."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def now_ms(self) -> int:
        return self.ms

    async def sleep_until(self, ts_ms: int) -> None:
        self.ms = max(self.ms, ts_ms)
        await asyncio.sleep(0)


@dataclass
class Rig:
    link: RobotLink
    restarted: Callable[[], Awaitable[RobotLink]]
    """A new link to the same robots, as a new process would make it."""
    robot: str = "RB-01"
    """The robot that is tried: one that stands at A and drives a metre a second."""


class SimulatedRobot:
    """One robot behind a link of its own; what the link keeps outlives it."""

    def __init__(self, clock: SteppedClock, robot_id: str) -> None:
        robots = [{"robotId": robot_id, "nodeId": "A"}]
        self.robot_id = robot_id
        self._scene = FleetScene.model_validate({**SCENE, "robots": robots})
        self._clock = clock
        self._kept = "null"

    def link(self) -> SimLink:
        return SimLink(SimFleet(self._scene), self._clock, kept=json.loads(self._kept), keep=self._keep)

    def _keep(self, data: object) -> None:
        self._kept = json.dumps(data)


async def sim_rig(stack: AsyncExitStack) -> Rig:
    robot = SimulatedRobot(SteppedClock(), "RB-01")

    async def restarted() -> RobotLink:
        return robot.link()

    return Rig(robot.link(), restarted)


async def multi_rig(tried: str, stack: AsyncExitStack) -> Rig:
    """Two simulators and a link that never says anything, as one."""
    clock = SteppedClock()
    robots = [SimulatedRobot(clock, "RB-01"), SimulatedRobot(clock, "RB-02")]

    def make() -> MultiLink:
        parts = [LinkPart("sim", robot.link(), (robot.robot_id,)) for robot in robots]
        return MultiLink([*parts, LinkPart("scripted", ScriptedLink(), ("RB-03",))])

    async def restarted() -> RobotLink:
        return make()

    return Rig(make(), restarted, tried)


async def robokit_rig(manners: Manners, stack: AsyncExitStack) -> Rig:
    """A robot of our own over real TCP, in a hall where time goes twenty times as fast."""
    clock = FastClock(60)
    document = {**SCENE, "robots": [{"robotId": "RB-01", "nodeId": "A"}]}
    wire = await stack.enter_async_context(robots_on_the_wire(FleetScene.model_validate(document), clock, manners))
    kept: list[object] = [None]

    def make() -> RobotLink:
        def keep(data: object) -> None:
            kept[0] = json.loads(json.dumps(data))

        return open_robokit_link(LinkRequest(wire.scene, wire.scene.robots, clock, kept=kept[0], keep=keep))

    async def restarted() -> RobotLink:
        return make()

    return Rig(make(), restarted)


RIGS: dict[str, Callable[[AsyncExitStack], Awaitable[Rig]]] = {
    "sim": sim_rig,
    "multi, first robot": partial(multi_rig, "RB-01"),
    "multi, second robot": partial(multi_rig, "RB-02"),
    "robokit": partial(robokit_rig, Manners()),
    "robokit, header 2": partial(robokit_rig, Manners(versions=(2,))),
    "robokit, single questions": partial(robokit_rig, Manners(unknown=frozenset({1100, 1101, 1102, 1060, 9300}))),
    "robokit, lists only": partial(robokit_rig, Manners(unknown=frozenset({3051, 4005}), needs_control=False)),
}


@pytest.fixture(params=RIGS)
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    async with AsyncExitStack() as stack:
        made = await RIGS[request.param](stack)
        yield made
        await made.link.close()


async def heard_until(link: RobotLink, wanted: Callable[[Telemetry | Ack], bool]) -> list[Telemetry | Ack]:
    """Listen until something wanted is heard; it is the last of what is returned."""
    heard: list[Telemetry | Ack] = []
    async for report in link.reports():
        heard.append(report)
        if wanted(report):
            return heard
        assert len(heard) < 10_000, "never reported"
    raise AssertionError("the reports ended")


def status(*wanted: int) -> Callable[[Telemetry | Ack], bool]:
    return lambda report: isinstance(report, Telemetry) and report.task_status in wanted


async def test_a_command_is_answered_and_done_in_reports(rig):
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "B"}))
    heard = await heard_until(rig.link, status(4))
    acks = [report for report in heard if isinstance(report, Ack)]
    assert [(ack.key, ack.ok) for ack in acks] == [("k1", True)]
    assert heard[-1].node_id == "B"
    assert any(isinstance(report, Telemetry) and report.task_status == 2 for report in heard)


async def test_reports_of_a_robot_count_up(rig):
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "C"}))
    heard = await heard_until(rig.link, status(4))
    heard = [report for report in heard if isinstance(report, Telemetry) and report.robot_id == rig.robot]
    assert [report.seq for report in heard] == list(range(heard[0].seq, heard[0].seq + len(heard)))
    assert [report.ts for report in heard] == sorted(report.ts for report in heard)


async def test_what_cannot_be_done_is_refused_in_an_answer(rig):
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "NOWHERE"}))
    heard = await heard_until(rig.link, lambda report: isinstance(report, Ack))
    assert not heard[-1].ok
    assert heard[-1].code
    assert heard[-1].says


async def test_the_same_key_is_answered_again_and_not_done_again(rig):
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "B"}))
    await heard_until(rig.link, status(4))
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "B"}))
    heard = await heard_until(rig.link, lambda report: isinstance(report, Ack))
    assert heard[-1].ok
    read = await rig.link.read(rig.robot)
    assert (read.task_status, read.node_id) == (4, "B")


async def test_pause_resume_and_cancel(rig):
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "C"}))
    await heard_until(rig.link, status(2))
    await rig.link.send(PauseRobot("k2", rig.robot))
    await heard_until(rig.link, status(3))
    await rig.link.send(ResumeRobot("k3", rig.robot))
    await heard_until(rig.link, status(2))
    await rig.link.send(CancelTarget("k4", rig.robot))
    heard = await heard_until(rig.link, status(4, 5, 6))
    assert heard[-1].task_status == 6


async def test_a_robot_can_be_read_and_one_that_is_not_there_does_not_answer(rig):
    assert (await rig.link.read(rig.robot)).node_id == "A"
    assert await rig.link.read("RB-99") is None


async def test_a_robot_goes_on_while_the_link_is_down_and_a_new_link_finds_it_as_it_is(rig):
    await rig.link.send(GoTarget("k1", rig.robot, {"id": "C"}))
    await heard_until(rig.link, status(2))
    await rig.link.close()
    link = await rig.restarted()
    read = await link.read(rig.robot)
    assert (read.task_status, read.task_id, read.boot) == (2, "k1", 1)
    heard = await heard_until(link, status(4))
    assert heard[-1].node_id == "C"
    await link.close()


async def test_a_closed_link_reports_nothing_more(rig):
    await heard_until(rig.link, lambda report: isinstance(report, Telemetry))
    await rig.link.close()
    assert [report async for report in rig.link.reports()] == []
