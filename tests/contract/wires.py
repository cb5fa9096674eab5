"""One scene over any wire: its robots simulated, over Robokit, over VDA 5050 or some of each, all on one fast clock.

What was transported is told by the log, so that the same scene over different wires can be compared.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.vda5050.robots import VirtualRobots, vda_robots
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.wire_testing import FastClock, OnTheWire, robots_on_the_wire
from beforehand.model.broker import read_broker
from beforehand.model.event import Event
from beforehand.model.fleet import FleetScene

from .robokit_floor import PATIENT, LiveFloor, live
from .vda5050_rig import Mosquitto, on_the_broker

Transport = tuple[str, str]
"""Where a pallet was taken from, and where it was put."""


@dataclass
class Wires:
    """A live fleet, and the robots at the far ends of its links."""

    fleet: LiveFloor
    robokit: OnTheWire | None = None
    vda: VirtualRobots | None = None

    def inject(self, fault: FaultSpec) -> None:
        """Let a robot on a wire go wrong now."""
        if self.robokit is not None and fault.robot_id in self.robokit.robots:
            self.robokit.hall.inject(fault)
        else:
            assert self.vda is not None
            self.vda.inject(fault)

    def work_done(self) -> int:
        """How many picks and drops the robots on the wires carried out, by what they know themselves."""
        done = 0 if self.robokit is None else sum(1 for _, _, operation in self.robokit.hall.done if operation)
        return done + sum(len(vehicle.done) for vehicle in ({} if self.vda is None else self.vda.vehicles).values())

    def lying(self) -> list[str]:
        """Where the pallets truly are, on the one floor that the robots share; for scenes on one wire only."""
        floor = self.robokit.hall if self.robokit is not None else self.vda.fleet if self.vda is not None else None
        assert floor is not None
        return sorted(place.id for place in floor.pallets().values())


@asynccontextmanager
async def wired(
    document: Mapping[str, Any],
    kinds: Mapping[str, str],
    home: Path,
    start_broker: Callable[[], Mosquitto],
    clock: FastClock | None = None,
) -> AsyncIterator[Wires]:
    """The scene of this document with every robot on its wire: `sim`, `robokit` or `vda5050`."""
    clock = clock or FastClock(90)
    url = start_broker().url if "vda5050" in kinds.values() else None
    scene = read_fleet(with_links(document, kinds, url))
    async with AsyncExitStack() as stack:
        over_tcp = [name for name, kind in kinds.items() if kind == "robokit"]
        robokit = vda = None
        if over_tcp:
            robokit = await stack.enter_async_context(robots_on_the_wire(scene, clock, only=over_tcp))
            scene = robokit.scene
        if url is not None:
            made = VirtualRobots(scene, vda_robots(scene), read_broker(url), clock, trusting=False)
            vda = await stack.enter_async_context(on_the_broker(made))
        yield Wires(await stack.enter_async_context(live(scene, clock, home)), robokit, vda)


def with_links(document: Mapping[str, Any], kinds: Mapping[str, str], broker: str | None) -> dict[str, Any]:
    """The document with the links of these kinds; those to Robokit robots are put in once their ports are known."""
    robots = []
    for robot in document["robots"]:
        name = robot["robotId"]
        vda = {"kind": "vda5050", "manufacturer": "acme", "serial": name}
        robots.append({**robot, "link": vda if kinds[name] == "vda5050" else "sim"})
    settings = {**document["settings"], **({"broker": broker} if broker else {})}
    return {**document, "robots": robots, "settings": settings}


def all_over(document: Mapping[str, Any], kind: str) -> dict[str, str]:
    return {robot["robotId"]: kind for robot in document["robots"]}


def transports(log: Iterable[Event]) -> list[Transport]:
    """What was transported from where to where, in no order: a task's picks and drops in theirs."""
    carried: dict[str, list[str]] = {}
    found = []
    for event in log:
        if event.kind == "palletPicked":
            carried.setdefault(event.data["taskId"], []).append(event.data["worksiteId"])
        elif event.kind == "palletDropped":
            found.append((carried[event.data["taskId"]].pop(0), event.data["worksiteId"]))
    assert not any(carried.values()), f"picked and never dropped: {carried}"
    return sorted(found)


GROUPS = {"pickGroup": ["PICK_0", "PICK_1"], "dropGroup": ["DROP_0", "DROP_1"]}
EVERY_KIND: dict[str, tuple[dict[str, Any], Sequence[Transport]]] = {
    "pickDrop": (GROUPS, [("PICK_0", "DROP_0"), ("PICK_1", "DROP_1")]),
    "roundRobin": (GROUPS, [("PICK_0", "DROP_0"), ("PICK_1", "DROP_1")]),
    "replenish": ({**GROUPS, "threshold": 1}, [("PICK_0", "DROP_0")]),
    "buffered": (
        {"pickGroup": ["PICK_0"], "bufferGroup": ["DROP_1"], "dropGroup": ["DROP_0"]},
        [("DROP_1", "DROP_0"), ("PICK_0", "DROP_1")],
    ),
    "batch": ({**GROUPS, "batchSize": 2}, [("PICK_0", "DROP_0"), ("PICK_1", "DROP_1")]),
    "shuttle": ({"pickGroup": ["PICK_0"], "dropGroup": ["DROP_0"]}, [("PICK_0", "DROP_0")]),
}
"""For each kind of stream its parameters on `street`, and what it transports there until it comes to rest."""


def street(kind: str, robots: int = 1, **settings: Any) -> dict[str, Any]:
    """Two pick places and two drop places along a street, a park for each robot, and one stream of this kind."""
    at = {"PICK_0": 0, "PICK_1": 4, "DROP_0": 12, "DROP_1": 16} | {f"PARK_{n}": 8 + 0.5 * n for n in range(robots)}
    nodes = [{"id": f"N_{name}", "x": x, "y": 0} for name, x in at.items()]
    row = sorted(at, key=lambda name: at[name])
    edges = [{"from": f"N_{a}", "to": f"N_{b}"} for a, b in pairwise(row)]
    types = {"PICK": "pickup", "DROP": "dropoff", "PARK": "park"}
    params = EVERY_KIND[kind][0]
    buffers = params.get("bufferGroup", [])
    sites = [
        {
            "worksiteId": name,
            "worksiteType": "buffer" if name in buffers else types[name[:4]],
            "entryNodeId": f"N_{name}",
            "occupancy": "filled" if name in params["pickGroup"] else "empty",
        }
        for name in at
    ]
    return {
        "kind": "fleet",
        "name": "street",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": [
            {"robotId": f"RB-{n:02}", "nodeId": f"N_PARK_{n}", "speedMps": 2.0, "capacity": 2 if kind == "batch" else 1}
            for n in range(robots)
        ],
        "streams": [{"streamId": "s", "kind": kind, "params": params}],
        "settings": {"errorPolicy": "freeze", **PATIENT, "startTimeoutS": 600, **settings},
    }


def scene_of(document: Mapping[str, Any]) -> FleetScene:
    return read_fleet(with_links(document, all_over(document, "sim"), None))
