"""What every body promises, whichever world it lives in. Each world is one more way to make a `Rig`."""

import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.app.documents import read_file
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, commanded
from beforehand.crafts.agent.worlds import open_world
from beforehand.ports.body import Body, Change, Refused

SCENES = Path(__file__).parents[2] / "scenes"
STATE = re.compile(
    r"Position: \S.* \(-?\d+(\.\d)?, -?\d+(\.\d)?\)\n"
    r"Actions: \[.*\]\n"
    r"Left Hand Holding: \S.*\n"
    r"Right Hand Holding: \S.*"
)


@dataclass(frozen=True)
class Rig:
    document: Mapping[str, Any]
    thing: str
    """Something that can be taken, some way off."""
    far: str
    """Something else to walk to, some way off."""

    def open(self, world: Mapping[str, Any] | None = None) -> Body:
        return open_world(read_home(self.document), world=world)

    @property
    def take(self) -> str:
        return f"taking {self.thing}"

    @property
    def walk(self) -> str:
        return f"walking to {self.far}"


def home() -> Rig:
    document = read_file(str(SCENES / "apartment.yaml"))
    return Rig(document, "cup1", "chair1")


def mission() -> Rig:
    world = {"kind": "minigrid", "mission": "BabyAI-GoToLocal-v0", "seed": 3}
    return Rig({"kind": "home", "name": "mission", "world": world}, "grey key", "purple ball")


RIGS: list[Any] = [
    pytest.param(home, id="home"),
    pytest.param(mission, id="minigrid", marks=pytest.mark.needs("minigrid")),
]
all_worlds = pytest.mark.parametrize("make", RIGS)


def started(body: Body, text: str) -> Body:
    begun = body.start(text)
    assert not isinstance(begun, Refused), begun
    return begun[0]


def stopped(body: Body, text: str) -> Body:
    done = body.stop(text)
    assert not isinstance(done, Refused), done
    assert done[1].stage == "stopped"
    return done[0]


def until(body: Body, stage: str) -> Body:
    """The body at the instant at which an action reaches a stage."""
    body, changes = body.passed(body.tick + 20_000, stage)
    assert changes[-1].stage == stage
    return body


def refused(answer: object) -> str:
    assert isinstance(answer, Refused), answer
    assert answer.reasons
    return " ".join(reason.says for reason in answer.reasons)


def seen(body: Body) -> list[Any]:
    """Everything that can be known about a body."""
    return [body.tick, body.actions, body.state_text(), body.frame(), body.wire(), body.surroundings()]


def stands(body: Body) -> tuple[Any, ...]:
    frame = body.frame()
    return (frame["x"], frame["y"], frame["facing"])


# -- the state -------------------------------------------------------------------------------------------------------


@all_worlds
def test_a_body_begins_with_nothing_under_way(make: Callable[[], Rig]) -> None:
    body = make().open()
    assert body.tick == 0
    assert body.actions == ()
    assert body.next_instant() is None
    assert STATE.fullmatch(body.state_text())
    assert body.state_text().splitlines()[1:] == ["Actions: []", "Left Hand Holding: None", "Right Hand Holding: None"]


@all_worlds
def test_the_state_has_each_action_with_its_stage_and_seconds(make: Callable[[], Rig]) -> None:
    rig = make()
    body, _ = started(rig.open(), rig.walk).passed(10)
    assert STATE.fullmatch(body.state_text())
    assert body.state_text().splitlines()[1] == f"Actions: [{rig.walk} (moving, 0.5s)]"


@all_worlds
def test_the_surroundings_name_what_can_be_acted_on(make: Callable[[], Rig]) -> None:
    rig = make()
    told = rig.open().surroundings()
    assert rig.thing in told
    assert rig.far in told


