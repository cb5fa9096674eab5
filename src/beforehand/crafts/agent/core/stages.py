"""Actions under way: moving, acting, done or failed, and what happens at the instants in between.

Between two such instants everything follows from the tick, so time passes from one to the next in one step. No timer
ends anything: done is what is true in the world, and a done action keeps what it holds until it is stopped.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from beforehand.crafts.agent.core.action_text import Action
from beforehand.crafts.agent.core.approach import NoWay, halted, looks_at, motion_for
from beforehand.crafts.agent.core.motion import Motion
from beforehand.crafts.agent.core.pushing import gives_way, in_doorway, room_to_push
from beforehand.crafts.agent.core.verbs import REACH_S
from beforehand.crafts.agent.core.words import Point
from beforehand.crafts.agent.core.world import STANDING, Place, World, floor_of, ticks
from beforehand.ports.body import TICKS_PER_S, ActionInfo, Change, Stage

STUCK_S = 10.0
REACH_M = 0.1
"""How much further than its radius a body still reaches when it has arrived."""
POSTURES = {"sit": "sitting", "lie": "lying", "lean": "leaning"}


@dataclass(frozen=True, slots=True)
class Tracked:
    """One action that was started and not yet stopped."""

    text: str
    action: Action
    since: int
    stage: Stage
    holds: tuple[str, ...] = ()
    """What it keeps from others: base, hands, gaze, posture, voice."""
    hands: tuple[str, ...] = ()
    """The hands it works with, `left` or `right`."""
    motion: Motion | None = None
    acts_since: int = 0
    laid: bool = False
    why: str = ""
    pushed: Point | None = None
    """Where the thing stood that is being pushed."""

    def duration_s(self, tick: int) -> float:
        return (tick - self.since) / TICKS_PER_S

    def stuck_s(self, tick: int) -> float:
        """How long it has been moving without getting any further."""
        stalled = self.motion.stalled_since() if self.stage == "moving" and self.motion else None
        return 0.0 if stalled is None else max(0.0, (tick - stalled) / TICKS_PER_S)

    def info(self, tick: int) -> ActionInfo:
        stuck = self.stuck_s(tick)
        return ActionInfo(self.text, self.stage, self.duration_s(tick), stuck if stuck >= STUCK_S else 0.0, self.why)


@dataclass(frozen=True, slots=True)
class Going:
    """The world and everything under way in it, at a tick."""

    tick: int
    world: World
    actions: tuple[Tracked, ...] = ()


# -- beginning and stopping ------------------------------------------------------------------------------------------


def begin(going: Going, text: str, action: Action, holds: tuple[str, ...], hands: tuple[str, ...]) -> Going:
    """Start an action whose needs are met; the same one that has ended gives way to it."""
    tracked = Tracked(text, action, going.tick, "moving", holds, hands, acts_since=going.tick)
    going = replace(going, actions=tuple(other for other in going.actions if other.action != action))
    motion = motion_for(action, going.world, floor_of(going.world), going.tick)
    if isinstance(motion, NoWay):
        return replace(going, actions=(*going.actions, _failed(tracked, motion.says)))
    going = replace(going, actions=(*going.actions, replace(tracked, motion=motion)))
    return _settled(_happened(going)[0])


def end(going: Going, tracked: Tracked) -> Going:
    """Stop an action, at once in every stage; what it has done stays done."""
    going = _settled(going)
    world = going.world
    if tracked.action.verb.effect == "posture" and tracked.stage in ("acting", "done"):
        world = replace(world, posture=STANDING, rests_on=None)
    actions = tuple(other for other in going.actions if other.text != tracked.text)
    return _settled(replace(going, world=world, actions=actions))


def disturbed(going: Going) -> Going:
    """Something has changed that nobody foresaw: whoever walks goes on along the same way as far as it is free."""
    return replace(going, actions=tuple(_goes_on(tracked, going) for tracked in going.actions))


def _goes_on(tracked: Tracked, going: Going) -> Tracked:
    if tracked.pushed is not None:
        return tracked if _pushes_on(tracked, going.world) else _failed(tracked, _unmoved(tracked))
    if tracked.stage != "moving" or tracked.motion is None or "base" not in tracked.holds:
        return tracked
    walks = _walks_on(tracked.motion, going)
    stands = tracked.motion.stalled_since()
    if stands is not None and stands <= going.tick and walks.halts_m is not None and walks.halts_m < 1e-6:
        return tracked
    return replace(tracked, motion=walks)


def _walks_on(motion: Motion, going: Going) -> Motion:
    at, facing = motion.pose(going.tick)
    fresh = Motion(going.tick, rest_of(motion.points, at), motion.speed_mps, facing, motion.ends_facing)
    return halted(fresh, going.world)


def rest_of(points: tuple[Point, ...], at: Point) -> tuple[Point, ...]:
    """What is left of a way from a point on it."""
    for number, (start, stop) in enumerate(pairwise(points)):
        if math.dist(start, at) + math.dist(at, stop) - math.dist(start, stop) < 1e-6:
            return (at, *points[number + 1 :])
    return (at,)


# -- time ------------------------------------------------------------------------------------------------------------


def passed(going: Going, until: int, wake_on: str | None = None) -> tuple[Going, list[Change]]:
    """Let time pass up to a tick, or until what `wake_on` names has happened; everything that changed on the way."""
    if until <= going.tick:
        return going, []
    going, changes = _happened(going)
    while (upcoming := next_instant(going)) is not None and upcoming <= until:
        going, new = _happened(_settled(going, upcoming))
        new += _newly_stuck(going)
        changes += new
        if wake_on is not None and any(wake_on in ("change", change.stage) for change in new):
            return _settled(going), changes
    return _settled(going, until), changes


def next_instant(going: Going) -> int | None:
    """The next tick at which something is going to happen by itself."""
    return min((at for at in _instants(going) if at > going.tick), default=None)


def _instants(going: Going) -> Iterator[int]:
    for tracked in going.actions:
        at = _due_at(tracked)
        if at is not None:
            yield at
        stalled = tracked.motion.stalled_since() if tracked.stage == "moving" and tracked.motion else None
        if stalled is not None:
            yield stalled + ticks(STUCK_S)


def _due_at(tracked: Tracked) -> int | None:
    """The tick of an action's next instant; None where it has none."""
    verb = tracked.action.verb
    if tracked.stage == "moving":
        return tracked.since if tracked.motion is None else tracked.motion.ends
    if tracked.stage == "acting" and verb.can_complete and not verb.long_range:
        return tracked.acts_since + ticks(REACH_S if verb.place and not tracked.laid else verb.acts_s)
    return None


