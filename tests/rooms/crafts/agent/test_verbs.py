"""Verbs: what each needs and when it is done; others' verbs stand in the same table."""

import pytest
from tests.rooms.crafts.agent.homes import Steered, home, thing

from beforehand.crafts.agent.core.verbs import HAND, VERBS, Verb, Verbs
from beforehand.model.errors import BadInputError

ENDS = {"sit", "lie", "lean", "touch", "stand", "walk", "look", "take", "place", "push", "open", "close"}


def test_only_what_touches_takes_places_or_reaches_has_an_end() -> None:
    assert {verb.name for verb in VERBS.by_name.values() if verb.can_complete} == ENDS


@pytest.mark.parametrize("verb", ["wave", "dance", "jump", "sing", "clap", "say", "bow", "spin"])
def test_what_is_done_on_the_spot_is_known(verb: str) -> None:
    assert not VERBS.by_name[verb].can_complete


def test_touches_act_for_two_seconds() -> None:
    assert {VERBS.by_name[name].acts_s for name in ("sit", "lie", "lean", "touch")} == {2.0}


def test_a_plug_in_verb_is_steered_like_any_other() -> None:
    ride = Verb("ride", ("riding", "ride"), ("base", HAND), "thing", ("on",), "ride", touch=True, acts_s=3.0)
    blink = Verb("blink", ("blinking",), ("gaze",))
    steered = Steered(home(thing("pony1", [5, 4], "ride")), verbs=Verbs([ride, blink]))
    steered("start(riding on pony1)", "start(blinking)", "skip(60, wake_on=acting)", "skip(2.9)")
    assert [action.stage for action in steered.body.actions] == ["acting", "acting"]
    steered("skip(0.1)")
    assert [action.stage for action in steered.body.actions] == ["done", "acting"]
    assert steered("start(riding on pony2)").refused[0].code == "action.unknown_object"


@pytest.mark.parametrize(
    ("verb", "why"),
    [
        (Verb("doze", ("sitting",)), "the word sitting is sit already"),
        (Verb("sit", ("perching",)), "one of that name already"),
        (Verb("doze", ()), "single words in lower case"),
        (Verb("doze", ("Dozing off",)), "single words in lower case"),
        (Verb("doze", ("dozing",), ("tail",)), "it needs tail"),
        (Verb("doze", ("dozing",), acts_s=-1), "acts_s lies between"),
        (Verb("doze", ("dozing",), aim="somewhere"), "its aim is one of"),  # type: ignore[arg-type]
        (Verb("doze", ("dozing",), aim="spot"), "what goes somewhere needs the base"),
        (Verb("doze", ("dozing",), effect="take"), "aimed at a thing and has an end"),
    ],
)
def test_a_verb_that_cannot_be_is_refused(verb: Verb, why: str) -> None:
    with pytest.raises(BadInputError, match=why):
        Verbs([verb])
