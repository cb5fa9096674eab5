"""On random cells: every plan passes the verifier, takes the one settled path, and repairs and orders hold.

The oracle here enumerates simple paths and permutations outright; it knows nothing of how Beforehand searches.
"""

import re
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from beforehand.crafts.cell.core.builder import Sequence, build
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.order import best_order
from beforehand.crafts.cell.core.plan_steps import from_plan_steps, to_plan_steps
from beforehand.crafts.cell.core.preview import preview
from beforehand.crafts.cell.core.repair import repair, repair_plan
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.core.topology import Topology
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.cell import (
    CellScene,
    CellState,
    Goal,
    Intent,
    Move,
    Position,
    Routine,
    Support,
    ToolStand,
)
from beforehand.model.errors import BadInputError

bounded = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
fewer = settings(bounded, max_examples=50)

NAMES = ["A", "B", "a", "a1", "a10", "a2", "É", "Z_9"]
COSTS = st.sampled_from([1, 1, 1, 2, 0, 0.1, 0.2, 0.3, 1e-9, 1.5])


@st.composite
def cells(draw: st.DrawFn, *, even: bool | None = None, timed: bool = False, followed: bool | None = None) -> CellScene:
    """A cell in which every third routine has one follow it, or, `followed`, most and everything can be reached."""
    follow = draw(st.booleans()) if followed is None else followed
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4 if follow else 7, unique=True))
    pairs = [(a, b) for a in names for b in names if a != b]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=14, unique=True))
    chosen += [pair for pair in pairwise(names) if follow and pair not in chosen]
    same = draw(st.booleans()) if even is None else even
    moves = tuple(
        Move(source=a, target=b, one_way=not follow and draw(st.booleans()), cost=1 if same else draw(COSTS))
        for a, b in chosen
    )
    roles = st.sampled_from([None, "safe", "work"])
    where = st.sampled_from([None, 0, 1, 2.5, 30]) if timed else st.none()
    positions = tuple(Position(name=name, role=draw(roles), x=draw(where), y=draw(where)) for name in names)
    tools = tuple(ToolStand(name=name, stand=draw(st.sampled_from(names))) for name in ("Saw", "Torch"))
    routines = tuple(draw(_routines(name, names)) for name in ("cut", "burn", "look"))
    tool_work = tuple(
        Routine(name=name, supported_at=tuple(draw(_supports(names)))) for name in ("tool_attach", "tool_release")
    )
    state = CellState(
        current_position=draw(st.sampled_from(names)), current_tool=draw(st.sampled_from(["none", "Saw", "Torch"]))
    )
    work = tuple(draw(_followed(routine, routines + tool_work, follow)) for routine in routines + tool_work)
    return readable(CellScene(name="random", positions=positions, moves=moves, tools=tools, routines=work, state=state))


@st.composite
def _followed(draw: st.DrawFn, routine: Routine, routines: tuple[Routine, ...], most: bool) -> Routine:
    """The routine with anything behind it that runs at the same position, itself included."""
    supports = []
    for support in routine.supported_at:
        there = [one.name for one in routines if support.position in [other.position for other in one.supported_at]]
        after = draw(st.sampled_from(["move_safe", *there, *there] if most else [None, None, "move_safe", *there]))
        supports.append(support.model_copy(update={"action_after": after}))
    return routine.model_copy(update={"supported_at": tuple(supports)})


def readable(scene: CellScene) -> CellScene:
    """The scene without what the reader says cannot follow."""
    while amiss := _cannot_follow(scene):
        routines = [
            {
                **routine.model_dump(),
                "supported_at": [
                    support.model_dump() | ({"action_after": None} if (at, index) in amiss else {})
                    for index, support in enumerate(routine.supported_at)
                ],
            }
            for at, routine in enumerate(scene.routines)
        ]
        update = {"routines": tuple(Routine.model_validate(routine, strict=False) for routine in routines)}
        scene = scene.model_copy(update=update)
    return scene


def _cannot_follow(scene: CellScene) -> set[tuple[int, int]]:
    try:
        read_cell(scene.wire())
    except BadInputError as error:
        paths = [problem.path for problem in error.problems if problem.path.endswith(".action_after")]
        found = [re.findall(r"\d+", path) for path in paths]
        return {(int(routine), int(support)) for routine, support in found}
    return set()


