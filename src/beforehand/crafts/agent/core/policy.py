"""Steering without a model: from what is so now and what is wished for, the next command.

The policy asks the body what would come of a start before it gives the command, and mends what speaks against it: it
opens what is closed, frees a hand, takes what is to be placed. What slips or gets stuck is tried again a few times.
It gives up with a reason, and ends the session, when nothing helps.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from beforehand.crafts.agent.core.action_text import Action
from beforehand.crafts.agent.core.goals import Goal, Wish, judged
from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.world import World
from beforehand.model.reason import Reason
from beforehand.ports.body import ActionInfo, Refused

MOST_STEPS = 400
MOST_STARTS = 8
"""How often the same action is begun: a thing may slip a few times, a door may be in the way for a while."""
MOST_DEEP = 8
ACTS_S = 3.0
"""How long it goes on with what has no end of its own."""
PAUSE_S = 10.0
"""How long it waits before it tries again what got stuck."""
END = "end()"
ORDER = {"lies": 0, "in_room": 0, "open": 1, "did": 2, "held": 3, "closed": 4, "at": 5}
LAST = 6
"""What needs free hands is done before what fills them; things are closed when nothing is wanted out of them any more,
and doors when the body is where it shall be."""
BROUGHT = ("lies", "in_room")
MENDED = ("action.closed", "action.already", "action.hands", "action.not_held", "action.in_hand", "action.no_place")


@dataclass(frozen=True, slots=True)
class Memory:
    """What the policy keeps from one command to the next."""

    steps: int = 0
    starts: Mapping[str, int] = field(default_factory=dict)
    wish: Wish | None = None
    """What it is about; it stays with that until it is so."""
    pause_s: float = 0.0
    gave_up: str = ""
    """Why it ended without having done what was wished for."""


FRESH = Memory()


class _CannotBeDone(Exception):  # noqa: N818 - the end of a search, not an error
    """Nothing the body can do leads there; the text says why."""


def next_command(body: HomeBody, memory: Memory = FRESH) -> tuple[str, Memory]:
    """The command to give now, and what to remember for the next one."""
    memory = replace(memory, steps=memory.steps + 1)
    if memory.steps > MOST_STEPS:
        return _gave_up(memory, f"It is not done after {MOST_STEPS} commands.")
    if body.actions:
        return _tended(body, memory)
    if memory.pause_s:
        return f"skip({memory.pause_s:g})", replace(memory, pause_s=0.0)
    try:
        return _pursued(body, memory)
    except _CannotBeDone as why:
        return _gave_up(memory, str(why))


def _gave_up(memory: Memory, why: str) -> tuple[str, Memory]:
    return END, replace(memory, gave_up=why)


# -- what is under way -----------------------------------------------------------------------------------------------


def _tended(body: HomeBody, memory: Memory) -> tuple[str, Memory]:
    """Stop what is over or stuck; wait for the rest."""
    for info, tracked in zip(body.actions, body.going.actions, strict=True):
        endless = not tracked.action.verb.can_complete and info.stage == "acting"
        if info.stage == "done" or (endless and info.duration_s >= ACTS_S):
            return _stop(info), memory
        if info.stage == "failed" or info.stuck_s:
            return _stop(info), replace(memory, pause_s=PAUSE_S if info.stuck_s else 1.0)
        if endless:
            return f"skip({ACTS_S - info.duration_s:g})", memory
    return "skip(60, wake_on=change)", memory


def _stop(info: ActionInfo) -> str:
    return f'stop("{info.text}")'


# -- what is wished for ----------------------------------------------------------------------------------------------


def _pursued(body: HomeBody, memory: Memory) -> tuple[str, Memory]:
    if body.goal is None or not body.goal.wishes:
        return _gave_up(memory, "The goal cannot be read, so nobody can tell what to do for it.")
    unmet = list(_unmet(body))
    if not unmet:
        return END, memory
    wish = next((wish for wish in unmet if wish == memory.wish), unmet[0])
    text = _first_step(_way_open(wish, body) or _wanted(wish, body), body)
    count = memory.starts.get(text, 0) + 1
    if count > MOST_STARTS:
        return _gave_up(memory, f"{text} was tried {MOST_STARTS} times.")
    return f'start("{text}")', replace(memory, starts={**memory.starts, text: count}, wish=wish)


def _unmet(body: HomeBody) -> Iterator[Wish]:
    """What is not yet so, in the order it is best done."""
    wishes = body.goal.wishes if body.goal else ()
    for wish in sorted(wishes, key=lambda wish: _rank(wish, body.world)):
        if not judged(Goal("", (wish,)), body.going, body.record):
            yield wish


def _rank(wish: Wish, world: World) -> tuple[int, float]:
    """Of its kind, what is in the hand already comes first; far doors are shut before near ones, or they cut it off."""
    if wish.kind == "closed" and world.thing(wish.thing).door:
        return LAST, -world.solid(wish.thing).distance(world.at)
    return ORDER[wish.kind], 0 if wish.kind in BROUGHT and world.places[wish.thing].hands else 1


def _wanted(wish: Wish, body: HomeBody) -> str:
    """The action that makes a wish come true, in words."""
    if wish.kind in BROUGHT:
        return _placing(wish.thing, _goes_on(wish, body), wish.relation)
    if wish.kind == "held":
        return f"taking {wish.thing}"
    if wish.kind in ("open", "closed"):
        return f"{'opening' if wish.kind == 'open' else 'closing'} {wish.thing}"
    assert wish.action is not None
    return in_words(wish.action)


def _goes_on(wish: Wish, body: HomeBody) -> str:
    """What a thing is to be placed on or in; for a room, what stands in it and can be got to."""
    if wish.kind == "lies":
        return wish.other
    world = body.world
    left, low, right, high = next(room.bounds for room in world.scene.rooms if room.name == wish.other)
    for name in sorted(world.places, key=lambda name: _far(name, world)):
        x, y = world.position(name)
        if left <= x <= right and low <= y <= high and _is_support(name, world) and _can_be_reached(name, body):
            return name
    raise _CannotBeDone(f"There is nothing in {wish.other} to put {wish.thing} on.")


def _can_be_reached(name: str, body: HomeBody) -> bool:
    """Whether there is a way to a thing, through doors that are closed now if need be."""
    begun = body.start(f"walking to {name}")
    if isinstance(begun, Refused):
        return False
    return begun[1].stage != "failed" or _named_closed(begun[1].why, body.world) is not None


def _way_open(wish: Wish, body: HomeBody) -> str | None:
    """Opening what is closed on the way to where a thing is to be carried, while the hands do not hold it yet."""
    if wish.kind not in (*BROUGHT, "held") or body.world.places[wish.thing].hands:
        return None
    ways = [f"walking to {_goes_on(wish, body)}"] if wish.kind in BROUGHT else []
    if wish.kind == "held" and body.goal:
        ways = [_wanted(other, body) for other in body.goal.wishes if other.kind == "at"]
    for way in ways:
        begun = body.start(way)
        if not isinstance(begun, Refused) and (closed := _named_closed(begun[1].why, body.world)):
            return f"opening {closed}"
    return None


def _placing(thing: str, other: str, relation: str = "on") -> str:
    return f"placing {thing} {relation} {other}"


# -- what has to be done before --------------------------------------------------------------------------------------


def _first_step(text: str, body: HomeBody, deep: int = 0) -> str:
    """The action itself if it can be started now, else the first one that leads there."""
    if deep > MOST_DEEP:
        raise _CannotBeDone(f"One thing would have to be done before the other for {text}.")
    begun = body.start(text)
    if isinstance(begun, Refused):
        return _first_step(_remedy(text, begun, body), body, deep + 1)
    change = begun[1]
    if change.stage != "failed":
        return text
    closed = _named_closed(change.why, body.world)
    if closed is None:
        raise _CannotBeDone(f"{text[0].upper()}{text[1:]} cannot be done: {change.why}.")
    return _first_step(f"opening {closed}", body, deep + 1)


def _named_closed(why: str, world: World) -> str | None:
    """What a failed action says is closed, and could be opened."""
    closed = (name for name, is_open in world.open.items() if not is_open and why.endswith(f"{name} is closed"))
    return max(closed, key=len, default=None)


def _remedy(text: str, refused: Refused, body: HomeBody) -> str:
    """What to do about the reasons against a start: what is closed comes first, while the hands are still free."""
    reasons = {reason.code: reason for reason in reversed(refused.reasons)}
    world = body.world
    if not all(_is_mended(reason, world) for reason in refused.reasons):
        raise _CannotBeDone(_said(text, refused.reasons))
    if closed := reasons.get("action.closed"):
        return f"opening {closed.about}"
    if already := reasons.get("action.already"):
        return f"{'closing' if world.open[already.about] else 'opening'} {already.about}"
    if "action.hands" in reasons:
        return _put_down(next(name for name in _by_worth(body) if world.places[name].hands), body)
    if in_hand := reasons.get("action.in_hand") or reasons.get("action.no_place"):
        return _put_down(world.on_floor(in_hand.about), body)
    return f"taking {reasons['action.not_held'].about}"


def _is_mended(reason: Reason, world: World) -> bool:
    """Whether something can be done about a reason; a place is wrong for good unless it is in the hand."""
    if reason.code == "action.no_place":
        return bool(world.places[world.on_floor(reason.about)].hands)
    return reason.code in MENDED


def _said(text: str, reasons: tuple[Reason, ...]) -> str:
    return f"{text[0].upper()}{text[1:]} cannot be started. {' '.join(reason.says for reason in reasons)}"


def _by_worth(body: HomeBody) -> list[str]:
    """Things in the order in which they may leave the hand: first those that nobody wishes anything for."""
    wishes = body.goal.wishes if body.goal else ()
    wished = {wish.thing for wish in wishes if wish.kind in ("held", *BROUGHT)}
    return sorted(body.world.places, key=lambda name: name in wished)


def _put_down(name: str, body: HomeBody) -> str:
    """Placing a thing on the nearest other one where that can be done now."""
    world = body.world
    for other in sorted(world.places, key=lambda other: _far(other, world)):
        if _is_support(other, world) and other != name:
            begun = body.start(_placing(name, other))
            if not isinstance(begun, Refused) and begun[1].stage != "failed":
                return _placing(name, other)
    raise _CannotBeDone(f"There is no place to put {name} down.")


def _is_support(name: str, world: World) -> bool:
    thing = world.thing(name)
    return not thing.door and not thing.carried and not world.places[name].hands


def _far(name: str, world: World) -> tuple[bool, float]:
    """Things made to place something on come first, the nearest before the others."""
    made_for_it = "place" in world.thing(name).affords
    return not made_for_it, world.solid(world.on_floor(name)).distance(world.at)


# -- actions in words ------------------------------------------------------------------------------------------------

_LINKS = ("against", "on", "at", "to")
_SIDES = {"right": "on the right of", "left": "on the left of", "front": "in front of", "behind": "behind"}
_SIDES_AFTER = {"right": "on the right", "left": "on the left", "front": "in front of it", "behind": "behind it"}


def in_words(action: Action) -> str:
    """An action in words that are read as the same action; what is taken is taken from wherever it is."""
    verb = action.verb
    if verb.place:
        return _placing(str(action.thing), str(action.other), action.relation)
    if verb.take:
        return f"{verb.forms[0]} {action.thing}"
    target = action.thing or action.room or (f"({action.point[0]:g}, {action.point[1]:g})" if action.point else "")
    if not target:
        return f"{verb.forms[0]} {action.manner}".strip()
    if verb.aim == "spot":
        link = _SIDES[action.side] if action.side else "at" if verb.name == "stand" else "to"
        away = "" if action.distance_m is None else f" {action.distance_m:g} meters away"
        return f"{verb.forms[0]} {link} {target}{away}"
    link = next((word for word in _LINKS if word in verb.links), "")
    side = _SIDES_AFTER[action.side] if action.side else ""
    return " ".join(part for part in (verb.forms[0], link, target, side) if part)
