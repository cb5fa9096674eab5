"""A body in a BabyAI mission, behind the same port as the body in a home: the same commands, states and pictures.

The mission is the goal, and MiniGrid's own verifier is the judge. The whole grid is known to whoever steers. A cell is
a metre; x counts columns to the right and y rows downwards, as in the picture. It carries one thing, in its right hand.
"""

import math
from collections.abc import Mapping
from typing import Any

from beforehand.adapters.minigrid.grid import Grid
from beforehand.adapters.minigrid.needs import held_reasons, reason, thing_reasons
from beforehand.adapters.minigrid.picture import picture_of
from beforehand.adapters.minigrid.stages import Going, Tracked, begun, next_instant, passed
from beforehand.adapters.minigrid.words import BY_FORM, NEEDS, Action, NotRead, read_action
from beforehand.model.reason import Reason, unknown
from beforehand.ports.body import ActionInfo, Change, Refused, folded
from beforehand.ports.state_text import state_text

RUNNING = ("moving", "acting")
FAULTS = ("block", "slip", "unblock")


class MiniGridBody:
    def __init__(self, going: Going, goal: str | None = None) -> None:
        self.going = going
        self.goal = going.grid.text if goal is None else goal
        """What is wanted, in words: the mission, unless the session has a goal of its own, which nobody judges."""

    @property
    def grid(self) -> Grid:
        return self.going.grid

    @property
    def tick(self) -> int:
        return self.going.tick

    @property
    def actions(self) -> tuple[ActionInfo, ...]:
        return tuple(tracked.info(self.tick) for tracked in self.going.actions)

    # -- steering --------------------------------------------------------------------------------------------------

    def start(self, text: str) -> "tuple[MiniGridBody, Change] | Refused":
        try:
            action = read_action(text, self.grid.things())
        except NotRead as refused:
            return Refused((*refused.problems, *self._held_by_others(text)))
        same = self._same(text, action)
        if same is not None and same.stage in RUNNING:
            says = f"{same.text} runs already; it is {same.stage}."
            return Refused((reason("action.running", same.text, says, "Skip, or stop it first."),))
        others = tuple(tracked for tracked in self.going.actions if tracked is not same)
        against = (*thing_reasons(action, self.grid), *held_reasons(NEEDS[action.verb], others))
        if against:
            return Refused(against)
        tracked = begun(text, action, self.going)
        self.going.actions = (*others, tracked)
        return self, Change(self.tick, text, tracked.stage, tracked.why)

    def _held_by_others(self, text: str) -> list[Reason]:
        """What would speak against the verb, whatever it is about."""
        verb = BY_FORM.get(text.split()[0].lower()) if text.split() else None
        return list(held_reasons(NEEDS[verb], self.going.actions)) if verb else []

    def stop(self, text: str) -> "tuple[MiniGridBody, Change] | Refused":
        try:
            action = read_action(text, self.grid.things())
        except NotRead:
            action = None
        tracked = self._same(text, action)
        if tracked is None:
            there = ", ".join(other.text for other in self.going.actions) or "none"
            says = f"{text[:80]!r} is not among the actions. There are: {there}."
            return Refused((reason("action.not_there", text[:80], says),))
        self.going.actions = tuple(other for other in self.going.actions if other is not tracked)
        return self, Change(self.tick, tracked.text, "stopped")

    def _same(self, text: str, action: Action | None) -> Tracked | None:
        """The action under way that these words mean: by its words first, else by what it is."""
        actions, wanted = self.going.actions, folded(text)
        by_words = next((tracked for tracked in actions if folded(tracked.text) == wanted), None)
        return by_words or next((tracked for tracked in actions if tracked.action == action), None)

    def passed(self, until: int, wake_on: str | None = None) -> "tuple[MiniGridBody, list[Change]]":
        return self, passed(self.going, until, wake_on)

    def next_instant(self) -> int | None:
        return next_instant(self.going)

    def disturbed(self, fault: Mapping[str, Any]) -> "MiniGridBody | Refused":
        kind, about = str(fault.get("fault")), str(fault.get("about"))
        if kind not in FAULTS:
            return Refused((reason("fault.unknown", kind[:60], unknown("fault", kind, FAULTS).says),))
        names = {folded(name): name for name in self.grid.things()}
        name = names.get(folded(about))
        if name is None:
            return Refused((reason("fault.unknown", about[:60], unknown("object", about, names.values()).says),))
        return self._slips(name, fault) if kind == "slip" else self._bars(name, kind)

    def _slips(self, name: str, fault: Mapping[str, Any]) -> "MiniGridBody | Refused":
        if not self.grid.things()[name].can_pickup():
            return Refused((reason("fault.fixed", name, f"{name} cannot be carried."),))
        times = fault.get("times")
        self.going.slippery[name] = max(1, times) if isinstance(times, int) else 1
        return self

    def _bars(self, name: str, kind: str) -> "MiniGridBody | Refused":
        if self.grid.things()[name].type != "door":
            return Refused((reason("fault.no_door", name, f"{name} is not a door."),))
        self.going.blocked = self.going.blocked | {name} if kind == "block" else self.going.blocked - {name}
        return self

    # -- showing ---------------------------------------------------------------------------------------------------

    def state_text(self) -> str:
        return state_text(self._landmark(), self.grid.at, self.actions, None, self.grid.held)

    def _landmark(self) -> str:
        """What lies nearest."""
        places = self.grid.places()
        return min(places, key=lambda name: math.dist(places[name], self.grid.at), default="origin")

    @property
    def goal_text(self) -> str | None:
        return self.goal

    def goal_reached(self) -> bool | None:
        """The verifier's word on the mission; it stays said. None for a goal that is not the mission."""
        return self.grid.is_reached if folded(self.goal) == folded(self.grid.text) else None

    def surroundings(self) -> str:
        size = f"A grid of {self.grid.env.width} by {self.grid.env.height} cells; y counts downwards."
        looks = ("right", "down", "left", "up")[self.grid.direction]
        began = f"Left, right, front and behind in the mission are as it was at the start. It looks {looks} now."
        places = self.grid.places()
        told = [self._told(name, thing, places) for name, thing in self.grid.things().items()]
        return "\n".join((f"Mission: {self.grid.text}.", f"{size} {began}", *told))

    def _told(self, name: str, thing: Any, places: Mapping[str, tuple[int, int]]) -> str:
        """One thing in a line: where it is and what can be done with it."""
        where = f"at ({places[name][0]}, {places[name][1]})" if name in places else "in the right hand"
        if thing.type == "door":
            state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
            return f"{name}: {where}, {state}, for: open, close"
        return f"{name}: {where}, for: take{', open' if thing.type == 'box' else ''}"

    def frame(self) -> dict[str, Any]:
        facing = self.grid.direction * 90.0
        return {
            "x": self.grid.at[0],
            "y": self.grid.at[1],
            "facing": facing,
            "gaze": facing,
            "posture": "standing",
            "leftHand": None,
            "rightHand": self.grid.held,
            "actions": [action.wire() for action in self.actions],
        }

    def picture(self) -> bytes:
        return picture_of(self.grid)

    def wire(self) -> dict[str, Any]:
        return {
            "mission": self.grid.mission,
            "seed": self.grid.seed,
            "steps": "".join(map(str, self.grid.steps)),
            "blocked": sorted(self.going.blocked),
            "slippery": dict(self.going.slippery),
        }


def minigrid_body(
    options: Mapping[str, Any], *, world: Mapping[str, Any] | None = None, goal: str | None = None
) -> MiniGridBody:
    """The body of a mission: as it was left, where `world` is of the same mission and seed, or at the beginning."""
    mission, seed = str(options["mission"]), int(options.get("seed", 0))
    if world is None or (world.get("mission"), world.get("seed")) != (mission, seed):
        return MiniGridBody(Going(Grid(mission, seed)), goal)
    going = Going(Grid(mission, seed, world["steps"]), blocked=set(world["blocked"]), slippery=dict(world["slippery"]))
    return MiniGridBody(going, goal)
