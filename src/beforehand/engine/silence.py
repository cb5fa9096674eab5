"""Silence: a step on a machine that has not ended in its time. Nothing is stopped by itself; a person is asked.

The time is the step's own, else three times what its tool estimates and at least half a minute, in the machine's
seconds. The question closes itself when the result comes.
"""

from beforehand.engine.board import Board
from beforehand.engine.ending import given_args
from beforehand.engine.state import StepState
from beforehand.model.decision import content_hash
from beforehand.ports.tool import ToolSpec

TIMES_ITS_ESTIMATE = 3.0
AT_LEAST_S = 30.0
AT_LEAST_REAL_S = 1.0
"""However fast simulated machines are, what they say is written and read in real time."""
SILENT_EFFECTS = {
    "wait": "It is given the same time once more.",
    "stop": "The machine is told to stop; what became of the step is asked then.",
    "abort": "The machine is told to stop, nothing new starts, and the run ends as failed.",
}


def patience_ms(spec: ToolSpec | None, timeout_s: float | None) -> int | None:
    """How long a step may take before somebody is asked or it is stopped; None where there is no limit."""
    on_machine = spec is not None and spec.machine is not None
    pace = spec.pace if spec is not None and on_machine else 1.0
    if timeout_s is not None:
        return round(timeout_s * 1000 / pace)
    if spec is None or not on_machine:
        return None
    their_s = max(AT_LEAST_S, TIMES_ITS_ESTIMATE * spec.estimate_s)
    return round(max(AT_LEAST_REAL_S, their_s / pace) * 1000)


def ask_about_silence(board: Board, state: StepState) -> None:
    """Open the question once the step's time is over, unless it is open or the step is being stopped."""
    patience = patience_ms(board.catalog.get(state.step.tool), state.step.timeout_s)
    if patience is None or state.decision is not None or state.stopping is not None:
        return
    if board.ts < state.started_at + patience:
        return
    since, less = _in_seconds(board.ts - state.started_at), _in_seconds(patience)
    says = f"It has not ended after {since}; it should have taken less than {less}."
    evidence = {"tool": state.step.tool, "args": given_args(state), "says": says}
    board.open_decision(
        "silent",
        state,
        title=f"No answer from its machine: {state.step.description or state.step.id}",
        effects=SILENT_EFFECTS,
        evidence=evidence,
        covers=content_hash({"key": board.run.key_of(state.step.id, state.attempt), "at": board.ts}),
        if_unanswered="The step goes on waiting; nothing is stopped.",
    )


def _in_seconds(ms: int) -> str:
    """For a sentence: whole seconds, and below ten of them what tells two times apart."""
    return f"{ms / 1000:.0f} s" if ms >= 10_000 else f"{ms / 1000:.2g} s"
