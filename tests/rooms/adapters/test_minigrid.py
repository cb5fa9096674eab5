"""BabyAI missions as a world: names, words, ways, and whatever MiniGrid has that a home has not."""

from typing import Any

import pytest

from beforehand.adapters.minigrid.body import MiniGridBody, minigrid_body
from beforehand.adapters.minigrid.missions import check_options, is_installed, known_missions
from beforehand.adapters.minigrid.policy import next_command
from beforehand.adapters.minigrid.words import Action, NotRead, read_action
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.ports.body import Refused

grids = pytest.mark.needs("minigrid")
NAMES = ("red ball", "blue key 1", "blue key 2", "yellow door", "grey box")


def body_of(kind: str, seed: int) -> MiniGridBody:
    return minigrid_body({"mission": f"BabyAI-{kind}-v0", "seed": seed})


def done(body: MiniGridBody, text: str, stage: str = "done") -> MiniGridBody:
    """Start an action, wait for its end and stop it."""
    begun = body.start(text)
    assert not isinstance(begun, Refused), begun
    if begun[1].stage != stage:
        assert body.passed(body.tick + 2_000, stage)[1][-1].stage == stage
    assert not isinstance(body.stop(text), Refused)
    return body


def refused(answer: object) -> list[tuple[str, str]]:
    assert isinstance(answer, Refused), answer
    return [(reason.code, reason.says) for reason in answer.reasons]


# -- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("walking to the red ball", Action("walk", "red ball")),
        ("going over to Red  Ball.", Action("walk", "red ball")),
        ("walk to (3, 4)", Action("walk", point=(3, 4))),
        ("walking to the ball", Action("walk", "red ball")),
        ("looking at the blue key 2", Action("look", "blue key 2")),
        ("picking up the box", Action("take", "grey box")),
        ("opening the door", Action("open", "yellow door")),
        ("closing yellow door", Action("close", "yellow door")),
        ("turning left", Action("turn", turn="left")),
        ("turning around", Action("turn", turn="around")),
        ("placing the red ball next to the grey box", Action("place", "red ball", "grey box")),
        ("putting red ball at (2, 5)", Action("place", "red ball", point=(2, 5))),
        ("putting down the red ball", Action("place", "red ball")),
        ("putting the red ball down", Action("place", "red ball")),
        ("dropping the red ball on the floor", Action("place", "red ball")),
        ("waiting", Action("wait")),
    ],
)
def test_an_action_is_read(text: str, action: Action) -> None:
    assert read_action(text, NAMES) == action


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("taking the blue key", "blue key is not one thing here: blue key 1, blue key 2. Say which."),
        ("taking the moon", "Unknown object 'moon'. Known objects: blue key 1, blue key 2, grey box, red ball,"),
        (
            "dancing",
            "Unknown verb 'dancing'. Known verbs: closing, looking, opening, placing, taking, turning, waiting,",
        ),
        ("taking", "Taking needs an object such as red ball"),
        ("turning blue", "Turning is left, right or around."),
        ("placing the red ball on the grey box", "Nearest: placing red ball next to grey box."),
        ("placing the sun next to the moon", "Unknown object 'sun'. Known objects: blue key 1"),
        ("placing the sun next to the moon", "Unknown object 'moon'."),
        ("waiting for the bus", "Waiting is for nothing"),
        ("", "There is no action"),
    ],
)
def test_what_cannot_be_read_says_what_it_could_be(text: str, says: str) -> None:
    with pytest.raises(NotRead) as told:
        read_action(text, NAMES)
    assert says in str(told.value)


# -- missions --------------------------------------------------------------------------------------------------------


def test_a_scene_is_judged_in_full() -> None:
    told = [(problem.path, problem.code) for problem in check_options({"mission": 7, "seed": -1, "size": 2})]
    assert told == [("size", "scene.unknown_key"), ("mission", "scene.invalid"), ("seed", "scene.bad_number")]
    assert [problem.path for problem in check_options({})] == ["mission"]
    assert [problem.path for problem in check_options({"mission": "CartPole-v1"})] == ["mission"]
    assert not list(check_options({"mission": "BabyAI-GoToLocal-v0", "seed": 3}))


