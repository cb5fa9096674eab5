"""A server whose machine's clock is set while everything is under way: back an hour, on an hour, on thirty days.

Robots in the process, over Robokit and over VDA 5050, a cell, a body in real time, a run that waits before it tries
again, a question. The robots live by the true time, as other machines do.
"""

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.documents import read_file
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.testing.postgres_server import PostgresServer

from .host_clock import HostClock
from .plcs import running_plc
from .robokit_floor import floor
from .up_process import UpProcess
from .vda5050_rig import Mosquitto
from .wire_processes import block_of_ports, robokit_processes, started, vda_processes
from .wires import with_links

pytestmark = pytest.mark.needs("asyncua", "cc", "mosquitto", "aiomqtt")
Broker = Callable[[], Mosquitto]
Document = dict[str, Any]
SCENES = Path(__file__).parents[2] / "scenes"
HOUR, MONTH = 3_600, 30 * 24 * 3_600
JUMPS = (-HOUR, HOUR, MONTH)
PACE = 15
PATIENCE_S = 240
MOST_KB = 900_000
KINDS = {"RB-00": "sim", "RB-01": "robokit", "RB-02": "vda5050"}


def hall(pallets: int, broker: str) -> Document:
    """Robots that are offline after half a minute and late after two: much more than a busy machine needs, and much
    less than any jump."""
    patience = {"offlineAfterS": 30, "startTimeoutS": 60, "stepTimeoutS": 120, "errorPolicy": "freeze"}
    return with_links(floor(3, pallets, **patience).wire(), KINDS, broker)


