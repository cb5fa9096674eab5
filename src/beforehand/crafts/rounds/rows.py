"""The rows that events of questions write: the question's head. Its sub-goals are read from its events."""

from collections.abc import Mapping

from beforehand.crafts.rounds.core.event_kinds import ASKED, FINISHED
from beforehand.loop.rows import RowMaker
from beforehand.model.event import Event
from beforehand.ports.store import Row

QUESTION_ROW = "question"
_OF_THE_EVENT = ("context", "workers", "wanted", "prior_artifacts", "options", "artifacts")


def _question(event: Event) -> list[Row]:
    head = {name: value for name, value in event.data.items() if name not in _OF_THE_EVENT}
    return [Row(QUESTION_ROW, head["questionId"], head, open=head["status"] not in ("done", "failed"))]


ROWS: Mapping[str, RowMaker] = {ASKED: _question, FINISHED: _question}