@st.composite
def _supports(draw: st.DrawFn, names: list[str]) -> list[Support]:
    places = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    return [
        Support(
            position=place,
            stabilize=draw(st.sampled_from([None, 0, 1.5])),
            verify=draw(st.sampled_from([None, "check"])),
        )
        for place in places
    ]


@st.composite
def _routines(draw: st.DrawFn, name: str, names: list[str]) -> Routine:
    tool = draw(st.sampled_from([None, "none", "Saw", "Torch"]))
    return Routine(name=name, required_tool=tool, supported_at=tuple(draw(_supports(names))), duration_s=1)


@st.composite
def intents(draw: st.DrawFn, scene: CellScene, *, most: int = 5, plain: bool = False) -> Intent:
    return Intent(steps=tuple(draw(st.lists(_goals(scene, plain), min_size=1, max_size=most))))


def _goals(scene: CellScene, plain: bool) -> st.SearchStrategy[Goal]:
    work = [
        Goal(action="routine", routine=routine.name, position=support.position)
        for routine in scene.routines
        if not routine.name.startswith("tool_")
        for support in routine.supported_at
    ]
    moves = [Goal(action="move", position=place.name) for place in scene.positions]
    tools = [Goal(action="attach_tool", tool=tool.name) for tool in scene.tools] + [Goal(action="release_tool")]
    return st.sampled_from(work + moves if plain else work + moves + tools)


def built(scene: CellScene, intent: Intent) -> Sequence | None:
    assert scene.state
    try:
        return build(scene, intent, scene.state)
    except BadInputError:
        return None


def edges(scene: CellScene) -> dict[tuple[str, str], Fraction]:
    found: dict[tuple[str, str], Fraction] = {}
    for move in scene.moves:
        cost = Fraction(str(move.cost))
        for edge in [(move.source, move.target)] + ([] if move.one_way else [(move.target, move.source)]):
            found[edge] = min(found.get(edge, cost), cost)
    return found


def oracle(scene: CellScene, start: str, end: str) -> list[str] | None:
    """The least of all simple paths by cost, then moves, then names."""
    roads = edges(scene)
    best: tuple[Fraction, int, list[str]] | None = None
    todo: list[list[str]] = [[start]]
    while todo:
        path = todo.pop()
        if path[-1] == end:
            offer = (sum((roads[pair] for pair in pairwise(path)), Fraction(0)), len(path), path)
            best = offer if best is None or offer < best else best
            continue
        todo += [[*path, b] for a, b in roads if a == path[-1] and b not in path]
    return best[2] if best else None


@bounded
@given(cells(), st.data())
def test_shortest_path_is_the_oracles(scene: CellScene, data: st.DataObject) -> None:
    names = [place.name for place in scene.positions]
    topology = Topology(scene)
    for start in names:
        for end in names:
            expected = oracle(scene, start, end)
            assert topology.shortest_path(start, end) == expected
            if topology.even and start != end:
                found = topology._from_both_ends(topology.number[start], topology.number[end])
                assert (found and [topology.names[at] for at in found]) == expected


@fewer
@given(cells(even=False))
def test_big_graph_search_takes_the_same_paths(scene: CellScene) -> None:
    from beforehand.crafts.cell.core.distances import distances_among, distances_to

    topology = Topology(scene)
    places = list(range(len(topology.names)))
    moves = distances_among(topology, places)
    for end in places:
        column = distances_to(topology, end) if topology.weight else []
        for start in places:
            path = topology.shortest_path(topology.names[start], topology.names[end])
            if path is None:
                assert moves[start, end] == -1
            else:
                assert moves[start, end] == len(path) - 1
                weight = sum(topology.weight[topology.number[a], topology.number[b]] for a, b in pairwise(path))
                assert not column or column[start] == weight


@fewer
@given(cells(even=True))
def test_many_sources_at_once_measure_the_same(scene: CellScene) -> None:
    from beforehand.crafts.cell.core.distances import distances_among

    topology = Topology(scene)
    places = list(range(len(topology.names)))[::-1]
    moves = distances_among(topology, places)
    for row, start in enumerate(places):
        for column, end in enumerate(places):
            path = topology.shortest_path(topology.names[start], topology.names[end])
            assert moves[row, column] == (-1 if path is None else len(path) - 1)


