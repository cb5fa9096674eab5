"""Goals in free order: what is saved, what must stay behind what, and sizes no brute force can weigh."""

import random
from typing import Any

import pytest

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.order import best_order
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


def test_goals_that_wait_for_each_other_are_refused(workshop: CellScene) -> None:
    with pytest.raises(BadInputError) as caught:
        best_order(workshop, [work("tack_weld", "Pos_1", after=[2]), work("tack_weld", "Pos_2", after=[1])], HOME)
    assert "wait for each other" in caught.value.problems[0].says


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
