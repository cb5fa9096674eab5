"""Goals in free order: what is saved, what must stay behind what, and sizes no brute force can weigh."""

import random
from itertools import permutations
from typing import Any

import pytest

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.cost_matrix import CostMatrix
from beforehand.crafts.cell.core.goals import resolve
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.order import best_order
from beforehand.crafts.cell.core.preview import preview
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.cell import CellScene, CellState, Goal, Intent, Move, Position, Routine, Support, ToolStand
from beforehand.model.errors import BadInputError

HOME = CellState(current_position="Home")


def work(routine: str, position: str, **more: Any) -> dict[str, Any]:
    return {"action": "routine", "routine": routine, "position": position} | more


ALTERNATING = [
    work("tack_weld", "Pos_1"),
    work("inspect_seam", "Pos_1"),
    work("tack_weld", "Pos_2"),
    work("inspect_seam", "Pos_2"),
]


def test_tools_are_batched_and_the_saving_is_said(workshop: CellScene) -> None:
    given = build(workshop, ALTERNATING, HOME)
    intent, saved = best_order(workshop, ALTERNATING, HOME)
    made = build(workshop, intent, HOME)
    assert len(made.steps) == saved.steps < len(given.steps) == saved.steps_given
    assert [goal.routine for goal in intent.steps] in (
        ["tack_weld"] * 2 + ["inspect_seam"] * 2,
        ["inspect_seam"] * 2 + ["tack_weld"] * 2,
    )
    assert f"{saved.steps_saved} steps" in saved.says
    assert saved.optimal


def test_after_is_kept_and_follows_its_goals(workshop: CellScene) -> None:
    goals = [{**ALTERNATING[0], "after": [2]}, ALTERNATING[1], ALTERNATING[2], {**ALTERNATING[3], "after": [3]}]
    intent, saved = best_order(workshop, goals, HOME)
    place = {old: new for new, old in enumerate(saved.order)}
    assert place[2] < place[1]
    assert place[3] < place[4]
    build(workshop, intent, HOME)
    assert saved.steps_given is None


def test_what_is_best_already_stays(workshop: CellScene) -> None:
    intent, saved = best_order(workshop, [work("tack_weld", "Pos_1")], HOME)
    assert saved.order == (1,)
    assert saved.steps_saved == 0
    assert "stays as given" in saved.says
    assert intent.steps == (Goal(action="routine", routine="tack_weld", position="Pos_1"),)


def test_unknown_and_unreachable_are_told_together(workshop: CellScene) -> None:
    with pytest.raises(BadInputError) as caught:
        best_order(workshop, [work("paint", "Pos_1"), {"action": "move", "position": "Pos_4"}], HOME)
    assert [problem.code for problem in caught.value.problems] == ["cell.unknown_routine", "cell.no_path"]


@pytest.mark.parametrize(("routine", "code"), [("paint", "cell.unknown_routine"), ("tack_weld", "cell.unsupported")])
def test_of_a_refused_goal_its_unreachable_place_is_told_too(workshop: CellScene, routine: str, code: str) -> None:
    for build_it in (best_order, build):
        with pytest.raises(BadInputError) as caught:
            build_it(workshop, [work(routine, "Pos_4")], HOME)
        assert [problem.code for problem in caught.value.problems] == [code, "cell.no_path"]


def test_goals_that_wait_for_each_other_are_refused(workshop: CellScene) -> None:
    with pytest.raises(BadInputError) as caught:
        best_order(workshop, [work("tack_weld", "Pos_1", after=[2]), work("tack_weld", "Pos_2", after=[1])], HOME)
    assert "wait for each other" in caught.value.problems[0].says


def test_no_goal_crosses_an_attach_or_a_release(workshop: CellScene) -> None:
    goals = [
        {"action": "attach_tool", "tool": "Camera"},
        {"action": "move", "position": "Pos_3"},
        {"action": "release_tool"},
    ]
    intent, saved = best_order(workshop, goals, HOME)
    assert saved.order == (1, 2, 3)
    assert build(workshop, intent, HOME).end.current_tool == "none"
    late = [work("tack_weld", "Pos_1"), {"action": "attach_tool", "tool": "Camera"}, work("tack_weld", "Pos_2")]
    assert best_order(workshop, late, HOME)[1].order == (1, 2, 3)


