"""What every robot link promises, promised over MQTT too: the suite of `test_robot_link`, with vehicles on a broker."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from beforehand.adapters.vda5050 import link as link_module
from beforehand.adapters.vda5050.link import VdaLink, open_vda5050_link
from beforehand.app.clock import WallClock
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.errors import UnavailableError
from beforehand.model.robot import GoTarget, Telemetry
from beforehand.ports import tasks
from beforehand.ports.robot import LinkRequest, RobotLink
from beforehand.ports.tasks import TaskOwner, Watched

from .test_robot_link import (  # noqa: F401  the tests themselves
    SCENE,
    Rig,
    heard_until,
    status,
    test_a_closed_link_reports_nothing_more,
    test_a_command_is_answered_and_done_in_reports,
    test_a_robot_can_be_read_and_one_that_is_not_there_does_not_answer,
    test_a_robot_goes_on_while_the_link_is_down_and_a_new_link_finds_it_as_it_is,
    test_pause_resume_and_cancel,
    test_reports_of_a_robot_count_up,
    test_the_same_key_is_answered_again_and_not_done_again,
    test_what_cannot_be_done_is_refused_in_an_answer,
)
from .vda5050_rig import Mosquitto, vehicles

pytestmark = pytest.mark.needs("mosquitto", "aiomqtt")


def scene(broker: str, version: str = "2.0.0") -> dict[str, Any]:
    link = {"kind": "vda5050", "manufacturer": "acme", "serial": "7", "version": version}
    robots = [{"robotId": "RB-01", "nodeId": "A", "link": link}]
    return {**SCENE, "kind": "fleet", "robots": robots, "settings": {"broker": broker}}


class Kept:
    """What links keep, as a file would."""

    text = "null"

    def keep(self, data: Any) -> None:
        self.text = json.dumps(data)

    def link(self, document: dict[str, Any]) -> VdaLink:
        made = read_fleet(document)
        request = LinkRequest(made, made.robots, WallClock(), kept=json.loads(self.text), keep=self.keep)
        return open_vda5050_link(request)


@pytest.fixture
def broker(tmp_path: Path, executable: Callable[[str], Path]) -> Any:
    made = Mosquitto(str(executable("mosquitto")), tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture(params=["2.0.0", "2.1.0"])
async def rig(request: pytest.FixtureRequest, broker: Mosquitto) -> AsyncIterator[Rig]:
    document, kept = scene(broker.url, request.param), Kept()

    async def restarted() -> RobotLink:
        return kept.link(document)

    async with vehicles(document, speed=5):
        link = kept.link(document)
        yield Rig(link, restarted)
        await link.close()


async def test_without_a_broker_nothing_is_promised(tmp_path: Path) -> None:
    link = Kept().link(scene("mqtt://127.0.0.1:1"))
    with pytest.raises(UnavailableError):
        await link.send(GoTarget("k1", "RB-01", {"id": "B"}))
    assert await link.read("RB-01") is None
    await link.close()


async def test_how_it_stands_with_a_vehicle_is_told(broker: Mosquitto) -> None:
    document = scene(broker.url)
    link = Kept().link(document)
    assert (await link.standing("RB-01")).answers is None
    async with vehicles(document, speed=5):
        assert await link.read("RB-01") is not None
        stands = await link.standing("RB-01")
        assert (stands.at, stands.answers, stands.trouble) == ("acme, serial number 7", True, None)
        broker.stop()
        assert await link.read("RB-01") is None
        stands = await link.standing("RB-01")
        assert stands.answers is False
        assert "broker" in str(stands.trouble)
        assert int(stands.since_ms or 0) > 0
    await link.close()


async def test_a_new_target_takes_the_place_of_the_one_before(broker: Mosquitto) -> None:
    document = scene(broker.url)
    async with vehicles(document, speed=5):
        link = Kept().link(document)
        await link.send(GoTarget("k1", "RB-01", {"id": "C"}))
        await heard_until(link, status(2))
        await link.send(GoTarget("k2", "RB-01", {"id": "A"}))
        heard = await heard_until(link, lambda one: isinstance(one, Telemetry) and one.task_status == 4)
        assert (heard[-1].task_id, heard[-1].node_id) == ("k2", "A")
        assert not [one for one in heard if isinstance(one, Telemetry) and (one.task_id, one.task_status) == ("k1", 4)]
        await link.close()


async def test_a_broker_that_comes_back_is_found_again(broker: Mosquitto) -> None:
    document = scene(broker.url)
    async with vehicles(document, speed=5):
        link = Kept().link(document)
        await link.send(GoTarget("k1", "RB-01", {"id": "C"}))
        await heard_until(link, status(2))
        broker.stop()
        await asyncio.to_thread(broker.start)
        heard = await heard_until(link, status(4))
        assert (heard[-1].task_id, heard[-1].node_id, heard[-1].boot) == ("k1", "C", 1)
        await link.close()


@pytest.mark.parametrize("error", [ValueError("a bug"), OSError("the socket")])
async def test_a_message_that_cannot_be_sent_costs_the_line_and_it_begins_anew(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(tasks, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(link_module, "FIRST_WAIT_S", 0.01)
    document, failing, told = scene(broker.url), [error], []
    monkeypatch.setattr(tasks, "watchers", [Told(told)])
    sound = aiomqtt.Client.publish

    async def publish(client: Any, topic: str, *payload: Any, **more: Any) -> None:
        if failing and topic.endswith("/order"):
            raise failing.pop()
        await sound(client, topic, *payload, **more)

    monkeypatch.setattr(aiomqtt.Client, "publish", publish)
    async with vehicles(document, speed=5):
        link = Kept().link(document)
        await heard_until(link, lambda one: isinstance(one, Telemetry))
        with suppress(UnavailableError):
            await link.send(GoTarget("k1", "RB-01", {"id": "B"}))
        async with asyncio.timeout(60):
            while failing or await link.read("RB-01") is None:  # noqa: ASYNC110  a line has no event
                await asyncio.sleep(0.01)
        await link.send(GoTarget("k2", "RB-01", {"id": "C"}))
        await heard_until(link, status(4))
        await link.close()
    assert [watched.error for watched in told] == (["ValueError: a bug"] if isinstance(error, ValueError) else [])


class Told:
    """Hears of tasks that broke off."""

    def __init__(self, told: list[Watched]) -> None:
        self.failed = told.append

    def well(self, watched: Watched) -> None: ...

    def note(self, owner: TaskOwner, name: str, error: Exception) -> None: ...
