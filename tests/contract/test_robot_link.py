"""What every robot link promises, whichever robots are behind it. Each link is one more way to make a `Rig`."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.link import SimLink
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, CancelTarget, GoTarget, PauseRobot, ResumeRobot, Telemetry
from beforehand.ports.robot import RobotLink

SCENE = {
    "name": "two_nodes",
    "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "B", "x": 6, "y": 0}, {"id": "C", "x": 12, "y": 0}],
    "edges": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
    "robots": [{"robotId": "RB-01", "nodeId": "A"}],
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


def sim_rig() -> Rig:
    clock = SteppedClock()
    kept: list[str] = []

    def make(before: str | None = None) -> SimLink:
        fleet = SimFleet(FleetScene.model_validate(SCENE))
        return SimLink(
            fleet, clock, kept=json.loads(before) if before else None, keep=lambda data: kept.append(json.dumps(data))
        )

    async def restarted() -> RobotLink:
        return make(kept[-1])

    return Rig(make(), restarted)


@pytest.fixture(params=[sim_rig], ids=["sim"])
def rig(request) -> Rig:
    return request.param()


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
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "B"}))
    heard = await heard_until(rig.link, status(4))
    acks = [report for report in heard if isinstance(report, Ack)]
    assert [(ack.key, ack.ok) for ack in acks] == [("k1", True)]
    assert heard[-1].node_id == "B"
    assert any(isinstance(report, Telemetry) and report.task_status == 2 for report in heard)


async def test_reports_of_a_robot_count_up(rig):
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "C"}))
    heard = [report for report in await heard_until(rig.link, status(4)) if isinstance(report, Telemetry)]
    assert [report.seq for report in heard] == list(range(heard[0].seq, heard[0].seq + len(heard)))
    assert [report.ts for report in heard] == sorted(report.ts for report in heard)


async def test_what_cannot_be_done_is_refused_in_an_answer(rig):
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "NOWHERE"}))
    heard = await heard_until(rig.link, lambda report: isinstance(report, Ack))
    assert not heard[-1].ok
    assert heard[-1].code
    assert heard[-1].says


async def test_the_same_key_is_answered_again_and_not_done_again(rig):
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "B"}))
    await heard_until(rig.link, status(4))
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "B"}))
    heard = await heard_until(rig.link, lambda report: isinstance(report, Ack))
    assert heard[-1].ok
    read = await rig.link.read("RB-01")
    assert (read.task_status, read.node_id) == (4, "B")


async def test_pause_resume_and_cancel(rig):
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "C"}))
    await heard_until(rig.link, status(2))
    await rig.link.send(PauseRobot("k2", "RB-01"))
    await heard_until(rig.link, status(3))
    await rig.link.send(ResumeRobot("k3", "RB-01"))
    await heard_until(rig.link, status(2))
    await rig.link.send(CancelTarget("k4", "RB-01"))
    heard = await heard_until(rig.link, status(4, 5, 6))
    assert heard[-1].task_status == 6


async def test_a_robot_can_be_read_and_one_that_is_not_there_does_not_answer(rig):
    assert (await rig.link.read("RB-01")).node_id == "A"
    assert await rig.link.read("RB-99") is None


async def test_a_robot_goes_on_while_the_link_is_down_and_a_new_link_finds_it_as_it_is(rig):
    await rig.link.send(GoTarget("k1", "RB-01", {"id": "C"}))
    await heard_until(rig.link, status(2))
    await rig.link.close()
    link = await rig.restarted()
    read = await link.read("RB-01")
    assert (read.task_status, read.task_id, read.boot) == (2, "k1", 1)
    heard = await heard_until(link, status(4))
    assert heard[-1].node_id == "C"


async def test_a_closed_link_reports_nothing_more(rig):
    await heard_until(rig.link, lambda report: isinstance(report, Telemetry))
    await rig.link.close()
    assert [report async for report in rig.link.reports()] == []
