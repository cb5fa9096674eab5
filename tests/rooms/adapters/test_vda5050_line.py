"""The VDA 5050 robots of a scene over one line that can be lost: nothing waits in it to be said too late."""

import asyncio
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from beforehand.adapters.vda5050 import link as link_module
from beforehand.adapters.vda5050.link import VdaLink, open_vda5050_link
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.errors import UnavailableError
from beforehand.model.robot import Ack, GoTarget, Telemetry
from beforehand.ports.robot import LinkRequest
from beforehand.testing import VirtualClock

STATE = {
    "headerId": 1,
    "timestamp": "2026-01-01T12:00:00Z",
    "orderId": "",
    "lastNodeId": "A",
    "nodeStates": [],
    "actionStates": [],
    "driving": False,
    "agvPosition": {"x": 0, "y": 0, "theta": 0, "mapId": "m", "positionInitialized": True},
}


def scene(broker: str = "mqtt://broker") -> Any:
    robots = [
        {
            "robotId": f"RB-0{serial}",
            "nodeId": node,
            "link": {"kind": "vda5050", "manufacturer": "acme", "serial": serial},
        }
        for serial, node in (("1", "A"), ("2", "B"))
    ]
    return read_fleet(
        {
            "kind": "fleet",
            "name": "hall",
            "nodes": [{"id": "A", "x": 0, "y": 0}, {"id": "B", "x": 6, "y": 0}, {"id": "C", "x": 12, "y": 0}],
            "edges": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
            "robots": robots,
            "settings": {"broker": broker},
        }
    )


class Line:
    """One line to a broker: what was published on it, and what comes over it; `cut` ends it with an error."""

    def __init__(self, broker: "BrokerInMemory") -> None:
        self.broker = broker
        self.topics: list[tuple[str, int]] = []
        self.coming: asyncio.Queue[Any] = asyncio.Queue()

    async def __aenter__(self) -> "Line":
        if self.broker.refuses is not None:
            raise self.broker.refuses
        self.broker.lines.append(self)
        return self

    async def __aexit__(self, *_: Any) -> None: ...

    async def subscribe(self, topics: list[tuple[str, int]]) -> None:
        self.topics = topics

    async def publish(self, topic: str, payload: bytes, qos: int) -> None:
        if self.broker.is_stuck:
            await asyncio.Event().wait()
        self.broker.published.append((topic, json.loads(payload)))

    @property
    async def messages(self) -> AsyncIterator[Any]:
        while True:
            message = await self.coming.get()
            if isinstance(message, Exception):
                raise message
            yield message

    def say(self, robot: str, name: str, document: Any) -> None:
        self.coming.put_nowait(SimpleNamespace(topic=f"uagv/v2/acme/{robot}/{name}", payload=_bytes(document)))

    def cut(self) -> None:
        self.coming.put_nowait(ConnectionResetError("cut"))


def _bytes(document: Any) -> bytes:
    return document if isinstance(document, bytes) else json.dumps(document).encode()


class BrokerInMemory:
    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.published: list[tuple[str, Any]] = []
        self.refuses: Exception | None = None
        self.is_stuck = False

    def kinds(self, robot: str) -> list[str]:
        """What a robot was told, in short."""
        told = [(topic.rpartition("/")[2], document) for topic, document in self.published if f"/{robot}/" in topic]
        return [doc["actions"][0]["actionType"] if name == "instantActions" else name for name, doc in told]


class Rig:
    def __init__(self, kept: Any = None, broker: str = "mqtt://broker") -> None:
        self.broker = BrokerInMemory()
        self.kept: dict[str, Any] = {}
        made = scene(broker)
        request = LinkRequest(made, made.robots, VirtualClock(), kept=kept, keep=self.kept.update)
        self.link: VdaLink = open_vda5050_link(request)
        self.said: list[Telemetry | Ack] = []
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for report in self.link.reports():
            self.said.append(report)

    async def settle(self) -> None:
        for _ in range(30):
            await asyncio.sleep(0)

    @property
    def line(self) -> Line:
        return self.broker.lines[-1]

    async def close(self) -> None:
        await self.link.close()
        await self._listening


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    made = Rig()
    monkeypatch.setattr(link_module, "client_of", lambda broker: Line(made.broker))
    monkeypatch.setattr(link_module, "FIRST_WAIT_S", 0.0)
    monkeypatch.setattr(link_module, "READ_PATIENCE_S", 0.01)
    await made.settle()
    yield made
    await made.close()