def _newly_stuck(going: Going) -> list[Change]:
    stuck = [tracked for tracked in going.actions if tracked.stuck_s(going.tick) == STUCK_S]
    return [Change(going.tick, tracked.text, "stuck", f"nothing has moved for {STUCK_S:g} s") for tracked in stuck]


def _happened(going: Going) -> tuple[Going, list[Change]]:
    """Everything that happens at this very tick, in the order the actions were started."""
    changes: list[Change] = []
    for number, tracked in enumerate(going.actions):
        while (due := _due_at(tracked)) is not None and due <= going.tick:
            before = tracked.stage
            world, tracked = _arrived(tracked, going) if before == "moving" else _acted(tracked, going)
            actions = (*going.actions[:number], tracked, *going.actions[number + 1 :])
            going = replace(going, world=world, actions=actions)
            if tracked.stage != before:
                changes.append(Change(going.tick, tracked.text, tracked.stage, tracked.why))
    return going, changes


# -- what happens ----------------------------------------------------------------------------------------------------


def _failed(tracked: Tracked, why: str) -> Tracked:
    """It cannot be done; it holds nothing any more. The reason is one item of a list, so it has no marks of lists."""
    plain = " ".join(re.sub(r"[()\[\],]", " ", why).split())
    return replace(tracked, stage="failed", why=plain, pushed=None, holds=(), hands=(), motion=None)


def _arrived(tracked: Tracked, going: Going) -> tuple[World, Tracked]:
    """The body is where the action happens."""
    verb, world = tracked.action.verb, going.world
    if verb.long_range and tracked.motion is not None:
        return world, replace(tracked, stage="done", acts_since=going.tick)
    why = _not_here(tracked, world)
    if why:
        return world, _failed(tracked, why)
    tracked = replace(tracked, stage="acting", acts_since=going.tick)
    if verb.effect == "posture":
        return replace(world, posture=POSTURES.get(verb.name, verb.forms[0]), rests_on=tracked.action.thing), tracked
    if verb.effect == "push":
        return world, _pushing(tracked, going)
    return world, tracked


