"""A full disk takes neither the brake away nor the map: what stops reaches the machines, nothing else is accepted, and
everything goes on by itself when there is room again. The home lies on a small real disk; machines tell for themselves.
"""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import PATIENCE_S, Server, line, serving

from beforehand.adapters.sim.cell import SimCell
from beforehand.adapters.sqlite import schema
from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.model.robot import Telemetry

pytestmark = pytest.mark.needs("tmpfs")
SUSPENDED, RUNNING = 3, 2


class Disk:
    def __init__(self, place: Path) -> None:
        self.place = place

    def fill(self) -> None:
        with (self.place / "fill").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                return

    def free(self) -> None:
        (self.place / "fill").unlink()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    # Room that the log has for itself would take a thousand commits to fill.
    monkeypatch.setattr(schema, "_WAL_BYTES", 0)
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(place)], check=True)
    yield Disk(place)
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def on_disk(disk: Disk) -> Callable[..., Any]:
    @asynccontextmanager
    async def opened(*documents: Any, speed: float = 1.0) -> AsyncIterator[Server]:
        async with serving(disk.place, speed=speed) as server:
            for document in documents:
                await save_scene(server.runtime, None, document, activate=True)
            yield server

    return opened


def working() -> dict[str, Any]:
    document = line()
    document["streams"][0]["enabled"] = True
    return document


async def robot(server: Server) -> Telemetry:
    """What the robot says of itself."""
    found = await server.runtime.service(Fleets).live["line"].link.read("RB-01")
    assert found is not None
    return found


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await holds():  # noqa: ASYNC110  machines tell nobody
            await asyncio.sleep(0.02)


async def drives(server: Server) -> None:
    async def is_driving() -> bool:
        return (await robot(server)).task_status == RUNNING

    await until(is_driving)


async def stands(server: Server) -> None:
    """It stands by its own word, and where it stood a moment ago."""

    async def has_stopped() -> bool:
        before = await robot(server)
        await asyncio.sleep(0.05)
        now = await robot(server)
        return (now.x, now.y) == (before.x, before.y) and now.task_status == SUSPENDED

    await until(has_stopped)


async def written(server: Server, kind: str, **data: Any) -> Any:
    """The newest event like this, once it is in the log."""
    found: list[Any] = []

    async def is_there() -> bool:
        events = await server.runtime.store.events(limit=10_000)
        fits = [one for one in events if one.kind == kind and data.items() <= dict(one.data).items()]
        found[:] = fits
        return bool(fits)

    await until(is_there)
    return found


async def test_a_fleet_is_held_while_the_disk_is_full_and_goes_on_when_it_is_let_go(on_disk: Any, disk: Disk) -> None:
    async with on_disk(working(), speed=3.0) as server:
        await drives(server)
        disk.fill()
        held = await server.call("POST", "/fleet/line/hold")
        assert held["held"] is True
        assert held["notRecorded"] == [
            "Every robot of line was told to stand. This is not in the log yet; it is written when the log can be "
            "written again."
        ]
        await stands(server)
        for path in ("/fleet/line/clear", "/robots/RB-01/release", "/robots/RB-01/park"):
            refused = await server.refused("POST", path, status=503)
            assert refused["code"] == "log.away"
            assert "hold, pause, cancel and stop work" in refused["detail"]
        await stands(server)
        assert (await server.call("GET", "/state"))["fleets"][0]["person"] is True
        assert (await server.refused("GET", "/health", status=503))["sinceMs"] > 0
        disk.free()
        assert len(await written(server, "fleetHeld", person=True)) == 1, "recorded once"
        await stands(server)
        await server.call("POST", "/fleet/line/clear")
        await drives(server)


async def _completed(server: Server) -> bool:
    return bool((await server.call("GET", "/state"))["fleets"][0]["tasksCompleted"])


async def test_robots_are_seen_to_move_while_nothing_can_be_written(on_disk: Any, disk: Disk) -> None:
    async with on_disk(working(), speed=10.0) as server:
        await drives(server)
        disk.fill()
        await server.runtime.outage.record([server.runtime.event("probe", {}, owner="test")])
        fleet = server.runtime.service(Fleets).live["line"]
        await server.refused("PATCH", "/streams/stream_pick_drop?scene=line", {"enabled": False}, status=503)
        before, ticks = (await server.call("GET", "/robots"))[0], fleet.driver.ticks

        async def is_elsewhere() -> bool:
            now = (await server.call("GET", "/robots"))[0]
            return (now["x"], now["y"]) != (before["x"], before["y"]) and fleet.driver.ticks > ticks + 2

        await until(is_elsewhere)
        disk.free()
        await until(lambda: _completed(server))
        assert await server.call("GET", "/inbox") == []


