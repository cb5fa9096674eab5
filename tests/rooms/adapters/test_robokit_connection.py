"""One connection to a robot: one question at a time, each with its own answer, and made anew when one does not come."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.client import RobotClient
from beforehand.adapters.robokit.connection import Connection, NoAnswerError, NotReachedError
from beforehand.adapters.robokit.frame import Frame, FrameParser, encode

Answers = Callable[[Frame], list[Frame]]


class Robot:
    """Answers as it is scripted, over lines that are only in memory."""

    def __init__(self) -> None:
        self.asked: list[Frame] = []
        self.lines: list[Line] = []
        self.answers: Answers = lambda frame: [Frame(frame.number + no.ANSWER, frame.sequence, {"n": frame.number})]
        self.refuses: Exception | None = None

    async def connect(self, make: Callable[[], asyncio.Protocol], host: str, port: int) -> tuple[Any, Any]:
        if self.refuses is not None:
            raise self.refuses
        line = Line(self, make())
        self.lines.append(line)
        line.protocol.connection_made(line)  # type: ignore[arg-type]
        return line, line.protocol


class Line:
    """One line to it, as a transport."""

    def __init__(self, robot: Robot, protocol: asyncio.Protocol) -> None:
        self.robot, self.protocol, self.is_open = robot, protocol, True

    def write(self, data: bytes) -> None:
        for frame in FrameParser().feed(data):
            self.robot.asked.append(frame)
            for answer in self.robot.answers(frame):
                asyncio.get_running_loop().call_soon(self.protocol.data_received, encode(answer))

    def abort(self) -> None:
        if self.is_open:
            self.is_open = False
            self.protocol.connection_lost(None)


@pytest.fixture
async def robot(monkeypatch: pytest.MonkeyPatch) -> Robot:
    made = Robot()
    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", made.connect)
    return made


async def test_questions_wait_for_each_other_and_share_a_line(robot: Robot) -> None:
    line = Connection("forklift-1", 1)
    first, second = await asyncio.gather(line.ask(1000), line.ask(1004, {"a": 1}))
    assert (first.body["n"], second.body["n"]) == (1000, 1004)
    assert [frame.body for frame in robot.asked] == [{}, {"a": 1}]
    assert len({frame.sequence for frame in robot.asked}) == 2
    assert len(robot.lines) == 1


async def test_only_its_own_answer_answers_a_question_and_the_rest_is_passed_on(robot: Robot) -> None:
    others: list[Frame] = []

    def muddled(frame: Frame) -> list[Frame]:
        return [
            Frame(frame.number + no.ANSWER, frame.sequence + 7, {"late": True}),
            Frame(no.PUSHED, frame.sequence, {"pushed": True}),
            Frame(frame.number + no.ANSWER, frame.sequence, {"own": True}),
        ]

    robot.answers = muddled
    line = Connection("forklift-1", 1, on_other=others.append)
    assert (await line.ask(1000)).body == {"own": True}
    assert [next(iter(frame.body)) for frame in others] == ["late", "pushed"]


async def test_an_answer_that_does_not_come_in_time_costs_the_line(robot: Robot) -> None:
    whole, robot.answers = robot.answers, lambda frame: []
    line = Connection("forklift-1", 1)
    with pytest.raises(NoAnswerError, match=r"forklift-1:1 did not answer 1000 within 0\.01 s"):
        await line.ask(1000, limit_s=0.01)
    assert not robot.lines[0].is_open
    robot.answers = whole
    assert (await line.ask(1004)).body == {"n": 1004}
    assert len(robot.lines) == 2


async def test_a_line_that_is_closed_before_the_answer_is_told_apart(robot: Robot) -> None:
    line = Connection("forklift-1", 1)
    robot.answers = lambda frame: robot.lines[0].abort() or []  # type: ignore[func-returns-value]
    with pytest.raises(NoAnswerError, match="closed the connection before it answered 1000"):
        await line.ask(1000)
    await line.lost()


async def test_who_gives_up_waiting_leaves_no_answer_for_the_next_question(robot: Robot) -> None:
    whole, robot.answers = robot.answers, lambda frame: []
    line = Connection("forklift-1", 1)
    asking = asyncio.ensure_future(line.ask(1000))
    while not robot.asked:  # noqa: ASYNC110  nobody tells when it has gone out
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    assert not robot.lines[0].is_open
    robot.answers = whole
    assert (await line.ask(1004)).body == {"n": 1004}


async def test_a_robot_that_knows_the_other_header_is_asked_again_in_that(robot: Robot) -> None:
    whole = robot.answers
    robot.answers = lambda frame: (
        whole(frame) if frame.version == 2 else [Frame(no.BAD_VERSION, frame.sequence, {}, frame.version)]
    )
    line = Connection("forklift-1", 1)
    assert (await line.ask(1000)).body == {"n": 1000}
    assert [frame.version for frame in robot.asked] == [1, 2]
    await line.ask(1004)
    assert [frame.version for frame in robot.asked] == [1, 2, 2], "it is remembered"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ConnectionRefusedError(111, "x"), "nothing listens on this port"),
        (TimeoutError(), "it did not answer in time"),
        (OSError(113, "x"), "no route to host"),
        (OSError("Odd."), "odd"),
        (UnicodeError(), "UnicodeError"),
    ],
)
async def test_a_robot_that_cannot_be_reached_certainly_got_nothing(robot: Robot, error: Exception, says: str) -> None:
    robot.refuses = error
    with pytest.raises(NotReachedError) as caught:
        await Connection("forklift-1", 1).ask(1000)
    assert caught.value.says == f"forklift-1:1 cannot be reached: {says}."


async def test_a_question_that_a_robot_says_nothing_to_is_left_out_for_a_while(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it answers others; one that answers nothing at all is not there."""
    now = [1_000.0]
    silent = {no.TASK_BY_ID}

    def answers(frame: Frame) -> list[Frame]:
        body = {"ret_code": 0, "task_status": 2}
        return [] if frame.number in silent else [Frame(frame.number + no.ANSWER, frame.sequence, body)]

    async def asked(port: str, number: int, body: Any = None) -> Frame:
        robot.asked.append(Frame(number, 1, body or {}))
        found = answers(robot.asked[-1])
        if not found:
            raise NoAnswerError("It does not answer.")
        return found[0]

    client = RobotClient("forklift-1", no.PORTS)
    monkeypatch.setattr(client, "ask", asked)
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])

    async def ask_for_the_order() -> None:
        await client.task()
        assert await client.task_status("t1") is None

    await client.task()
    with pytest.raises(NoAnswerError):
        await client.task_status("t1")
    await ask_for_the_order()
    assert not client.knows(no.TASK_BY_ID)
    times = len(robot.asked)
    await ask_for_the_order()
    assert len(robot.asked) == times + 1, "only the other question goes out"
    now[0] += 11
    assert client.knows(no.TASK_BY_ID), "the line may have been bad just then"
    await ask_for_the_order()
    now[0] += 11
    assert not client.knows(no.TASK_BY_ID), "the second time it is left out for longer"
    now[0] += 10
    silent.clear()
    assert client.knows(no.TASK_BY_ID)
    await client.task_status("t1")
    assert client.knows(no.TASK_BY_ID)
    silent.add(no.TASK)
    with pytest.raises(NoAnswerError):
        await client.task()  # it has answered this before, so it is gone
