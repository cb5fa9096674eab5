"""What a model is asked: the place, the goal and the example first, the newest state last, with the only picture."""

import pytest

from beforehand.app.documents import read_file
from beforehand.crafts.agent.core.home_body import home_body
from beforehand.crafts.agent.core.prompt import EXAMPLE, NOTHING_SAID, Briefing, Prompt, prompt_of
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, Step, commanded

GOAL = "bring cup1 to shelf1"
STATE = "Position: origin (0, 0)\nActions: []\nLeft Hand Holding: None\nRight Hand Holding: None"


def briefing(**more: object) -> Briefing:
    given = {"goal": GOAL, "surroundings": "cup1: on table1", "begins": STATE, "rooms": ("kitchen", "hall")}
    return Briefing(**(given | more))  # type: ignore[arg-type]


def steps(*commands: str) -> list[Step]:
    return [Step(command, f"reply {number}", f"state {number}", 0) for number, command in enumerate(commands)]


def texts(prompt: Prompt) -> list[tuple[str, str]]:
    return [(said.role, said.text) for said in prompt.messages]


def test_system_names_objects_rooms_goal_commands_and_stages() -> None:
    system = prompt_of(briefing(), [], STATE).system
    for part in ("cup1: on table1", "kitchen, hall", "start(", "stop(", "skip(", "end()", "moving", "acting", "done"):
        assert part in system
    assert f"Goal: {GOAL}\nInstruction: {GOAL}\n" in system


def test_an_instruction_stands_beside_the_goal() -> None:
    system = prompt_of(briefing(instruction="First open {the} door."), [], STATE).system
    assert f"Goal: {GOAL}\nInstruction: First open {{the}} door.\n" in system


def test_the_example_comes_first_and_the_newest_state_is_the_last_user_message() -> None:
    prompt = prompt_of(briefing(), [], STATE)
    assert prompt.messages[:2] == EXAMPLE
    assert EXAMPLE[1].text == 'stop("Standing on origin")'
    assert texts(prompt)[2:] == [("user", STATE)]


def test_history_is_states_commands_and_replies_in_turn() -> None:
    prompt = prompt_of(briefing(), steps("skip(1)", "end()"), "now")
    assert texts(prompt)[2:] == [
        ("user", STATE),
        ("assistant", "skip(1)"),
        ("user", "reply 0\nstate 0"),
        ("assistant", "end()"),
        ("user", "reply 1\nnow"),
    ]


def test_only_the_last_exchanges_are_told() -> None:
    prompt = prompt_of(briefing(), steps(*(f"skip({number})" for number in range(40))), "now", last=3)
    said = [text for role, text in texts(prompt) if role == "assistant"]
    assert said == [EXAMPLE[1].text, "skip(37)", "skip(38)", "skip(39)"]
    assert [role for role, _ in texts(prompt)] == ["user", "assistant"] * 4 + ["user"]
    assert texts(prompt)[2] == ("user", "reply 36\nstate 36")
    assert len(prompt_of(briefing(), steps("end()"), "now", last=0).messages) == 3


def test_the_newest_picture_is_the_only_one_and_is_explained() -> None:
    seen = prompt_of(briefing(), steps("skip(1)"), "now", picture=b"png")
    assert [said.picture for said in seen.messages] == [None] * 4 + [b"png"]
    assert "The picture shows" in seen.system
    blind = prompt_of(briefing(), steps("skip(1)"), "now")
    assert "picture" not in blind.system
    assert blind.messages[-1].text == seen.messages[-1].text


@pytest.mark.parametrize(("clock", "says"), [("virtual", "stands still"), ("realtime", "does not wait")])
def test_it_says_whether_time_passes_while_the_model_thinks(clock: str, says: str) -> None:
    assert says in prompt_of(briefing(clock=clock), [], STATE).system


def test_what_the_model_said_before_is_kept_short_and_never_empty() -> None:
    told = texts(prompt_of(briefing(), steps("", "x" * 5_000), "now"))
    assert told[3] == ("assistant", NOTHING_SAID)
    assert len(told[5][1]) <= 200


def test_the_prompt_of_a_real_session_is_the_same_every_time() -> None:
    def prompt() -> Prompt:
        scene = read_home(read_file("scenes/apartment.yaml"))
        body = home_body(scene, goal=GOAL)
        session, made = Session(body), []
        for text in ('start("taking cup1")', "skip(2)", "what now?"):
            session, step = commanded(session, text)
            made.append(step)
        rooms = tuple(room.name for room in scene.rooms)
        told = Briefing(GOAL, session.body.surroundings(), body.state_text(), rooms)
        return prompt_of(told, made, session.body.state_text(), session.body.picture())

    assert prompt() == prompt()
    assert "milk1: in fridge1" in prompt().system
    assert "Refused." in prompt().messages[-1].text
    assert prompt().messages[-1].text.endswith("Right Hand Holding: None")
