"""A log whose file is damaged: what can be made anew is, by whoever leads it; of the rest it is said which events.

Pages are overwritten, the file is cut off, its write-ahead log is taken away: what a broken disk or a hasty copy does.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.contract.killing import kill_at_every_moment
from tests.contract.test_backup import contents, filled, opened, settings_of
from tests.contract.test_backup_disk import damage

from beforehand.adapters.sqlite import damage as damages
from beforehand.adapters.sqlite.checks import check_file
from beforehand.app.doctor import diagnosis
from beforehand.app.high_water import settle_identity
from beforehand.app.settings import Settings
from beforehand.app.stores import mend_store
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.log_identity import LogIdentity
from beforehand.ports.store import Store
from beforehand.testing.postgres_server import PostgresServer

NOTHING = {"tools": [], "missing": []}
PAGE = 4096


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    """A home whose log holds 300 events, most of them in its archive, and 20 large ones; nobody leads it."""
    made = settings_of(tmp_path / "home")
    store = await filled(made)
    await store.append([large(n) for n in range(301, 321)])
    await led(store, made)
    return made


def large(n: int) -> Event:
    return Event("noted", {"runId": "r"}, {"n": n, "told": "x" * 3000}, n, "dock", "c", "run:r")


async def led(store: Store, settings: Settings) -> LogIdentity:
    """Which log it is for whoever leads it now, who ends at once."""
    identity, mark = await settle_identity(store, settings.home)
    if mark is not None:
        mark.close()
    await store.close()
    return identity


def log_of(settings: Settings) -> Path:
    return settings.home / "log.db"


def pages(settings: Settings) -> Finding:
    """What doctor finds in the file."""
    return next(finding for finding in check_file(log_of(settings)) if finding.check == "pages")


def write_over(settings: Settings, sql: str) -> None:
    with closing(sqlite3.connect(log_of(settings))) as connection, connection:
        connection.execute(sql)


def break_text_of_a_row(log: Path, _: str) -> None:
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("UPDATE rows SET body = substr(body, 1, 5) WHERE id = '7'")


def break_page_with(log: Path, number: int) -> None:
    """Overwrite the page in which an event lies."""
    line = b'"told":"' if number > 300 else b""
    with closing(sqlite3.connect(log)) as connection:
        (found,) = connection.execute("SELECT line FROM events WHERE seq = ?", (number,)).fetchone()
    assert line in found
    content = log.read_bytes()
    place = content.index(bytes(found)[:200]) // PAGE * PAGE
    log.write_bytes(content[:place] + b"\xee" * PAGE + content[place + PAGE :])


@pytest.mark.parametrize(
    ("table", "breaks"),
    [(table, damage) for table in ("rows", "rows_kind", "snapshots", "spans", "versions", "events_run")]
    + [("text of a row", break_text_of_a_row)],
)
async def test_what_is_made_from_the_events_is_made_anew(table: str, breaks: Any, settings: Settings) -> None:
    before = await contents(settings)
    identity = await led(await opened(settings), settings)
    breaks(log_of(settings), table)
    found = pages(settings)
    assert found.state == "broken"
    assert "No event is damaged" in found.try_next
    await mend_store(settings.database)
    assert await led(await opened(settings), settings) == identity
    after = await contents(settings)
    assert (after["records"], after["rows"]) == (before["records"], before["rows"])
    assert pages(settings).state == "ok"
    assert log_of(settings).with_name("log.db.damaged").is_file()


async def test_a_whole_log_is_left_as_it_is(settings: Settings) -> None:
    place = log_of(settings).stat().st_ino
    await mend_store(settings.database)
    await (await opened(settings)).close()
    assert log_of(settings).stat().st_ino == place
    assert [path.name for path in settings.home.glob("log.db.*ed")] == []


async def test_events_that_cannot_be_read_are_named_and_the_others_are_read(settings: Settings) -> None:
    break_page_with(log_of(settings), 310)
    found = pages(settings)
    assert found.state == "broken"
    assert "events cannot be read: 310" in found.says
    assert "put a backup in its place" in found.try_next
    await mend_store(settings.database)
    store = await opened(settings)
    try:
        assert [event.seq for event in await store.events(after=310, limit=5)] == [311, 312, 313, 314, 315]
        with pytest.raises(UnavailableError, match=r"log\.db is damaged"):
            await store.events(after=305, limit=10)
        [new] = await store.append([large(400)])
        assert await store.last_seq() == new.seq
    finally:
        await store.close()


async def test_an_event_whose_text_is_no_json_is_named(settings: Settings) -> None:
    write_over(settings, "UPDATE events SET line = substr(line, 1, 40) WHERE seq = 305")
    assert "events cannot be read: 305." in pages(settings).says
    store = await opened(settings, lead=False)
    try:
        with pytest.raises(UnavailableError, match="not what was written there"):
            await store.events(after=304, limit=1)
    finally:
        await store.close()


async def test_a_log_that_has_lost_its_last_page_says_from_where_on(settings: Settings) -> None:
    break_page_with(log_of(settings), 320)
    assert "events cannot be read: all from 320 on" in pages(settings).says
    with pytest.raises(UnavailableError, match="events cannot be read: all from 320 on") as refused:
        await opened(settings)
    assert refused.value.code == "store.unreadable"
    assert "beforehand doctor" in refused.value.hint


async def test_what_cannot_be_made_anew_because_events_are_damaged_is_refused(settings: Settings) -> None:
    break_page_with(log_of(settings), 310)
    damage(log_of(settings), "rows")
    whole = log_of(settings).read_bytes()
    with pytest.raises(UnavailableError, match=r"events cannot be read: 310; .* from the events cannot be read: rows"):
        await mend_store(settings.database)
    assert log_of(settings).read_bytes() == whole
    assert not log_of(settings).with_name("log.db.mended").exists()


def cut(log: Path) -> None:
    log.write_bytes(log.read_bytes()[: 5 * PAGE + 100])


def spoil_head(log: Path) -> None:
    log.write_bytes(b"garbage!" * 20 + log.read_bytes()[160:])


@pytest.mark.parametrize(
    ("breaks", "says"), [(cut, "it is cut off: 20.6 kB of"), (spoil_head, "its beginning is not that of a log")]
)
async def test_a_file_that_is_no_log_any_more_says_so(breaks: Any, says: str, settings: Settings) -> None:
    breaks(log_of(settings))
    assert says in pages(settings).says
    for lead in (True, False):
        with pytest.raises(UnavailableError, match="is damaged"):
            await opened(settings, lead=lead)


def empty(log: Path) -> None:
    log.write_bytes(b"")


def gone(log: Path) -> None:
    log.unlink()


def without_write_ahead_log(log: Path) -> None:
    """All events are in the write-ahead log, and that is not copied along."""
    log.write_bytes(b"")
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


@pytest.mark.parametrize("breaks", [empty, gone, without_write_ahead_log])
async def test_a_log_that_is_lost_is_not_begun_anew_without_a_word(breaks: Any, settings: Settings) -> None:
    breaks(log_of(settings))
    with pytest.raises(
        UnavailableError, match=r"log\.db is empty or gone, .* it had come to event 320: it has been lost"
    ):
        await opened(settings)
    assert log_of(settings).exists() == (breaks is not gone)
    told = await diagnosis(settings, NOTHING)
    assert any("it has been lost" in check["says"] for check in told["checks"] if check["state"] == "broken")
    log_of(settings).with_name("log.db.mark").unlink()
    log_of(settings).unlink(missing_ok=True)
    store = await opened(settings)
    assert await store.last_seq() == 0
    await store.close()


async def test_doctor_says_that_the_last_events_are_lost(settings: Settings) -> None:
    write_over(settings, "DELETE FROM events WHERE seq > 315")
    [found] = [check for check in (await diagnosis(settings, NOTHING))["checks"] if check["check"] == "log"]
    assert found["state"] == "broken"
    assert "ends with event 315, and it had come to event 320" in found["says"]


# -- in a database ---------------------------------------------------------------------------------------------------


def spoil(settings: Settings, sql: str) -> None:
    with psycopg.connect(settings.database) as line:
        line.execute(sql.encode())


@pytest.fixture
async def in_database(postgres: PostgresServer, tmp_path: Path) -> Settings:
    """A log in a database with one document of something that goes on."""
    made = settings_of(tmp_path / "home", postgres.new_database())
    await (await filled(made)).close()
    return made


async def test_a_damaged_document_in_a_database_is_made_anew(in_database: Settings) -> None:
    before = (await contents(in_database))["rows"]
    spoil(in_database, "UPDATE rows SET body = substr(body, 1, 5), open = 1 WHERE id = '7'")
    with pytest.raises(UnavailableError, match="not what was written there"):
        await contents(in_database)
    await (await opened(in_database)).close()
    assert (await contents(in_database))["rows"] == before


async def test_a_damaged_event_in_a_database_is_told_and_the_others_are_read(in_database: Settings) -> None:
    spoil(in_database, "UPDATE events SET line = substr(line, 1, 20) WHERE seq = 260")
    store = await opened(in_database)
    try:
        with pytest.raises(UnavailableError, match="not what was written there"):
            await store.events(after=255, limit=10)
        assert len(await store.events(after=260, limit=10)) == 10
    finally:
        await store.close()


# -- killed while it is mended ---------------------------------------------------------------------------------------

MOMENTS = ((damages, "copy_logged"), (damages, "_put_in_place"), (damages.Path, "unlink"), (damages.Path, "replace"))


async def do(home: str) -> None:
    await mend_store(settings_of(Path(home)).database)
    await (await opened(settings_of(Path(home)))).close()


async def check(home: str, *, ended: bool) -> None:
    """Whenever it was killed, the next start finds everything; then it is damaged again for the next child."""
    settings = settings_of(Path(home))
    await mend_store(settings.database)
    store = await opened(settings)
    assert len(await store.rows("thing")) == 50
    assert await store.last_seq() == 320
    identity = await led(store, settings)
    assert str(identity) == (Path(home) / "log.db.mark").read_text().split()[0]
    if not ended:
        damage(log_of(settings), "rows")


async def test_mending_that_is_killed_at_any_moment_loses_nothing(settings: Settings) -> None:
    damage(log_of(settings), "rows")
    moments = await kill_at_every_moment(__file__, 60, str(settings.home))
    assert 8 < moments < 60


async def test_somebody_who_reads_the_damaged_log_goes_on_reading_it(settings: Settings) -> None:
    damage(log_of(settings), "spans")
    with closing(sqlite3.connect(log_of(settings))) as reader:
        reader.execute("BEGIN")
        before = reader.execute("SELECT * FROM lead").fetchall()
        await mend_store(settings.database)
        await (await opened(settings)).close()
        assert reader.execute("SELECT * FROM lead").fetchall() == before
    assert pages(settings).state == "ok"
