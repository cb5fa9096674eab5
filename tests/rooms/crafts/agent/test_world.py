"""The world as data: it comes back as it was, in its own scene and in one that has changed since."""

import json

from tests.rooms.crafts.agent.homes import Steered, body_of, cabin, scene_of

from beforehand.crafts.agent.core.home_body import home_body


def test_a_world_comes_back_from_its_data() -> None:
    steered = Steered()
    steered.does("taking pot1")
    steered.does("opening crate1")
    steered.fault(fault="block", about="gate1")
    steered.fault(fault="slip", about="lamp1", times=3)
    steered("start(leaning against bench1)", "skip(8)")
    data = json.loads(json.dumps(steered.body.wire()))
    again = home_body(scene_of(), world=data)
    assert again.world == steered.body.world
    assert again.wire() == data


def test_what_the_scene_no_longer_has_is_left_out() -> None:
    steered = Steered()
    steered.does("taking pot1")
    steered.does("placing pot1 on stool1")
    steered("start(sitting on stool1)", "skip(20)")
    steered.fault(fault="block", about="gate1")
    document = cabin()
    document["objects"] = [one for one in document["objects"] if one["name"] not in ("stool1", "gate1")]
    world = home_body(scene_of(document), world=steered.body.wire()).world
    assert "stool1" not in world.places
    assert world.places["pot1"].support == "bench1"
    assert (world.rests_on, world.blocked) == (None, frozenset())


def test_things_on_one_another_lie_in_different_spots() -> None:
    body = body_of()
    spots = [body.world.position(name) for name in ("pot1", "lamp1", "tray1")]
    assert len(set(spots)) == 3


def test_the_surroundings_are_told_a_line_each() -> None:
    lines = body_of().surroundings().splitlines()
    assert lines[0] == "gate1: at (5, 4), open, for: open, close, touch"
    assert "pot1: on bench1, for: take, touch" in lines
    assert "log1: at (3.5, 1), needs two hands, for: take, touch" in lines
    assert len(lines) == len(cabin()["objects"])