def test_without_the_package_a_mission_names_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beforehand.adapters.minigrid.missions.find_spec", lambda name: None)
    assert not is_installed()
    assert not list(check_options({"mission": "BabyAI-GoToLocal-v0"}))
    with pytest.raises(UnavailableError) as told:
        body_of("GoToLocal", 0)
    assert "pip install 'minigrid" in told.value.hint


@grids
def test_an_unknown_mission_is_answered_with_the_nearest() -> None:
    assert "BabyAI-BossLevel-v0" in known_missions()
    (problem,) = check_options({"mission": "BabyAI-BosLevel-v0"})
    assert "BabyAI-BossLevel-v0" in problem.nearest
    with pytest.raises(BadInputError, match="Nearest missions"):
        body_of("Bosslevel", 0)


@grids
def test_making_grids_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(15):
        body_of("PutNextLocal", seed)
    assert capfd.readouterr() == ("", "")


@grids
def test_the_surroundings_tell_the_mission_and_every_thing() -> None:
    told = body_of("GoToLocal", 3).surroundings().splitlines()
    assert told[0] == "Mission: go to the red key."
    assert "red box 1: at (2, 2), for: take, open" in told
    assert "red box 2: at (3, 4), for: take, open" in told
    assert "red key: at (4, 3), for: take" in told


# -- the judge -------------------------------------------------------------------------------------------------------


@grids
def test_a_mission_is_reached_when_its_verifier_says_so_and_stays_so() -> None:
    body = body_of("GoToLocal", 3)
    assert body.goal == "go to the red key"
    done(body, "walking to grey key")
    assert body.goal_reached() is False
    done(body, "walking to red key")
    assert body.goal_reached() is True
    done(body, "walking to grey key")
    assert body.goal_reached() is True


@grids
def test_a_mission_that_took_too_many_steps_is_not_reached_any_more() -> None:
    body = body_of("GoToLocal", 3)
    for _ in range(body.grid.env.max_steps):
        done(body, "turning left")
    done(body, "walking to red key")
    assert body.goal_reached() is False


@grids
def test_nobody_judges_another_goal() -> None:
    options = {"mission": "BabyAI-GoToLocal-v0", "seed": 3}
    assert minigrid_body(options, goal="Make me happy").goal_reached() is None
    assert minigrid_body(options, goal="Go to the red key").goal_reached() is False


@grids
def test_a_world_of_another_mission_is_not_taken_over() -> None:
    left = done(body_of("GoToLocal", 3), "walking to grey key").wire()
    options = {"mission": "BabyAI-GoToLocal-v0", "seed": 4}
    assert minigrid_body(options, world=left).wire() == minigrid_body(options).wire()
    assert minigrid_body(options, world={"places": {}}).wire()["steps"] == ""


@grids
def test_a_mission_that_cannot_be_done_is_ended() -> None:
    body = body_of("GoToImpUnlock", 6)  # the only yellow key lies behind the locked yellow door
    for _ in range(100):
        command = next_command(body)
        if command == "end()":
            break
        verb, _, rest = command.partition("(")
        text = rest.strip('")')
        if verb == "skip":
            body.passed(body.tick + 1_200, "change")
        else:
            assert not isinstance(body.start(text) if verb == "start" else body.stop(text), Refused)
    assert command == "end()"
    assert body.goal_reached() is False


# -- doors, boxes and what stands in the way -------------------------------------------------------------------------


def a_door(body: MiniGridBody, **state: Any) -> str:
    """The first door of this state."""
    things = body.grid.things()
    return next(
        name
        for name, thing in things.items()
        if thing.type == "door" and all(getattr(thing, key) is value for key, value in state.items())
    )


@grids
def test_a_closed_door_is_in_the_way_until_it_is_opened() -> None:
    body = body_of("UnlockPickup", 0)
    box, door = _only(body, "box"), a_door(body, is_locked=True)
    begun = body.start(f"walking to {box}")
    assert not isinstance(begun, Refused)
    assert begun[1].stage == "failed"
    assert begun[1].why == f"there is no way to {box}: {door} is locked"
    key = _only(body, "key")
    assert refused(body.start(f"opening {door}"))[0][0] == "action.locked"
    done(done(body, f"taking {key}"), f"opening {door}")
    done(body, f"walking to {box}")
    assert refused(body.start(f"taking {box}"))[0][0] == "action.hands"


