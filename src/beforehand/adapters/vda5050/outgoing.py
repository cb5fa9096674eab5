"""What is said to one vehicle: messages with their headers, and instant actions until they are answered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.vda5050.messages import State, VehicleError, timestamp
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.adapters.vda5050.patience import ANSWERS_KEPT
from beforehand.adapters.vda5050.reading import error_says

_HARD = ("cancelOrder", "startPause", "startCharging")


@dataclass(slots=True)
class Outgoing:
    robot_id: str
    begin: str
    """What the ids of instant actions begin with: the log's identity and the scene."""
    options: VdaOptions
    messages: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """To be sent: the name of the topic, and the document."""
    _headers: dict[str, int] = field(default_factory=dict)
    _unanswered: dict[str, str] = field(default_factory=dict)
    """Instant actions that have not been answered: their ids, and the keys of their commands."""

    def say(self, name: str, document: Mapping[str, Any], now: int) -> None:
        number = self._headers.get(name, 0)
        self._headers[name] = number + 1
        header = self.options.header(number, timestamp(now))
        self.messages.append((name, self.options.dialect.outgoing(name, {**header, **document})))

    def act(self, kind: str, now: int, key: str | None = None) -> str:
        """Have it do something at once; `key` is the command that its answer belongs to."""
        action_id = f"{self.begin}-{self.robot_id}-{kind}-{now}-{self._headers.get('instantActions', 0)}"
        if not kind.endswith("Request"):
            self._unanswered[action_id] = key or ""
            if len(self._unanswered) > ANSWERS_KEPT:
                del self._unanswered[next(iter(self._unanswered))]
        hard = "HARD" if kind in _HARD else "NONE"
        action = {"actionType": kind, "actionId": action_id, "blockingType": hard, "actionParameters": []}
        self.say("instantActions", {"actions": [action]}, now)
        return action_id

    def answered(self, state: State) -> Iterator[tuple[str, str]]:
        """The keys of commands whose actions have ended, and a sentence where the vehicle refused to pause.

        Any other action that had nothing to do is as good as one that was done: what counts is what the state shows.
        """
        ended = [one.action_id for one in state.action_states if one.action_status in ("FINISHED", "FAILED")]
        errors = {
            one.reference_value: error
            for error in state.errors
            for one in error.error_references
            if isinstance(one.reference_value, str)
        }
        failed = {one.action_id for one in state.action_states if one.action_status == "FAILED"} | errors.keys()
        for action_id in [*ended, *errors]:
            if key := self._unanswered.pop(action_id, None):
                drives_on = "-startPause-" in action_id and action_id in failed and not state.paused
                yield key, self._no_pause(errors.get(action_id)) if drives_on else ""

    def _no_pause(self, error: VehicleError | None) -> str:
        why = f": {error_says(error)}" if error is not None else ""
        return f"{self.robot_id} refused to pause{why}. It is told so again."

    @property
    def cancels(self) -> bool:
        """Whether calling its order off has not been answered yet."""
        return any("-cancelOrder-" in action_id for action_id in self._unanswered)