@bounded
@given(st.data())
def test_every_plan_passes_the_verifier_and_walks_the_oracles_paths(data: st.DataObject) -> None:
    scene = data.draw(cells())
    assert scene.state
    made = built(scene, data.draw(intents(scene)))
    assume(made is not None)
    assert made is not None
    verdict = verify(scene, made.wire(), scene.state)
    assert verdict.problems == ()
    assert (verdict.end, verdict.states) == (made.end, made.states)
    plan = to_plan_steps(made)
    assert verify(scene, plan, scene.state).problems == ()
    assert from_plan_steps(plan) == list(made.steps)
    seen = preview(scene, plan, scene.state)
    assert seen.end == made.end
    assert seen.moves == sum(step.action == "move" for step in made.steps)
    _check_legs(scene, made)


@bounded
@given(st.data())
def test_a_plan_without_one_of_its_steps_is_refused_where_that_breaks_what_must_follow(data: st.DataObject) -> None:
    scene = data.draw(cells(followed=True))
    assert scene.state
    made = built(scene, data.draw(intents(scene, most=3)))
    assume(made is not None and any(_after(scene, step.target, step.position or "") for step in made.steps))
    assert made is not None
    assert _all_follow(scene, made.wire())
    for at in range(len(made.steps)):
        left = [dict(step, id=number) for number, step in enumerate(made.wire()[:at] + made.wire()[at + 1 :], 1)]
        found = {problem.code for problem in verify(scene, left, scene.state).problems}
        broken = not _all_follow(scene, left)
        assert broken == bool(found & {"cell.action_after", "cell.move_safe"}), (at, found)


def _all_follow(scene: CellScene, steps: list[dict[str, Any]]) -> bool:
    """Whether every routine has behind it what the scene says; read from the front, the innermost chain first."""
    assert scene.state
    place, tool = scene.state.current_position, scene.state.current_tool
    needs = {routine.name: routine.tool_needed for routine in scene.routines}

    def behind(at: int) -> int:
        """Where the list goes on behind this step and all that it has follow; -1 where that is not there."""
        nonlocal place, tool
        step = steps[at]
        if step["action"] == "move":
            place = step["target"]
            return at + 1
        here = step["position"]
        tool = {"tool_attach": step.get("tool", tool), "tool_release": "none"}.get(step["target"], tool)
        after = _after(scene, step["target"], here)
        at += 1
        if after == "move_safe":
            safe = sorted(b for a, b in edges(scene) if a == here and _role(scene, b) == "safe")[0]
            return behind(at) if at < len(steps) and steps[at]["target"] == safe else -1
        if not after:
            return at
        waits = needs[after] not in (None, tool)
        while at < len(steps) and at >= 0:
            if (steps[at]["target"], steps[at].get("position")) == (after, here):
                return behind(at)
            if not waits or (steps[at]["action"] == "routine" and not steps[at]["target"].startswith("tool_")):
                return -1
            at = behind(at)
        return -1

    at = 0
    while 0 <= at < len(steps):
        at = behind(at)
    return at >= 0


def _role(scene: CellScene, name: str) -> str | None:
    return next(place.role for place in scene.positions if place.name == name)


def _check_legs(scene: CellScene, made: Sequence) -> None:
    """Between two routines the robot takes the settled path; a safe move stands alone before it."""
    assert scene.state
    at = scene.state.current_position
    leg, goal = [at], 1
    for step, number in zip(made.steps, made.goal_of, strict=True):
        if step.action == "routine" or number != goal:
            assert leg == oracle(scene, leg[0], leg[-1])
            leg, goal = [leg[-1]], number
        if step.action == "move":
            leg.append(step.target)
            if made.steps[step.id - 2].action_after == "move_safe" and step.id > 1:
                leg = [step.target]
    assert leg == oracle(scene, leg[0], leg[-1])


@bounded
@given(st.data())
def test_a_plan_is_refused_only_for_a_reason_the_oracle_sees(data: st.DataObject) -> None:
    scene = data.draw(cells())
    place = data.draw(st.sampled_from([place.name for place in scene.positions]))
    assert scene.state
    made = built(scene, Intent(steps=(Goal(action="move", position=place),)))
    path = oracle(scene, scene.state.current_position, place)
    assert (made is None) == (path is None)
    if made is not None and path is not None:
        assert [step.target for step in made.steps] == path[1:]


