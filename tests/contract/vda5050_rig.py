"""A broker of its own, virtual vehicles on it, and a live fleet that drives them: for tests over real MQTT."""

import asyncio
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beforehand.adapters.memory.store import MemoryStore
from beforehand.adapters.vda5050.robots import VirtualRobots, vda_robots
from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import FleetState, evolve, initial
from beforehand.crafts.fleet.driver import FleetDriver
from beforehand.crafts.fleet.links import open_links
from beforehand.crafts.fleet.wire_testing import FastClock
from beforehand.model.broker import read_broker
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.testing import MemoryLog

PATIENCE_S = 80
PACE = 4.0
"""How fast time passes for a fleet and for vehicles in the same process."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@dataclass
class Mosquitto:
    program: str
    folder: Path
    port: int = field(default_factory=free_port)
    config: str = ""
    """What stands in its settings beside the one plain listener."""
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        config = self.folder / "mosquitto.conf"
        plain = f"listener {self.port} 127.0.0.1\nallow_anonymous true\n"
        config.write_text(f"per_listener_settings true\npersistence false\nuser root\n{plain}{self.config}")
        with (self.folder / "mosquitto.log").open("ab") as log:
            self.process = subprocess.Popen([self.program, "-c", str(config)], stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)
        raise AssertionError("mosquitto did not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def hall(broker: str, robots: int, *, sim: int = 0, pallets: int | None = None, **settings: Any) -> dict[str, Any]:
    """Robots in a row of parallel lanes that meet in one aisle: picks at one end, drops at the other."""
    count = robots + sim
    pallets = count if pallets is None else pallets
    nodes, edges, sites, made = [], [], [], []
    for n in range(max(count, pallets)):
        nodes += [{"id": f"{kind}{n}", "x": x, "y": 3.0 * n} for kind, x in (("P", 0), ("A", 3), ("B", 9), ("D", 12))]
        edges += [{"from": f"{a}{n}", "to": f"{b}{n}"} for a, b in ("PA", "AB", "BD")]
        edges += [{"from": f"A{n}", "to": f"A{n - 1}"}] if n else []
    for n in range(pallets):
        sites.append({"worksiteId": f"IN_{n}", "worksiteType": "pickup", "entryNodeId": f"P{n}", "occupancy": "filled"})
        sites.append(
            {"worksiteId": f"OUT_{n}", "worksiteType": "dropoff", "entryNodeId": f"D{n}", "occupancy": "empty"}
        )
    for n in range(count):
        link = {"kind": "vda5050", "manufacturer": "acme", "serial": f"v{n}"} if n < robots else "sim"
        made.append({"robotId": f"RB-{n:02}", "nodeId": f"B{n}", "link": link, "loadState": "empty"})
    drop = {"commitDistanceM": 4}
    groups = {"pickGroup": [f"IN_{n}" for n in range(pallets)], "dropGroup": [f"OUT_{n}" for n in range(pallets)]}
    return {
        "kind": "fleet",
        "name": "mqtt_hall",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": made,
        "streams": [{"streamId": "flow", "params": {**groups, "dropPolicy": drop}}],
        "settings": {"broker": broker, "tickS": 0.1, **settings},
    }


@dataclass
class Live:
    """A fleet at work, as fast as on a machine that is not busy elsewhere."""

    clock: FastClock
    scene: FleetScene
    driver: FleetDriver
    store: MemoryStore
    work: "asyncio.Task[None]"

    @property
    def state(self) -> FleetState:
        return self.driver.state

    async def until(self, ready: Callable[[FleetState], bool], patience_s: float = PATIENCE_S) -> None:
        waiting = asyncio.ensure_future(self.driver.until(ready))
        await asyncio.wait([waiting, self.work], timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            shown = {one.robot_id: (one.phase, one.status, one.error) for one in self.state.robots.values()}
            tasks = [(one.task_id, one.status, one.step, one.error) for one in self.state.tasks.values()]
            raise AssertionError(f"It did not happen: {shown}, {tasks}")

    async def until_seen(self, ready: Callable[[FleetState], bool]) -> None:
        """The same for what robots report and nobody writes down."""
        async with asyncio.timeout(PATIENCE_S):
            while not ready(self.state):  # noqa: ASYNC110  there is no event for it
                await asyncio.sleep(0.01)

    async def until_idle(self, patience_s: float = PATIENCE_S) -> None:
        await self.until(lambda state: bool(state.tasks) and is_settled(state, self.clock.now_ms()), patience_s)

    def events(self, kind: str) -> list[Event]:
        return [event for event in self.store.log if event.kind == kind]

    def moved(self) -> tuple[int, int]:
        return len(self.events("palletPicked")), len(self.events("palletDropped"))

    def lying(self, prefix: str) -> list[str]:
        return [site.occupancy for name, site in self.state.worksites.items() if name.startswith(prefix)]


@asynccontextmanager
async def live(
    document: dict[str, Any],
    home: Path,
    speed: float = 20.0,
    pace: float = PACE,
    *,
    shared: MemoryLog | None = None,
    identity: LogIdentity = UNNAMED,
) -> AsyncIterator[Live]:
    """Robots that are processes of their own want a pace of 1: their clocks are the wall's."""
    scene = read_fleet(document)
    clock, store = FastClock(pace), MemoryStore(shared=shared)
    state = initial(scene)
    for event in store.log:
        evolve(state, event)
    state.log = identity
    link = open_links(scene, clock=clock, speed=speed, keep_in=home, identity=identity)
    driver = FleetDriver(state, link, store, clock, lambda frame: None)
    fleet = Live(clock, scene, driver, store, asyncio.create_task(driver.drive()))
    try:
        yield fleet
    finally:
        fleet.work.cancel()
        await asyncio.gather(fleet.work, return_exceptions=True)


@asynccontextmanager
async def vehicles(
    document: dict[str, Any], *, speed: float = 20.0, faults: Sequence[Any] = (), trusting: bool = False
) -> AsyncIterator[VirtualRobots]:
    scene = read_fleet(document)
    broker = read_broker(str(scene.settings.broker))
    assert broker is not None
    made = VirtualRobots(
        scene, vda_robots(scene), broker, FastClock(PACE), speed=speed, faults=faults, trusting=trusting
    )
    async with on_the_broker(made):
        yield made


@asynccontextmanager
async def on_the_broker(made: VirtualRobots) -> AsyncIterator[VirtualRobots]:
    """The vehicles, once all of them are on the broker."""
    there: set[str] = set()
    everybody = asyncio.Event()

    def ready(robot_id: str) -> None:
        there.add(robot_id)
        if len(there) == len(made.vehicles):
            everybody.set()

    work = asyncio.create_task(made.run(ready))
    try:
        async with asyncio.timeout(30):
            await everybody.wait()
        yield made
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
