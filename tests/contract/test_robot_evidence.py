"""Strangers' robots one by one: what each kind of them shows, what is believed of it, and what a person is asked."""

from collections import Counter
from pathlib import Path

import pytest
from tests.contract.stranger_house import House, housed
from tests.contract.stranger_robot import Character, Fact

from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.inputs import AnswerDecision, RobotVerb, TaskVerb
from beforehand.model.decision import Decision

ROBOT = "RB-00"


def orders(house: House) -> Counter[tuple[str, str]]:
    """How often each work was ordered, by the robots' own record."""
    return Counter((fact.operation, fact.node) for fact in facts(house, "ordered") if fact.operation)


def facts(house: House, what: str) -> list[Fact]:
    return [fact for fact in house.floor.facts if fact.what == what]


def booked(house: House) -> list[str]:
    kinds = ("palletPicked", "palletDropped")
    return [event.data["worksiteId"] for event in house.store.log if event.kind in kinds]


async def at_rest(house: House) -> None:
    await house.until(lambda state: bool(state.tasks) and is_settled(state, house.clock.now_ms()))


async def asked(house: House) -> Decision:
    await house.until(lambda state: bool(state.decisions))
    (decision,) = house.state.decisions.values()
    return decision


@pytest.mark.parametrize(
    "character",
    [
        Character("theirs", "always", "absent"),
        Character("theirs", "always", "right"),
        Character("theirs", "never", "right"),
        Character("none", "never", "right"),
        Character("none", "sometimes", "right"),
        Character("ours", "never", "absent"),
        Character("ours", "sometimes", "right"),
    ],
    ids=lambda character: character.name,
)
async def test_robots_of_which_enough_is_seen_work_and_nobody_is_asked(character: Character, tmp_path: Path) -> None:
    async with housed(tmp_path, (character,), 2) as house:
        await at_rest(house)
        assert house.state.completed == 2
        assert not [event for event in house.store.log if event.kind == "decisionOpened"]
        works = {("ForkLoad", "P0"), ("ForkUnload", "D0"), ("ForkLoad", "P1"), ("ForkUnload", "D1")}
        assert orders(house) == Counter(works)


async def test_a_level_is_no_edge_though_processes_die_and_people_order_again(tmp_path: Path) -> None:
    """It shows 4 from its last order; nothing we order reaches it, and it is held, let go, killed and asked again."""
    async with housed(tmp_path, (Character("none", "always", "absent"),), 2) as house:
        robot = house.robots[ROBOT]
        await house.until(lambda state: state.completed == 1)
        await house.until(lambda state: any(one.source_id == "PICK_1" for one in state.tasks.values()))
        before = booked(house)
        for verb in ("redo", "redo", "redo"):
            robot.cut()
            await house.kill()
            await house.open()
            robot.connect()
            (task_id,) = house.state.open_tasks
            await house.ask(TaskVerb(task_id, verb))
            robot.cut()
            await house.ask(TaskVerb(task_id, verb))
            await house.kill()
            await house.open()
        done = [fact.node for fact in (*facts(house, "loaded"), *facts(house, "unloaded"))]
        assert sorted(booked(house)) == sorted(set(booked(house)))
        assert len(booked(house)) <= len(done)
        assert booked(house)[: len(before)] == before


async def test_two_witnesses_that_disagree_are_doubt_and_the_loaded_robot_gets_nothing_more(tmp_path: Path) -> None:
    """Its load sensor is stuck at empty, and four pallets wait."""
    async with housed(tmp_path, (Character("none", "always", "empty"),), 4) as house:
        decision = await asked(house)
        assert decision.evidence["code"] == "step.contradicted"
        difference = decision.evidence["difference"]
        assert (difference["planned"]["fork"], difference["now"]["fork"]) == ("loaded", "empty")
        assert decision.evidence["inDoubt"] is True
        assert decision.verbs[:2] == ("done-by-hand", "redo"), "what has happened comes first"
        assert booked(house) == []
        await house.ask(AnswerDecision(decision.id, "done-by-hand"))
        await house.until(lambda state: state.completed == 1)
        assert orders(house)["ForkLoad", "P0"] == 1
        assert facts(house, "collided") == []