@all_worlds
def test_a_picture_is_a_square_png(make: Callable[[], Rig]) -> None:
    if make is home:
        pytest.importorskip("beforehand.crafts.agent.core.picture")
    picture = make().open().picture()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", picture[16:24]) == (512, 512)
    assert picture == make().open().picture()
    data, at = b"", 8
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        kind, content = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        assert struct.unpack(">I", picture[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content)
        data += content if kind == b"IDAT" else b""
        at += 12 + length
    assert len(zlib.decompress(data)) % 512 == 0


# -- starting --------------------------------------------------------------------------------------------------------


@all_worlds
def test_what_is_taken_goes_through_the_stages_and_ends_in_the_right_hand(make: Callable[[], Rig]) -> None:
    rig = make()
    body = started(rig.open(), rig.take)
    body, changes = body.passed(2_000)
    assert [change.stage for change in changes] == ["acting", "done"]
    assert changes[1].tick == changes[0].tick + 20
    assert body.actions[0].duration_s == 100
    assert body.state_text().splitlines()[3] == f"Right Hand Holding: {rig.thing}"


@all_worlds
def test_it_changes_hands_at_the_instant_it_is_taken(make: Callable[[], Rig]) -> None:
    rig = make()
    body = until(started(rig.open(), rig.take), "acting")
    body, _ = body.passed(body.tick + 19)
    assert body.frame()["rightHand"] is None
    body, _ = body.passed(body.tick + 1)
    assert body.frame()["rightHand"] == rig.thing


@all_worlds
def test_a_refused_command_changes_nothing(make: Callable[[], Rig]) -> None:
    rig = make()
    body, _ = started(rig.open(), rig.walk).passed(7)
    before = seen(body)
    assert f"{rig.walk} runs already" in refused(body.start(rig.walk))
    assert rig.walk in refused(body.start(rig.take))
    assert "whistle-stop" in refused(body.start("whistle-stop"))
    assert "Unknown object 'moon9'" in refused(body.start("looking at moon9"))
    assert refused(body.start(f"placing {rig.thing} on {rig.far}"))
    assert refused(body.start(""))
    assert rig.walk in refused(body.stop(rig.take))
    assert refused(body.disturbed({"fault": "earthquake", "about": rig.thing}))
    assert refused(body.disturbed({"fault": "slip", "about": "moon9"}))
    assert seen(body) == before


@all_worlds
def test_an_unknown_name_is_answered_with_the_nearest(make: Callable[[], Rig]) -> None:
    rig = make()
    assert rig.thing in refused(rig.open().start(f"taking {rig.thing}x"))


@all_worlds
def test_names_match_regardless_of_case_spacing_and_a_dot(make: Callable[[], Rig]) -> None:
    rig = make()
    shown = f"Taking  the {rig.thing.upper()}."
    body = started(rig.open(), shown)
    assert body.actions[0].text == shown
    assert "runs already" in refused(body.start(rig.take))
    assert stopped(body, rig.take).actions == ()


@all_worlds
def test_a_full_hand_takes_nothing_more_and_an_empty_one_places_nothing(make: Callable[[], Rig]) -> None:
    rig = make()
    place = f"placing {rig.thing} on table1" if make is home else f"putting down {rig.thing}"
    body = rig.open()
    assert rig.thing in refused(body.start(place))
    body = stopped(until(started(body, rig.take), "done"), rig.take)
    assert rig.thing in refused(body.start(rig.take))
    body = until(started(body, place), "done")
    assert body.frame()["rightHand"] is None


# -- done ------------------------------------------------------------------------------------------------------------


@all_worlds
def test_a_done_action_keeps_what_it_holds_until_it_is_stopped(make: Callable[[], Rig]) -> None:
    rig = make()
    body = until(started(rig.open(), rig.take), "done")
    body, _ = body.passed(body.tick + 100)
    assert f'stop("{rig.take}")' in " ".join(reason.try_next for reason in getattr(body.start(rig.walk), "reasons", ()))
    body = stopped(body, rig.take)
    assert body.frame()["rightHand"] == rig.thing
    assert started(body, rig.walk).actions[0].stage == "moving"


@all_worlds
def test_a_done_action_may_be_started_again(make: Callable[[], Rig]) -> None:
    rig = make()
    body = until(started(rig.open(), rig.walk), "done")
    body, _ = body.passed(body.tick + 50)
    body = started(body, rig.walk)
    assert len(body.actions) == 1
    assert body.actions[0].duration_s == 0
    assert body.passed(body.tick + 20)[0].actions[0].stage == "done"


# -- stopping --------------------------------------------------------------------------------------------------------


@all_worlds
@pytest.mark.parametrize("stage", ["moving", "acting", "done"])
def test_stop_takes_effect_within_one_tick_in_every_stage(make: Callable[[], Rig], stage: str) -> None:
    rig = make()
    body = started(rig.open(), rig.take)
    body = body.passed(body.tick + 7)[0] if stage == "moving" else until(body, stage)
    assert body.actions[0].stage == stage
    tick, held = body.tick, body.frame()["rightHand"]
    body = stopped(body, rig.take)
    assert body.tick == tick
    assert body.actions == ()
    here = stands(body)
    body, changes = body.passed(tick + 1_000)
    assert changes == []
    assert stands(body) == here
    assert body.frame()["rightHand"] == held


@all_worlds
def test_a_body_that_was_stopped_on_its_way_goes_on_from_there(make: Callable[[], Rig]) -> None:
    rig = make()
    body, _ = started(rig.open(), rig.walk).passed(17)
    body = until(started(stopped(body, rig.walk), rig.walk), "done")
    straight = until(started(rig.open(), rig.walk), "done")
    assert stands(body) == pytest.approx(stands(straight), abs=0.01)


# -- time ------------------------------------------------------------------------------------------------------------


def passed_by(body: Body, step: int, ticks: int) -> tuple[Body, list[Change]]:
    changes: list[Change] = []
    while body.tick < ticks:
        body, more = body.passed(min(body.tick + step, ticks))
        changes += more
    return body, changes


@all_worlds
@pytest.mark.parametrize("step", [1, 3, 20, 77])
def test_time_in_small_steps_is_the_same_as_in_one(make: Callable[[], Rig], step: int) -> None:
    rig = make()
    small, changes = passed_by(started(rig.open(), rig.take), step, 400)
    whole, at_once = started(rig.open(), rig.take).passed(400)
    assert seen(small) == seen(whole)
    assert changes == at_once


@all_worlds
def test_time_stops_at_what_was_waited_for(make: Callable[[], Rig]) -> None:
    rig = make()
    body, changes = started(rig.open(), rig.take).passed(10_000, "acting")
    assert changes == [Change(body.tick, rig.take, "acting")]
    body, changes = body.passed(10_000, "change")
    assert changes == [Change(body.tick, rig.take, "done")]
    assert body.passed(10_000, "change")[0].tick == 10_000


@all_worlds
def test_nothing_happens_before_the_next_instant(make: Callable[[], Rig]) -> None:
    rig = make()
    body = started(rig.open(), rig.take)
    while (instant := body.next_instant()) is not None:
        if instant > body.tick + 1:
            body, changes = body.passed(instant - 1)
            assert changes == []
        body, _ = body.passed(instant)
        if body.actions[0].stage == "done":
            break
    assert body.actions[0].stage == "done"
    assert body.next_instant() is None


# -- the world -------------------------------------------------------------------------------------------------------


@all_worlds
def test_a_world_is_left_and_found_again(make: Callable[[], Rig]) -> None:
    rig = make()
    body = stopped(until(started(rig.open(), rig.take), "done"), rig.take)
    left = json.loads(json.dumps(body.wire()))
    again = rig.open(left)
    assert again.tick == 0
    assert again.wire() == left
    assert again.state_text() == body.state_text()
    assert until(started(again, rig.walk), "done").actions[0].stage == "done"


@all_worlds
def test_what_slips_fails_with_a_reason_and_can_be_taken_the_next_time(make: Callable[[], Rig]) -> None:
    rig = make()
    body = rig.open().disturbed({"fault": "slip", "about": rig.thing})
    assert not isinstance(body, Refused)
    body = until(started(body, rig.take), "failed")
    assert body.actions[0].why == f"{rig.thing} slipped"
    assert f", {rig.thing} slipped)]" in body.state_text()
    assert body.frame()["rightHand"] is None
    assert until(started(body, rig.take), "done").frame()["rightHand"] == rig.thing


def commands(rig: Rig) -> st.SearchStrategy[list[str]]:
    places = [f"placing {rig.thing} on table1", f"putting {rig.thing} next to {rig.far}", f"putting down {rig.thing}"]
    actions = [rig.take, rig.walk, f"looking at {rig.far}", *places, "waiting", "x", ""]
    texts = [f'{verb}("{action}")' for verb in ("start", "stop") for action in actions]
    return st.lists(st.sampled_from([*texts, "skip(0.15)", "skip(1)", "skip(7)", "skip(60, wake_on=done)", "end()"]))


@all_worlds
def test_the_same_commands_give_the_same_bytes_and_never_fail(make: Callable[[], Rig]) -> None:
    rig = make()

    def told(lines: list[str]) -> str:
        session, steps = Session(rig.open(), watched=True), []
        for line in lines:
            session, step = commanded(session, line)
            steps.append(step.wire())
            assert STATE.fullmatch(step.state)
        return json.dumps([steps, session.body.wire(), session.body.frame()])

    @settings(max_examples=25)
    @given(commands(rig))
    def check(lines: list[str]) -> None:
        assert told(lines) == told(lines)

    check()
