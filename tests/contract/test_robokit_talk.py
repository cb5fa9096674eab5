"""What a link to a Robokit robot does when the robot is away, in doubt, or held by somebody else."""

import asyncio
import re
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from tests.contract.robokit_floor import floor

from beforehand.adapters.robokit.checkup import check_robot, ports_from
from beforehand.adapters.robokit.client import RobotClient
from beforehand.adapters.robokit.frame import Frame, FrameParser, encode
from beforehand.adapters.robokit.link import open_robokit_link
from beforehand.adapters.robokit.robot import Manners
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.crafts.fleet.wire_testing import FastClock, linked, robots_on_the_wire
from beforehand.model.errors import UnavailableError
from beforehand.model.robot import Ack, CancelTarget, DriveOn, GoTarget, PauseRobot, ResumeRobot, Telemetry
from beforehand.ports.robot import LinkRequest

PICK = {"id": "P0", "operation": "ForkLoad", "start_height": 0.1, "end_height": 1.2}


@pytest.fixture
async def stack():
    async with AsyncExitStack() as opened:
        yield opened


async def opened(stack, manners=None, faults=(), **more):
    """One robot, and a link to it."""
    clock = FastClock(60)
    wire = await stack.enter_async_context(robots_on_the_wire(floor(1, 1), clock, manners, faults=faults))
    scene = linked(wire.scene, {name: robot.ports for name, robot in wire.robots.items()}, **more)
    link = open_robokit_link(LinkRequest(scene, scene.robots, clock))
    stack.push_async_callback(link.close)
    return link, wire.robots["RB-00"], wire


async def heard(link, wanted):
    async for report in link.reports():
        if wanted(report):
            return report
    raise AssertionError("the reports ended")


def orders(robot) -> list[str]:
    return [body["task_id"] for number, body in robot.heard if number == 3051]


async def test_a_robot_that_is_not_there_did_not_get_the_command(stack, monkeypatch):
    monkeypatch.setattr("beforehand.adapters.robokit.control.PATIENCE_S", 0.0)
    link, robot, _ = await opened(stack)
    await robot.close()
    with pytest.raises(UnavailableError) as refused:
        await link.send(GoTarget("k1", "RB-00", PICK))
    assert "cannot be reached: nothing listens on this port" in refused.value.says
    assert await link.read("RB-00") is None


async def test_an_order_whose_answer_was_lost_is_not_sent_again(stack):
    lost = FaultSpec(at_s=0, robot_id="RB-00", fault="lost_ack")
    link, robot, _ = await opened(stack, faults=[lost], answerLimitS=0.2)
    await link.send(GoTarget("k1", "RB-00", PICK))
    assert orders(robot) == ["k1"]
    await heard(link, lambda report: isinstance(report, Telemetry) and report.task_id == "k1")
    await link.send(GoTarget("k1", "RB-00", PICK))
    ack = await heard(link, lambda report: isinstance(report, Ack))
    assert (ack.key, ack.ok) == ("k1", True)
    assert orders(robot) == ["k1"]


async def test_a_question_whose_answers_were_lost_is_asked_again_later(stack, monkeypatch):
    """A robot that knows how its orders stand is not taken for one that does not, for good, by one bad moment."""
    monkeypatch.setattr("beforehand.adapters.robokit.client.ASK_AGAIN_S", 0.3)
    link, robot, _ = await opened(stack, answerLimitS=0.1)
    answer, lost = robot.answer, []

    async def at_first_silent(port, frame):
        if frame.number == 1110 and len(lost) < 2:
            lost.append(frame)
            return None
        return await answer(port, frame)

    robot.answer = at_first_silent
    await link.send(GoTarget("k1", "RB-00", {"id": "LM0"}))
    await heard(link, lambda report: isinstance(report, Telemetry) and len(lost) == 2 and report.task_id is None)
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_id is not None)
    assert (report.task_id, report.task_status) == ("k1", 4)


@asynccontextmanager
async def answering(answer):
    """A status port; `answer` is given each question and says what to send back, and whether to hang up then."""
    asked = []

    async def serve(reader, writer):
        parser = FrameParser()
        while data := await reader.read(4096):
            for frame in parser.feed(data):
                asked.append(frame)
                said, hangs_up = answer(frame)
                if said is not None:
                    writer.write(encode(said))
                if hangs_up:
                    writer.close()
                    return

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


async def test_a_robot_that_hangs_up_after_it_refused_the_header_is_asked_with_the_other_one():
    def answer(frame):
        if frame.version == 1:
            return Frame(60003, frame.sequence, version=2), True
        return Frame(frame.number + 10000, frame.sequence, {"vehicle_id": "V2"}, 2), False

    async with answering(answer) as (port, _):
        client = RobotClient("127.0.0.1", {"status": port})
        assert (await client.meet()).body == {"vehicle_id": "V2"}
        assert client.dialect.version == 2
        client.close()