def _only(body: MiniGridBody, kind: str) -> str:
    (name,) = (name for name, thing in body.grid.things().items() if thing.type == kind)
    return name


@grids
def test_a_door_that_is_open_cannot_be_opened_and_a_ball_not_at_all() -> None:
    body = body_of("OpenTwoDoors", 1)
    door = a_door(body, is_open=False)
    assert refused(body.start(f"closing {door}")) == [("action.already", f"{door} is closed already.")]
    done(body, f"opening {door}")
    assert refused(body.start(f"opening {door}")) == [("action.already", f"{door} is open already.")]
    assert refused(body.start(f"taking {door}")) == [("action.not_afforded", f"{door} cannot be carried.")]
    done(body, f"closing {door}")
    assert a_door(body, is_open=False) == door
    local = body_of("GoToLocal", 3)
    assert refused(local.start("opening red ball")) == [("action.not_afforded", "red ball is not made for opening.")]


@grids
def test_what_was_in_a_box_has_a_name_when_it_is_opened() -> None:
    body = body_of("KeyInBox", 0)
    box = _only(body, "box")
    done(body, f"opening {box}")
    key = _only(body, "key")
    assert box not in body.grid.things()
    assert done(body, f"taking {key}").frame()["rightHand"] == key


@grids
def test_a_thing_is_placed_beside_another_and_somewhere_else() -> None:
    body = body_of("GoToLocal", 3)
    done(done(body, "taking grey key"), "placing grey key next to red ball")
    (x, y), (ball_x, ball_y) = body.grid.places()["grey key"], body.grid.places()["red ball"]
    assert abs(x - ball_x) + abs(y - ball_y) == 1
    done(done(body, "taking grey key"), "placing grey key at (1, 6)")
    assert body.grid.places()["grey key"] == (1, 6)
    done(body, "taking grey key")
    done(body, "placing grey key at (0, 0)", "failed")
    assert body.frame()["rightHand"] == "grey key"


@grids
def test_looking_turns_the_body_and_walking_leads_to_a_cell() -> None:
    body = body_of("GoToLocal", 3)
    done(body, "walking to (6, 1)")
    assert (body.frame()["x"], body.frame()["y"]) == (6, 1)
    done(body, "looking at purple ball")
    assert body.frame()["facing"] == 90
    done(body, "walking to (3, 1)", "failed")


@grids
def test_a_blocked_door_is_found_out_in_front_of_it() -> None:
    body = body_of("OpenTwoDoors", 1)
    door = a_door(body, is_open=False)
    done(body, f"opening {door}")
    x, y = body.grid.places()[door]
    assert not isinstance(body.disturbed({"fault": "block", "about": door}), Refused)
    walk = f"walking to ({x}, {y})"
    body.start(walk)
    _, changes = body.passed(body.tick + 1_000, "stuck")
    assert [change.stage for change in changes] == ["stuck"]
    assert f"{walk} (moving, {body.actions[0].duration_s:.1f}s, stuck 10.0s)" in body.state_text()
    again = minigrid_body({"mission": "BabyAI-OpenTwoDoors-v0", "seed": 1}, world=body.wire())
    assert again.wire()["blocked"] == [door]
    body.disturbed({"fault": "unblock", "about": door})
    assert body.passed(body.tick + 100, "done")[1][-1].stage == "done"


@grids
def test_what_cannot_go_wrong_is_refused() -> None:
    body = body_of("OpenTwoDoors", 1)
    door = a_door(body)
    assert refused(body.disturbed({"fault": "slip", "about": door})) == [("fault.fixed", f"{door} cannot be carried.")]
    local = body_of("GoToLocal", 3)
    assert refused(local.disturbed({"fault": "block", "about": "red ball"}))[0][0] == "fault.no_door"
