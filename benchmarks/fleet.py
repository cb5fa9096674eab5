"""How fast the fleet core is, and how well it dispatches. Prints three tables.

1. Tick time at 10, 100 and 1,000 robots with ten times as many worksites, from the first tick (everybody gets work at
   once) and in full swing, and how it grows.
2. Virtual hours a second of wall time for the example scenes.
3. Empty metres of `nearest` and `optimal` against the true optimum of the same assignment.
"""

import argparse
import gc
import itertools
import random
import statistics
import time
from pathlib import Path
from typing import Any

import yaml

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.fleet.decide import step
from beforehand.fleet.scene import read_fleet
from beforehand.fleet.simulate import simulate
from beforehand.fleet.state import initial
from beforehand.model.fleet import FleetScene

SCENES = Path(__file__).resolve().parents[1] / "scenes"
AISLE = 20
"""Worksites along an aisle."""


def hall(robots: int, dispatch: str = "nearest") -> FleetScene:
    """Aisles off a cross road; streams between neighbouring aisles, there and back, so that work never ends."""
    aisles = max(2, robots * 10 // AISLE // 2 * 2)
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    sites: list[dict[str, Any]] = []
    for aisle in range(aisles):
        nodes.append({"id": f"X{aisle}", "x": 6 * aisle, "y": 0})
        if aisle:
            edges.append({"from": f"X{aisle - 1}", "to": f"X{aisle}"})
        last = f"X{aisle}"
        for place in range(AISLE):
            node = f"N{aisle}_{place}"
            nodes.append({"id": node, "x": 6 * aisle, "y": 2 * (place + 1)})
            edges.append({"from": last, "to": node})
            last = node
            filled = aisle % 2 == 0 and place < AISLE * 3 // 4
            sites.append(
                {
                    "worksiteId": f"W{aisle}_{place}",
                    "worksiteType": "buffer",
                    "entryNodeId": node,
                    "occupancy": "filled" if filled else "empty",
                }
            )
    streams = []
    for aisle in range(0, aisles, 2):
        here = [f"W{aisle}_{place}" for place in range(AISLE)]
        there = [f"W{aisle + 1}_{place}" for place in range(AISLE)]
        streams.append({"streamId": f"out{aisle}", "params": {"pickGroup": here, "dropGroup": there}})
        streams.append({"streamId": f"back{aisle}", "params": {"pickGroup": there, "dropGroup": here}})
    spots = [f"X{(n * aisles) // robots}" for n in range(robots)]
    return read_fleet(
        {
            "kind": "fleet",
            "name": f"hall{robots}",
            "nodes": nodes,
            "edges": edges,
            "worksites": sites,
            "robots": [{"robotId": f"R{n:04}", "nodeId": spots[n]} for n in range(robots)],
            "streams": streams,
            "settings": {"dispatch": dispatch},
        }
    )


def tick_times(robots: int, ticks: int, dispatch: str) -> tuple[float, float, float, int]:
    """Milliseconds of the first tick, of the median and of the 99th percentile after it, and tasks completed."""
    scene = hall(robots, dispatch)
    state, sim = initial(scene), SimFleet(scene)
    gc.collect()
    gc.freeze()  # As a server would: else the collector walks the whole scene again and again, 70 ms at a time.
    times = []
    for number in range(ticks):
        now = number * 500
        given = sim.advance(now)
        began = time.perf_counter()
        state, verdict = step(state, given, now)
        times.append((time.perf_counter() - began) * 1000)
        for command in verdict.commands:
            sim.command(command, now)
    gc.unfreeze()
    rest = sorted(times[1:])
    return times[0], statistics.median(rest), rest[int(len(rest) * 0.99)], state.completed


def print_ticks(ticks: int) -> None:
    print(f"Tick time in ms over {ticks} ticks, all robots at work")
    print("robots  worksites  dispatch   first  median     p99   us/robot  tasks")
    for robots, dispatch in itertools.product((10, 100, 1000), ("nearest", "optimal")):
        first, median, p99, done = tick_times(robots, ticks, dispatch)
        sizes = f"{robots:6}  {robots * 10:9}  {dispatch:8}"
        print(f"{sizes} {first:7.1f} {median:7.2f} {p99:7.2f} {median * 1000 / robots:10.1f} {done:6}")


def print_speed(for_s: float) -> None:
    print(f"\nVirtual time against wall time, {for_s / 3600:g} virtual hours")
    print("scene             robots  worksites  tasks   wall s  virtual h/s  times real time")
    for path in sorted(SCENES.glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        if document.get("kind") != "fleet":
            continue
        scene = read_fleet(document)
        began = time.perf_counter()
        result = simulate(scene, SimFleet(scene), for_s=for_s, keep_events=False)
        wall = time.perf_counter() - began
        print(
            f"{scene.name:16}  {len(scene.robots):6}  {len(scene.worksites):9} {result.state.completed:6} {wall:8.2f}"
            f" {for_s / 3600 / wall:12.2f} {for_s / wall:16.0f}"
        )


def empty_metres(seed: int, robots: int, dispatch: str) -> float:
    """What the first tick sends robots to drive without a pallet, as many pallets as robots, places drawn by chance."""
    draw = random.Random(seed)
    side = 12
    nodes = [{"id": f"N{x}_{y}", "x": 5 * x, "y": 5 * y} for x in range(side) for y in range(side)]
    edges = [{"from": f"N{x}_{y}", "to": f"N{x + 1}_{y}"} for x in range(side - 1) for y in range(side)]
    edges += [{"from": f"N{x}_{y}", "to": f"N{x}_{y + 1}"} for x in range(side) for y in range(side - 1)]
    spots = draw.sample([node["id"] for node in nodes], 3 * robots)
    sites = [
        {"worksiteId": f"P{n}", "worksiteType": "pickup", "entryNodeId": spots[n], "occupancy": "filled"}
        for n in range(robots)
    ]
    sites += [
        {"worksiteId": f"D{n}", "worksiteType": "dropoff", "entryNodeId": spots[robots + n], "occupancy": "empty"}
        for n in range(robots)
    ]
    scene = read_fleet(
        {
            "name": "chance",
            "nodes": nodes,
            "edges": edges,
            "worksites": sites,
            "robots": [{"robotId": f"R{n:03}", "nodeId": spots[2 * robots + n]} for n in range(robots)],
            "streams": [
                {
                    "streamId": "s",
                    "params": {
                        "pickGroup": [f"P{n}" for n in range(robots)],
                        "dropGroup": [f"D{n}" for n in range(robots)],
                    },
                }
            ],
            "settings": {"dispatch": dispatch},
        }
    )
    state = initial(scene)
    state, _ = step(state, SimFleet(scene).advance(0), 0)
    at = {robot.robot_id: robot.node_id for robot in scene.robots}
    sites_at = {site.worksite_id: site.node_id for site in scene.worksites}
    return sum(state.routes.between(at[str(task.robot_id)], sites_at[task.source_id]) for task in state.tasks.values())


def true_optimum(seed: int, robots: int) -> float:
    """The least total over every assignment, by trying them all."""
    draw = random.Random(seed)
    side = 12
    names = [(x, y) for x in range(side) for y in range(side)]
    spots = draw.sample(names, 3 * robots)
    picks, starts = spots[:robots], spots[2 * robots :]
    metres = [[5 * (abs(a[0] - b[0]) + abs(a[1] - b[1])) for b in picks] for a in starts]
    return min(sum(metres[n][pick] for n, pick in enumerate(order)) for order in itertools.permutations(range(robots)))


def print_travel(draws: int, robots: int) -> None:
    print(f"\nEmpty metres of {robots} robots to {robots} pallets on a grid, mean of {draws} draws")
    optimum = statistics.mean(true_optimum(seed, robots) for seed in range(draws))
    print("dispatch   metres   over the true optimum")
    for dispatch in ("first", "nearest", "optimal"):
        metres = statistics.mean(empty_metres(seed, robots, dispatch) for seed in range(draws))
        print(f"{dispatch:8} {metres:8.1f}   {100 * (metres / optimum - 1):5.1f} %")
    print(f"{'optimum':8} {optimum:8.1f}   (every assignment tried)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticks", type=int, default=600, help="ticks for each size")
    parser.add_argument("--hours", type=float, default=1.0, help="virtual hours for each example scene")
    parser.add_argument("--draws", type=int, default=40, help="draws for the empty metres")
    given = parser.parse_args()
    print_ticks(given.ticks)
    print_speed(given.hours * 3600)
    print_travel(given.draws, 7)


if __name__ == "__main__":
    main()