async def test_every_robot_is_asked_once_the_line_is_there_and_heard_on_its_own_topics(rig: Rig) -> None:
    assert rig.broker.kinds("1") == rig.broker.kinds("2") == ["stateRequest"]
    qos = dict(rig.line.topics)
    assert qos["uagv/v2/acme/1/connection"] == 1
    assert qos["uagv/v2/acme/2/state"] == 0
    assert len(qos) == 8
    rig.line.say("2", "state", {**STATE, "lastNodeId": "B", "agvPosition": None})
    rig.line.say("9", "state", STATE)
    await rig.settle()
    [report] = rig.said
    assert isinstance(report, Telemetry)
    assert (report.robot_id, report.node_id) == ("RB-02", "B")


async def test_what_one_robot_says_wrongly_keeps_nobody_from_being_heard(rig: Rig) -> None:
    rig.line.say("1", "state", b"nonsense")
    rig.line.say("2", "state", STATE)
    await rig.settle()
    assert [one.robot_id for one in rig.said] == ["RB-02"]
    assert "cannot be read" in str((await rig.link.standing("RB-01")).trouble)


async def test_an_order_goes_out_and_is_answered_when_the_robot_shows_it(rig: Rig) -> None:
    rig.line.say("1", "state", STATE)
    await rig.settle()
    await rig.link.send(GoTarget("hall-1", "RB-01", {"id": "B"}))
    await rig.settle()
    assert rig.broker.kinds("1") == ["stateRequest", "order"]
    assert rig.kept["RB-01"]["order"]["key"] == "hall-1"
    rig.line.say("1", "state", {**STATE, "headerId": 2, "timestamp": "2026-01-01T12:00:01Z", "orderId": "hall-1"})
    await rig.settle()
    assert [one.key for one in rig.said if isinstance(one, Ack)] == ["hall-1"]


async def test_nothing_that_was_to_be_said_is_said_after_the_line_was_lost(rig: Rig) -> None:
    for robot in ("1", "2"):
        rig.line.say(robot, "state", STATE)
    await rig.settle()
    rig.broker.refuses, rig.broker.is_stuck = ConnectionRefusedError(), True
    for number in ("1", "2"):
        await rig.link.send(GoTarget(f"hall-{number}", f"RB-0{number}", {"id": "C"}))
    rig.line.cut()
    await rig.settle()
    with pytest.raises(UnavailableError, match="nothing listens") as refused:
        await rig.link.send(GoTarget("hall-3", "RB-02", {"id": "C"}))
    assert refused.value.code == "robot.offline"
    standing = await rig.link.standing("RB-02")
    assert (standing.answers, "nothing listens" in str(standing.trouble)) == (False, True)
    told = len(rig.broker.published)
    rig.broker.refuses, rig.broker.is_stuck = None, False
    while len(rig.broker.lines) < 2:  # noqa: ASYNC110  it is tried again by the clock
        await asyncio.sleep(0.001)
    await rig.settle()
    assert rig.broker.kinds("2")[-1] == "stateRequest"
    assert {topic.rpartition("/")[2] for topic, _ in rig.broker.published[told:]} == {"instantActions"}


async def test_a_robot_is_read_when_it_answers_and_not_when_it_is_silent(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await rig.link.read("RB-01") is None
    assert await rig.link.read("RB-09") is None
    monkeypatch.setattr(link_module, "READ_PATIENCE_S", 10)
    reading = asyncio.ensure_future(rig.link.read("RB-01"))
    await rig.settle()
    rig.line.say("1", "state", STATE)
    report = await reading
    assert report is not None
    assert (report.robot_id, report.node_id) == ("RB-01", "A")


async def test_a_robot_that_is_not_of_the_scene_or_a_link_that_is_closed_takes_no_command(rig: Rig) -> None:
    with pytest.raises(UnavailableError) as refused:
        await rig.link.send(GoTarget("hall-1", "RB-09", {"id": "B"}))
    assert refused.value.code == "robot.no_link"
    await rig.link.close()
    with pytest.raises(UnavailableError) as refused:
        await rig.link.send(GoTarget("hall-1", "RB-01", {"id": "B"}))
    assert refused.value.code == "robot.no_link"
    assert await rig.link.read("RB-01") is None


async def test_what_was_kept_and_cannot_be_read_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"RB-01": {"boot": 3, "order": None, "shown": False}, "RB-02": {"boot": "x"}, "RB-09": {}}
    rig = Rig(kept)
    monkeypatch.setattr(link_module, "client_of", lambda broker: Line(rig.broker))
    await rig.settle()
    for robot in ("1", "2"):
        rig.line.say(robot, "state", STATE)
    await rig.settle()
    assert {one.robot_id: one.boot for one in rig.said if isinstance(one, Telemetry)} == {"RB-01": 3, "RB-02": 1}
    await rig.close()