class House:
    """The server and what it moves, seen from outside."""

    def __init__(self, up: UpProcess, clock: HostClock, hall: Document) -> None:
        self.up, self.clock, self.hall = up, clock, hall

    def count(self, kind: str) -> int:
        return sum(event["kind"] == kind for event in self.up.events())

    def has_dropped(self, pallets: int) -> bool:
        return self.count("palletDropped") >= pallets

    async def until_told(self, times: int) -> None:
        await self.until(lambda: self.count("clockStepped") == times, "the log does not say that the clock was set")

    async def until_answered(self, question: str) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while (now := await self.up.call("GET", f"/questions/{question}"))["status"] == "running":
            assert time.monotonic() < give_up, now
            await asyncio.sleep(0.1)
        assert now["status"] == "done"

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < give_up, f"{what}:\n{self.told()}"
            await asyncio.sleep(0.1)

    def told(self) -> str:
        return "\n".join(str(event)[:300] for event in self.up.events()[-15:])

    async def starts_everything(self) -> tuple[str, str]:
        """A plan that waits before it tries again, a plan of a cell, a body that moves; the plans' runs."""
        again = {"id": "again", "tool": "http_get", "args": {"url": f"http://127.0.0.1:{block_of_ports(1)}/"}}
        tries = {**again, "description": "Fetch what is not there", "retries": 3, "retryDelayS": 1}
        retried = await self.up.call("POST", "/plans", {"plan": {"steps": [tries]}})
        welded = await self.up.call("POST", "/plans", {"scene": "weld_corridor", "text": "weld 1, 2 and 3"})
        runs = [await self.up.call("POST", f"/plans/{one['id']}/runs", {"version": 1}) for one in (retried, welded)]
        body = await self.up.call("POST", "/sessions", {"scene": "apartment", "clock": "realtime", "leaseS": 600})
        given = {"command": 'start("dancing")', "turn": body["turn"]}
        await self.up.call("POST", f"/sessions/{body['sessionId']}/commands", given)
        return runs[0]["runId"], runs[1]["runId"]

    def memory_kb(self) -> int:
        assert self.up.pid is not None
        lines = Path(f"/proc/{self.up.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


async def cell_over_opcua(tmp_path: Path, stack: AsyncExitStack) -> Path:
    """The file of a cell whose controller is another machine, which lives by the true time."""
    document = read_file(str(SCENES / "weld_corridor.yaml"))
    plc = await stack.enter_async_context(running_plc(read_cell(document), speed=PACE))
    file = tmp_path / "cell.json"
    file.write_text(json.dumps({**document, "controller": {"kind": "opcua", "url": plc.url}}))
    return file


async def whole_house(
    tmp_path: Path, stack: AsyncExitStack, broker: Mosquitto, cc: Path, pallets: int, cell: str = "weld_corridor"
) -> House:
    clock = HostClock(str(cc), tmp_path)
    document = hall(pallets, broker.url)
    over_tcp = {**document, "robots": [one for one in document["robots"] if KINDS[one["robotId"]] == "robokit"]}
    on_mqtt = {**document, "robots": [one for one in document["robots"] if KINDS[one["robotId"]] == "vda5050"]}
    ports, robokit = robokit_processes(over_tcp, tmp_path, PACE, 1)
    vda = vda_processes(on_mqtt, tmp_path, PACE, 1)
    await stack.enter_async_context(started([*robokit, *vda]))
    for robot in document["robots"]:
        if robot["robotId"] in ports:
            robot["link"] = {"kind": "robokit", "host": "127.0.0.1", "ports": ports[robot["robotId"]]}
    allowed = {"BEFOREHAND_SPEED": str(PACE), "BEFOREHAND_HTTP_ALLOW": "127.0.0.1"}
    up = UpProcess(tmp_path, **clock.settings, **allowed)
    stack.push_async_callback(up.kill)
    await up.start(document, cell, "apartment")
    return House(up, clock, document)


def nothing_was_made_of_it(house: House) -> None:
    """Nobody was offline, late, restarted or asked about, and time in the log went on as it does."""
    events = house.up.events()
    robots = [event["data"] for event in events if event["kind"] == "robotUpdated"]
    assert not [one for one in robots if one["status"] == "offline"], house.told()
    assert not [event for event in events if event["kind"] == "decisionOpened" and event.get("scene") == "floor"]
    tasks = [event["data"] for event in events if event["kind"] == "taskUpdated"]
    assert not [one for one in tasks if one["status"] in ("held", "failed")], house.told()
    times = [datetime.fromisoformat(event["ts"]).timestamp() for event in events]
    assert all(after - before > -1 for before, after in pairwise(times))  # each driver writes at its own moment


async def test_nothing_is_lost_late_or_doubled_when_the_clock_of_the_machine_is_set(
    tmp_path: Path, start_broker: Broker, executable: Callable[[str], Path]
) -> None:
    pallets = 9
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        cell = await cell_over_opcua(tmp_path, stack)
        house = await whole_house(tmp_path, stack, start_broker(), executable("cc"), pallets, str(cell))
        retried, welded = await house.starts_everything()
        await house.until(lambda: house.count("palletPicked") >= 3, "no robot picked anything up")
        for number, jump in enumerate(JUMPS):
            before = house.count("palletDropped")
            house.clock.set_by(jump)
            asked = await house.up.call("POST", "/questions", {"text": "how many runs failed?"})
            await house.until_told(number + 1)
            await house.until(partial(house.has_dropped, min(before + 1, pallets)), f"all stands still after {jump} s")
            await house.until_answered(asked["questionId"])
        await house.until(partial(house.has_dropped, pallets), "not everything was carried")
        await house.until(lambda: house.count("runFinished") == 2, "a run does not come to its end")
        nothing_was_made_of_it(house)
        took_s = time.monotonic() - began

        picked = [event["data"]["worksiteId"] for event in house.up.events() if event["kind"] == "palletPicked"]
        assert sorted(picked) == [f"PICK_{n}" for n in range(pallets)]
        assert (await house.up.call("GET", f"/runs/{welded}"))["status"] == "completed"
        (tried,) = (await house.up.call("GET", f"/runs/{retried}"))["steps"]
        assert tried["status"] == "failed"
        (session,) = await house.up.call("GET", "/sessions")
        assert session["status"] == "open"
        assert session["atS"] <= took_s * 1.06 * PACE + 1
        stepped = [event["data"]["byMs"] for event in house.up.events() if event["kind"] == "clockStepped"]
        assert [round(by_ms / 1000) for by_ms in stepped] == [-HOUR, 2 * HOUR, MONTH - HOUR]
        assert house.memory_kb() < MOST_KB


@pytest.mark.soak
@pytest.mark.parametrize(
    ("lived_with", "woke_with"), [(0, -HOUR), (HOUR, -HOUR), (-HOUR, HOUR), (0, HOUR), (0, MONTH), (MONTH, 0)]
)
async def test_a_server_that_starts_again_with_another_time_goes_on_where_it_was(
    tmp_path: Path, start_broker: Broker, executable: Callable[[str], Path], lived_with: int, woke_with: int
) -> None:
    pallets = 9
    async with AsyncExitStack() as stack:
        house = await whole_house(tmp_path, stack, start_broker(), executable("cc"), pallets)
        _, welded = await house.starts_everything()
        house.clock.set_by(lived_with)
        await house.until(partial(house.has_dropped, 2), "nothing was carried")
        await house.up.kill()
        house.clock.set_by(woke_with)
        await house.up.start(house.hall, "weld_corridor", "apartment")
        await house.until(partial(house.has_dropped, pallets), "not everything was carried")
        await house.until(lambda: house.count("runFinished") == 2, "a run does not come to its end")
        nothing_was_made_of_it(house)
        picked = [event["data"]["worksiteId"] for event in house.up.events() if event["kind"] == "palletPicked"]
        assert sorted(picked) == [f"PICK_{n}" for n in range(pallets)]
        assert (await house.up.call("GET", f"/runs/{welded}"))["status"] == "completed"
        assert house.memory_kb() < MOST_KB


@pytest.mark.soak
@pytest.mark.needs("postgres", "psycopg")
async def test_servers_whose_machines_disagree_about_the_time_answer_and_lead_as_one(
    tmp_path: Path, postgres: PostgresServer, executable: Callable[[str], Path]
) -> None:
    """The leader's machine is two hours ahead of the other's; then its clock is set back, and then it dies."""
    folders = [tmp_path / name for name in ("ahead", "behind")]
    for folder in folders:
        folder.mkdir()
    clocks = [HostClock(str(executable("cc")), folder) for folder in folders]
    database = {"BEFOREHAND_DB": postgres.new_database(), "BEFOREHAND_SPEED": str(PACE)}
    leader, other = (UpProcess(folder, **clocks[at].settings, **database) for at, folder in enumerate(folders))
    clocks[0].set_by(2 * HOUR)
    async with AsyncExitStack() as stack:
        for up in (leader, other):
            stack.push_async_callback(up.kill)
            await up.start(floor(2, 2).wire())

        async def until(holds: Callable[[Any, Any], bool], what: str) -> None:
            give_up = time.monotonic() + PATIENCE_S
            while not holds(*[await up.call("GET", "/health") for up in (leader, other)]):
                assert time.monotonic() < give_up, what
                await asyncio.sleep(0.2)

        await until(lambda one, two: (one["role"], two["role"]) == ("leads", "standsBy"), "nobody stands by")
        await until(lambda one, two: abs(one["now"] - two["now"]) < 30_000, "the other shows another time")
        clocks[0].set_by(-HOUR)
        now = (await other.call("GET", "/health"))["now"]
        held = await other.call("POST", "/fleet/floor/hold", {}, Beforehand_Deadline=str(now + 60_000))
        assert held["held"]
        assert (await leader.call("GET", "/health"))["role"] == "leads"
        await leader.kill()
        give_up = time.monotonic() + PATIENCE_S
        while (await other.call("GET", "/health"))["role"] != "leads":
            assert time.monotonic() < give_up, "nobody takes over"
            await asyncio.sleep(0.2)
        later = (await other.call("GET", "/health"))["now"]
        assert now < later < now + PATIENCE_S * 1_000
        assert {robot["status"] for robot in await other.call("GET", "/robots")} == {"online"}
