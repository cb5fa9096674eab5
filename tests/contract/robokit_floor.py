"""A live fleet over Robokit for tests: robots on loopback, a driver on the same fast clock, and a proxy that spoils
what goes between them.

Everything is checked at the end: the fleet's own rules by its events, and the true places of the pallets.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from beforehand.adapters.memory.store import MemoryStore
from beforehand.adapters.robokit.frame import HEADER, FrameParser, encode
from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.inputs import AnswerDecision, FleetInput
from beforehand.crafts.fleet.core.invariants import Invariants
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import FleetState, initial
from beforehand.crafts.fleet.driver import FleetDriver
from beforehand.crafts.fleet.links import open_links
from beforehand.crafts.fleet.wire_testing import LOOPBACK, FastClock
from beforehand.model.decision import Decision
from beforehand.model.fleet import FleetScene

PATIENT = {
    "tickS": 0.5,
    "offlineAfterS": 600,
    "startTimeoutS": 200,
    "stepTimeoutS": 7200,
    "retryDelayS": 2,
    "retries": 4,
    "leaseS": 36000,
}
"""Seconds of a clock that goes fast: a machine with other work stands still for a minute of it and more."""


def floor(robots: int, pallets: int, **settings: Any) -> FleetScene:
    """A lane with pick places on one side and drop places on the other, and a park for every robot."""
    lanes = max(robots, pallets)
    nodes = [{"id": f"LM{n}", "x": 4 * n, "y": 0} for n in range(lanes)]
    nodes += [
        {"id": f"{kind}{n}", "x": 4 * n, "y": y} for kind, y in (("P", 3), ("D", -3), ("K", 6)) for n in range(lanes)
    ]
    edges = [{"from": f"LM{n}", "to": f"LM{n + 1}"} for n in range(lanes - 1)]
    edges += [{"from": f"LM{n}", "to": f"{kind}{n}"} for kind in ("P", "D", "K") for n in range(lanes)]

    def site(name: str, kind: str, node: str, occupancy: str) -> dict[str, Any]:
        return {"worksiteId": name, "worksiteType": kind, "entryNodeId": node, "occupancy": occupancy}

    sites = [site(f"PICK_{n}", "pickup", f"P{n}", "filled") for n in range(pallets)]
    sites += [site(f"DROP_{n}", "dropoff", f"D{n}", "empty") for n in range(pallets)]
    sites += [site(f"PARK_{n}", "park", f"K{n}", "empty") for n in range(robots)]
    stream = {
        "streamId": "s",
        "kind": "pickDrop",
        "params": {
            "pickGroup": [f"PICK_{n}" for n in range(pallets)],
            "dropGroup": [f"DROP_{n}" for n in range(pallets)],
            "dropPolicy": {"selection": "first_available_in_order"},
        },
    }
    document = {
        "kind": "fleet",
        "name": "floor",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": [{"robotId": f"RB-{n:02}", "nodeId": f"K{n}", "speedMps": 2.0} for n in range(robots)],
        "streams": [stream],
        "settings": {"errorPolicy": "recover", **PATIENT, **settings},
    }
    return read_fleet(document)


@dataclass
class LiveFloor:
    driver: FleetDriver
    clock: FastClock
    check: Invariants
    store: MemoryStore
    answered: list[str] = field(default_factory=list)
    """The titles of the questions that were answered for a person."""

    @property
    def state(self) -> FleetState:
        return self.driver.state

    async def until(self, ready: Callable[[FleetState], bool]) -> None:
        await self.driver.until(ready)

    async def until_idle(self, answer: str | None = None) -> None:
        """Until nothing is left to do; with `answer` every question about a task is answered so. A fleet that has had
        nothing to do yet, or has lost a robot, only looks as if it were done."""

        def still(state: FleetState) -> bool:
            there = all(robot.status != "offline" for robot in state.robots.values())
            done = bool(state.tasks) and there and is_settled(state, self.clock.now_ms())
            return done or (answer is not None and bool(state.decisions))

        while True:
            await self.until(still)
            if answer is None or not self.state.decisions:
                return
            for decision in list(self.state.decisions.values()):
                self.answered.append(decision.title)
                verb = self._seen_by_hand(decision) or (answer if answer in decision.verbs else decision.verbs[0])
                await self.ask(AnswerDecision(decision.id, verb))

    def _seen_by_hand(self, decision: Decision) -> str | None:
        """A person who is asked about a drop and sees an empty fork does not have it dropped once more: a robot whose
        answers were lost may have done it unseen."""
        task = self.state.tasks.get(str(decision.about.get("taskId")))
        dropped = task is not None and task.step == "drop" and task.robot_id is not None
        empty = dropped and self.state.seen[str(task.robot_id)].report.load_sensor == "empty"
        return "done-by-hand" if empty and "done-by-hand" in decision.verbs else None

    async def ask(self, given: FleetInput) -> None:
        await self.driver.request(given)

    def commands(self) -> list[str]:
        """The keys of the orders that went out."""
        return [event.data["key"] for event in self.store.log if event.kind == "commandSent"]

    def violations(self) -> list[str]:
        check = Invariants(self.state.scene)
        for event in self.store.log:
            check.see(event)
            check.settle()
        return check.end()


@asynccontextmanager
async def live(
    scene: FleetScene, clock: FastClock, home: Any, state: FleetState | None = None
) -> AsyncIterator[LiveFloor]:
    store = MemoryStore()
    links = open_links(scene, clock=clock, speed=1.0, keep_in=home)
    driver = FleetDriver(state or initial(scene), links, store, clock, lambda frame: None)
    driving = asyncio.create_task(driver.drive())
    try:
        yield LiveFloor(driver, clock, Invariants(scene), store)
    finally:
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)


@dataclass(frozen=True)
class Spoiling:
    """How often, out of a hundred frames, each thing happens to one."""

    split: int = 0
    merge: int = 0
    delay: int = 0
    truncate: int = 0
    corrupt: int = 0
    duplicate: int = 0
    swap: int = 0


class SpoilingProxy:
    """Stands between a link and one robot, port by port.

    Answers are spoiled anywhere, by bytes that no JSON number holds. Commands are spoiled in their headers only: a
    robot that is told another place in good JSON cannot know better, and TCP keeps that from happening.
    """

    def __init__(self, to: Mapping[str, int], spoiling: Spoiling, seed: int) -> None:
        self.ports: dict[str, int] = {}
        self.spoiled = 0
        self.spoiling = spoiling
        self._to = dict(to)
        self._random = Random(seed)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        for name, port in self._to.items():
            server = await asyncio.start_server(self._between(port), LOOPBACK, 0)
            self._servers.append(server)
            self.ports[name] = server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Every connection breaks; new ones are taken."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        await self.cut()

    def _between(self, port: int) -> Any:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            self._tasks.add(task)
            other = None
            try:
                far_reader, other = await asyncio.open_connection(LOOPBACK, port)
                ways = (self._carry(reader, other, True), self._carry(far_reader, writer, False))
                carrying = [asyncio.ensure_future(way) for way in ways]
                try:
                    await asyncio.wait(carrying, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for way in carrying:
                        way.cancel()
            except (OSError, asyncio.CancelledError):
                pass
            finally:
                self._tasks.discard(task)
                for end in (writer, other):
                    if end is not None:
                        end.transport.abort()

        return serve

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, commands: bool) -> None:
        parser, held = FrameParser(), b""
        while data := await reader.read(65536):
            for frame in parser.feed(data):
                wire = encode(frame)
                chance = self._random.randrange(100)
                for name in ("split", "merge", "delay", "truncate", "corrupt", "duplicate", "swap"):
                    chance -= getattr(self.spoiling, name)
                    if chance < 0:
                        self.spoiled += 1
                        break
                else:
                    name = ""
                if name == "truncate":
                    writer.write(wire[: self._random.randrange(1, len(wire))])
                    await writer.drain()
                    return
                if name == "corrupt":
                    wire = self._corrupted(wire, commands)
                if name == "delay":
                    await asyncio.sleep(0.05)
                if name == "swap" and not held:
                    held = wire  # it goes out behind the next one, or never
                    continue
                pieces = [wire + held] if name != "split" else [bytes([one]) for one in wire + held]
                if name == "duplicate":
                    pieces.append(wire)
                held = b""
                for piece in [b"".join(pieces)] if name == "merge" else pieces:
                    writer.write(piece)
                    await writer.drain()

    def _corrupted(self, wire: bytes, commands: bool) -> bytes:
        spoiled = bytearray(wire)
        if commands or len(wire) == HEADER.size:
            spoiled[self._random.choice((0, 1, 4))] = 0xFF
        else:
            spoiled[self._random.randrange(len(wire))] = 0xFF
        return bytes(spoiled)
