"""What a file is to a store on disk: the log in memory, which outlives the stores that are opened on it.

Events are kept as bytes in the form they were written in. Beside them lies what is only read out of them: their present
form, the rows and the snapshots.
"""

from collections.abc import Iterable, Sequence
from copy import copy

from beforehand.adapters.log.encoding import Change, Entry, Kept, changes_anew, line_of, present_event, present_record
from beforehand.adapters.log.refusals import newer_data
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.model.versions import Upcasters, is_behind, newer_names, present_versions
from beforehand.ports.store import Leader, Projection, Record

WHERE = "in memory"
Rows = dict[tuple[str, str], Change]


class MemoryLog:
    def __init__(self) -> None:
        self.kept: list[Kept] = []
        self.events: list[Event] = []
        self.records: list[Record] = []
        self.rows: Rows = {}
        self.snapshots: dict[str, tuple[int, bytes]] = {}
        self.versions: dict[str, int] = {}
        self.leader: Leader | None = None
        self.identity: LogIdentity | None = None
        self.full = False

    def write(self, entries: Sequence[Entry], upcasters: Upcasters) -> list[Record]:
        """Number the entries and keep them with their rows."""
        written = []
        for entry in entries:
            seq = len(self.kept) + 1
            kept = Kept(seq, entry.ts, entry.owner, entry.version, line_of(seq, entry.tail))
            self.kept.append(kept)
            self.events.append(present_event(kept, upcasters))
            written.append(Record(seq, entry.kind, entry.scene, entry.owner, entry.run_id, entry.task_id, kept.line))
            _apply(self.rows, entry.changes)
        self.records += written
        return written

    def is_behind(self, upcasters: Upcasters) -> bool:
        """Whether older code wrote it last; a newer one's is refused."""
        present = present_versions(upcasters)
        if newer := newer_names(self.versions, present):
            raise newer_data(WHERE, newer)
        return is_behind(self.versions, present)

    def bring_up_to_date(self, project: Projection, upcasters: Upcasters) -> None:
        """Make it what the present code would have written."""
        if self.is_behind(upcasters):
            self.rebuild(project, upcasters)
            self.snapshots = {}
            self.versions = {**self.versions, **present_versions(upcasters)}

    def rebuild(self, project: Projection, upcasters: Upcasters) -> None:
        """Read all that can be read out of the events anew, or leave it as it was."""
        events = [present_event(kept, upcasters) for kept in self.kept]
        records = [present_record(kept, upcasters) for kept in self.kept]
        rows: Rows = {}
        for event in events:
            _apply(rows, changes_anew(event, project))
        self.events, self.records, self.rows = events, records, rows

    def copied(self) -> "MemoryLog":
        """A log with the same contents, which goes its own way from here."""
        other = copy(self)
        other.kept, other.rows, other.snapshots = list(self.kept), dict(self.rows), dict(self.snapshots)
        other.events, other.records = list(self.events), list(self.records)
        return other


def _apply(rows: Rows, changes: Iterable[Change]) -> None:
    """A row keeps its place when it changes, and gets a new one when it was deleted and made again."""
    for change in changes:
        if change.body is None:
            rows.pop((change.kind, change.id), None)
        else:
            rows[change.kind, change.id] = change
