"""Several links as one: nobody waits for another, and whoever fails fails alone."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.link import SimLink
from beforehand.crafts.fleet import multi_link
from beforehand.crafts.fleet.multi_link import LinkPart, MultiLink
from beforehand.crafts.fleet.testing import ScriptedLink
from beforehand.model.errors import UnavailableError
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, GoTarget, PauseRobot, Telemetry
from beforehand.testing import VirtualClock

PATIENCE_S = 90
"""How long a test waits for what should come at once: nothing here takes time."""


@pytest.fixture
def one() -> ScriptedLink:
    return ScriptedLink()


@pytest.fixture
def other() -> ScriptedLink:
    return ScriptedLink()


@pytest.fixture
async def both(one: ScriptedLink, other: ScriptedLink) -> AsyncIterator[MultiLink]:
    link = MultiLink([LinkPart("one", one, ("A1", "A2")), LinkPart("other", other, ("B1",))])
    yield link
    one.takes_commands.set()
    await link.close()


def go(robot: str, key: str = "k") -> GoTarget:
    return GoTarget(key, robot, {"id": "LM1"})


def report(robot: str, seq: int = 1) -> Telemetry:
    return Telemetry(robot, 0, seq)


async def heard(link: MultiLink, count: int) -> list[Telemetry | Ack]:
    found: list[Telemetry | Ack] = []
    async with asyncio.timeout(PATIENCE_S):
        async for said in link.reports():
            found.append(said)
            if len(found) == count:
                break
    return found


async def until_told(link: ScriptedLink, count: int) -> list[str]:
    async with asyncio.timeout(PATIENCE_S):
        while len(link.told) < count:  # noqa: ASYNC110  a link has no event for "has been told"
            await asyncio.sleep(0)
    return [command.key for command in link.told]


async def test_each_command_goes_to_its_own_link_in_order(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink
) -> None:
    for command in (go("A1", "a"), go("B1", "b"), PauseRobot("c", "A1"), go("A2", "d")):
        await both.send(command)
    assert sorted(await until_told(one, 3)) == ["a", "c", "d"]
    assert [command.key for command in one.told if command.robot_id == "A1"] == ["a", "c"]
    assert await until_told(other, 1) == ["b"]


async def test_a_robot_that_no_link_leads_to(both: MultiLink) -> None:
    with pytest.raises(UnavailableError, match="No link leads to C1"):
        await both.send(go("C1"))
    assert await both.read("C1") is None


async def test_the_reports_of_all_links_come_in_one_stream(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink
) -> None:
    for said in (report("A1", 1), report("A2", 1), report("A1", 2)):
        one.report(said)
    other.report(Ack("k", "B1", 0))
    found = await heard(both, 4)
    assert [said.seq for said in found if isinstance(said, Telemetry) and said.robot_id == "A1"] == [1, 2]
    assert {said.robot_id for said in found} == {"A1", "A2", "B1"}


def log_lines(monkeypatch: pytest.MonkeyPatch) -> list[logging.LogRecord]:
    """The log lines about tasks, as they come."""
    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[method-assign]
    monkeypatch.setattr(logging.getLogger("beforehand.tasks"), "handlers", [handler])
    return lines


@pytest.mark.parametrize("how", ["fails", "ends"])
async def test_a_link_that_dies_leaves_the_others(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.report(report("A1"))
    if how == "fails":
        one.fail(ConnectionResetError("gone"))
    else:
        one.end()
    other.report(report("B1", 1))
    lines = log_lines(monkeypatch)
    await heard(both, 2)
    other.report(report("B1", 2))
    assert await heard(both, 1) == [report("B1", 2)]
    await both.send(go("B1"))
    assert await until_told(other, 1) == ["k"]
    [silent] = lines
    assert (silent.levelname, vars(silent)["about"]["task"]) == ("ERROR", "the reports of its one robots")
    failed = silent.exc_info is not None and silent.exc_info[0] is ConnectionResetError
    assert failed == (how == "fails")
    await both.close()
    assert (one.closed, other.closed) == (1, 1)


async def test_reports_stay_open_when_every_link_has_died(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink
) -> None:
    one.end()
    other.fail(RuntimeError("a bug"))
    listening = asyncio.ensure_future(heard(both, 1))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not listening.done()
    await both.close()
    assert await listening == []


async def test_a_robot_is_read_from_its_own_link_and_a_broken_one_does_not_answer(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.state["B1"] = report("B1", 7)
    assert await both.read("B1") == report("B1", 7)
    assert await both.read("A1") is None

    async def broken(robot_id: str) -> Telemetry | None:
        raise ConnectionResetError("gone")

    monkeypatch.setattr(one, "read", broken)
    assert await both.read("A1") is None


async def test_closing_waits_only_so_long_for_a_link_that_hangs(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multi_link, "CLOSE_PATIENCE_S", 0.01)

    async def hangs() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(one, "close", hangs)
    async with asyncio.timeout(PATIENCE_S):
        await both.close()
    assert other.closed == 1


async def test_a_link_that_cannot_be_closed_leaves_the_others(
    both: MultiLink, one: ScriptedLink, other: ScriptedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise OSError("no")

    monkeypatch.setattr(one, "close", broken)
    await both.close()
    assert other.closed == 1


def test_only_simulated_robots_have_the_simulators_face() -> None:
    scene: Any = {"name": "s", "nodes": [{"id": "A", "x": 0, "y": 0}], "robots": [{"robotId": "S1", "nodeId": "A"}]}
    sim = SimLink(SimFleet(FleetScene.model_validate(scene)), VirtualClock())
    link = MultiLink([LinkPart("sim", sim, ("S1",)), LinkPart("scripted", ScriptedLink(), ("B1",))])
    assert link.simulated_part("S1") is sim
    assert link.simulated_part("B1") is None
    assert link.simulated_part("nobody") is None
    link.set_load("S1", True)
    link.set_load("B1", True)
    assert [place.id for place in sim.fleet.pallets().values()] == ["S1"]
