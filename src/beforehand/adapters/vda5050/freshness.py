"""Which messages count: each state once and in order, and between states where a vehicle says that it is.

States delivered late, or a second time, are known by number and time. A `visualization` only ever moves a vehicle: what
it does and carries is as its last state said.
"""

from dataclasses import dataclass

from beforehand.adapters.vda5050.messages import State, Visualization, moment_ms

OLD_IN_A_ROW = 3


@dataclass(slots=True)
class Heard:
    """The last state that counted, by which older ones are known."""

    header_id: int | None = None
    sent_ms: int | None = None
    counts: bool = False
    """Whether its states have been seen to have different numbers; some vehicles give all of them the same."""
    old_id: int | None = None
    old_ms: int | None = None
    old: int = 0
    """States in a row that seemed old, each newer than the one before: then the vehicle counts anew."""

    def is_old(self, state: State) -> bool:
        """Whether it was made before the last one that counted; one that was not counts from now on."""
        made_ms = moment_ms(state.timestamp)
        since_ms = None if made_ms is None or self.sent_ms is None else made_ms - self.sent_ms
        older = False
        if self.header_id is not None and state.header_id is not None:
            self.counts = self.counts or state.header_id != self.header_id
            behind = state.header_id <= self.header_id if self.counts else (since_ms or 0) < 0
            older = behind and not (since_ms or 0) > 0
        if older:
            follows = self._follows(state, made_ms)
            self.old, self.old_id, self.old_ms = (self.old + 1 if follows else 1), state.header_id, made_ms
            if self.old < OLD_IN_A_ROW:
                return True
        self.header_id, self.sent_ms, self.old, self.old_id, self.old_ms = state.header_id, made_ms, 0, None, None
        return False

    def _follows(self, state: State, made_ms: int | None) -> bool:
        """Whether it was made after the last one that seemed old: by its number, or by its time where numbers stand."""
        if self.counts:
            return self.old_id is not None and state.header_id is not None and state.header_id > self.old_id
        return self.old_ms is not None and made_ms is not None and made_ms > self.old_ms


def moved(state: State, seen: Visualization) -> State | None:
    """The state with the vehicle where it has come to be since; None where that is no news."""
    said_ms, seen_ms = moment_ms(state.timestamp), moment_ms(seen.timestamp)
    if seen.agv_position is None or (said_ms is not None and seen_ms is not None and seen_ms <= said_ms):
        return None
    named = {"map_id": seen.agv_position.map_id or (state.agv_position.map_id if state.agv_position else "")}
    position = seen.agv_position.model_copy(update=named)
    return state.model_copy(update={"agv_position": position, "timestamp": seen.timestamp or state.timestamp})
