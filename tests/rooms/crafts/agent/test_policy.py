"""The policy finishes what can be finished, mends what goes wrong on the way, and gives up with a reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from beforehand.app.documents import read_file
from beforehand.crafts.agent.core.action_text import read_action
from beforehand.crafts.agent.core.home_body import HomeBody, home_body
from beforehand.crafts.agent.core.policy import FRESH, MOST_STEPS, Memory, in_words, next_command
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, Step, commanded
from beforehand.crafts.agent.core.verbs import VERBS
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.ports.body import Refused

STUDIO = read_home(read_file("scenes/studio.yaml"))
APARTMENT = read_home(read_file("scenes/apartment.yaml"))
WORKSHOP = read_home(
    {
        "kind": "home",
        "name": "workshop",
        "bounds": [-2, -3, 3, 5],
        "rooms": [{"name": "hall", "bounds": [-2, -3, 3, 1]}, {"name": "store room", "bounds": [-2, 1, 3, 5]}],
        "walls": [[[-2, 1], [0, 1]], [[1, 1], [3, 1]]],
        "objects": [
            {"name": "gate1", "at": [0.5, 1], "size": [1, 0.06], "door": True, "open": False},
            {"name": "workbench1", "at": [-1, 4.5], "size": [1.8, 0.7], "affords": ["place", "touch"]},
            {"name": "toolbox1", "at": [1.6, 3.6], "size": [0.6, 0.5], "open": False, "affords": ["place"]},
            {"name": "hammer1", "in": "toolbox1", "affords": ["take"]},
            {"name": "saw1", "in": "toolbox1", "affords": ["take"]},
            {"name": "tape1", "on": "workbench1", "affords": ["take"]},
            {"name": "stool1", "at": [0, -0.5], "size": [0.4, 0.4], "affords": ["sit", "push"]},
            {"name": "crate1", "at": [-1.5, -2], "size": [0.5, 0.5], "affords": ["take"], "two_hands": True},
            {"name": "bench1", "at": [1.8, 0.3], "size": [1.6, 0.5], "affords": ["sit", "place", "lie"]},
        ],
        "agent": {"at": [0, -2], "facing": 90},
    }
)


@dataclass
class Steered:
    session: Session
    memory: Memory
    steps: list[Step]

    @property
    def starts(self) -> list[str]:
        return [step.command[7:-2] for step in self.steps if step.command.startswith("start")]


def steered(
    scene: HomeScene, goal: str, faults: Mapping[int, Mapping[str, Any]] | None = None, before: tuple[str, ...] = ()
) -> Steered:
    """A whole session by the policy; `faults` happen before the command of that number; time goes by seconds."""
    session, memory = Session(home_body(scene, goal=goal), max_steps=2 * MOST_STEPS), FRESH
    steps: list[Step] = []
    for text in before:
        session, _ = commanded(session, text)
    while session.status == "open":
        if fault := (faults or {}).get(len(steps)):
            body = session.body.disturbed(fault)
            assert not isinstance(body, Refused)
            session = Session(body, max_steps=session.max_steps, steps=session.steps)
        assert isinstance(session.body, HomeBody)
        text, memory = next_command(session.body, memory)
        session, step = commanded(session, "skip(1)" if faults and text.startswith("skip(60") else text)
        assert not step.refused, step
        steps.append(step)
    return Steered(session, memory, steps)


def assert_reached(done: Steered) -> None:
    assert done.session.goal_reached is True, (done.memory, done.steps[-6:])
    assert (done.session.status, done.memory.gave_up) == ("ended", "")


@pytest.mark.parametrize(
    "goal",
    [
        "bring cup1 to shelf1",
        "Please bring milk1 to table1 and close fridge1.",
        "put cup1 in fridge1 and close fridge1",
        "bring box1 to basin1",
        "bring box1 to tub1, then close door3",
        "bring towel1 to bed1 and hold cup1",
        "put laptop1 in wardrobe1, close wardrobe1 and sit on chair3",
        "bring plate1 to table1, bring mug1 to table1 and bring book1 to table2",
        "hold cup1 and hold book1",
        "hold box1 and go to bathroom",
        "go to cup1 and take cup1",
        "open wardrobe1 and take coat1",
        "open fridge1, then close it",
        "close fridge1, then open it, then close it",
        "take cup1 from table1 and bring it to the kitchen",
        "bring box1 to the bathroom, then go to the bedroom and then go to the kitchen",
        "go to the kitchen, then bring cup1 to bed1",
        "close door3 and go to the bathroom",
        "close door1, close door2, go to the kitchen",
        "walk to origin",
        "stand behind table1",
        "sit on bed1",
        "lie on sofa1",
        "lean against counter1",
        "touch milk1",
        "push chair1",
        "look at monitor1",
        "wave at door1",
        "dance",
        "sing a song",
        "clap and hold box1",
        "take ball1 and jump",
    ],
)
def test_goals_in_the_apartment_are_reached(goal: str) -> None:
    assert_reached(steered(APARTMENT, goal))


@pytest.mark.parametrize(
    "goal",
    [
        "bring crate1 to workbench1",
        "bring hammer1 to bench1 and close toolbox1 and hold saw1",
        "put tape1 in toolbox1 and close toolbox1 and close gate1 and go to hall",
        "hold crate1 and close gate1 and go to store room",
        "bring hammer1 to workbench1 and bring saw1 to bench1 and sit on stool1",
    ],
)
def test_goals_behind_a_closed_gate_are_reached(goal: str) -> None:
    assert_reached(steered(WORKSHOP, goal))


@pytest.mark.parametrize(
    "goal",
    [
        "bring glass1 to kitchenette1 and bring tray1 to bed1",
        "put glass1 on tray1 and hold boots1",
        "bring towel1 to the main room, then close the bathroom door",
    ],
)
def test_names_of_two_words_and_things_on_things_are_no_trouble(goal: str) -> None:
    assert_reached(steered(STUDIO, goal))


def test_a_tray_in_the_hands_is_put_down_before_something_goes_on_it() -> None:
    moves = ("taking glass1", "placing glass1 on kitchenette1", "taking tray1")
    before = tuple(text for move in moves for text in (f"start {move}", "skip(30)", f"stop {move}"))
    done = steered(STUDIO, "put glass1 on tray1", before=before)
    assert_reached(done)
    assert done.starts[0].startswith("placing tray1 on ")


SLIP = {"fault": "slip", "about": "cup1", "times": 3}
MOVE = {"fault": "move", "about": "cup1", "to": "counter1"}
SHUT = {"fault": "shut", "about": "door1"}


@pytest.mark.parametrize(
    ("fault", "when"),
    [(SLIP, 0), (SLIP, 2), (SLIP, 3), (MOVE, 0), (MOVE, 1), (MOVE, 2), *((SHUT, when) for when in range(0, 12))],
    ids=str,
)
def test_a_cup_gets_to_the_kitchen_whatever_goes_wrong_on_the_way(fault: dict[str, Any], when: int) -> None:
    assert_reached(steered(APARTMENT, "bring cup1 to table2", {when: fault}))


@pytest.mark.parametrize("when", [1, 8, 9, 10, 11, 12])
def test_both_hands_full_at_a_door_that_was_shut(when: int) -> None:
    done = steered(APARTMENT, "bring box1 to table2", {when: SHUT})
    assert_reached(done)
    assert "opening door1" in done.starts


def test_what_slips_is_taken_again() -> None:
    done = steered(APARTMENT, "hold book1", {0: {"fault": "slip", "about": "book1", "times": 4}})
    assert_reached(done)
    assert done.starts == ["taking book1"] * 5


def test_a_blocked_door_is_waited_for() -> None:
    faults = {0: {"fault": "block", "about": "door1"}, 40: {"fault": "unblock", "about": "door1"}}
    done = steered(APARTMENT, "go to kitchen", faults)
    assert_reached(done)
    assert 2 <= len(done.starts) <= 4


def test_a_full_hand_is_freed_and_what_nobody_wants_is_put_down() -> None:
    before = (
        "start taking cup1",
        "skip(20)",
        "stop taking cup1",
        "start taking book1",
        "skip(20)",
        "stop taking book1",
    )
    done = steered(APARTMENT, "hold ball1 and hold book1", before=before)
    assert_reached(done)
    assert done.starts[0].startswith("placing cup1 on ")


def test_what_is_done_is_stopped_and_what_never_ends_lasts_a_while() -> None:
    done = steered(APARTMENT, "dance")
    assert [step.command for step in done.steps] == ['start("dancing")', "skip(3)", 'stop("dancing")', "end()"]
    assert done.session.body.actions == ()


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        ("make breakfast", "cannot be read"),
        ("sit on plant1", "not made for sitting"),
        ("bring cup1 to mug1", "Nothing can be placed on mug1"),
        ("hold cup1 and hold box1", "was tried"),
        ("bring cup1 to corridor", "nothing in corridor"),
    ],
)
def test_it_gives_up_with_a_reason(goal: str, says: str) -> None:
    done = steered(APARTMENT, goal)
    assert done.session.goal_reached is not True
    assert done.session.status == "ended"
    assert says in done.memory.gave_up
    assert len(done.steps) < 150


def test_a_door_that_stays_blocked_is_given_up() -> None:
    done = steered(APARTMENT, "go to kitchen", {0: {"fault": "block", "about": "door1"}})
    assert done.session.goal_reached is False
    assert "walking to kitchen was tried" in done.memory.gave_up


def test_the_number_of_commands_is_bounded() -> None:
    body = home_body(APARTMENT, goal="hold cup1")
    text, memory = next_command(body, Memory(steps=MOST_STEPS))
    assert text == "end()"
    assert str(MOST_STEPS) in memory.gave_up


def test_the_same_state_gives_the_same_command() -> None:
    body = home_body(APARTMENT, goal="bring milk1 to table1")
    assert next_command(body) == next_command(body)
    assert body == home_body(APARTMENT, goal="bring milk1 to table1")


@pytest.mark.parametrize(
    "text",
    [
        "standing on the right of table1 three meters away",
        "standing behind bed1",
        "standing at desk1",
        "walking to living room",
        "walking to (3, 2.5)",
        "looking at bathroom",
        "leaning against counter1 in front of it",
        "lying down on bed1",
        "touching cup1",
        "taking cup1",
        "placing cup1 in fridge1",
        "waving at door1",
        "dancing happily",
        "singing a song of home",
    ],
)
def test_an_action_in_words_is_read_as_the_same_action(text: str) -> None:
    action = read_action(text, APARTMENT, VERBS)
    assert read_action(in_words(action), APARTMENT, VERBS) == action