def test_an_after_that_would_cross_a_barrier_is_refused_with_the_barrier_named(workshop: CellScene) -> None:
    goals = [
        work("tack_weld", "Pos_1", after=[3]),
        {"action": "attach_tool", "tool": "Camera"},
        work("inspect_seam", "Pos_2"),
    ]
    with pytest.raises(BadInputError) as caught:
        best_order(workshop, goals, HOME)
    assert [problem.code for problem in caught.value.problems] == ["cell.order"]
    assert "no step crosses step 2 (Attach Camera)" in caught.value.problems[0].says


def test_a_move_given_last_stays_last(workshop: CellScene) -> None:
    goals = [work("tack_weld", "Pos_1"), work("inspect_seam", "Pos_1"), work("tack_weld", "Pos_2")]
    for end in ("Home", "Safe_Pos_1", "Tool_Weld_Safe_Position"):
        intent, saved = best_order(workshop, [*goals, {"action": "move", "position": end}], HOME)
        assert saved.order[-1] == 4
        assert build(workshop, intent, HOME).end.current_position == end


def test_fewer_steps_that_take_longer_are_not_taken() -> None:
    """B first is a step less; where B lies thirty metres off, it is that way twice instead of once."""
    roads = [("P", "A"), ("A", "M"), ("M", "B"), ("P", "B"), ("B", "A")]

    def cell(metres: float) -> CellScene:
        return CellScene(
            name="long",
            positions=tuple(Position(name=name, x=metres if name == "B" else 0, y=0) for name in "PAMB"),
            moves=tuple(Move(source=a, target=b, one_way=True) for a, b in roads),
            routines=(Routine(name="look", supported_at=(Support(position="A"), Support(position="B"))),),
        )

    given, state = [work("look", "A"), work("look", "B")], CellState(current_position="P")
    saved = best_order(cell(0), given, state)[1]
    assert (saved.order, saved.steps_saved) == ((2, 1), 1)
    saved = best_order(cell(30), given, state)[1]
    assert (saved.order, saved.steps, saved.found[1]) == ((1, 2), 5, 60_000)
    assert "stays as given" in saved.says


def big_cell(side: int, tools: int, goals: int, seed: int) -> tuple[CellScene, Intent]:
    rng = random.Random(seed)
    names = [f"P{number}" for number in range(side * side)]
    moves = [Move(source=names[n], target=names[n + 1]) for n in range(side * side) if (n + 1) % side]
    moves += [Move(source=names[n], target=names[n + side]) for n in range(side * (side - 1))]
    spots = rng.sample(names, goals)
    routines = [
        Routine(name=f"r{t}", required_tool=f"T{t}", supported_at=tuple(Support(position=name) for name in spots))
        for t in range(tools)
    ]
    scene = CellScene(
        name="big",
        positions=tuple(Position(name=name) for name in names),
        moves=tuple(moves),
        tools=tuple(ToolStand(name=f"T{t}", stand=rng.choice(names)) for t in range(tools)),
        routines=tuple(routines),
        state=CellState(current_position="P0"),
    )
    steps = tuple(Goal(action="routine", routine=f"r{rng.randrange(tools)}", position=spot) for spot in spots)
    return scene, Intent(steps=steps)


def test_many_goals_are_cut_by_more_than_a_third_and_always_the_same_way() -> None:
    scene, intent = big_cell(20, 5, 40, 1)
    assert scene.state
    first, saved = best_order(scene, intent, scene.state)
    again, _ = best_order(scene, intent, scene.state)
    assert first == again
    assert saved.steps < 0.64 * (saved.steps_given or 0)
    assert len(build(scene, first, scene.state).steps) == saved.steps
    assert not saved.optimal


def test_many_goals_keep_their_after() -> None:
    scene, intent = big_cell(12, 3, 20, 2)
    assert scene.state
    chained = tuple(
        goal.model_copy(update={"after": (number - 3,)}) if number > 3 else goal
        for number, goal in enumerate(intent.steps, 1)
    )
    found, saved = best_order(scene, Intent(steps=chained), scene.state)
    place = {old: new for new, old in enumerate(saved.order)}
    assert all(place[number - 3] < place[number] for number in range(4, 21))
    build(scene, found, scene.state)


