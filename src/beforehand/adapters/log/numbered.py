"""What an append gives back: the events with their numbers."""

from collections.abc import Sequence
from typing import overload

from beforehand.model.event import Event


class Numbered(Sequence[Event]):
    """Appended events with their numbers, each made when it is looked at: most callers ask for the last one only."""

    def __init__(self, events: Sequence[Event], first: int) -> None:
        self._events, self._first = tuple(events), first

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> list[Event]: ...
    def __getitem__(self, place: int | slice) -> Event | list[Event]:
        if isinstance(place, slice):
            return [self._numbered(each) for each in range(len(self._events))[place]]
        return self._numbered(place)

    def _numbered(self, place: int) -> Event:
        e, seq = self._events[place], self._first + (place if place >= 0 else place + len(self._events))
        return Event(e.kind, e.about, e.data, e.ts, e.scene, e.correlation_id, e.owner, seq)
