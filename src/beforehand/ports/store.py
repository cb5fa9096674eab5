"""The one log and the tables read from it.

`append` returns when the events are on disk, together with the rows that were read out of them. Rows are a cache: the
projection is a pure function of the events, and rebuilding the rows from the log gives the same bytes.
Exactly one process leads a store and may append; everybody may read. Whatever older code wrote comes out in its present
form, on every way out.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from beforehand.model.chain import ChainMark
from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.log_identity import LogIdentity
from beforehand.model.versions import Upcasters
from beforehand.ports.private_files import PrivateFiles


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


@dataclass(frozen=True, slots=True)
class RowQuery:
    """Which documents of a kind are asked for: the one called `id`, or those that fit, in the order they appeared."""

    kind: str
    id: str | None = None
    parent: str | None = None
    open: bool | None = None


class Record(NamedTuple):
    """An event as it lies in the log: its number, what filters look at, and its wire JSON, encoded once."""

    seq: int
    kind: str
    scene: str | None
    owner: str
    run_id: str | None
    task_id: str | None
    line: bytes


class Chained(NamedTuple):
    """An event with all its columns, exactly as it lies in the log or its archive, and its link of the chain."""

    record: Record
    ts: int
    version: int
    link: bytes | None = None
    """None for events of older code, which knew no chain."""
    is_reckoned: bool = False
    """Whether the link was left out in the archive, and made of the event before and this one when it was read."""

    @property
    def seq(self) -> int:
        return self.record.seq


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


class Server(NamedTuple):
    """A server that uses a store, whether it leads it or stands by."""

    id: str
    url: str | None
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class ArchivePart:
    """One compressed file of old events: which numbers and times it spans, and what tells it from another.

    It may have gaps, which the log or other parts fill. `names` are marks of the kinds, scenes, owners, runs and tasks
    in it, written under `versions`. `cleared` once its events are out of the log; `deleted` is when it was given up.
    """

    first: int
    last: int
    events: int
    from_ts: int
    to_ts: int
    size: int
    raw_size: int
    sha256: str
    versions: Mapping[str, int] = field(default_factory=dict)
    names: bytes = b""
    cleared: bool = False
    deleted: int = 0
    id: int = 0


class Archive(Protocol):
    """The old events of a store that lie compressed; every question to the store finds them as if they had not moved.

    Whoever leads may move events there and give them up; the newest event of the log is never moved.
    """

    async def parts(self) -> list[ArchivePart]:
        """What there is, and what was deleted, the oldest first."""

    async def unmoved(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events above a number that lie in the log itself."""

    async def move(self, seqs: Sequence[int]) -> ArchivePart:
        """Move events of the log into a part of their own, a few at a time, so that nobody's append waits long."""

    async def settle(self) -> None:
        """Finish what a crash left half moved or half deleted."""

    async def measure(self, seqs: Sequence[int]) -> ArchivePart:
        """What moving these events would make; nothing is changed."""

    async def events_of(self, part: ArchivePart) -> list[Event]:
        """The events in a part, brought to the present version."""

    async def delete(self, part: ArchivePart, rows: Sequence[tuple[str, str]], now_ms: int) -> None:
        """Give a part up for good, with these rows (kind and id) that were read out of it."""

    async def give_back(self) -> bool:
        """Give some of the room that moved events took back to the disk; false when there is none to give."""

    async def size(self) -> int:
        """How many bytes the log itself takes, without the archive."""


class Store(Protocol):
    """Opened for leading or for reading; see the module's words for what each promises."""

    @property
    def archive(self) -> Archive | None:
        """Where old events can be moved to; None for a store that is gone with its process."""

    @property
    def mark_file(self) -> Path | None:
        """The file beside the log that says how far it has come; None where nothing lies beside it."""

    async def identity(self) -> LogIdentity | None:
        """Which log this is and which generation of it; None for one that nobody has led since it was made."""

    async def identify(self, identity: LogIdentity) -> None:
        """From now on the log is this one, and lies here."""

    async def lies_elsewhere(self) -> bool | None:
        """Whether the log lies in another file or database than when it was identified: it is a copy, or was moved.
        None where that is not known."""

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

    async def chained(self, after: int = 0, limit: int = 1000) -> list[Chained]:
        """The next events above a number, archived ones too, with their links of the chain; in order.

        About `limit` of them, and all that lie between; none only where there are no more.
        """

    async def chain_marks(self) -> list[ChainMark]:
        """What is kept of the chain beside the events, in order."""

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

    async def query(self, *queries: RowQuery) -> list[list[dict[str, Any]]]:
        """The documents of each query, all as of one moment: what is shown together is read together."""

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

    def lead_left_s(self) -> float:
        """For how long this process may still tell machines anything, by its own clock; 0 where it does not lead.

        Without end where a lead lasts as long as its process, and whenever it is looked at anew where it is renewed.
        """

    async def close(self) -> None: ...


