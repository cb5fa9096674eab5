"""What happened, as data: the one kind of record in the log.

`about` holds the ids (`planId`, `runId`, `stepId`, `taskId`, `robotId` …) and `data` is the thing after the change,
flat. An event has no number until the log gives it one. Time is whole milliseconds since 1970, UTC, and reads as ISO
on the wire.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from beforehand.model.quick import quick
from beforehand.model.reason import Reason

CommandT = TypeVar("CommandT")


@quick
@dataclass(frozen=True, slots=True)
class Event:
    kind: str
    about: Mapping[str, Any]
    data: Mapping[str, Any]
    ts: int
    scene: str | None = None
    correlation_id: str = ""
    owner: str = ""
    """The driver whose state this event belongs to, such as `run:r1` or `fleet:dock`; it is what a replay asks for."""
    seq: int = 0

    def numbered(self, seq: int) -> "Event":
        return replace(self, seq=seq)

    def wire(self) -> dict[str, Any]:
        """The event as the API and `--events` files show it."""
        shown: dict[str, Any] = {"seq": self.seq, "ts": iso(self.ts), "kind": self.kind}
        if self.scene is not None:
            shown["scene"] = self.scene
        shown["correlationId"] = self.correlation_id
        shown["about"] = self.about
        shown["data"] = self.data
        return shown


@quick
@dataclass(frozen=True, slots=True)
class Verdict(Generic[CommandT]):
    """What one decision came to: events to make durable, commands to carry out after that, and reasons to show."""

    events: tuple[Event, ...] = ()
    commands: tuple[CommandT, ...] = ()
    reasons: tuple[Reason, ...] = field(default=())


@lru_cache(16)
def iso(ts: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC with milliseconds."""
    whole, ms = divmod(ts, 1000)
    return f"{_second(whole)}.{ms:03d}Z"


@lru_cache(256)
def _second(whole: int) -> str:
    """Most of what is written in a second says the same one."""
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}"


def from_iso(text: str) -> int:
    """The milliseconds since 1970 that `iso` wrote."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)
