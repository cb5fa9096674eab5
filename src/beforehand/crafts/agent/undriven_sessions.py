"""A session that nobody drives is decided about from the log alone: ended, answered or asked about without a driver.

One whose world cannot be opened any more, because its package is gone, can still be ended.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.crafts.agent.core.deciding import decide
from beforehand.crafts.agent.core.inputs import CalledOff, SessionInput, Steer, Unheard
from beforehand.crafts.agent.core.session_state import ENDED
from beforehand.crafts.agent.core.verbs import Verbs
from beforehand.crafts.agent.session_log import read_session
from beforehand.model.errors import BeforehandError
from beforehand.model.event import Event, Verdict


async def settled(runtime: Runtime, verbs: Verbs, row: Mapping[str, Any], given: SessionInput) -> Verdict[Steer]:
    """The verdict on an input, not yet durable; the caller sees to it that nobody drives the session meanwhile."""
    try:
        state = await read_session(runtime.store, row["sessionId"], verbs)
    except BeforehandError as error:
        if not isinstance(given, CalledOff | Unheard):
            raise
        says = given.says if isinstance(given, CalledOff) else "The command that steered it has died."
        return Verdict((_written_off(runtime, row, f"{says} {error.says}"),))
    return Verdict() if state is None else decide(state, given, runtime.now())[1]


def _written_off(runtime: Runtime, row: Mapping[str, Any], reason: str) -> Event:
    """The end of a session as its document says it was; the world is as its scene begins."""
    data = {**row, "status": "ended", "reason": reason, "world": None, "actions": []}
    owner = f"session:{row['sessionId']}"
    return runtime.event(ENDED, data, owner=owner, scene=row["scene"], sessionId=row["sessionId"])