def taken(scene: CellScene, intent: Intent) -> tuple[int, float] | None:
    """Steps and seconds, as the plan and its own preview have them."""
    made = built(scene, intent)
    if made is None or scene.state is None:
        return None
    return len(made.steps), preview(scene, made.wire(), scene.state).duration_s


def keeps_its_meaning(intent: Intent, order: tuple[int, ...]) -> bool:
    """Nothing crosses an attach or a release, a move given last is last, and `after` is kept; by looking at pairs."""
    at = {number: place for place, number in enumerate(order)}
    count = len(intent.steps)
    walls = [number for number, goal in enumerate(intent.steps, 1) if goal.action in ("attach_tool", "release_tool")]
    crossed = any((at[other] < at[wall]) != (other < wall) for wall in walls for other in at if other != wall)
    awaited = any(count in goal.after for goal in intent.steps)
    ends_elsewhere = intent.steps[-1].action == "move" and not awaited and order[-1] != count
    early = any(at[needed] > at[number] for number, goal in enumerate(intent.steps, 1) for needed in goal.after)
    return not crossed and not ends_elsewhere and not early


@settings(bounded, max_examples=150)
@given(st.data())
def test_free_order_is_the_best_of_all_orders_that_keep_the_meaning(data: st.DataObject) -> None:
    scene = data.draw(cells(timed=True))
    assert scene.state
    intent = data.draw(intents(scene, most=5))
    if data.draw(st.booleans()):
        chained = [goal.model_copy(update={"after": (at,)} if at and data.draw(st.booleans()) else {})
                   for at, goal in enumerate(intent.steps)]  # fmt: skip
        intent = Intent(steps=tuple(chained))
    as_given = taken(scene, intent)
    prices = []
    for order in permutations(range(1, len(intent.steps) + 1)):
        bare = tuple(intent.steps[number - 1].model_copy(update={"after": ()}) for number in order)
        price = taken(scene, Intent(steps=bare)) if keeps_its_meaning(intent, order) else None
        if price and (as_given is None or (price[0] <= as_given[0] and price[1] <= as_given[1])):
            prices.append(price)
    if not prices:
        try:
            best_order(scene, intent, scene.state)
        except BadInputError:
            return
        raise AssertionError("an order was found where none works")
    proposed, saved = best_order(scene, intent, scene.state)
    assert taken(scene, proposed) == min(prices) == (saved.steps, saved.found[1] / 1_000)
    assert keeps_its_meaning(intent, saved.order)
    assert sorted(goal.model_copy(update={"after": ()}).model_dump_json() for goal in proposed.steps) == sorted(
        goal.model_copy(update={"after": ()}).model_dump_json() for goal in intent.steps
    )
    assert saved.steps_given == (as_given and as_given[0])


@settings(fewer, max_examples=25)
@given(st.data())
def test_local_search_never_worsens_and_keeps_after(data: st.DataObject) -> None:
    from beforehand.crafts.cell.core.cost_matrix import CostMatrix
    from beforehand.crafts.cell.core.goals import resolve
    from beforehand.crafts.cell.core.order import respects
    from beforehand.crafts.cell.core.search import search

    scene = data.draw(cells(timed=True))
    assert scene.state
    intent = data.draw(intents(scene, most=8))
    lookup = Lookup(scene)
    tasks, unknown = resolve(lookup, intent.steps)
    assert not unknown
    before = [data.draw(st.integers(0, (1 << index) - 1)) if index % 3 == 2 else 0 for index in range(len(tasks))]
    matrix = CostMatrix(lookup, tasks, scene.state)
    as_given = matrix.price(range(len(tasks)))
    order = search(matrix, before, as_given)
    if as_given is not None:
        assert order is not None
    if order is not None:
        assert sorted(order) == list(range(len(tasks)))
        assert respects(order, before)
        price = matrix.price(order)
        assert price is not None
        counted = taken(scene, Intent(steps=tuple(intent.steps[index] for index in order)))
        assert counted == (price[0], price[1] / 1_000)
        assert as_given is None or (price[0] <= as_given[0] and price[1] <= as_given[1])


