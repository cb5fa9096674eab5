"""The rows that events of questions write: the question's head, and each sub-goal."""

from collections.abc import Mapping

from beforehand.crafts.rounds.core.board import SUB_GOAL_UPDATED
from beforehand.crafts.rounds.core.deciding import ASKED, FINISHED
from beforehand.crafts.rounds.questions import QUESTION_ROW, SUB_GOAL_ROW
from beforehand.loop.rows import RowMaker
from beforehand.model.event import Event
from beforehand.ports.store import Row

_OF_THE_EVENT = ("context", "workers", "wanted", "prior_artifacts", "options", "artifacts")


def _question(event: Event) -> list[Row]:
    head = {name: value for name, value in event.data.items() if name not in _OF_THE_EVENT}
    return [Row(QUESTION_ROW, head["questionId"], head, open=head["status"] not in ("done", "failed"))]


def _sub_goal(event: Event) -> list[Row]:
    question_id = str(event.about["questionId"])
    return [Row(SUB_GOAL_ROW, f"{question_id}/{event.data['id']}", event.data, parent=question_id)]


ROWS: Mapping[str, RowMaker] = {ASKED: _question, FINISHED: _question, SUB_GOAL_UPDATED: _sub_goal}
