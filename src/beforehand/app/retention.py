"""How long the log is kept: the setting `retention`, read and carried out.

`90d archive` moves events of what has ended into the archive when they are ninety days old; `90d archive, 2y delete`
also deletes archives that are two years old. Nothing is ever deleted unless the setting says so. A server that leads
does it once a day, a little at a time.
"""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from beforehand.app.archiving import archive_events, delete_archives, shrink
from beforehand.app.runtime import Runtime
from beforehand.app.settings import Settings
from beforehand.model.errors import BadInputError, BeforehandError
from beforehand.ports.log import Log
from beforehand.ports.tasks import note

log = Log("beforehand.retention")
DAY_MS = 24 * 60 * 60 * 1000
FIRST_S = 60.0
"""A server that starts has better things to do first."""
EVERY_S = 24 * 60 * 60.0
AGAIN_S = 60 * 60.0
PIECE_S = 2.0
REST = 3.0
"""How long it rests, in times of how long it works."""
_AGE = re.compile(r"(\d{1,5})\s*(d|w|m|y|days?|weeks?|months?|years?)", re.IGNORECASE)
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


@dataclass(frozen=True, slots=True)
class Retention:
    """After how many days events move into the archive, and after how many archives are deleted, if ever."""

    archive_days: int
    delete_days: int | None = None

    @property
    def says(self) -> str:
        """What it does, as a sentence."""
        archived = f"Events of what has ended are archived after {self.archive_days} days"
        if self.delete_days is None:
            return f"{archived}; nothing is deleted."
        return f"{archived}, and archives are deleted after {self.delete_days} days."


def retention_of(settings: Settings) -> Retention | None:
    """What the setting says; None where it says nothing. BadInputError where it cannot be read."""
    told = settings["retention"]
    return None if told is None else _read(str(told))


def _read(told: str) -> Retention:
    days: dict[str, int] = {}
    for clause in told.split(","):
        age, _, verb = clause.strip().rpartition(" ")
        found = days_in(age)
        if found is None or verb not in ("archive", "delete") or verb in days:
            raise _unreadable(told)
        days[verb] = found
    if "archive" not in days or days.get("delete", days["archive"]) < days["archive"]:
        raise _unreadable(told)
    return Retention(days["archive"], days.get("delete"))


def days_in(age: str) -> int | None:
    """`90d`, `12 weeks`, `2y` as days; None for anything else."""
    found = _AGE.fullmatch(age.strip())
    return None if found is None else int(found[1]) * _DAYS[found[2][0].lower()]


def _unreadable(told: str) -> BadInputError:
    return BadInputError(
        f"retention is {told!r}, which cannot be read: it is written `90d archive`, or `90d archive, 2y delete`.",
        code="settings.retention",
        hint="Ages are whole numbers of d, w, m or y; what is deleted must have been archived before.",
    )


def moment(told: str, now_ms: int) -> int:
    """A date (`2026-01-31`), a time with its zone, or an age (`90d`) as ms since 1970; dates begin in UTC."""
    days = days_in(told)
    if days is not None:
        return max(now_ms - days * DAY_MS, 0)
    try:
        found = datetime.fromisoformat(told.strip())
        found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        return round(found.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise BadInputError(
            f"{told!r} is no date.", code="archive.date", hint="Give 2026-01-31, 2026-01-31T12:00:00Z or an age: 90d."
        ) from None


async def keep_to(runtime: Runtime, retention: Retention) -> dict[str, Any]:
    """Do what is due now, in small pieces with rests between them; what it came to."""
    now, after, moved = runtime.now(), 0, 0
    while True:
        done = await archive_events(
            runtime, now - retention.archive_days * DAY_MS, after=after, for_s=PIECE_S, rest=REST
        )
        moved += done["events"]
        if done["next"] is None:
            break
        after = done["next"]
    if moved:
        await shrink(runtime, rest=REST)
    deleted = 0
    if retention.delete_days is not None:
        deleted = (await delete_archives(runtime, now - retention.delete_days * DAY_MS))["events"]
    return {"archived": moved, "deleted": deleted}


async def keep_to_daily(runtime: Runtime, retention: Retention) -> None:
    """For as long as the server runs; what goes wrong is told in its log and tried again."""
    await asyncio.sleep(FIRST_S)
    while True:
        pause_s = EVERY_S
        try:
            done = await keep_to(runtime, retention)
            log.info("retention was kept", **done)
        except BeforehandError as error:
            log.warning("retention could not be kept", says=error.says)
            pause_s = AGAIN_S
        except Exception as error:
            note("keeping to the retention", error)
            pause_s = AGAIN_S
        await asyncio.sleep(pause_s)
