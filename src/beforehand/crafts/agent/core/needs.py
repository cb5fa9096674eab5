"""What an action needs before it may start: a free base, hands, gaze, posture or voice, and a thing that lets it.

Everything that speaks against a start is told at once, and whoever holds what is needed is named.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from beforehand.crafts.agent.core.action_text import Action
from beforehand.crafts.agent.core.stages import Going, Tracked
from beforehand.crafts.agent.core.verbs import BOTH, HAND
from beforehand.crafts.agent.core.world import World
from beforehand.model.reason import Reason

HAND_ORDER = ("right", "left")


@dataclass(frozen=True, slots=True)
class Needs:
    """What it takes hold of, and the hands it works with; or why not."""

    holds: tuple[str, ...] = ()
    hands: tuple[str, ...] = ()
    refused: tuple[Reason, ...] = ()


def needs_of(action: Action, going: Going) -> Needs:
    """What an action needs; of one that could be read in part, whatever can be told of that part."""
    others = list(going.actions)
    hands, more = _hands_for(action, going.world, others)
    holds = [need for need in action.verb.needs if need not in (HAND, BOTH)]
    holds += [f"{hand} hand" for hand in hands]
    refused = (*_thing_reasons(action, going.world), *held_reasons(holds, others), *more)
    return Needs(tuple(holds), hands, refused)


def _reason(code: str, about: str, says: str, try_next: str = "") -> Reason:
    return Reason(code=code, about=about, says=says, try_next=try_next)


def held_reasons(needs: Iterable[str], others: Iterable[Tracked]) -> Iterator[Reason]:
    """Who holds what is needed, told once for each."""
    wanted = tuple(needs)
    for other in others:
        held = [need for need in wanted if need in other.holds]
        if held:
            says = f"It needs the {' and the '.join(held)}, which {other.text} holds."
            yield _reason("action.needs_held", held[0], says, f'Stop that first: stop("{other.text}").')


# -- hands -----------------------------------------------------------------------------------------------------------


def _hands_for(action: Action, world: World, others: list[Tracked]) -> tuple[tuple[str, ...], list[Reason]]:
    if action.verb.place:
        return _holding_hands(action, world)
    both = BOTH in action.verb.needs or bool(action.verb.take and action.thing and world.thing(action.thing).two_hands)
    if not both and HAND not in action.verb.needs:
        return (), []
    wanted = 2 if both else 1
    free = [hand for hand in HAND_ORDER if not _hand_trouble(hand, world, others)]
    if len(free) >= wanted:
        return tuple(free[:wanted]), []
    troubles = [reason for hand in HAND_ORDER for reason in _hand_trouble(hand, world, others)]
    count = "both hands" if both else "a free hand"
    says = f"It needs {count}. {' '.join(dict.fromkeys(reason.says for reason in troubles))}"
    ways = list(dict.fromkeys(reason.try_next for reason in troubles))
    return (), [_reason("action.hands", "hands", says, " ".join(ways if both else ways[:1]))]


def _hand_trouble(hand: str, world: World, others: Iterable[Tracked]) -> list[Reason]:
    held = world.held(hand)
    if held:
        return [_reason("action.hands", hand, f"The {hand} hand holds {held}.", f"Place {held} somewhere first.")]
    holder = next((other for other in others if f"{hand} hand" in other.holds), None)
    if holder:
        says = f"The {hand} hand is used by {holder.text}."
        return [_reason("action.needs_held", hand, says, f'Stop that first: stop("{holder.text}").')]
    return []


def _holding_hands(action: Action, world: World) -> tuple[tuple[str, ...], list[Reason]]:
    if action.thing is None:
        return (), []
    hands = world.places[action.thing].hands
    if not hands:
        says = f"Neither hand holds {action.thing}."
        return (), [_reason("action.not_held", action.thing, says, f'Take it first: start("taking {action.thing}").')]
    return hands, []


# -- the thing itself ------------------------------------------------------------------------------------------------


def _thing_reasons(action: Action, world: World) -> Iterator[Reason]:
    if action.verb.place:
        yield from _place_reasons(action, world)
        return
    if action.thing is None:
        return
    thing = world.thing(action.thing)
    if action.verb.affords is not None and not _affords(action, world):
        offers = ", ".join(thing.affords) or "nothing"
        says = f"{thing.name} is not made for {action.verb.forms[0]}; it affords {offers}."
        yield _reason("action.not_afforded", thing.name, says)
    if action.verb.take:
        yield from _take_reasons(action, world)
    elif world.places[thing.name].hands and action.verb.name != "look":
        yield _reason("action.in_hand", thing.name, f"{thing.name} is in the hand.")
    elif action.verb.effect == "push" and world.places[thing.name].at is None:
        yield _reason("action.not_on_floor", thing.name, f"{thing.name} does not stand on the floor.")
    if action.verb.name != "look":
        yield from _carried_reason(thing.name, world)
    if action.verb.effect in ("open", "close") and world.open.get(thing.name) is (action.verb.effect == "open"):
        now = "open" if action.verb.effect == "open" else "closed"
        yield _reason("action.already", thing.name, f"{thing.name} is {now} already.")
    if not action.verb.long_range:
        yield from _closed_reason(thing.name, world)


def _affords(action: Action, world: World) -> bool:
    thing = world.thing(str(action.thing))
    if action.verb.name == "touch":
        return bool(thing.affords) or thing.door
    if action.verb.effect in ("open", "close"):
        return thing.opens
    return action.verb.affords in thing.affords


def _closed_reason(name: str, world: World) -> Iterator[Reason]:
    """Everything closed around a thing, what has to be opened first before the rest."""
    for closed in reversed(list(world.closed_around(name))):
        yield _closed(closed)


def _closed(name: str) -> Reason:
    return _reason("action.closed", name, f"{name} is closed.", f'Open it first: start("opening {name}").')


def _carried_reason(name: str, world: World) -> Iterator[Reason]:
    """What lies on something that is in the hand goes with it and cannot be got at."""
    base = world.on_floor(name)
    if base != name and world.places[base].hands:
        says = f"{name} lies {world.places[name].relation} {world.places[name].support}, and {base} is in the hand."
        yield _reason("action.in_hand", name, says, f"Place {base} somewhere first.")


def _take_reasons(action: Action, world: World) -> Iterator[Reason]:
    thing = str(action.thing)
    place = world.places[thing]
    if place.hands:
        yield _reason("action.in_hand", thing, f"{thing} is in the {' and '.join(place.hands)} hand already.")
    elif action.other is not None and place.support != action.other:
        where = f"{place.relation} {place.support}" if place.support else "on the floor"
        yield _reason("action.elsewhere", thing, f"{thing} is not at {action.other}; it is {where}.")


def _place_reasons(action: Action, world: World) -> Iterator[Reason]:
    thing, other = action.thing or "It", action.other
    if other is None:
        return
    target = world.thing(other)
    base = world.on_floor(other)
    if thing == other:
        yield _reason("action.no_place", other, f"{thing} cannot be placed {action.relation} itself.")
    elif world.places[base].hands:
        yield _reason("action.no_place", other, f"{thing} cannot be placed there: {base} is in the hand.")
    elif target.door or (target.carried and "place" not in target.affords):
        yield _reason("action.no_place", other, f"Nothing can be placed {action.relation} {other}.")
    elif action.relation == "in" and not _contains(other, world):
        yield _reason("action.no_place", other, f"{other} has no inside to place anything in.")
    yield from _closed_reason(other, world)
    if action.relation == "in" and world.open.get(other) is False and not target.door:
        yield _closed(other)


def _contains(name: str, world: World) -> bool:
    thing = world.thing(name)
    inside = any(place.support == name and place.relation == "in" for place in world.places.values())
    return (thing.opens and not thing.door) or inside or "place" in thing.affords or "contain" in thing.affords
