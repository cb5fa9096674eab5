"""How fast the cell plans, beside two classical planners on the same problems, and how good its free order is.

    python benchmarks/cell.py [--smallest] [--timeout SECONDS]

Fast Downward and pyperplan are asked through unified-planning when the running Python has them; install them with
`make bench-peers`. Every row is measured in this run; a ratio is the planner's time over ours.
"""

import random
import time
import warnings
from collections.abc import Callable
from itertools import permutations
from math import factorial
from pathlib import Path
from typing import Any

import yaml
from _options import Options
from _parts import PEERS, can_run

from beforehand.crafts.cell.core.builder import Sequence, build
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.order import best_order
from beforehand.crafts.cell.core.preview import preview
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.cell import CellScene, CellState, Goal, Intent, Move, Position, Routine, Support, ToolStand
from beforehand.model.errors import BadInputError

SCENES = Path(__file__).parents[1] / "scenes"
PLANNERS = ("fast-downward", "pyperplan")


def random_cell(count: int, tools: int, goals: int, seed: int) -> tuple[CellScene, Intent]:
    """Positions strewn over a square, each joined to its nearest; tools and goals anywhere."""
    rng = random.Random(seed)
    spots = sorted((rng.random(), rng.random()) for _ in range(count))
    names = [f"P{number}" for number in range(count)]
    pairs = set()
    for number in range(1, count):
        near = sorted(range(max(0, number - 40), number), key=lambda other: _apart(spots[number], spots[other]))
        pairs |= {(near[0], number), *((other, number) for other in near[1:3] if rng.random() < 0.6)}
    places = [rng.choice(names) for _ in range(goals)]
    routines = [
        Routine(
            name=f"r{t}", required_tool=f"T{t}", supported_at=tuple(Support(position=p) for p in sorted(set(places)))
        )
        for t in range(tools)
    ]
    scene = CellScene(
        name=f"random {count}",
        positions=tuple(Position(name=name) for name in names),
        moves=tuple(Move(source=names[a], target=names[b]) for a, b in sorted(pairs)),
        tools=tuple(ToolStand(name=f"T{t}", stand=rng.choice(names)) for t in range(tools)),
        routines=tuple(routines),
        state=CellState(current_position=names[0]),
    )
    steps = tuple(Goal(action="routine", routine=f"r{rng.randrange(tools)}", position=place) for place in places)
    return scene, Intent(steps=steps)


