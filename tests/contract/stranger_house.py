"""A fleet of strangers' robots, whose process can be killed and opened again over the same log.

From the moment of a kill nothing reaches a robot; the next process opens the same home and the same log.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.contract.robokit_floor import floor
from tests.contract.stranger_robot import Character, Floor, StrangerRobot

from beforehand.adapters.memory.store import MemoryStore
from beforehand.crafts.fleet.core.inputs import FleetInput
from beforehand.crafts.fleet.core.state import FleetState, evolve, initial
from beforehand.crafts.fleet.driver import FleetDriver
from beforehand.crafts.fleet.links import open_links
from beforehand.crafts.fleet.wire_testing import FastClock, linked
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene
from beforehand.model.log_identity import LogIdentity
from beforehand.testing import MemoryLog

PACE = 10.0
"""How many times as fast as the robots' our clock goes: fork work of three seconds takes them a third of one."""
QUICK = {
    "tickS": 0.5,
    "offlineAfterS": 6,
    "startTimeoutS": 12,
    "stepTimeoutS": 200,
    "retryDelayS": 1,
    "retries": 2,
    "pickHeightM": 0.1,
    "dropHeightM": 0.1,
}


class Backup(NamedTuple):
    events: list[Event]
    files: Mapping[Path, bytes]


@dataclass
class House:
    """One fleet that can be killed and opened again over the same log, and the strangers it commands."""

    scene: FleetScene
    robots: dict[str, StrangerRobot]
    floor: Floor
    home: Path
    clock: FastClock
    shared: MemoryLog = field(default_factory=MemoryLog)
    identity: LogIdentity = field(default_factory=LogIdentity.drawn)
    lives: int = 0

    async def open(self) -> None:
        store = MemoryStore(shared=self.shared)
        self.floor.books = lambda: len(store.log)
        state = initial(self.scene, self.clock.now_ms())
        for event in store.log:
            evolve(state, event)
        state.log = self.identity
        links = open_links(self.scene, clock=self.clock, speed=1.0, keep_in=self.home, identity=self.identity)
        self.store = store
        self.driver = FleetDriver(state, links, store, self.clock, lambda frame: None, keeps_snapshots=False)
        self.driving = asyncio.create_task(self.driver.drive())
        self.lives += 1

    async def kill(self) -> None:
        """From this moment nothing reaches a robot."""
        down = {name: robot.line_is_down for name, robot in self.robots.items()}
        for robot in self.robots.values():
            robot.cut()
        self.driving.cancel()
        await asyncio.gather(self.driving, return_exceptions=True)
        await self.store.close()
        for name, robot in self.robots.items():
            if not down[name]:
                robot.connect()

    def backup(self) -> Backup:
        """The log and the files of the home, as they are now."""
        kept = {path: path.read_bytes() for path in self.home.rglob("*") if path.is_file()}
        return Backup(list(self.store.log), kept)

    async def restore(self, backup: Backup, *, files: bool = True) -> None:
        """The log is again as it was then, and so are the files beside it, or not. The robots went on."""
        await self.kill()
        self.shared, self.identity = MemoryLog(), self.identity.next_generation()
        before = MemoryStore(shared=self.shared)
        await before.append(backup.events)
        await before.close()
        for path, content in backup.files.items() if files else ():
            path.write_bytes(content)
        await self.open()

    @property
    def state(self) -> FleetState:
        return self.driver.state

    def events(self) -> list[Event]:
        return self.store.log

    async def until(self, ready: Callable[[FleetState], bool]) -> None:
        try:
            async with asyncio.timeout(60):
                await self.driver.until(ready)
        except TimeoutError as error:
            open_tasks = [self.state.tasks[name] for name in self.state.open_tasks]
            for shown in (*self.state.decisions.values(), *open_tasks, *self.state.robots.values()):
                error.add_note(str(shown))
            raise

    async def ask(self, given: FleetInput) -> None:
        await self.driver.request(given)


@contextmanager
def strangers(
    characters: tuple[Character, ...], pallets: int, policy: str, seed: object, **settings: Any
) -> Iterator[tuple[FleetScene, dict[str, StrangerRobot], Floor]]:
    """A floor with a stranger's robot of each character, and the scene with links to them."""
    scene = floor(len(characters), pallets, errorPolicy=policy, **(QUICK | settings))
    stands = {site.node_id for site in scene.worksites if site.initial_occupancy == "filled"}
    ground, nodes = Floor(stands), {node.id: (node.x, node.y) for node in scene.nodes}
    with ExitStack() as stack:
        robots = {}
        for spec, character in zip(scene.robots, characters, strict=True):
            made = StrangerRobot(spec.robot_id, spec.node_id, nodes, ground, character, seed)
            robots[spec.robot_id] = stack.enter_context(closing(made))
        yield linked(scene, {name: robot.ports for name, robot in robots.items()}, answerLimitS=0.3), robots, ground


@asynccontextmanager
async def housed(
    home: Path,
    characters: tuple[Character, ...],
    pallets: int,
    policy: str = "recover",
    seed: object = 0,
    **settings: Any,
) -> AsyncIterator[House]:
    with strangers(characters, pallets, policy, seed, **settings) as (scene, robots, ground):
        house = House(scene, robots, ground, home, FastClock(PACE))
        await house.open()
        try:
            yield house
        finally:
            await house.kill()
