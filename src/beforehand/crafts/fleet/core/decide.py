"""One tick of the fleet: inputs in, events and commands out, through named phases.

`decide` is pure: it works on a board over the state and leaves the state as it was. Whoever drives it makes the events
durable, folds them in and then carries the commands out; `step` does the deciding and the folding in one.
"""

from collections.abc import Callable, Sequence

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.commands import commands
from beforehand.crafts.fleet.core.dispatch import arbitration, assignment, candidates, may_rest
from beforehand.crafts.fleet.core.errands import charging, parking
from beforehand.crafts.fleet.core.faults import errors
from beforehand.crafts.fleet.core.inputs import FleetInput, NotSent
from beforehand.crafts.fleet.core.kinds_tick import kinds_tick
from beforehand.crafts.fleet.core.progress import progress
from beforehand.crafts.fleet.core.recovery import reconcile
from beforehand.crafts.fleet.core.standing import standing
from beforehand.crafts.fleet.core.state import FleetState, evolve
from beforehand.crafts.fleet.core.telemetry import telemetry
from beforehand.crafts.fleet.core.traffic.phase import traffic, without_traffic
from beforehand.crafts.fleet.core.verbs import people
from beforehand.model.event import Verdict
from beforehand.model.robot import RobotCommand

Phase = Callable[[Board], Board]

PHASES: tuple[Phase, ...] = (
    telemetry,
    progress,
    people,
    kinds_tick,
    errors,
    standing,
    candidates,
    arbitration,
    assignment,
    commands,
    parking,
    charging,
    traffic,
)
RECOVERY: tuple[Phase, ...] = (telemetry, progress, reconcile, errors, standing, without_traffic)
"""After a restart: the robots are heard and compared with what was in the air; what is held stops, no more."""
BRAKE: tuple[Phase, ...] = (telemetry, progress, people, errors, standing, without_traffic)
"""What a person stops, stops: nothing is given out, and nothing drives on because of it."""
UNSENT: tuple[Phase, ...] = (telemetry, people)
"""Orders that never went out are taken back before anybody looks how long they take."""


def decide(state: FleetState, inputs: Sequence[FleetInput], now_ms: int) -> Verdict[RobotCommand]:
    """What one tick comes to. The state is not changed."""
    return _work_out(state, inputs, now_ms, PHASES)[1]


def step(state: FleetState, inputs: Sequence[FleetInput], now_ms: int) -> tuple[FleetState, Verdict[RobotCommand]]:
    """Decides and folds: the state given is changed in place by the events, and by what was seen of the robots."""
    return _fold(state, *_work_out(state, inputs, now_ms, PHASES))


def brake(state: FleetState, inputs: Sequence[FleetInput], now_ms: int) -> tuple[FleetState, Verdict[RobotCommand]]:
    """A tick for what a person stops; what follows from it is decided by the next one."""
    return _fold(state, *_work_out(state, inputs, now_ms, BRAKE))


def unsend(state: FleetState, unsent: NotSent, now_ms: int) -> tuple[FleetState, Verdict[RobotCommand]]:
    """Take orders back that were decided and not sent; nothing else is decided."""
    return _fold(state, *_work_out(state, [unsent], now_ms, UNSENT))


def recover(state: FleetState, inputs: Sequence[FleetInput], now_ms: int) -> tuple[FleetState, Verdict[RobotCommand]]:
    """The first tick after a restart: the state from the log meets what the robots report now."""
    state.since_ms = now_ms
    return _fold(state, *_work_out(state, inputs, now_ms, RECOVERY))


def _work_out(
    state: FleetState, inputs: Sequence[FleetInput], now_ms: int, phases: Sequence[Phase]
) -> tuple[Board, Verdict[RobotCommand]]:
    board = Board(state, inputs, now_ms)
    for phase in phases:
        board = phase(board)
    return board, board.settle()


def _fold(state: FleetState, board: Board, verdict: Verdict[RobotCommand]) -> tuple[FleetState, Verdict[RobotCommand]]:
    state.seen.update(board.seen_now)
    if board.traffic is not None:
        state.traffic = board.traffic
    state.passed = board.passed
    state.firsts.update(board.firsts)  # Before the events: what they change is forgotten again.
    for event in verdict.events:
        evolve(state, event)
    if may_rest(board):
        state.no_work = True
    return state, verdict