def _apart(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def best_of(work: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The least wall time of several runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def given_order(cases: list[tuple[str, CellScene, Intent]], planners: list[str], timeout: float, times: int) -> None:
    print(
        "\nGiven order: wall time of a whole plan. first: topology and names built anew; ours: those are there, but no"
    )
    print("path has been looked for; again: the same plan once more. Ratios are against ours; every plan is verified.")
    header = f"{'cell':<16}{'goals':>6}{'steps':>7}{'first':>11}{'ours':>11}{'again':>11}"
    print(header + "".join(f"{name:>16}{'steps':>7}{'ratio':>10}" for name in planners))
    slow: set[str] = set()
    for name, scene, intent in cases:
        state = scene.state or CellState(current_position="Home")
        first, made = best_of(lambda s=scene, i=intent, st=state: build(s, i, st), times)
        fresh = [Lookup(scene) for _ in range(times)]
        ours, _ = best_of(lambda s=scene, i=intent, st=state, k=fresh: build(s, i, st, topology=k.pop()), len(fresh))
        lookup = Lookup(scene)
        again, _ = best_of(lambda s=scene, i=intent, st=state, k=lookup: build(s, i, st, topology=k), times)
        assert verify(scene, made.steps, state).ok
        row = f"{name:<16}{len(intent.steps):>6}{len(made.steps):>7}{first * 1e3:>8.3f} ms{ours * 1e3:>8.3f} ms"
        row += f"{again * 1e3:>8.3f} ms"
        for planner in list(planners):
            cells, spent = _peer_cells(scene, intent, state, planner, timeout, ours)
            row += cells
            if spent > timeout / 4:
                slow.add(planner)
        print(row, flush=True)
        if slow & set(planners):
            print(f"{', '.join(sorted(slow & set(planners)))} is left out of the bigger cells, being too slow already.")
            planners = [planner for planner in planners if planner not in slow]


def _peer_cells(
    scene: CellScene, intent: Intent, state: CellState, planner: str, timeout: float, ours: float
) -> tuple[str, float]:
    problem = as_planning_problem(scene, intent, state)
    start = time.perf_counter()
    length = solve(problem, planner, timeout)
    spent = time.perf_counter() - start
    if length is None:
        return f"{f'> {spent:.1f} s':>16}{'none':>7}{f'> {spent / ours:,.0f}x':>10}", spent
    return f"{f'{spent:.3f} s':>16}{length:>7}{f'{spent / ours:,.0f}x':>10}", spent


def solve(problem: Any, planner: str, timeout: float) -> int | None:
    from unified_planning.shortcuts import OneshotPlanner

    with OneshotPlanner(name=planner) as engine:
        try:
            result = engine.solve(problem, timeout=timeout) if planner == "fast-downward" else engine.solve(problem)
        except Exception as error:
            print(f"  {planner}: {type(error).__name__}: {str(error)[:100]}")
            return None
    return None if result.plan is None else len(result.plan.actions)


def as_planning_problem(scene: CellScene, intent: Intent, state: CellState) -> Any:
    """The same cell and goals as a classical planning problem: move, attach, release, and the goals in turn."""
    from unified_planning.shortcuts import BoolType, Fluent, InstantaneousAction, Not, Object, Problem, UserType

    place_type, tool_type = UserType("Place"), UserType("Tool")
    at = Fluent("at", BoolType(), place=place_type)
    road = Fluent("road", BoolType(), start=place_type, end=place_type)
    stand = Fluent("stand", BoolType(), tool=tool_type, place=place_type)
    held = Fluent("held", BoolType(), tool=tool_type)
    empty = Fluent("empty", BoolType())
    problem = Problem("cell")
    for fluent in (at, road, stand, held, empty):
        problem.add_fluent(fluent, default_initial_value=False)
    places = {place.name: Object(place.name, place_type) for place in scene.positions}
    tools = {tool.name: Object(f"tool_{tool.name}", tool_type) for tool in scene.tools}
    problem.add_objects([*places.values(), *tools.values()])
    problem.set_initial_value(at(places[state.current_position]), True)
    problem.set_initial_value(empty, state.current_tool == "none")
    if state.current_tool != "none":
        problem.set_initial_value(held(tools[state.current_tool]), True)
    for move in scene.moves:
        for start, end in ((move.source, move.target), (move.target, move.source))[: 1 if move.one_way else 2]:
            problem.set_initial_value(road(places[start], places[end]), True)
    for tool in scene.tools:
        problem.set_initial_value(stand(tools[tool.name], places[str(tool.stand)]), True)
    move_action = InstantaneousAction("move", start=place_type, end=place_type)
    start, end = move_action.parameters
    for condition in (at(start), road(start, end)):
        move_action.add_precondition(condition)
    move_action.add_effect(at(start), False)
    move_action.add_effect(at(end), True)
    problem.add_action(move_action)
    for name, gains in (("attach", True), ("release", False)):
        action = InstantaneousAction(name, tool=tool_type, place=place_type)
        tool_parameter, place_parameter = action.parameters
        ready = empty if gains else held(tool_parameter)
        for condition in (at(place_parameter), stand(tool_parameter, place_parameter), ready):
            action.add_precondition(condition)
        action.add_effect(held(tool_parameter), gains)
        action.add_effect(empty, not gains)
        problem.add_action(action)
    _add_goals(problem, scene, intent, at, held, places, tools, (BoolType, Fluent, InstantaneousAction, Not))
    return problem


def _add_goals(
    problem: Any,
    scene: CellScene,
    intent: Intent,
    at: Any,
    held: Any,
    places: Any,
    tools: Any,
    made_of: tuple[Any, ...],
) -> None:
    bool_type, fluent, instantaneous, _ = made_of
    needs = {routine.name: routine.tool_needed for routine in scene.routines}
    before = None
    for number, goal in enumerate(intent.steps, 1):
        done = fluent(f"done_{number}", bool_type())
        problem.add_fluent(done, default_initial_value=False)
        action = instantaneous(f"goal_{number}")
        action.add_precondition(at(places[str(goal.position)]))
        tool = needs[str(goal.routine)]
        if tool:
            action.add_precondition(held(tools[tool]))
        if before is not None:
            action.add_precondition(before)
        action.add_effect(done, True)
        problem.add_action(action)
        before = done
    problem.add_goal(before)


def free_order(sizes: list[tuple[int, int, int]]) -> None:
    print("\nFree order: processor time of the search, steps as given and as proposed")
    print(f"{'positions':>10}{'tools':>7}{'goals':>7}{'given':>9}{'free':>9}{'saved':>8}{'time':>10}")
    for count, tools, goals in sizes:
        scene, intent = random_cell(count, tools, goals, 1)
        state = scene.state or CellState(current_position="P0")
        lookup = Lookup(scene)
        start = time.process_time()
        _, saved = best_order(scene, intent, state, topology=lookup)
        spent = time.process_time() - start
        given = saved.steps_given or 0
        share = 100 * saved.steps_saved / max(given, 1)
        print(f"{count:>10}{tools:>7}{goals:>7}{given:>9}{saved.steps:>9}{share:>6.0f} %{spent:>8.3f} s", flush=True)


def against_brute_force(cells: int, goals: int) -> None:
    equal = 0
    for seed in range(cells):
        scene, intent = random_cell(30, 3, goals, seed)
        state = scene.state or CellState(current_position="P0")
        lookup = Lookup(scene)
        best = min(price for order in permutations(intent.steps) if (price := _price(scene, order, state, lookup)))
        _, saved = best_order(scene, intent, state, topology=lookup)
        equal += saved.found == best
    orders = f"all {factorial(goals)} orders of {goals} goals"
    print(f"\nFree order beside {orders}: equal to the best in {equal} of {cells} random cells")


def _price(scene: CellScene, order: tuple[Goal, ...], state: CellState, lookup: Lookup) -> tuple[int, int] | None:
    try:
        made: Sequence = build(scene, Intent(steps=order), state, topology=lookup)
    except BadInputError:
        return None
    return len(made.steps), round(1_000 * preview(scene, made.wire(), state).duration_s)


def installed() -> list[str]:
    if not can_run("The classical planners", "unified_planning", remedy=PEERS):
        return []
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    warnings.simplefilter("ignore")
    get_environment().credits_stream = None
    found = []
    for name in PLANNERS:
        try:
            OneshotPlanner(name=name)
        except Exception as error:
            print(f"{name} is not usable here: {str(error)[:120]}")
        else:
            found.append(name)
    return found


def main() -> None:
    options = Options(__doc__)
    options.add_argument("--timeout", type=float, default=60.0, help="seconds a planner may take per problem")
    options.add_size("--times", 50, 2, "how often each plan is made")
    options.add_size("shapes", [(100, 4, 10), (100, 6, 50), (1_000, 6, 10), (1_000, 10, 50)], [(20, 2, 3)])
    options.add_size("free", [(100, 4, 8), (100, 6, 50), (1_000, 10, 50), (10_000, 50, 200)], [(30, 2, 4)])
    options.add_size("--cells", 10, 1, "random cells whose every order is tried")
    options.add_size("--goals", 6, 3, "goals in each of them")
    given = options.read()
    weld = Intent(
        steps=tuple(Goal(action="routine", routine="tack_weld", position=place) for place in ("Pos_1", "Pos_2"))
    )
    cases = []
    for name in ("weld_star", "weld_corridor"):
        cases.append((name, read_cell(yaml.safe_load((SCENES / f"{name}.yaml").read_text())), weld))
    for count, tools, goals in given.shapes:
        scene, intent = random_cell(count, tools, goals, 1)
        cases.append((scene.name, scene, intent))
    given_order(cases, installed(), given.timeout, given.times)
    free_order(given.free)
    against_brute_force(given.cells, given.goals)


if __name__ == "__main__":
    main()