async def test_who_gives_up_what_is_in_doubt_is_asked_to_look_at_the_fork(tmp_path: Path) -> None:
    async with housed(tmp_path, (Character("none", "always", "empty"),), 3) as house:
        decision = await asked(house)
        assert "counts as unknown" in decision.effects["cancel"]
        await house.ask(AnswerDecision(decision.id, "cancel"))
        assert house.state.worksites["PICK_0"].lies == "unknown"
        about_fork = await asked(house)
        assert about_fork.title == f"{ROBOT} may carry the pallet of floor-t1, which is over."
        await house.clock.sleep_until(house.clock.now_ms() + 10_000)
        assert sum(orders(house).values()) == 1, "it gets no work until somebody has looked"
        house.robots[ROBOT].unload()
        await house.ask(RobotVerb(ROBOT, "unloaded"))
        assert not house.state.decisions
        await house.until(lambda state: len(state.open_tasks) == 1)


async def test_a_robot_that_shows_nothing_is_asked_about_and_not_ordered_again(tmp_path: Path) -> None:
    async with housed(tmp_path, (Character("none", "never", "absent"),), 1) as house:
        for operation, node in (("ForkLoad", "P0"), ("ForkUnload", "D0")):
            decision = await asked(house)
            assert decision.evidence["code"] == "task.in_doubt"
            assert orders(house)[operation, node] == 1
            await house.ask(AnswerDecision(decision.id, "done-by-hand"))
        await house.until(lambda state: state.completed == 1)
        assert orders(house) == Counter({("ForkLoad", "P0"), ("ForkUnload", "D0")})


@pytest.mark.parametrize(
    ("character", "is_asked"),
    [
        (Character("none", "always", "right"), False),
        (Character("theirs", "always", "right"), False),
        (Character("ours", "always", "absent"), False),
        (Character("none", "always", "absent"), True),
    ],
    ids=lambda value: value.name if isinstance(value, Character) else "",
)
async def test_what_was_done_while_nobody_looked_is_known_where_place_load_and_target_agree(
    character: Character, is_asked: bool, tmp_path: Path
) -> None:
    async with housed(tmp_path, (character,), 1) as house:
        await house.until(lambda state: any(one.command_state == "running" for one in state.tasks.values()))
        await house.kill()
        await house.clock.sleep_until(house.clock.now_ms() + 15_000)
        assert facts(house, "loaded"), "it went on by itself"
        await house.open()
        await house.until(lambda state: bool(state.decisions) == is_asked and (is_asked or state.completed == 1))
        if is_asked:
            assert booked(house) == []
            await house.ask(AnswerDecision((await asked(house)).id, "done-by-hand"))
            await house.until(lambda state: state.completed == 1)
        assert orders(house) == Counter({("ForkLoad", "P0"), ("ForkUnload", "D0")})


async def test_a_task_that_is_handed_back_while_its_robot_cannot_be_reached_is_asked_about(tmp_path: Path) -> None:
    """The order may have been done by now: another robot would find nothing, or a second one would do it."""
    pair = (Character("none", "always", "right"), Character("ours", "always", "right"))
    async with housed(tmp_path, pair, 2) as house:
        await house.until(lambda state: any(one.command_state == "running" for one in state.tasks.values()))
        robot = house.robots[ROBOT]
        robot.cut()
        await house.until(lambda state: state.robots[ROBOT].status == "offline")
        task_id = str(house.state.robots[ROBOT].task_id)
        await house.ask(TaskVerb(task_id, "hand-back"))
        decision = await asked(house)
        assert decision.title == f"{task_id} is held: {ROBOT} cannot be reached, and it may have done the pick by now."
        assert house.state.tasks[task_id].robot_id == ROBOT
        robot.connect()
        await house.until(lambda state: state.tasks[task_id].step == "drop")
        assert booked(house).count(house.state.tasks[task_id].source_id) == 1