async def test_an_order_that_was_never_sent_goes_out_when_there_is_room(on_disk: Any, disk: Disk) -> None:
    async with on_disk(line(), speed=20.0) as server:
        fleets = server.runtime.service(Fleets)
        await server.until(lambda: fleets.live["line"].driver.ticks > 2)
        disk.fill()
        wanted = asyncio.ensure_future(fleets.patch_stream(_on(), "line"))
        with pytest.raises(Exception, match="could not be written"):
            await wanted
        await server.call("POST", "/robots/RB-01/hold")
        assert (await robot(server)).task_status == 0, "it was told nothing"
        disk.free()
        await written(server, "taskCreated")
        assert (await robot(server)).task_status == 0
        await server.call("POST", "/robots/RB-01/release")
        await drives(server)
        await until(lambda: _completed(server))


def _on() -> Any:
    from beforehand.crafts.fleet.core.inputs import PatchStream

    return PatchStream("stream_pick_drop", enabled=True)


async def welding(server: Server) -> str:
    plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
    run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
    return str(run["runId"])


async def in_flight(server: Server, run_id: str) -> str:
    async for event in server.events(run=run_id, kinds="stepUpdated"):
        if event["data"]["status"] == "running":
            return str(event["data"]["stepId"])
    raise AssertionError


def cell(server: Server) -> SimCell:
    found = server.runtime.service(Cells).live["weld_star"].controller
    assert isinstance(found, SimCell)
    return found


async def test_a_run_is_cancelled_and_its_cell_comes_to_rest(on_disk: Any, disk: Disk) -> None:
    async with on_disk(find_document("weld_star"), speed=2.0) as server:
        run_id = await welding(server)
        await in_flight(server, run_id)
        disk.fill()
        paused = await server.call("POST", f"/runs/{run_id}/pause")
        assert paused["status"] == "paused"
        assert "was paused" in paused["notRecorded"][0]
        refused = await server.refused("POST", f"/runs/{run_id}/resume", status=503)
        assert refused["code"] == "log.away"
        cancelled = await server.call("POST", f"/runs/{run_id}/cancel")
        assert cancelled["notRecorded"]

        async def is_at_rest() -> bool:
            return (await cell(server).report()).position is not None

        await until(is_at_rest)
        assert (await server.refused("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=503))["detail"]
        disk.free()
        ended = await server.ended(run_id)
        assert ended["status"] == "cancelled"
        began = [step["id"] for step in ended["steps"] if step["status"] not in ("cancelled", "pending")]
        assert len(began) <= 2, "nothing was begun after the disk was full"


async def test_everything_is_held_and_stays_so(on_disk: Any, disk: Disk) -> None:
    async with on_disk(working(), find_document("weld_star"), find_document("apartment"), speed=4.0) as server:
        run_id = await welding(server)
        session = await server.call("POST", "/sessions", {"scene": "apartment"}, status=201)
        await server.call("POST", f"/sessions/{session['sessionId']}/commands", {"command": 'start("walking to bed1")'})
        await in_flight(server, run_id)
        await drives(server)
        disk.fill()
        held = await server.call("POST", "/hold", Idempotency_Key="hold-1")
        assert (held["held"], held["already"], held["couldNot"]) == (True, False, [])
        kinds = sorted(entry["kind"] for entry in held["what"])
        assert kinds == ["cell", "fleet", "home", "run"]
        assert any("Everything is held" in says for says in held["notRecorded"])
        await stands(server)
        where = await cell(server).report()
        assert (await server.call("GET", "/state"))["hold"]["notRecorded"] is True
        assert (await server.refused("POST", "/clear", status=503))["code"] == "log.away"
        moved = {"command": 'start("looking at bed1")'}
        path = f"/sessions/{session['sessionId']}/commands"
        assert (await server.refused("POST", path, moved, status=503))["code"] == "log.away"
        again = await server.call("POST", "/hold")
        assert again["already"] is True
        assert await cell(server).report() == where
        disk.free()
        [recorded] = await written(server, "everythingHeld")
        assert sorted(entry["kind"] for entry in recorded.data["what"]) == kinds

        async def is_recorded() -> bool:
            return "notRecorded" not in (await server.call("GET", "/state"))["hold"]

        await until(is_recorded)
        await server.call("POST", "/clear")
        await drives(server)
        assert (await server.ended(run_id))["status"] == "completed"
        assert not [item for item in await server.call("GET", "/inbox") if item["kind"] == "inDoubt"]


async def test_a_session_is_stopped_and_ended(on_disk: Any, disk: Disk) -> None:
    async with on_disk(find_document("apartment")) as server:
        session = await server.call("POST", "/sessions", {"scene": "apartment"}, status=201)
        path = f"/sessions/{session['sessionId']}"
        await server.call("POST", f"{path}/commands", {"command": 'start("walking to bed1")'})
        disk.fill()
        stopped = await server.call("POST", f"{path}/commands", {"command": 'stop("walking to bed1")'})
        assert (stopped["reply"], stopped["actions"]) == ("Stopped walking to bed1.", [])
        assert stopped["notRecorded"]
        ended = await server.call("POST", f"{path}/end", {})
        assert ended["status"] == "ended"
        assert ended["notRecorded"]
        assert (await server.refused("POST", "/sessions", {"scene": "apartment"}, status=503))["code"] == "log.away"
        disk.free()
        assert len(await written(server, "commandGiven", command='stop("walking to bed1")')) == 1
        assert (await server.call("GET", path))["status"] == "ended"
