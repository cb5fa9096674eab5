"""Who may give a session commands: whoever steers it, and nobody else until they have taken it over.

A step of a plan steers its session alone, and so does a command with a lease, and whoever took a session over. Any
other session takes commands from everybody. To end, hold or take it over is open to all who may steer at all.
"""

from beforehand.crafts.agent.core.inputs import Said
from beforehand.crafts.agent.core.session_state import SessionState
from beforehand.model.reason import Reason


def refusal(state: SessionState, given: Said) -> Reason | None:
    """Why this session does not take the command; None where it does."""
    if given.own:
        return taken_over(state) if state.steered_by == "person" else None
    if state.key is not None and state.steered_by != "person":
        return _reason(state, "A step of a plan steers this session.")
    if given.turn is not None and given.turn != state.turn:
        return taken_over(state)
    if state.steerer and (given.by != state.steerer or (given.turn is None and state.lease_s is not None)):
        how = ", with a command that is still open" if state.lease_s is not None else ""
        return _reason(state, f"{state.steerer} steers this session{how}.")
    return None


def taken_over(state: SessionState) -> Reason:
    """What is told to whoever steered before, or believes that somebody else still does."""
    says = f"{state.steerer or 'A person'} has taken this session over."
    return _reason(state, says, "session.taken_over")


def _reason(state: SessionState, says: str, code: str = "session.steered") -> Reason:
    verbs = f"`beforehand agent take-over {state.session_id}`, `beforehand agent end {state.session_id}`"
    return Reason(code=code, about=state.session_id, says=says, try_next=f"Take it over first, or end it: {verbs}.")
