"""A model that only remembers: it gives the answers of a recording, found by the hash of what is asked.

The same question asked again gets the answer it got that time. What was not recorded is a ModelAnswerError, so that a
replay which takes another way is noticed at once.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import NamedTuple

from beforehand.model.errors import ModelAnswerError, ModelError
from beforehand.ports.model import Answer, Ask


class Recording(NamedTuple):
    """What one ask, known by its hash, came to."""

    hash: str
    outcome: Answer | ModelError


class RecordedModel:
    def __init__(self, recordings: Iterable[Recording], name: str = "recorded") -> None:
        self.name = name
        self._left: defaultdict[str, deque[Answer | ModelError]] = defaultdict(deque)
        for recording in recordings:
            self._left[recording.hash].append(recording.outcome)

    async def answer(self, ask: Ask) -> Answer:
        """What was answered then, or the error there was; every recorded answer is given once."""
        left = self._left[ask.hash]
        if not left:
            raise ModelAnswerError(
                f"The recording has no answer, or no further one, to this question ({ask.hash[:19]}).",
                code="model.not_recorded",
                hint="A replay must ask just what was asked then; compare with the log's modelAsked events.",
            )
        outcome = left.popleft()
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    async def close(self) -> None: ...
