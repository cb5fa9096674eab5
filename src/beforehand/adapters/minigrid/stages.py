"""Actions under way in a grid: one step every quarter of a second while moving, then a second of acting, then done.

What an action does happens at one instant. Between two instants nothing changes, so time passes from one to the next.
Done is what is true in the grid; a done action keeps what it holds until it is stopped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from beforehand.adapters.minigrid.aims import steps_to, why_not
from beforehand.adapters.minigrid.grid import DROP, FORWARD, LOOK, PICK_UP, TOGGLE, Grid
from beforehand.adapters.minigrid.words import NEEDS, Action
from beforehand.ports.body import TICKS_PER_S, ActionInfo, Change, Stage

STEP_TICKS = 5
ACT_TICKS = 20
STILL_TICKS = 20
"""How long a thing has to lie still before it counts as placed."""
STUCK_TICKS = 200
GOING_THERE = ("walk", "look", "turn")
"""Verbs that are done on arrival."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """One action that was started and not yet stopped."""

    text: str
    action: Action
    since: int
    stage: Stage
    holds: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    """The steps that are left until it arrives."""
    due: int | None = None
    """The tick at which something happens next."""
    moved_at: int = 0
    laid: bool = False
    why: str = ""

    def stuck_ticks(self, tick: int) -> int:
        """How long it has been moving without getting any further."""
        return tick - self.moved_at if self.stage == "moving" else 0

    def info(self, tick: int) -> ActionInfo:
        stuck = self.stuck_ticks(tick)
        stuck_s = stuck / TICKS_PER_S if stuck >= STUCK_TICKS else 0.0
        return ActionInfo(self.text, self.stage, (tick - self.since) / TICKS_PER_S, stuck_s, self.why)


@dataclass(slots=True)
class Going:
    """The grid and everything under way in it. It changes: one body holds it, and nobody else."""

    grid: Grid
    tick: int = 0
    actions: tuple[Tracked, ...] = ()
    blocked: set[str] = field(default_factory=set)
    """Doors that something stands in, which nobody knows before getting there."""
    slippery: dict[str, int] = field(default_factory=dict)
    """How many more times a thing slips out of the hand."""


def begun(text: str, action: Action, going: Going) -> Tracked:
    """An action as it starts: on its way, or failed where there is no way."""
    tick = going.tick
    tracked = Tracked(text, action, tick, "moving", NEEDS[action.verb], moved_at=tick)
    if action.verb == "wait":
        return replace(tracked, stage="acting")
    steps = steps_to(action, going.grid)
    if steps is None:
        return _failed(tracked, why_not(action, going.grid))
    if steps or action.verb in GOING_THERE:
        return replace(tracked, steps=steps or (LOOK,), due=tick + STEP_TICKS)
    return replace(tracked, stage="acting", due=tick + ACT_TICKS)


def passed(going: Going, until: int, wake_on: str | None) -> list[Change]:
    """Let time pass up to a tick, or until what `wake_on` names has happened; everything that changed on the way."""
    changes: list[Change] = []
    while going.tick < until:
        upcoming = next_instant(going)
        going.tick = until if upcoming is None else min(upcoming, until)
        new = [*_happened(going), *_newly_stuck(going)]
        changes += new
        if wake_on is not None and any(wake_on in ("change", change.stage) for change in new):
            break
    return changes


def next_instant(going: Going) -> int | None:
    return min((at for at in _instants(going) if at > going.tick), default=None)


def _instants(going: Going) -> Iterator[int]:
    for tracked in going.actions:
        if tracked.due is not None:
            yield tracked.due
        if tracked.stage == "moving":
            yield tracked.moved_at + STUCK_TICKS


def _newly_stuck(going: Going) -> Iterator[Change]:
    for tracked in going.actions:
        if tracked.stuck_ticks(going.tick) == STUCK_TICKS:
            why = f"nothing has moved for {STUCK_TICKS / TICKS_PER_S:g} s"
            yield Change(going.tick, tracked.text, "stuck", why)


def _happened(going: Going) -> Iterator[Change]:
    """Everything that happens at this very tick, in the order the actions were started."""
    for number, tracked in enumerate(going.actions):
        if tracked.due is None or tracked.due > going.tick:
            continue
        after = _stepped(tracked, going) if tracked.stage == "moving" else _acted(tracked, going)
        going.actions = (*going.actions[:number], after, *going.actions[number + 1 :])
        if after.stage != tracked.stage:
            yield Change(going.tick, after.text, after.stage, after.why)


def _failed(tracked: Tracked, why: str) -> Tracked:
    """It cannot be done; it holds nothing any more."""
    return replace(tracked, stage="failed", why=why, holds=(), steps=(), due=None)


def _done(tracked: Tracked) -> Tracked:
    return replace(tracked, stage="done", due=None)


# -- moving ----------------------------------------------------------------------------------------------------------


def _stepped(tracked: Tracked, going: Going) -> Tracked:
    """One step further; whoever stands before something that nobody foresaw waits there."""
    step, *rest = tracked.steps
    if step == FORWARD and _is_barred(going):
        return replace(tracked, due=going.tick + STEP_TICKS)
    going.grid.step(step)
    tracked = replace(tracked, steps=tuple(rest), moved_at=going.tick, due=going.tick + STEP_TICKS)
    if rest:
        return tracked
    if tracked.action.verb in GOING_THERE:
        return _done(tracked)
    return replace(tracked, stage="acting", due=going.tick + ACT_TICKS)


def _is_barred(going: Going) -> bool:
    content = going.grid.content(going.grid.front)
    return content is not None and content.type == "door" and going.grid.name_of(content) in going.blocked


# -- acting ----------------------------------------------------------------------------------------------------------


def _acted(tracked: Tracked, going: Going) -> Tracked:
    """The instant at which an action shows its effect."""
    if tracked.laid:
        return _done(tracked)
    if tracked.action.verb == "take":
        return _taken(tracked, going)
    if tracked.action.verb == "place":
        going.grid.step(DROP)
        return replace(tracked, laid=True, holds=("base",), due=going.tick + STILL_TICKS)
    going.grid.step(TOGGLE)
    return _done(tracked)


def _taken(tracked: Tracked, going: Going) -> Tracked:
    thing = str(tracked.action.thing)
    left = going.slippery.pop(thing, 0)
    if left > 1:
        going.slippery[thing] = left - 1
    if left:
        return _failed(tracked, f"{thing} slipped")
    going.grid.step(PICK_UP)
    return _done(tracked)
