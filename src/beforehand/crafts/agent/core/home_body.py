"""Our own world behind the port: a body in a home, plain kinematics, the same every time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from beforehand.crafts.agent.core.action_text import Action, PartlyRead, read_action
from beforehand.crafts.agent.core.faults import happened, read_fault
from beforehand.crafts.agent.core.goals import Goal, Record, judged, read_goal
from beforehand.crafts.agent.core.landmark import landmark
from beforehand.crafts.agent.core.names import NotRead
from beforehand.crafts.agent.core.needs import needs_of
from beforehand.crafts.agent.core.stages import Going, Tracked, begin, end, next_instant, passed
from beforehand.crafts.agent.core.verbs import VERBS, Verbs
from beforehand.crafts.agent.core.words import HomeScene, folded
from beforehand.crafts.agent.core.world import World, first_world, restore_world
from beforehand.model.reason import Reason
from beforehand.ports.body import ActionInfo, Change, Refused
from beforehand.ports.state_text import short, state_text

RUNNING = ("moving", "acting")


@dataclass(frozen=True, slots=True)
class HomeBody:
    going: Going
    goal: Goal | None = None
    record: Record = field(default_factory=Record)
    verbs: Verbs = field(default=VERBS, compare=False)

    @property
    def tick(self) -> int:
        return self.going.tick

    @property
    def world(self) -> World:
        return self.going.world

    @property
    def actions(self) -> tuple[ActionInfo, ...]:
        return tuple(tracked.info(self.tick) for tracked in self.going.actions)

    # -- steering --------------------------------------------------------------------------------------------------

    def start(self, text: str) -> "tuple[HomeBody, Change] | Refused":
        try:
            action = read_action(text, self.world.scene, self.verbs)
        except PartlyRead as unread:
            return Refused((*unread.problems, *needs_of(unread.action, self.going).refused))
        except NotRead as unread:
            return Refused(unread.problems)
        going = self.going
        running = self._same(text, action)
        if running is not None:
            going = end(going, running)
        needs = needs_of(action, going)
        refused = (*_runs_already(running), *needs.refused)
        if refused:
            return Refused(refused)
        shown = "".join(" " if letter.isspace() else letter for letter in text)  # the state has four lines
        going = begin(going, shown, action, needs.holds, needs.hands)
        begun = going.actions[-1]
        change = Change(going.tick, begun.text, begun.stage, begun.why)
        return replace(self, going=going, record=self.record.with_changes([change], going)), change

    def stop(self, text: str) -> "tuple[HomeBody, Change] | Refused":
        try:
            action = read_action(text, self.world.scene, self.verbs)
        except NotRead:
            action = None
        tracked = self._same(text, action)
        if tracked is None:
            there = ", ".join(other.text for other in self.going.actions) or "none"
            says = f"{text[:80]!r} is not among the actions. There are: {there}."
            return Refused((_reason("action.not_there", text[:80], says),))
        going = end(self.going, tracked)
        return replace(self, going=going), Change(going.tick, tracked.text, "stopped")

    def _same(self, text: str, action: Action | None) -> Tracked | None:
        """The action under way that these words mean: by its words first, else by what it is."""
        actions, wanted = self.going.actions, folded(text)
        by_words = next((tracked for tracked in actions if folded(tracked.text) == wanted), None)
        return by_words or next((tracked for tracked in actions if tracked.action == action), None)

    def passed(self, until: int, wake_on: str | None = None) -> "tuple[HomeBody, list[Change]]":
        going, changes = passed(self.going, until, wake_on)
        record = self.record.with_changes(changes, going) if changes else self.record
        return HomeBody(going, self.goal, record, self.verbs), changes

    def next_instant(self) -> int | None:
        return next_instant(self.going)

    def disturbed(self, fault: Mapping[str, Any]) -> "HomeBody | Refused":
        read = read_fault(fault)
        going = read if isinstance(read, Reason) else happened(self.going, read)
        return Refused((going,)) if isinstance(going, Reason) else replace(self, going=going)

    # -- showing ---------------------------------------------------------------------------------------------------

    def state_text(self) -> str:
        world = self.world
        return state_text(landmark(world), world.at, self.actions, world.held("left"), world.held("right"))

    @property
    def goal_text(self) -> str | None:
        return self.goal.text if self.goal else None

    def goal_reached(self) -> bool | None:
        return judged(self.goal, self.going, self.record)

    def surroundings(self) -> str:
        return "\n".join(_told(self.world, name) for name in self.world.places)

    def frame(self) -> dict[str, Any]:
        world = self.world
        return {
            "x": round(world.at[0], 3),
            "y": round(world.at[1], 3),
            "facing": round(world.facing, 1),
            "gaze": round(world.gaze, 1),
            "posture": world.posture,
            "leftHand": world.held("left"),
            "rightHand": world.held("right"),
            "actions": [action.wire() for action in self.actions],
        }

    def picture(self) -> bytes:
        from beforehand.crafts.agent.core.picture import picture_of, way_ahead

        return picture_of(self.world, way_ahead(self.going))

    def wire(self) -> dict[str, Any]:
        return self.world.wire()


def home_body(
    scene: HomeScene, *, world: Mapping[str, Any] | None = None, goal: str | None = None, verbs: Verbs = VERBS
) -> HomeBody:
    """The body of a scene, in the world as it was left or as the scene describes it."""
    begins = first_world(scene) if world is None else restore_world(scene, world)
    return HomeBody(Going(0, begins), read_goal(goal, scene, verbs) if goal else None, verbs=verbs)


def _runs_already(running: Tracked | None) -> Iterator[Reason]:
    if running is not None and running.stage in RUNNING:
        says = f"{running.text} runs already; it is {running.stage}."
        yield _reason("action.running", running.text, says, "Skip, or stop it first.")


def _reason(code: str, about: str, says: str, try_next: str = "") -> Reason:
    return Reason(code=code, about=about, says=says, try_next=try_next)


def _told(world: World, name: str) -> str:
    """One thing in a line: where it is and what can be done with it."""
    thing, place = world.thing(name), world.places[name]
    x, y = world.position(name)
    where = f"{place.relation} {place.support}" if place.support else f"at ({short(x)}, {short(y)})"
    if place.hands:
        where = f"in the {' and '.join(place.hands)} hand"
    state = "" if name not in world.open else ", open" if world.open[name] else ", closed"
    offers = f", for: {', '.join(thing.affords)}" if thing.affords else ""
    hands = ", needs two hands" if thing.two_hands else ""
    return f"{name}: {where}{state}{hands}{offers}"