async def test_what_a_robot_ignores_is_asked_again_one_question_at_a_time(monkeypatch):
    def answer(frame):
        if frame.number in (1004, 1020):
            return Frame(frame.number + 10000, frame.sequence, {"x": 1.0}), False
        return None, False

    async with answering(answer) as (port, asked):
        client = RobotClient("127.0.0.1", {"status": port}, limit_s=0.02)
        client.met = True
        seen = None
        while seen is None:
            try:
                await client.task()
                seen = await client.all_status()
            except UnavailableError:
                pass
        assert seen == {"x": 1.0}
        loop = asyncio.get_running_loop()
        time, ignored = loop.time, {1002, 1006, 1007, 1012, 1028, 1050, 1100, 1101, 1102}
        monkeypatch.setattr(loop, "time", lambda: time() + 600)
        for _ in range(2):
            del asked[:]
            await client.task()
            assert await client.all_status() == {"x": 1.0}
            assert len([frame for frame in asked if frame.number in ignored]) <= 1
        client.close()


async def test_control_is_taken_once_and_given_back(stack):
    link, robot, _ = await opened(stack)
    await link.send(GoTarget("k1", "RB-00", {"id": "LM0"}))
    await link.send(GoTarget("k2", "RB-00", {"id": "P0"}))
    assert [number for number, _ in robot.heard] == [4005, 3051, 3051]
    assert robot.holder == "beforehand"
    await link.close()
    assert robot.heard[-1][0] == 4006
    assert robot.holder == ""


async def test_control_that_somebody_took_meanwhile_is_not_taken_back(stack):
    link, robot, _ = await opened(stack)
    await link.send(GoTarget("k1", "RB-00", {"id": "LM0"}))
    robot.holder = ""  # given back at the robot: it is taken anew
    await link.send(GoTarget("k2", "RB-00", {"id": "P0"}))
    assert robot.holder == "beforehand"


async def test_a_cancelled_order_in_parts_ends_as_cancelled(stack):
    link, _, wire = await opened(stack, Manners(composite=False))
    await link.send(GoTarget("k1", "RB-00", PICK))
    await heard(link, lambda report: isinstance(report, Telemetry) and report.node_id == "LM0")
    await link.send(CancelTarget("k2", "RB-00"))
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status not in (1, 2))
    assert (report.task_status, report.task_id) == (6, "k1")
    assert wire.hall.pallets()["pallet-1"].id == "PICK_0"


def lifts(robot) -> int:
    return sum(number == 6040 and body["height"] == HIGH["end_height"] for number, body in robot.heard)


HIGH = {**PICK, "end_height": 12.0}
"""So high that the fork takes a minute of the robot's time."""


async def test_a_pause_stops_a_fork_that_moves_by_itself_and_going_on_sends_it_on(stack):
    link, robot, wire = await opened(stack, Manners(composite=False))
    await link.send(GoTarget("k1", "RB-00", HIGH))
    await heard(link, lambda report: isinstance(report, Telemetry) and lifts(robot) == 1)
    await link.send(PauseRobot("p1", "RB-00"))
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 3)
    assert report.task_id == "k1"
    stopped_m, _, _ = wire.hall.fork(report)
    assert stopped_m < 12.0
    for _ in range(5):
        report = await heard(link, lambda report: isinstance(report, Telemetry))
        assert (report.task_status, wire.hall.fork(report)[0]) == (3, stopped_m)
    await link.send(ResumeRobot("r1", "RB-00"))
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 4)
    assert (report.task_id, report.load_sensor, lifts(robot)) == ("k1", "loaded", 2)


async def test_a_fork_that_cannot_be_stopped_is_told_as_running_and_nothing_follows(stack):
    link, robot, _ = await opened(stack, Manners(composite=False, unknown=frozenset({6041})))
    await link.send(GoTarget("k1", "RB-00", {**HIGH, "start_height": 4.0}))
    await link.send(PauseRobot("p1", "RB-00"))
    ack = await heard(link, lambda report: isinstance(report, Ack) and report.key == "p1")
    assert not ack.ok
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status in (2, 3))
    assert report.task_status == 2
    await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 3)
    assert orders(robot) == ["k1"], "only the one that was refused: it does not drive"
    await link.send(ResumeRobot("r1", "RB-00"))
    await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 4)


async def test_a_drive_of_an_order_in_parts_is_paused_and_goes_on(stack):
    link, robot, _ = await opened(stack, Manners(composite=False))
    await link.send(GoTarget("k1", "RB-00", PICK))
    await heard(link, lambda report: isinstance(report, Telemetry) and report.next_node_id is not None)
    await link.send(PauseRobot("p1", "RB-00"))
    await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 3)
    await link.send(ResumeRobot("r1", "RB-00"))
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 4)
    assert (report.task_id, report.load_sensor) == ("k1", "loaded")
    assert [number for number, _ in robot.heard if number in (3001, 3002, 6041)] == [3001, 3002]


async def test_an_order_in_parts_that_looks_for_its_pallet_is_refused_with_the_reason(stack):
    link, _, _ = await opened(stack, Manners(composite=False))
    await link.send(GoTarget("k1", "RB-00", {**PICK, "recognize": True, "recfile": "p.plt"}))
    ack = await heard(link, lambda report: isinstance(report, Ack))
    assert not ack.ok
    assert "a pallet can only be recognised by such an order" in ack.says