def _not_here(tracked: Tracked, world: World) -> str:
    """Why an action that could be started cannot be done now, because something has changed on the way."""
    action = tracked.action
    thing = action.where
    if thing is None or tracked.motion is None:
        return ""
    if action.verb.place and not world.places[str(action.thing)].hands:
        return f"{action.thing} is no longer in the hand"
    base = world.on_floor(thing)
    if world.places[base].hands:
        return f"{base} is in the hand"
    if action.verb.take and action.other is not None and world.places[thing].support != action.other:
        return f"{thing} is no longer at {action.other}"
    reach = world.scene.agent.radius_m + REACH_M
    if world.solid(base).distance(world.at) > reach:
        return f"{thing} is no longer there"
    closed = world.lies_in_closed(thing) or (
        thing if action.verb.place and action.relation == "in" and world.open.get(thing) is False else None
    )
    return f"{closed} is closed" if closed else ""


def _acted(tracked: Tracked, going: Going) -> tuple[World, Tracked]:
    """The instant at which an action shows its effect, and is done unless something more has to follow."""
    action, world = tracked.action, going.world
    done = replace(tracked, stage="done", pushed=None)
    thing = action.thing or ""
    why = _not_here(tracked, world) if action.verb.effect in ("take", "place") and not tracked.laid else ""
    if why:
        return world, _failed(tracked, why)
    if action.verb.effect == "take":
        left = world.slippery.get(thing, 0)
        if left > 0:
            return replace(world, slippery={**world.slippery, thing: left - 1}), _failed(tracked, f"{thing} slipped")
        return world.put(thing, Place(hands=tracked.hands)), done
    if action.verb.effect == "place" and not tracked.laid:
        laid = replace(tracked, laid=True, holds=tuple(hold for hold in tracked.holds if "hand" not in hold), hands=())
        return world.laid(thing, str(action.other), action.relation), laid
    if action.verb.effect == "close" and (between := in_doorway(world, thing)):
        return world, _failed(tracked, f"{between} is in the way")
    if action.verb.effect in ("open", "close"):
        return replace(world, open={**world.open, thing: action.verb.effect == "open"}), done
    return world, done


def _pushing(tracked: Tracked, going: Going) -> Tracked:
    """The thing gives way as far as there is room behind it, and the body follows it."""
    world, thing = going.world, str(tracked.action.thing)
    by = room_to_push(world, thing)
    if by is None:
        return _failed(tracked, _unmoved(tracked))
    way = (world.at, (world.at[0] + by[0], world.at[1] + by[1]))
    speed = math.hypot(*by) / tracked.action.verb.acts_s
    motion = Motion(going.tick, way, speed, world.facing, world.facing)
    return replace(tracked, motion=motion, pushed=world.places[thing].at)


def _pushes_on(tracked: Tracked, world: World) -> bool:
    """Whether what is left of a push still has room."""
    thing, motion = str(tracked.action.thing), tracked.motion
    if motion is None or world.places[thing].at is None:
        return False
    end = motion.points[-1]
    return gives_way(world, thing, (end[0] - world.at[0], end[1] - world.at[1]))


def _unmoved(tracked: Tracked) -> str:
    return f"{tracked.action.thing} does not give way"


def _settled(going: Going, tick: int | None = None) -> Going:
    """The world with the body, its gaze and what it pushes where they are at a tick; at this one unless it is given."""
    tick = going.tick if tick is None else tick
    world = going.world
    at, facing = world.at, world.facing
    looking: Tracked | None = None
    for tracked in going.actions:
        if tracked.action.verb.name == "look":
            looking = tracked if tracked.stage in ("moving", "done") else looking
        elif tracked.motion is not None and (tracked.stage == "moving" or tracked.pushed is not None):
            at, facing = tracked.motion.pose(tick)
            world = _pushed_along(tracked, tracked.motion, world, at)
    world = world.posed(at, facing, facing)
    if looking is not None and looking.motion is not None:
        gaze = looking.motion.pose(tick)[1] if looking.stage == "moving" else looks_at(looking.action, world)
        world = world.posed(at, facing, gaze)
    return going if tick == going.tick and world is going.world else Going(tick, world, going.actions)


def _pushed_along(tracked: Tracked, motion: Motion, world: World, at: Point) -> World:
    """The world with what is pushed as far from where it stood as the body is from where it began."""
    if tracked.pushed is None:
        return world
    begun = motion.points[0]
    moved = (tracked.pushed[0] + at[0] - begun[0], tracked.pushed[1] + at[1] - begun[1])
    thing = str(tracked.action.thing)
    return world if moved == world.places[thing].at else world.put(thing, Place(at=moved))