@bounded
@given(st.data())
def test_an_edited_list_is_caught_or_right_and_its_repair_verifies(data: st.DataObject) -> None:
    scene = data.draw(cells())
    assert scene.state
    made = built(scene, data.draw(intents(scene)))
    assume(made is not None and len(made.steps) > 1)
    assert made is not None
    steps = to_plan_steps(made)
    edited = _edited(steps, data)
    verdict = verify(scene, edited, scene.state)
    proposal = repair(scene, edited, scene.state)
    if verdict.ok:
        assert _legal(scene, edited)
        assert proposal.added == ()
    if not proposal.problems:
        assert verify(scene, [step.wire() for step in proposal.steps], scene.state).problems == ()
        assert proposal.end == verify(scene, [step.wire() for step in proposal.steps], scene.state).end
        mended, _ = repair_plan(scene, edited, scene.state)
        assert verify(scene, mended, scene.state).problems == ()
        assert len({step["id"] for step in mended}) == len(mended)
        kept = {step["id"] for step in edited if step.get("status") != "skipped"} & {step["id"] for step in mended}
        assert len(kept) == sum(place is not None for place in proposal.origin)


@settings(bounded, max_examples=200)
@given(st.data())
def test_no_shorter_sequence_keeps_what_a_repair_keeps(data: st.DataObject) -> None:
    scene = _bare_tool_changes(data.draw(cells(even=True)))
    assert scene.state
    made = built(scene, data.draw(intents(scene)))
    assume(made is not None and len(made.steps) > 1)
    assert made is not None
    edited = to_plan_steps(made)
    for _ in range(data.draw(st.integers(1, 3))):
        edited = _edited(edited, data) if len(edited) > 1 else edited
    proposal = repair(scene, edited, scene.state)
    assume(not proposal.problems)
    kept = [step for step, place in zip(proposal.steps, proposal.origin, strict=True) if place is not None]
    wanted = [(step.action, step.target, step.position, step.tool) for step in kept]
    assert len(proposal.steps) == _shortest_with(scene, wanted)


Wanted = list[tuple[str, str, str | None, str | None]]


def _bare_tool_changes(scene: CellScene) -> CellScene:
    """The scene with at most a move to safety behind a tool change.

    A repair does not weigh whether a step of the list could be the follower of a tool change made sooner than asked.
    """
    routines = []
    for routine in scene.routines:
        supports = [
            support.model_copy(update={"action_after": None})
            if routine.name.startswith("tool_") and support.action_after != "move_safe"
            else support
            for support in routine.supported_at
        ]
        routines.append(routine.model_copy(update={"supported_at": tuple(supports)}))
    return scene.model_copy(update={"routines": tuple(routines)})


Owed = tuple[str, str, bool]
"""A routine ("" for the move to safety), where, and whether moves and tool changes may come before it."""

Moment = tuple[int, str, str, tuple[Owed, ...]]
"""How many of the wanted steps are done, where the robot is, what it holds and what is owed."""


def _shortest_with(scene: CellScene, wanted: Wanted) -> int:
    """The fewest steps that hold these in this order: breadth-first over all a robot can do, one step at a time."""
    assert scene.state
    start: Moment = (0, scene.state.current_position, scene.state.current_tool, ())
    front, seen, steps = {start}, {start}, 0
    while front:
        if any(done == len(wanted) and not owed for done, _, _, owed in front):
            return steps
        front = {after for moment in front for after in _one_step(scene, wanted, moment)} - seen
        seen |= front
        steps += 1
    raise AssertionError("the repair found a way where there is none")


