"""The conversation with a Robokit robot and the robot of our own, mouth to ear and on virtual time, without a wire."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

from beforehand.adapters.robokit import checkup as checkup_module
from beforehand.adapters.robokit import control as control_module
from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit import talk as talk_module
from beforehand.adapters.robokit.checkup import check_robot, ports_from
from beforehand.adapters.robokit.client import RobotClient
from beforehand.adapters.robokit.connection import NoAnswerError, NotReachedError
from beforehand.adapters.robokit.frame import Frame, FrameParser, encode
from beforehand.adapters.robokit.hall import Hall
from beforehand.adapters.robokit.options import RobokitOptions
from beforehand.adapters.robokit.robot import Manners, WireRobot
from beforehand.adapters.robokit.talk import Talk
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import (
    Ack,
    CancelTarget,
    DriveOn,
    GoTarget,
    PauseRobot,
    ResumeRobot,
    RobotCommand,
    Telemetry,
)
from beforehand.testing import VirtualClock

SCENE = FleetScene.model_validate(
    {
        "name": "hall",
        "nodes": [{"id": name, "x": 10 * n, "y": 0} for n, name in enumerate("ABCD")],
        "edges": [{"from": a, "to": b} for a, b in ("AB", "BC", "CD")],
        "robots": [{"robotId": "RB-01", "nodeId": "A"}],
        "worksites": [{"worksiteId": "IN_1", "entryNodeId": "D", "worksiteType": "buffer", "occupancy": "filled"}],
    }
)
RUNNING, SUSPENDED, DONE, FAILED, CANCELLED = 2, 3, 4, 5, 6
PICK = {"id": "D", "operation": "ForkLoad", "start_height": 0.1, "end_height": 0.5, "recognize": False}


class Ear(RobotClient):
    """Asks the robot itself, in the bytes of the protocol."""

    robot: WireRobot
    deaf = False
    cut = ""
    """A port to which there is no connection."""

    async def ask(self, port: str, number: int, body: Any = None) -> Frame:
        if port == self.cut:
            raise NotReachedError("There is no connection.")
        asked = Frame(number, 1, dict(body or {}), self.dialect.version)
        answer = None if self.deaf else await self.robot.answer(port, _through_bytes(asked))
        await asyncio.sleep(0)
        if answer is None:
            raise NoAnswerError("It does not answer.")
        heard = _through_bytes(answer)
        self.dialect.heard = heard.version
        if heard.number == no.BAD_VERSION:
            self.dialect.other()
            return await self.ask(port, number, body)
        return heard


def _through_bytes(frame: Frame) -> Frame:
    [read] = FrameParser().feed(encode(frame))
    return read


class Floor:
    def __init__(self, manners: Manners, holder: str, ear: type[Ear]) -> None:
        self.clock = VirtualClock()
        self.hall = Hall(SCENE, self.clock)
        self.robot = WireRobot(self.hall, "RB-01", manners, holder)
        self.said: list[Telemetry | Ack] = []
        self.ear = ear
        ear.robot = self.robot
        self.talk = self.new_talk()

    def new_talk(self, kept: Any = None) -> Talk:
        return Talk("RB-01", RobokitOptions("forklift-1", no.PORTS), self.clock, self.said.append, kept=kept)

    async def tell(self, command: RobotCommand) -> "Floor":
        await self.clock.run(self.talk.send(command))
        return self

    async def play(self, seconds: float) -> "Floor":
        await self.clock.advance(seconds)
        return self

    def strike(self, fault: str) -> None:
        self.hall.inject(FaultSpec(at_s=0.0, robot_id="RB-01", fault=fault))  # type: ignore[arg-type]

    @property
    def last(self) -> Telemetry:
        return [one for one in self.said if isinstance(one, Telemetry)][-1]

    def answer(self, key: str) -> Ack:
        return [one for one in self.said if isinstance(one, Ack) and one.key == key][-1]

    def statuses(self, key: str) -> list[int]:
        """The statuses that were told of an order once it had begun, each once in a row."""
        told = [one.task_status for one in self.said if isinstance(one, Telemetry) and one.task_id == key]
        return [status for before, status in pairwise([no.WAITING, *told]) if status not in (before, no.WAITING)]

    def heard(self, *numbers: int) -> int:
        return sum(number in numbers for number, _ in self.robot.heard)


@pytest.fixture
def on_floor(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    @asynccontextmanager
    async def made(holder: str = "", **manners: Any) -> AsyncIterator[Floor]:
        ear = type("Ear", (Ear,), {})
        monkeypatch.setattr(talk_module, "RobotClient", ear)
        monkeypatch.setattr(checkup_module, "RobotClient", ear)
        floor = Floor(Manners(**manners), holder, ear)
        work = [asyncio.create_task(floor.hall.run()), asyncio.create_task(floor.talk.follow())]
        await floor.play(2)
        yield floor
        for task in work:
            task.cancel()
        await asyncio.wait(work)
        await floor.talk.close()
        await floor.robot.close()

    return made


def go(key: str = "t1", target: str = "D", **more: Any) -> GoTarget:
    return GoTarget(key, "RB-01", {"id": target}, **more)


MANNERS: list[dict[str, Any]] = [
    {},
    {"versions": (2,)},
    {"unknown": frozenset({no.ALL, no.ALL_2, no.ALL_3})},
    {"unknown": frozenset({no.TASK_BY_ID})},
    {"unknown": frozenset({no.GO_TARGET})},
    {"needs_control": False, "unknown": frozenset({no.TAKE_CONTROL, no.CONTROL})},
    {"bare_errors": True, "sensor": None},
]


@pytest.mark.parametrize("manners", MANNERS)
async def test_a_drive_is_answered_seen_to_run_and_done_whatever_the_robots_manners(
    on_floor: Any, manners: dict[str, Any]
) -> None:
    async with on_floor(**manners) as floor:
        assert (floor.last.node_id, floor.last.task_status) == ("A", 0)
        await floor.tell(go())
        await floor.play(40)
        assert floor.answer("t1").ok
        assert (floor.last.node_id, floor.last.next_node_id, floor.last.x) == ("D", None, 30)
        assert floor.last.task_status == DONE
        places = [one.node_id for one in floor.said if isinstance(one, Telemetry)]
        assert list(dict.fromkeys(places)) == ["A", "B", "C", "D"]
        assert floor.heard(no.GO_TARGET, no.GO_TARGET_LIST) == 1
        counts = [one.seq for one in floor.said if isinstance(one, Telemetry)]
        assert counts == list(range(counts[0], counts[0] + len(counts)))


@pytest.mark.parametrize("composite", [True, False])
@pytest.mark.parametrize("sensor", ["goods_region", "roller_isFull", "hook_isFull"])
async def test_a_pick_lifts_what_stands_there_whole_or_in_parts(on_floor: Any, composite: bool, sensor: str) -> None:
    async with on_floor(composite=composite, sensor=sensor) as floor:
        assert floor.last.load_sensor == "empty"
        await floor.tell(GoTarget("t1", "RB-01", PICK))
        await floor.play(90)
        assert floor.statuses("t1") == [RUNNING, DONE]
        assert (floor.last.node_id, floor.last.load_sensor) == ("D", "loaded")
        assert (floor.heard(no.FORK_HEIGHT) == 0) is composite


async def test_an_order_in_parts_is_paused_goes_on_and_is_cancelled_in_every_part(on_floor: Any) -> None:
    async with on_floor(composite=False) as floor:
        slow = {**PICK, "start_height": 1.1}
        await floor.tell(GoTarget("t1", "RB-01", slow))
        await floor.play(2)
        await floor.tell(PauseRobot("p1", "RB-01"))
        await floor.play(10)
        assert (floor.last.task_status, floor.last.node_id) == (SUSPENDED, "A")
        assert floor.heard(no.GO_TARGET) == 1, "only the whole, which it refused: no further part is begun"
        await floor.tell(ResumeRobot("r1", "RB-01"))
        await floor.play(10)
        assert floor.last.next_node_id is not None, "it drives"
        await floor.tell(PauseRobot("p2", "RB-01"))
        await floor.play(3)
        stood = floor.last.x
        await floor.play(5)
        assert (floor.last.task_status, floor.last.x) == (SUSPENDED, stood)
        await floor.tell(ResumeRobot("r2", "RB-01"))
        await floor.play(2)
        await floor.tell(CancelTarget("c", "RB-01"))
        await floor.play(20)
        assert floor.statuses("t1")[-1] == CANCELLED
        assert all(floor.answer(key).ok for key in ("t1", "p1", "r1", "p2", "r2", "c"))
        assert floor.last.load_sensor == "empty"


@pytest.mark.parametrize(("part", "ended"), [("fork-before", CANCELLED), ("fork-after", no.NONE)])
async def test_a_fork_that_is_cancelled_may_have_lifted_where_that_was_what_it_did(
    on_floor: Any, part: str, ended: int
) -> None:
    async with on_floor(composite=False) as floor:
        await floor.tell(GoTarget("t1", "RB-01", {**PICK, "start_height": 1.1, "end_height": 1.5}))
        while floor.talk.kept()["order"]["apart"] != part:
            await floor.play(0.2)
        await floor.tell(CancelTarget("c", "RB-01"))
        await floor.play(2)
        assert floor.statuses("t1") == [RUNNING, ended]
        later = floor.new_talk(floor.talk.kept())
        assert (await later.read()).task_status == ended, "the next process says the same"


async def test_a_cancel_that_was_not_heard_is_not_kept_as_one(on_floor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "PATIENCE_S", 0)
    async with on_floor() as floor:
        await floor.tell(go())
        floor.ear.cut = "task"
        with pytest.raises(NotReachedError):
            await floor.tell(CancelTarget("c1", "RB-01"))
        assert not floor.talk.kept()["order"]["cancelled"]
        floor.ear.cut = ""
        await floor.play(2)
        await floor.tell(CancelTarget("c2", "RB-01"))
        assert floor.talk.kept()["order"]["cancelled"]


async def test_a_part_that_did_not_reach_the_robot_is_begun_when_it_can_be_reached(
    on_floor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "PATIENCE_S", 0)
    async with on_floor(composite=False) as floor:
        await floor.tell(GoTarget("t1", "RB-01", {**PICK, "start_height": 1.1, "end_height": 1.5}))
        floor.ear.cut = "task"
        await floor.play(10)
        assert floor.heard(no.GO_TARGET) == 1, "only the whole, which it refused"
        assert not (await floor.talk.standing()).answers
        floor.ear.cut = ""
        await floor.play(90)
        assert (floor.statuses("t1")[-1], floor.last.node_id) == (DONE, "D")


async def test_a_command_that_did_not_reach_the_robot_leaves_it_with_the_order_before(
    on_floor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "PATIENCE_S", 0)
    async with on_floor() as floor:
        await floor.tell(go())
        floor.ear.cut = "task"
        with pytest.raises(NotReachedError):
            await floor.tell(go("t2", "A"))
        floor.ear.cut = ""
        assert floor.talk.kept()["order"]["key"] == "t1"
        await floor.play(40)
        assert floor.statuses("t1")[-1] == DONE


async def test_an_order_that_cannot_be_given_in_parts_is_refused_with_the_reason(on_floor: Any) -> None:
    async with on_floor(composite=False) as floor:
        await floor.tell(GoTarget("t1", "RB-01", {**PICK, "recognize": True}))
        await floor.tell(GoTarget("t2", "RB-01", {"id": "D", "operation": "ForkLoad"}))
        assert "recognised" in floor.answer("t1").says
        assert "how high" in floor.answer("t2").says
        assert not floor.answer("t1").ok
        assert not floor.answer("t2").ok
        await floor.play(5)
        assert floor.last.node_id == "A"


async def test_a_robot_pauses_where_it_is_goes_on_and_is_cancelled(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go())
        await floor.play(5)
        await floor.tell(PauseRobot("p", "RB-01"))
        await floor.play(3)
        stood = floor.last.x
        assert 0 < stood < 30
        await floor.play(10)
        assert (floor.last.x, floor.last.task_status) == (stood, SUSPENDED)
        await floor.tell(ResumeRobot("r", "RB-01"))
        await floor.play(4)
        assert floor.last.x > stood
        await floor.tell(CancelTarget("c", "RB-01"))
        await floor.play(15)
        assert floor.statuses("t1") == [RUNNING, SUSPENDED, RUNNING, CANCELLED]
        await floor.tell(go("t2"))
        await floor.play(40)
        assert floor.statuses("t2")[-1] == DONE


async def test_a_way_is_driven_leg_by_leg_as_it_is_granted(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go(way=("A", "B")))
        await floor.play(30)
        assert (floor.last.node_id, floor.last.task_status) == ("B", RUNNING)
        await floor.tell(DriveOn("on", "RB-01", "t1", 2, ("C", "D")))
        await floor.play(40)
        assert (floor.last.node_id, floor.statuses("t1")[-1]) == ("D", DONE)
        await floor.tell(DriveOn("late", "RB-01", "t1", 4, ("C",)))
        await floor.tell(DriveOn("other", "RB-01", "t9", 2, ("C",)))
        assert {floor.answer(key).code for key in ("late", "other")} == {"order.unknown"}


async def test_control_is_taken_once_never_from_somebody_else_and_given_back(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go())
        await floor.tell(CancelTarget("c", "RB-01"))
        assert floor.robot.holder == "beforehand"
        assert floor.heard(no.TAKE_CONTROL) == 1
        await floor.talk.close()
        assert floor.robot.holder == ""
    async with on_floor(holder="the panel") as floor:
        await floor.tell(go())
        ack = floor.answer("t1")
        assert (ack.ok, ack.code) == (False, "robot.control")
        assert "the panel has control" in ack.says
        assert floor.heard(no.GO_TARGET) == 0
        standing = await floor.talk.standing()
        assert (standing.answers, standing.control, standing.trouble) == (True, "the panel", ack.says)
        await floor.talk.close()
        assert floor.robot.holder == "the panel", "what was not taken is not given away"


async def test_control_that_was_lost_meanwhile_is_taken_once_more(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go())
        floor.robot.holder = ""
        await floor.tell(CancelTarget("c", "RB-01"))
        assert floor.answer("c").ok
        assert floor.heard(no.TAKE_CONTROL) == 2


async def test_the_same_command_again_is_answered_again_and_not_driven_again(on_floor: Any) -> None:
    async with on_floor() as floor:
        for _ in range(2):
            await floor.tell(go())
        acks = [one for one in floor.said if isinstance(one, Ack)]
        assert [one.ok for one in acks] == [True, True]
        assert floor.heard(no.GO_TARGET) == 1


async def test_what_cannot_be_done_is_refused_with_the_robots_words(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go(target="Z"))
        ack = floor.answer("t1")
        assert not ack.ok
        assert ack.says.startswith("RB-01 ")
        await floor.tell(go("t2", way=("A", "Z")))
        assert not floor.answer("t2").ok


async def test_a_robot_that_does_not_answer_is_not_read_and_says_why(on_floor: Any) -> None:
    async with on_floor() as floor:
        assert (await floor.talk.read()) is not None
        floor.ear.deaf = True
        assert await floor.talk.read() is None
        standing = await floor.talk.standing()
        assert (standing.answers, standing.trouble) == (False, "It does not answer.")
        floor.ear.deaf = False
        assert (await floor.talk.read()).node_id == "A"


async def test_a_robot_that_restarts_has_forgotten_its_order_and_who_has_control(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go())
        await floor.play(5)
        floor.strike("restart")
        await floor.play(30)
        assert floor.last.boot == 2
        assert floor.talk.kept()["boot"] == 2
        await floor.tell(go("t2"))
        await floor.play(60)
        assert floor.statuses("t2")[-1] == DONE
        assert floor.heard(no.TAKE_CONTROL) == 2


async def test_trouble_and_what_stands_in_the_way_are_told(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go())
        await floor.play(5)
        floor.strike("blocked")
        await floor.play(2)
        assert floor.last.blocked
    async with on_floor() as floor:
        floor.strike("status5")
        await floor.tell(go())
        await floor.play(20)
        assert floor.statuses("t1")[-1] == FAILED
        assert str(floor.last.error).startswith("RB-01: It reports 52200")


async def test_the_next_process_finds_the_order_under_its_key(on_floor: Any) -> None:
    async with on_floor() as floor:
        await floor.tell(go())
        await floor.play(5)
        again = floor.new_talk(floor.talk.kept())
        seen = await again.read()
        assert (seen.task_id, seen.task_status) == ("t1", RUNNING)
        await again.send(go())
        assert floor.heard(no.GO_TARGET) == 1, "the robot has it"
        await floor.play(40)
        assert (await again.read()).task_status == DONE


async def test_orders_without_an_id_are_driven_each(on_floor: Any) -> None:
    """As other programs may send them."""
    async with on_floor(needs_control=False) as floor:
        for target, named in (("B", {}), ("C", {"task_id": ""}), ("D", {"task_id": ""}), ("C", {"task_id": None})):
            body = {"id": target, **named}
            answer = await floor.clock.run(floor.robot.answer("task", Frame(no.GO_TARGET, 1, body)))
            assert answer.body["ret_code"] == 0
            await floor.play(20)
            assert floor.last.node_id == target


async def test_a_look_says_what_is_there_and_changes_nothing(on_floor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened(host: str, port: int) -> bool:
        return port != no.PORTS["push"]

    monkeypatch.setattr(checkup_module, "_is_open", opened)
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: 1_000.0)  # half of a question's time is its way
    async with on_floor(holder="the panel") as floor:
        found = await check_robot("forklift-1", no.PORTS, floor.clock.now_ms)
        shown = found.wire()
        assert (shown["speaks"], shown["headerVersion"], shown["nodeId"]) == ("robokit", 1, "A")
        assert shown["info"]["id"] == "RB-01"
        assert (shown["controlHeldBy"], shown["stations"], shown["loadSensors"]) == ("the panel", 4, ["goods_region"])
        assert (shown["load"], shown["taskStatus"], shown["alarms"]) == ("empty", 0, [])
        assert (shown["clockOffsetMs"], len(shown["roundTripsMs"])) == (0, 5)
        assert list(shown["closedPorts"]) == ["push"]
        assert shown["link"] == {"kind": "robokit", "host": "forklift-1"}
        assert found.troubles == ("the panel has control of it. Have it given back there before Beforehand drives it.",)
        assert found.notes == ("It pushes nothing: news of it come a little later.",)
        assert floor.robot.heard == []


async def test_a_look_tells_what_is_in_the_way_of_driving_it(on_floor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened(host: str, port: int) -> bool:
        return port not in (no.PORTS["task"], no.PORTS["config"])

    monkeypatch.setattr(checkup_module, "_is_open", opened)
    async with on_floor(unknown=frozenset({no.ALL, no.ALL_2, no.ALL_3}), sensor=None) as floor:
        floor.strike("lost_position")
        await floor.play(2)
        found = await check_robot("forklift-1", no.PORTS, lambda: floor.clock.now_ms() + 5_000)
        told = " ".join(found.troubles)
        assert "does not know where it is" in told
        assert f"Its task port {no.PORTS['task']} is closed" in told
        assert f"Its config port {no.PORTS['config']} is closed" in told
        assert any("single questions only" in note for note in found.notes)
        assert any("no load sensor" in note for note in found.notes)


async def test_what_is_no_robot_is_told_apart_from_nothing(on_floor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for listens, says in ((True, "does not speak Robokit"), (False, "is it switched on")):

        async def opened(host: str, port: int, listens: bool = listens) -> bool:
            return listens

        monkeypatch.setattr(checkup_module, "_is_open", opened)
        async with on_floor() as floor:
            floor.ear.deaf = True
            found = await check_robot("forklift-1", no.PORTS, floor.clock.now_ms)
            assert (found.speaks, found.wire()["speaks"]) == (False, None)
            assert says in " ".join(found.troubles)


def test_a_simulated_robot_has_its_ports_in_a_block() -> None:
    assert ports_from(None) == ports_from(no.PORTS["status"]) == no.PORTS
    assert ports_from(20_000)["status"] == 20_000
    assert len(set(ports_from(20_000).values())) == len(no.PORTS)
