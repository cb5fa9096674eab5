"""How every store refuses, so that people read the same sentence whichever store they use.

`where` is the place of the log as it may stand in a sentence: a path, or `in memory`.
"""

from collections.abc import Sequence
from dataclasses import asdict

from beforehand.model.errors import (
    BadInputError,
    NotLeadingError,
    RefusedError,
    TooLargeError,
    UnavailableError,
    UnreadableError,
)
from beforehand.model.event import iso
from beforehand.ports.store import EventFilter, Leader

_MOST_KINDS = 1000


def led_by_another(where: str, leader: Leader | None) -> NotLeadingError:
    """The refusal of a write, saying who leads and where."""
    if leader is None:
        return NotLeadingError(f"Another process leads the log {where}.", hint="Wait for it to end, or use its server.")
    server = f" at {leader.url}" if leader.url else ""
    return NotLeadingError(
        f"Process {leader.pid} on {leader.host} leads the log {where}{server} since {iso(leader.since)}.",
        hint=f"Use its server{server}, or stop it and try again." if server else "Wait for it to end, or stop it.",
        extra={"path": where, **asdict(leader)},
    )


def servers_first(where: str) -> NotLeadingError:
    """The refusal of the lead to a command while servers stand by for it."""
    return NotLeadingError(
        f"Servers stand by for the log {where}, and one of them is about to lead it.",
        hint="Try again in a few seconds.",
        extra={"path": where, "url": None, "note": "server"},
    )


def only_reading(where: str, leader: Leader | None) -> NotLeadingError:
    """The refusal of a write by a process that opened the log to read it."""
    known = led_by_another(where, leader) if leader and leader.alive else None
    return NotLeadingError(
        known.says if known else f"This process opened the log {where} for reading only.",
        hint=known.hint if known else "Open it for leading to write.",
        extra=known.extra if known else {"path": where},
    )


def lost_tail(where: str, last: int, found: int) -> NotLeadingError:
    """A log that has become shorter under its leader, who may have acted on what is gone: it must be taken up anew."""
    return NotLeadingError(
        f"The log {where} ended with event {last} and ends with event {found} now: its database lost what came last.",
        code="store.lost_tail",
        hint="It is taken up again as another generation; what machines did meanwhile is asked about.",
        extra={"path": where},
    )


def closed(where: str) -> UnavailableError:
    return UnavailableError(f"The log {where} has been closed.", code="store.closed")


def no_room(where: str) -> UnavailableError:
    return UnavailableError(
        f"There is no space left to write the log {where}; what was asked for was not written.",
        code="store.full",
        hint="Free some space on that disk and try again.",
    )


def read_only(where: str) -> UnavailableError:
    """The refusal to change what can be read only; `where` is its folder."""
    return UnavailableError(
        f"{where} is read-only for this process, so nothing was changed there.",
        code="store.read_only",
        hint="It can be read, exported and backed up (`beforehand db backup FILE`). To change something, make the"
        " folder writable, or restore the backup into another home.",
    )


def damaged(where: str, what: str = "") -> UnreadableError:
    """The refusal of what cannot be read any more; `what` is that, as far as it is known."""
    return UnreadableError(
        f"The log {where} is damaged{f': {what}' if what else ''}.",
        hint="`beforehand doctor` says what of it, and what to do.",
    )


def lost(where: str, marked: int) -> UnavailableError:
    """The refusal to begin anew where a log was; `marked` is how far it had come."""
    return UnavailableError(
        f"The log {where} is empty or gone, and the mark beside it says that it had come to event {marked}:"
        " it has been lost.",
        code="store.lost",
        hint="Put its files back (log.db-wal too), or restore a backup into an empty home. To begin anew without it,"
        f" remove {where}.mark.",
    )


def newer_data(where: str, names: Sequence[str]) -> UnavailableError:
    """The refusal to open what newer code wrote; `names` are the kinds of events, or Beforehand itself."""
    return UnavailableError(
        f"The log {where} was written by a newer version, which this one cannot read ({', '.join(names)}).",
        code="store.too_new",
        hint="Use that newer version, or another home.",
    )


def half_a_character() -> BadInputError:
    return BadInputError(
        "A name that was asked for holds half a character (a lone surrogate), which no name in the log can.",
        hint="Check the spelling of the name.",
    )


def check_filter(only: EventFilter) -> None:
    if len(only.kinds) > _MOST_KINDS:
        raise TooLargeError(
            f"{len(only.kinds)} kinds of events are too many to ask for at once; {_MOST_KINDS} is the limit."
        )


def not_empty(where: str) -> RefusedError:
    return RefusedError(
        f"The log {where} holds something already; nothing was copied.",
        code="store.not_empty",
        hint="Name a home or a database that is empty.",
    )


def only_in_memory() -> BadInputError:
    return BadInputError(
        "A log in memory is gone with its process, so there is nothing to copy or upgrade.", code="settings.db"
    )