def _one_step(scene: CellScene, wanted: Wanted, moment: Moment) -> list[Moment]:
    """Every move, tool change, owed and wanted routine from here; what is owed at once comes before all else."""
    done, place, tool, owed = moment
    following = wanted[done] if done < len(wanted) else None
    if owed and not owed[-1][0]:
        safe = owed[-1][1]
        return [(done + (following == ("move", safe, None, None)), safe, tool, owed[:-1])]
    found: list[Moment] = []
    if owed and owed[-1][1] == place:
        found += _ran(scene, (done, place, tool, owed[:-1]), ("routine", owed[-1][0], place, None), following)
    if owed and not owed[-1][2]:
        return found
    found += [(done + (following == ("move", b, None, None)), b, tool, owed) for a, b in edges(scene) if a == place]
    stands = {stand.name: stand.stand for stand in scene.tools}
    if tool != "none" and stands[tool] == place:
        found += _ran(scene, moment, ("routine", "tool_release", place, tool), following)
    for name in [name for name, stand in stands.items() if tool == "none" and stand == place]:
        found += _ran(scene, moment, ("routine", "tool_attach", place, name), following)
    if following and not owed and following[0] == "routine" and following[2] == place and following[3] is None:
        found += _ran(scene, moment, following, following)
    return found


def _ran(
    scene: CellScene, moment: Moment, step: tuple[str, str, str | None, str | None], following: Any
) -> list[Moment]:
    """The routine done, with what is owed after it; nothing when its tool is not held, or there is no safe place."""
    done, place, tool, owed = moment
    name = step[1]
    needs = {routine.name: routine.tool_needed for routine in scene.routines}
    tool = {"tool_release": "none", "tool_attach": str(step[3])}.get(name, tool)
    if step[3] is None and needs[name] not in (None, tool):
        return []
    after = _after(scene, name, place)
    if after == "move_safe":
        safe = {one.name for one in scene.positions if one.role == "safe"}
        places = sorted(b for a, b in edges(scene) if a == place and b in safe)[:1]
        return [(done + (step == following), place, tool, (*owed, ("", safe_place, False))) for safe_place in places]
    if after:
        owed = (*owed, (after, place, needs[after] not in (None, tool)))
    return [(done + (step == following), place, tool, owed)]


def _after(scene: CellScene, routine: str, place: str) -> str | None:
    supports = [one for r in scene.routines if r.name == routine for one in r.supported_at if one.position == place]
    return supports[0].action_after if supports else None


def _edited(steps: list[dict[str, Any]], data: st.DataObject) -> list[dict[str, Any]]:
    """Drop, double or swap a step, and chain what is left."""
    at = data.draw(st.integers(0, len(steps) - 1))
    kind = data.draw(st.sampled_from(["drop", "swap", "double", "skip"]))
    edited = [dict(step) for step in steps]
    if kind == "drop":
        del edited[at]
    elif kind == "swap":
        edited[at], edited[at - 1] = edited[at - 1], edited[at]
    elif kind == "double":
        edited.insert(at, dict(edited[at], id="again"))
    else:
        edited[at]["status"] = "skipped"
    for before, step in zip([None, *edited], edited, strict=False):
        step["dependsOn"] = [before["id"]] if before else []
    return edited


def _legal(scene: CellScene, steps: list[dict[str, Any]]) -> bool:
    """The same judgement in a few lines of its own: every move along an edge, every routine in place with its tool."""
    assert scene.state
    at, tool = scene.state.current_position, scene.state.current_tool
    roads = edges(scene)
    needs = {routine.name: routine.tool_needed for routine in scene.routines}
    for step in steps:
        if step.get("status") == "skipped":
            continue
        args = step["args"]
        if step["tool"] == "cell.move":
            if (at, args["target"]) not in roads:
                return False
            at = args["target"]
        elif args["position"] != at:
            return False
        elif args["target"] == "tool_attach":
            if tool != "none":
                return False
            tool = args["tool"]
        elif args["target"] == "tool_release":
            if tool != args["tool"]:
                return False
            tool = "none"
        elif needs[args["target"]] not in (None, tool):
            return False
    return True


@fewer
@given(st.data())
def test_the_same_scene_in_any_order_of_writing_gives_the_same_plan(data: st.DataObject) -> None:
    scene = data.draw(cells())
    intent = data.draw(intents(scene))
    shuffled = scene.model_copy(
        update={
            "positions": tuple(data.draw(st.permutations(scene.positions))),
            "moves": tuple(data.draw(st.permutations(scene.moves))),
            "tools": tuple(data.draw(st.permutations(scene.tools))),
            "routines": tuple(data.draw(st.permutations(scene.routines))),
        }
    )
    first, second = built(scene, intent), built(shuffled, intent)
    assert (first and first.wire()) == (second and second.wire())
