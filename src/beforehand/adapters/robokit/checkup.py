"""Looking at a robot before it is used: what speaks there, how it is, who has control, what a scene would say of it.

Nothing moves and nothing is changed by it: only questions are asked.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.client import NICK_NAME, RobotClient
from beforehand.adapters.robokit.connection import NoAnswerError
from beforehand.adapters.robokit.loads import SENSORS
from beforehand.adapters.robokit.options import RobokitOptions, link_entry
from beforehand.adapters.robokit.readings import Reading, alarms_of, read_status
from beforehand.model.errors import UnavailableError

TRIES = 5
KNOCK_S = 1.0
CLOCK_SLACK_MS = 2000
BLOCK = {"status": 0, "control": 1, "task": 2, "config": 3, "other": 6, "push": 7}
"""Where the ports of a simulated robot lie, counted from its first."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found; `troubles` are sentences about what stands in the way of using it, `notes` about the rest."""

    host: str
    speaks: bool = False
    header: int | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading | None = None
    alarms: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    holder: str | None = None
    clock_offset_ms: int | None = None
    round_trips_ms: tuple[float, ...] = ()
    sensors: tuple[str, ...] = ()
    stations: int | None = None
    open_ports: Mapping[str, int] = field(default_factory=dict)
    closed_ports: Mapping[str, int] = field(default_factory=dict)
    entry: Mapping[str, Any] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        """For programs."""
        reading = self.reading or Reading()
        return {
            "host": self.host,
            "speaks": "robokit" if self.speaks else None,
            "headerVersion": self.header,
            "info": dict(self.info),
            "nodeId": reading.node_id,
            "battery": reading.battery,
            "taskStatus": reading.status,
            "loadSensors": list(self.sensors),
            "load": None if reading.load is None else reading.load.reading,
            "alarms": list(self.alarms),
            "warnings": list(self.warnings),
            "controlHeldBy": self.holder,
            "clockOffsetMs": self.clock_offset_ms,
            "roundTripMs": round(median(self.round_trips_ms), 2) if self.round_trips_ms else None,
            "roundTripsMs": [round(one, 2) for one in self.round_trips_ms],
            "stations": self.stations,
            "openPorts": dict(self.open_ports),
            "closedPorts": dict(self.closed_ports),
            "link": dict(self.entry),
            "troubles": list(self.troubles),
            "notes": list(self.notes),
        }


def ports_from(first: int | None) -> dict[str, int]:
    """The ports of a robot whose status port is `first`: the usual ones, or those of a simulated robot's block."""
    if first is None or first == no.PORTS["status"]:
        return dict(no.PORTS)
    return {name: first + away for name, away in BLOCK.items()}


async def check_robot(host: str, ports: Mapping[str, int], now_ms: Callable[[], int]) -> Checkup:
    """Everything that can be learnt by asking."""
    client = RobotClient(host, ports, patience=1)
    try:
        return await _look_at(client, now_ms)
    except UnavailableError as error:
        if client.met:
            says = f"It speaks Robokit, but the line to it is bad: {error.says}"
            return Checkup(host, True, client.dialect.heard, entry=link_entry(host, ports), troubles=(says,))
        return Checkup(host, troubles=await _silent(host, ports["status"], error.says))
    finally:
        client.close()


@dataclass(frozen=True, slots=True)
class _Look:
    status: Mapping[str, Any]
    reading: Reading
    trip_ms: float
    clock_offset: int | None


async def _one_look(client: RobotClient, now_ms: Callable[[], int]) -> _Look:
    began, loop_began = now_ms(), asyncio.get_running_loop().time()
    status = await client.all_status()
    trip_ms = 1000 * (asyncio.get_running_loop().time() - loop_began)
    reading = read_status(status, await client.task(), RobokitOptions(client.host, client.ports))
    offset = None if reading.clock_ms is None else reading.clock_ms - (began + round(trip_ms / 2))
    return _Look(status, reading, trip_ms, offset)


async def _look_at(client: RobotClient, now_ms: Callable[[], int]) -> Checkup:
    info = (await client.meet()).body
    await _learn(client)
    looks = [await _one_look(client, now_ms) for _ in range(TRIES)]
    status, reading = looks[-1].status, looks[-1].reading
    stations = (await client.look(no.STATIONS) or {}).get("stations")
    opened, closed = await _doors(client)
    found = Checkup(
        client.host,
        True,
        client.dialect.heard,
        {name: info[name] for name in ("id", "vehicle_id", "model", "version", "robokit_version") if info.get(name)},
        reading,
        tuple(alarms_of(status, "fatals", "errors")),
        tuple(alarms_of(status, "warnings")),
        await client.holder(),
        next((look.clock_offset for look in reversed(looks) if look.clock_offset is not None), None),
        tuple(look.trip_ms for look in looks),
        tuple(name for name in SENSORS if status.get(name) not in (None, [])),
        len(stations) if isinstance(stations, list) else None,
        opened,
        closed,
        link_entry(client.host, client.ports),
    )
    return _judged(found, client)


async def _learn(client: RobotClient) -> None:
    """Find out to which questions it says nothing at all, so that they are not asked while its answers are timed."""
    for ask in (client.task, client.all_status, client.all_status):
        with suppress(NoAnswerError):
            await ask()


async def _doors(client: RobotClient) -> tuple[dict[str, int], dict[str, int]]:
    knocked = await asyncio.gather(*(_is_open(client.host, port) for port in client.ports.values()))
    doors = dict(zip(client.ports, knocked, strict=True))
    opened = {name: client.ports[name] for name, is_open in doors.items() if is_open}
    return opened, {name: port for name, port in client.ports.items() if name not in opened}


async def _is_open(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(KNOCK_S):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _silent(host: str, port: int, says: str) -> tuple[str, ...]:
    if await _is_open(host, port):
        return (f"Something listens at {host}:{port}, but it does not speak Robokit. {says}",)
    return (says, f"Is {host} the robot's address, is it switched on, and is it in this network?")


def _judged(found: Checkup, client: RobotClient) -> Checkup:
    """The same with what stands in the way, and what is good to know."""
    troubles, notes = [], []
    reading = found.reading or Reading()
    if reading.emergency:
        troubles.append("Its emergency stop is pressed.")
    if found.alarms:
        troubles.append(f"It has alarms: {'; '.join(found.alarms)}.")
    if found.holder not in (None, "", NICK_NAME):
        troubles.append(f"{found.holder} has control of it. Have it given back there before Beforehand drives it.")
    if reading.node_id is None:
        troubles.append("It does not know where it is, or is at none of its stations: drive it to one by hand.")
    for name in ("task", "config"):
        if name in found.closed_ports:
            troubles.append(f"Its {name} port {found.closed_ports[name]} is closed, and commands go there.")
    if found.clock_offset_ms is not None and abs(found.clock_offset_ms) > CLOCK_SLACK_MS:
        notes.append(f"Its clock is {found.clock_offset_ms / 1000:+.1f} s off; set it, or its logs will not fit yours.")
    if not client.knows(no.ALL):
        notes.append("It answers single questions only: it is asked more often, and slower.")
    if "push" in found.closed_ports:
        notes.append("It pushes nothing: news of it come a little later.")
    if not found.sensors:
        notes.append("It has no load sensor: what is on its fork follows from its work.")
    return replace(found, troubles=tuple(troubles), notes=tuple(notes))
