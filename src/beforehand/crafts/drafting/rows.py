"""The rows that events of drafts write: the draft as it stands."""

from collections.abc import Mapping

from beforehand.loop.rows import RowMaker
from beforehand.model.event import Event
from beforehand.ports.store import Row

DRAFT_ROW = "draft"
STARTED, TRIED, FINISHED, FAILED = "draftStarted", "draftTried", "draftFinished", "draftFailed"


def _draft(event: Event) -> list[Row]:
    head = event.data
    return [Row(DRAFT_ROW, head["draftId"], head, parent=head.get("scene", ""), open=head["status"] == "drafting")]


ROWS: Mapping[str, RowMaker] = dict.fromkeys((STARTED, TRIED, FINISHED, FAILED), _draft)
