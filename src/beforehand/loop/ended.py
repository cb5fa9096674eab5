"""Which events of the log nothing that still goes on will look at again: they may move into the archive.

An event stays while something open is named in it, while the driver it belongs to would still replay it, and while it
is the newest word on something that has no end: a scene, a template, a place, a driver's own state. Everything else
belongs to what has ended or was said anew since.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.model.event import Event
from beforehand.ports.store import Projection

ENDS = frozenset({"run", "decision", "request"})
"""Kinds of rows that are over for good once they are closed; crafts bring theirs."""
_PARTS = frozenset({"plan", "planHead", "step", "expansion"})
"""Kinds of rows that end with the run or the review that they belong to."""
_PLACES = frozenset({"scene", "sceneId"})
"""Ids that name where something is and not what it is."""
Key = tuple[str, str]


def living_in(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """The ids of open things and of whatever they are about."""
    found: set[str] = set()
    for row in rows:
        about = row.get("about")
        for names in (row, about if isinstance(about, Mapping) else {}):
            found |= {str(value) for name, value in names.items() if _is_id(name) and isinstance(value, str)}
    return found


def names_living(event: Event, living: set[str] | frozenset[str]) -> bool:
    """Whether the event belongs to or is about something that is open."""
    _, _, owner = event.owner.partition(":")
    return owner in living or any(str(value) in living for name, value in event.about.items() if name not in _PLACES)


def _is_id(name: str) -> bool:
    return name == "id" or (name.endswith("Id") and name not in _PLACES)


@dataclass(slots=True)
class Sieve:
    """Goes through events in order and says which of them may go; what it has kept back may go later on."""

    project: Projection
    ends: frozenset[str]
    living: set[str]
    replayed_from: Mapping[str, int]
    """For drivers that save their state: the number behind which they would replay."""
    _newest: dict[Key, int] = field(default_factory=dict)
    _holds: dict[int, int] = field(default_factory=dict)
    """How many things an event that was kept back is the newest word on."""
    open: int = 0

    def sift(self, events: Iterable[Event]) -> list[int]:
        """The numbers of events that may go, some of them perhaps from an earlier call."""
        gone: list[int] = []
        for event in events:
            replayed = self.replayed_from.get(event.owner)
            if names_living(event, self.living) or (replayed is not None and event.seq > replayed):
                self.open += 1
                continue
            keys = self._keys(event)
            gone += self._superseded(keys)
            if keys:
                self._newest |= dict.fromkeys(keys, event.seq)
                self._holds[event.seq] = len(keys)
            else:
                gone.append(event.seq)
        return gone

    @property
    def newest(self) -> int:
        """How many events are the newest word on something."""
        return len(self._holds)

    def _keys(self, event: Event) -> set[Key]:
        """What the event has the last word on and that does not end."""
        rows = list(self.project(event))
        standing = {(row.kind, row.id) for row in rows if row.kind not in self.ends}
        kind, _, _ = event.owner.partition(":")
        if standing or rows or kind in self.ends:
            return standing
        return {(f"event {event.kind}", event.owner)}

    def _superseded(self, keys: set[Key]) -> list[int]:
        gone = []
        for key in keys & self._newest.keys():
            seq = self._newest[key]
            self._holds[seq] -= 1
            if not self._holds[seq]:
                del self._holds[seq]
                gone.append(seq)
        return gone


def kinds_that_end(brought: Iterable[str]) -> frozenset[str]:
    """Kinds of rows, and beginnings of owners, that end; `brought` are those of the crafts."""
    return ENDS | _PARTS | frozenset(brought)


def kinds_that_live(brought: Iterable[str]) -> list[str]:
    """Kinds of rows whose open ones are going on."""
    return sorted(ENDS | frozenset(brought))