async def test_the_load_that_is_reported_is_never_older_than_the_status(stack):
    link, robot, _ = await opened(stack)
    asked = []
    answer = robot.answer

    async def watched(port, frame):
        asked.append(frame.number)
        return await answer(port, frame)

    robot.answer = watched
    await link.send(GoTarget("k1", "RB-00", PICK))
    await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 4)
    looks = " ".join(str(number) for number in asked if number in (1020, 1110, 1100))
    assert "1110" in looks
    assert re.fullmatch(r"(1020 (1110 )?1100 ?)+", looks)


async def test_the_end_of_a_leg_that_is_told_late_is_not_the_end_of_an_order_that_has_grown_meanwhile(stack):
    link, robot, _ = await opened(stack, answerLimitS=10)
    answer, grown = robot.answer, []

    async def late(port, frame):
        said = await answer(port, frame)
        ids = frame.body.get("task_ids", [])
        if frame.number == 1110 and ids == ["k1/1"] and "'status': 4" in str(said.body) and not grown:
            grown.append(frame)
            await link.send(DriveOn("w1", "RB-00", "k1", 0, ("K0", "LM0", "P0")))
        return said

    robot.answer = late
    await link.send(GoTarget("k1", "RB-00", PICK, way=("K0", "LM0"), horizon=("P0",)))
    report = await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 4)
    assert grown
    assert (report.task_id, report.node_id) == ("k1", "P0")


class StillClock(FastClock):
    """Nobody who sleeps by it ever wakes."""

    async def sleep_until(self, ts_ms: int) -> None:
        await asyncio.Event().wait()


async def test_what_a_robot_pushes_makes_the_link_look_at_once(stack):
    wire = await stack.enter_async_context(robots_on_the_wire(floor(1, 1), FastClock(60)))
    link = open_robokit_link(LinkRequest(wire.scene, wire.scene.robots, StillClock(1)))
    stack.push_async_callback(link.close)
    await heard(link, lambda report: isinstance(report, Telemetry))
    await wire.hall.told(GoTarget("by hand", "RB-00", {"id": "LM0"}))
    await heard(link, lambda report: isinstance(report, Telemetry) and report.task_status == 4)


@pytest.mark.parametrize("manners", [Manners(), Manners(versions=(2,)), Manners(unknown=frozenset({1100, 1101, 1102}))])
async def test_a_robot_is_looked_at_without_anything_being_told_to_it(stack, manners):
    _, robot, wire = await opened(stack, manners)
    found = await check_robot("127.0.0.1", robot.ports, wire.hall.clock.now_ms)
    assert found.speaks
    assert found.header in manners.versions
    assert (found.holder, found.troubles, robot.heard) == ("", (), [])
    assert found.wire()["nodeId"] == "K0"


async def test_a_robot_that_ignores_what_it_does_not_know_is_looked_at_all_the_same(monkeypatch):
    monkeypatch.setattr("beforehand.adapters.robokit.client.RobotClient.__init__.__defaults__", (0.05, 2))

    def answer(frame):
        known = {1000: {"vehicle_id": "V"}, 1004: {"current_station": "LM1"}, 1020: {"task_status": 0}}
        said = known.get(frame.number)
        return None if said is None else Frame(frame.number + 10000, frame.sequence, said), False

    async with answering(answer) as (port, _):
        ports = dict.fromkeys(("status", "control", "task", "config", "other", "push"), port)
        found = await check_robot("127.0.0.1", ports, FastClock(1).now_ms)
        assert (found.speaks, found.reading.node_id, found.troubles) == (True, "LM1", ())


async def test_a_robot_that_breaks_off_while_it_is_looked_at_speaks_robokit_all_the_same():
    left = [{"vehicle_id": "V"}, {"task_status": 0}, {"current_station": "LM1"}]

    def answer(frame):
        return (Frame(frame.number + 10000, frame.sequence, left.pop(0)), False) if left else (None, True)

    async with answering(answer) as (port, _):
        ports = dict.fromkeys(("status", "control", "task", "config", "other", "push"), port)
        found = await check_robot("127.0.0.1", ports, FastClock(1).now_ms)
        assert (found.speaks, found.header, found.entry["kind"]) == (True, 1, "robokit")
        assert found.troubles[0].startswith("It speaks Robokit, but the line to it is bad: 127.0.0.1:")


async def test_a_pressed_emergency_stop_stands_in_the_way():
    def answer(frame):
        return Frame(frame.number + 10000, frame.sequence, {"current_station": "LM1", "emergency": True}), False

    async with answering(answer) as (port, _):
        ports = dict.fromkeys(("status", "control", "task", "config", "other", "push"), port)
        found = await check_robot("127.0.0.1", ports, FastClock(1).now_ms)
        assert found.troubles == ("Its emergency stop is pressed.",)


def test_the_usual_ports_and_those_of_a_block():
    assert ports_from(None)["push"] == ports_from(19204)["push"] == 19301
    assert ports_from(5000) == {
        "status": 5000,
        "control": 5001,
        "task": 5002,
        "config": 5003,
        "other": 5006,
        "push": 5007,
    }
