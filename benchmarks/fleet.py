"""How fast the fleet core is, and how well it dispatches. Prints one table, each line with its aim and the ratio to it.

1. Tick time at 10, 100 and 1,000 robots with ten times as many worksites, from the first tick (everybody gets work at
   once) and in full swing, and how the time for one robot grows with their number.
2. Virtual time against real time for the example scenes, simulated robots included.
3. Tick time where ground is shared out (`trafficMode: RESERVE`), beside the same hall where it is not.
4. Empty metres of `nearest` and `optimal` against the true optimum of the same assignment.

Times are of the processor, so that other work on the machine counts less; of several runs of a scene the best counts.
"""

import gc
import itertools
import math
import random
import statistics
import time
from pathlib import Path
from typing import Any

import yaml
from _options import Options

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.decide import step
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.state import initial
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


def grid(robots: int, traffic: str) -> FleetScene:
    """Lanes that cross every 6 m, a place beside each crossing, and two places for every robot; work never ends."""
    side = math.ceil(math.sqrt(2 * robots))
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    places = []
    for x in range(side):
        for y in range(side):
            nodes += [{"id": f"N{x}_{y}", "x": 6 * x, "y": 6 * y}, {"id": f"S{x}_{y}", "x": 6 * x + 3, "y": 6 * y + 3}]
            edges += [{"from": f"N{x}_{y}", "to": f"S{x}_{y}"}]
            edges += [{"from": f"N{x - 1}_{y}", "to": f"N{x}_{y}"}] if x else []
            edges += [{"from": f"N{x}_{y - 1}", "to": f"N{x}_{y}"}] if y else []
            places.append(f"S{x}_{y}")
    random.Random(1).shuffle(places)
    half = len(places) // 2
    sites = [
        {"worksiteId": f"W{n}", "worksiteType": "buffer", "entryNodeId": node, "occupancy": "filled"}
        | ({} if n < half // 2 else {"occupancy": "empty"})
        for n, node in enumerate(places[: 2 * (half // 2)])
    ]
    here, there = [[site["worksiteId"] for site in part] for part in (sites[: half // 2], sites[half // 2 :])]
    return read_fleet(
        {
            "name": f"grid{robots}",
            "nodes": nodes,
            "edges": edges,
            "worksites": sites,
            "robots": [{"robotId": f"R{n:04}", "nodeId": places[-1 - n]} for n in range(robots)],
            "streams": [
                {"streamId": "out", "params": {"pickGroup": here, "dropGroup": there}},
                {"streamId": "back", "params": {"pickGroup": there, "dropGroup": here}},
            ],
            "settings": {"trafficMode": traffic},
        }
    )


def print_traffic(ticks: int, fleets: tuple[int, ...]) -> None:
    for robots in fleets:
        none, _ = scene_ticks(grid(robots, "NONE"), ticks)
        times, done = scene_ticks(grid(robots, "RESERVE"), ticks)
        p99, without = (sorted(some[1:])[int(len(some[1:]) * 0.99)] for some in (times, none))
        note = f"first {times[0]:.1f}, worst {max(times[1:]):.1f} ms; {done} tasks; NONE: p99 {without:.1f} ms"
        line(
            f"tick, {robots} robots that share out the ground", f"p99 {p99:.1f} ms", "< 50 ms", TICK_AIM_MS / p99, note
        )


TICK_AIM_MS = 50.0
SPEED_AIM = 1000.0
SPEED_AIM_ROBOTS = 50


def line(what: str, value: str, aim: str = "", ratio: float | None = None, note: str = "") -> None:
    """One line of the table. A ratio of 1 or more means that the aim is met."""
    met = "" if ratio is None else f"{ratio:6.1f}x {'met' if ratio >= 1 else 'MISSED'}"
    print(f"{what:44} {value:>12}  {aim:12} {met:13} {note}".rstrip())


def tick_times(robots: int, ticks: int, dispatch: str) -> tuple[list[float], int]:
    """Milliseconds of each tick, and the tasks completed."""
    return scene_ticks(hall(robots, dispatch), ticks)


def scene_ticks(scene: FleetScene, ticks: int) -> tuple[list[float], int]:
    state, sim = initial(scene), SimFleet(scene)
    gc.collect()
    gc.freeze()  # As the fleet driver does, so that the collector does not walk the whole scene again and again.
    times = []
    for number in range(ticks):
        now = number * 500
        given = sim.advance(now)
        began = time.process_time()
        state, verdict = step(state, given, now)
        times.append((time.process_time() - began) * 1000)
        for command in verdict.commands:
            sim.command(command, now)
    gc.unfreeze()
    return times, state.completed


def print_ticks(ticks: int, fleets: tuple[int, ...]) -> None:
    least, most = fleets[0], fleets[-1]
    for dispatch in ("nearest", "optimal"):
        each: dict[int, float] = {}
        for robots in fleets:
            times, done = tick_times(robots, ticks, dispatch)
            rest = sorted(times[1:])
            p99 = rest[int(len(rest) * 0.99)]
            each[robots] = statistics.mean(times) * 1000 / robots
            what = f"tick, {robots} robots, {robots * 10} worksites, {dispatch}"
            note = f"first {times[0]:.1f}, median {statistics.median(rest):.2f}, worst {rest[-1]:.1f} ms; {done} tasks"
            line(what, f"p99 {p99:.1f} ms", f"< {TICK_AIM_MS:g} ms", TICK_AIM_MS / p99, note)
        note = ", ".join(f"{robots}: {us:.1f} us" for robots, us in each.items())
        growth = each[most] / each[least]
        line(f"growth per robot, {least} to {most}, {dispatch}", f"{growth:.2f}x", "< 2x", 2 / growth, note)


def print_speed(for_s: float, times: int) -> None:
    for path in sorted(SCENES.glob("*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        if document.get("kind") != "fleet":
            continue
        scene = read_fleet(document)
        best, tasks = float("inf"), 0
        for _ in range(times):
            began = time.process_time()
            result = simulate(scene, SimFleet(scene), for_s=for_s, keep_events=False)
            best, tasks = min(best, time.process_time() - began), result.state.completed
        speed = for_s / best
        what = f"{scene.name}, {len(scene.robots)} robots, {len(scene.worksites)} worksites"
        aimed = len(scene.robots) <= SPEED_AIM_ROBOTS
        note = f"{for_s / 3600 / best:.2f} virtual hours a second; {tasks} tasks"
        line(what, f"{speed:.0f}x real", f"> {SPEED_AIM:g}x", speed / SPEED_AIM if aimed else None, note)


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
    optimum = statistics.mean(true_optimum(seed, robots) for seed in range(draws))
    note = f"true optimum {optimum:.1f} m, every assignment tried; mean of {draws} draws"
    for dispatch in ("first", "nearest", "optimal"):
        metres = statistics.mean(empty_metres(seed, robots, dispatch) for seed in range(draws))
        what = f"empty travel, {robots} robots, {dispatch}"
        aim, ratio = ("optimum", optimum / metres + 1e-9) if dispatch == "optimal" else ("", None)
        line(what, f"+{100 * (metres / optimum - 1):.1f} %", aim, ratio, note)


def main() -> None:
    options = Options(__doc__)
    options.add_size("--ticks", 600, 3, "ticks for each size")
    options.add_size("--robots", (10, 100, 1000), (1, 2))
    options.add_size("--sharing", (50, 200), (4,), "robots that share out the ground")
    options.add_size("--hours", 1.0, 0.002, "virtual hours for each example scene")
    options.add_size("--times", 3, 1, "how often each example scene is run")
    options.add_size("--draws", 40, 2, "draws for the empty metres")
    options.add_size("--drawn", 7, 3, "robots in each draw")
    given = options.read()
    line("what", "measured", "aim", None, "more")
    print_ticks(given.ticks, given.robots)
    print_traffic(given.ticks, given.sharing)
    print_speed(given.hours * 3600, given.times)
    print_travel(given.draws, given.drawn)


if __name__ == "__main__":
    main()