@pytest.mark.parametrize(("side", "tools", "goals", "seed", "most"), [(20, 5, 80, 2, 544), (20, 5, 65, 3, 499)])
def test_more_than_sixty_goals_are_ordered_well(side: int, tools: int, goals: int, seed: int, most: int) -> None:
    """At most as many steps as the best that earlier searches, and their variants, ever found."""
    scene, intent = big_cell(side, tools, goals, seed)
    assert scene.state
    found, saved = best_order(scene, intent, scene.state)
    assert saved.steps == len(build(scene, found, scene.state).steps) <= most
    assert sorted(saved.order) == list(range(1, goals + 1))


def test_of_more_than_sixty_goals_none_is_better_elsewhere() -> None:
    """Put any goal anywhere else, or turn any run of goals round: nothing gets shorter."""
    scene, intent = big_cell(15, 4, 62, 2)
    assert scene.state
    _, saved = best_order(scene, intent, scene.state)
    lookup = Lookup(scene)
    matrix = CostMatrix(lookup, resolve(lookup, intent.steps)[0], scene.state)
    order = [number - 1 for number in saved.order]
    assert matrix.price(order) == saved.found
    for at in range(len(order)):
        rest = order[:at] + order[at + 1 :]
        moved = ([*rest[:place], order[at], *rest[place:]] for place in range(len(order)))
        turned = (order[:at] + order[at:end][::-1] + order[end:] for end in range(at + 2, len(order) + 1))
        for other in (*moved, *turned):
            price = matrix.price(other)
            assert price is not None
            assert price >= saved.found


def test_a_good_order_given_is_never_made_worse() -> None:
    scene, intent = big_cell(20, 3, 70, 5)
    assert scene.state
    good, first = best_order(scene, intent, scene.state)
    again, second = best_order(scene, good, scene.state)
    assert second.given == first.found
    assert second.steps <= first.steps
    assert second.found[1] <= first.found[1]
    assert again.steps


@pytest.mark.parametrize("tool", ["none", "Welder", "Camera"])
def test_what_follows_a_goal_is_priced_as_it_is_planned(followed: CellScene, tool: str) -> None:
    """Every order of goals whose followers change tools: steps and milliseconds, where it ends and with what."""
    goals = [
        work("tack_weld", "Pos_1"),
        work("wipe", "Pos_1"),
        work("tack_weld", "Pos_2"),
        work("tack_weld", "Pos_3"),
        {"action": "move", "position": "Safe_Pos_3"},
    ]
    state = CellState(current_position="Home", current_tool=tool)
    lookup = Lookup(followed)
    for order in permutations(range(len(goals))):
        matrix = CostMatrix(lookup, resolve(lookup, [Goal.model_validate(goal) for goal in goals])[0], state)
        made = build(followed, {"steps": [goals[index] for index in order]}, state)
        seen = preview(followed, made.wire(), state)
        assert matrix.price(order) == (len(made.steps), round(seen.duration_s * 1_000))
        stop = matrix.first
        for index in order:
            leg = stop[index]
            assert leg is not None
            stop = leg[0]
        assert stop.spot == (made.end.current_position, made.end.current_tool)


def test_many_goals_with_followers_are_ordered_as_they_are_planned() -> None:
    scene, intent = big_cell(10, 3, 30, 4)
    routines = [
        routine.model_copy(
            update={
                "required_tool": None if at == 2 else routine.required_tool,
                "supported_at": tuple(
                    support.model_copy(update={"action_after": f"r{at - 1}" if at and number % 3 else None})
                    for number, support in enumerate(routine.supported_at)
                ),
            }
        )
        for at, routine in enumerate(scene.routines)
    ]
    scene = read_cell(scene.model_copy(update={"routines": tuple(routines)}).wire())
    assert scene.state
    found, saved = best_order(scene, intent, scene.state)
    steps = build(scene, found, scene.state).wire()
    assert saved.found == (len(steps), round(preview(scene, steps, scene.state).duration_s * 1_000))
    assert saved.steps < 0.9 * (saved.steps_given or 0)
