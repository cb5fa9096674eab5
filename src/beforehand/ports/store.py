"""The one log and the tables read from it.

`append` returns when the events are on disk, together with the rows that were read out of them. Rows are a cache: the
projection is a pure function of the events, and rebuilding the rows from the log gives the same bytes.
Exactly one process leads a store and may append; everybody may read. Whatever older code wrote comes out in its present
form, on every way out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.versions import Upcasters


class Row(NamedTuple):
    """One document that HTTP reads.

    `body` None deletes it; `parent` groups (the steps of a run); `open` marks what still lives.
    """

    kind: str
    id: str
    body: Mapping[str, Any] | None
    parent: str = ""
    open: bool = False


Projection = Callable[[Event], Iterable[Row]]


class Record(NamedTuple):
    """An event as it lies in the log: its number, what filters look at, and its wire JSON, encoded once."""

    seq: int
    kind: str
    scene: str | None
    owner: str
    run_id: str | None
    task_id: str | None
    line: bytes


@dataclass(frozen=True, slots=True)
class EventFilter:
    kinds: frozenset[str] = frozenset()
    run: str | None = None
    task: str | None = None
    scene: str | None = None
    owner: str | None = None

    def admits(self, record: Record) -> bool:
        """Whether a record passes this filter."""
        return (
            (not self.kinds or record.kind in self.kinds)
            and (self.run is None or record.run_id == self.run)
            and (self.task is None or record.task_id == self.task)
            and (self.scene is None or record.scene == self.scene)
            and (self.owner is None or record.owner == self.owner)
        )


EVERYTHING = EventFilter()


@dataclass(frozen=True, slots=True)
class Leader:
    """Who leads a store: which process, since when, and where it can be reached."""

    epoch: int
    pid: int
    host: str
    url: str | None
    since: int
    note: str = ""
    alive: bool = field(default=True)


class Store(Protocol):
    """Opened for leading or for reading; see the module's words for what each promises."""

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        """Make the events durable, in order, in one transaction with their rows; return them numbered."""

    async def last_seq(self) -> int:
        """The number of the newest event; 0 in an empty log."""

    async def records(
        self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING, *, most_bytes: int | None = None
    ) -> list[Record]:
        """Records with a number above `after`, in order; with `most_bytes` no further ones once that much is found."""

    async def last_records(
        self, before: int | None = None, limit: int = 1000, only: EventFilter = EVERYTHING
    ) -> list[Record]:
        """The last `limit` records with a number below `before`, or of all; in order, the newest last."""

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        """The same as events, brought to the present version."""

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        """One document, or None."""

    async def rows(
        self,
        kind: str,
        *,
        parent: str | None = None,
        open: bool | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[dict[str, Any]]:
        """Documents of a kind in the order they first appeared."""

    async def count(self, kind: str, *, open: bool | None = None) -> int:
        """How many documents of a kind there are."""

    async def save_snapshot(self, owner: str, seq: int, body: Mapping[str, Any]) -> None:
        """Keep a driver's state at a number; a cache like the rows, and dropped when the data's version changes."""

    async def snapshot(self, owner: str) -> tuple[int, dict[str, Any]] | None:
        """The number and the state that were kept last, or None."""

    async def rebuild_rows(self) -> None:
        """Drop every row and read them again from the log."""

    def on_commit(self, listener: Callable[[Sequence[Record]], None]) -> Callable[[], None]:
        """Call `listener` in the event loop with what each commit made durable; the result takes it off again."""

    async def announce(self, url: str | None, note: str = "") -> None:
        """Say where the leading process can be reached."""

    async def leader(self) -> Leader | None:
        """Who leads now, `alive` false when that process is gone."""

    async def close(self) -> None: ...


class StoreScheme(Protocol):
    """What knows the stores of one kind of URL. A module with these functions is one."""

    async def open_store(
        self,
        url: str,
        *,
        project: Projection,
        lead: bool,
        now_ms: Callable[[], int],
        url_of_server: str | None,
        note: str,
        upcasters: Upcasters,
    ) -> Store: ...

    def store_exists(self, url: str) -> bool: ...

    def read_leader(self, url: str) -> Leader | None: ...

    def store_location(self, url: str) -> str: ...

    def check_store(self, url: str) -> list[Finding]: ...

    def store_files(self, url: str) -> list[Path]: ...

    def check_log(self, url: str) -> list[Finding]: ...
