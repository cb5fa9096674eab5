"""That somebody asked for a change, and who it was, in the log: for all requests whose own events do not say it.

What happened stands in events of its own, which often say only how a thing is now: that a scene is live, that a run was
cancelled. This says who asked for it and with which words, and has the same correlation id.
"""

from collections.abc import Collection
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from pydantic_core import to_json

from beforehand.app.runtime import Runtime
from beforehand.loop.log_outage import unrecorded_here
from beforehand.model.errors import BeforehandError
from beforehand.ports.log import Log
from beforehand.ports.tasks import part

log = Log("beforehand.record")
KIND, OWNER = "requestMade", "requests"
OWN = frozenset({"archive", "hold", "clear", "inbox", "login", "logout", "plans", "search", "tokens"})
"""First words of the calls whose events say by themselves who asked, or that change nothing."""
TRIALS = ("/preview", "/check", "/dry-run", "/intents")
"""The last word of calls that try or read something and leave everything as it was."""
MOST_PATH, MOST_B = 300, 2_000
"""What was said with longer words is told by their hash."""


def is_recorded(method: str, path: str, own: Collection[str] = ()) -> bool:
    """Whether a call, named by its path below `/api/v1`, is one of those; `own` are patterns of more that are not."""
    below = path.strip("/")
    changes = method in ("POST", "PUT", "PATCH", "DELETE") and not path.endswith(TRIALS)
    return changes and below.partition("/")[0] not in OWN and not any(fnmatchcase(below, pattern) for pattern in own)


async def record_request(runtime: Runtime, method: str, path: str, asked: Any, by: str, role: str = "") -> None:
    """Write it down, `asked` as it is to be told.

    What was done is done: where the log cannot be written that is told in the server's own log.
    """
    data = {"what": f"{method} {path}"[:MOST_PATH], "by": by, "role": role, "asked": asked}
    if unrecorded_here():
        runtime.outage.follow([runtime.event(KIND, data, owner=OWNER)])
        return
    try:
        # In a task of its own, since it is no part of what the request itself decided.
        await part(runtime.log(KIND, data, owner=OWNER))
    except BeforehandError as error:
        log.warning("who asked for something cannot be written to the log", what=data["what"], by=by, says=error.says)


def shown(method: str, asked: Any) -> Any:
    """What was asked for, as it is told; a document by its hash, since it may be for fewer eyes."""
    if asked is None:
        return None
    written = to_json(asked)
    if is_told(method, len(written)):
        return asked
    return {"bytes": len(written), "sha256": sha256(written).hexdigest()}


def is_told(method: str, size: int) -> bool:
    """Whether the words themselves are told: documents are put somewhere, anything else is short."""
    return method != "PUT" and size <= MOST_B