class Standby(Protocol):
    """A place among several servers of one store: one leads, the others read, watch, and take over."""

    url: str | None
    """Where the others reach this server; set once it is known."""
    leader: Leader | None
    """Who leads, as it was seen last."""
    servers: Sequence[Server]
    """The servers there are, this one included, as they were seen last."""

    @property
    def store(self) -> Store:
        """The one store of this place, for reading until this server leads, and for writing then."""

    @property
    def leads(self) -> bool: ...

    async def until_free(self) -> None:
        """Return when the last leader acts no more for certain, so that taking over may be tried."""

    async def take_over(self) -> None:
        """Lead from now on; NotLeadingError when another server was faster."""

    async def until_lost(self) -> None:
        """Return when this server led and another one does by now."""

    async def close(self) -> None:
        """Close the store and give the lead back, so that another server can take it at once."""


class Part(NamedTuple):
    """Some rows of one table of a log, as they lie there: `events`, `archive`, `rows` and so on."""

    table: str
    rows: list[tuple[Any, ...]]


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "events": ("seq", "ts", "kind", "scene", "owner", "run_id", "task_id", "line", "version", "chain"),
    "archive": (
        *("id", "first", "last", "events", "from_ts", "to_ts", "size", "raw_size", "sha256", "versions", "names"),
        *("cleared", "deleted", "body"),
    ),
    "rows": ("kind", "id", "parent", "open", "body", "ord"),
    "snapshots": ("owner", "seq", "body"),
    "versions": ("name", "version", "since"),
    "identity": ("one", "id", "generation", "legacy", "place"),
    "chain_marks": ("seq", "link", "why", "note"),
    "lead": ("one", "epoch", "pid", "host", "url", "since", "note"),
}
"""What every log on disk consists of, so that one can be copied into another of whatever kind."""


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

    async def stand_by(
        self,
        url: str,
        *,
        server_id: str,
        project: Projection,
        upcasters: Upcasters,
        now_ms: Callable[[], int],
    ) -> Standby | None:
        """A place among the servers of the store; None where only one process can use it as a server."""

    def read_servers(self, url: str) -> list[Server]: ...

    def private_files(self, url: str) -> PrivateFiles | None:
        """Where several servers keep what they all must know; None where that is each one's home."""

    def store_exists(self, url: str) -> bool: ...

    def read_leader(self, url: str) -> Leader | None: ...

    def store_location(self, url: str) -> str: ...

    def check_store(self, url: str) -> list[Finding]: ...

    def store_files(self, url: str) -> list[Path]: ...

    def check_log(self, url: str) -> list[Finding]: ...

    def check_room(self, url: str) -> list[Finding]: ...

    async def migrate_store(self, url: str) -> tuple[int, int]:
        """Make or upgrade the tables while nobody leads; the version there was and the one there is."""

    async def mend_store(self, url: str) -> None:
        """Have what is made from the events made anew where it is damaged, while nobody leads."""

    async def give_room_back(self, url: str) -> None:
        """Give room that nothing uses any more back to the disk, while nobody leads."""

    async def copy_beside(self, url: str, target: Path) -> None:
        """The log as it stands at one instant, beside whoever leads it, as a new SQLite log with its archive."""

    def read_parts(self, url: str) -> AsyncGenerator[Part, None]:
        """Everything in a log, in the order of `COLUMNS`; nobody can lead it meanwhile."""

    async def write_parts(self, url: str, parts: AsyncIterator[Part]) -> None:
        """Fill an empty log, all or nothing; one that holds anything is refused."""
