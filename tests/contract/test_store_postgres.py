"""What is Postgres's own about its store: its tables, its sessions, lines that break, and servers that are killed."""

import asyncio
import json
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest

from beforehand.adapters.postgres import schema
from beforehand.adapters.postgres.address import address_of
from beforehand.adapters.postgres.connecting import connect
from beforehand.adapters.postgres.lead import give_back, is_locked, lock, take_lead
from beforehand.adapters.postgres.lease import lease_in
from beforehand.adapters.postgres.store import PostgresStore
from beforehand.app.stores import check_log, check_store, migrate_store, read_leader, store_exists, store_location
from beforehand.model.errors import BadInputError, NotLeadingError, TooLargeError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import Record, Row, Store
from beforehand.testing.postgres_server import PASSWORD, PostgresServer

PATIENCE_S = 60


def project(event: Event) -> Iterable[Row]:
    if "id" in event.data:
        yield Row("thing", event.data["id"], event.data)


def happened(**data: Any) -> Event:
    return Event("noted", {"runId": "r"}, data, 1_700_000_000_000, "dock", "c", "run:r")


async def opened(url: str, **how: Any) -> PostgresStore:
    return await PostgresStore.open(url, **{"project": project, "now_ms": lambda: 0, **how})


async def until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    store = await opened(url)
    yield store
    await store.close()


def within(postgres: PostgresServer, url: str, statement: str) -> str:
    return postgres.tell(f"SET search_path = beforehand; {statement}", url.rpartition("/")[2])


# --- tables


async def test_an_empty_database_is_laid_out_by_who_leads_it_first(url: str) -> None:
    assert not store_exists(url)
    with pytest.raises(UnavailableError, match=r"There is no log at postgresql://127.0.0.1:.* yet"):
        await opened(url, lead=False)
    assert not store_exists(url), "who only reads makes nothing"
    await (await opened(url)).close()
    assert store_exists(url)
    await (await opened(url, lead=False)).close()


async def test_older_tables_are_upgraded_only_when_asked_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(url)
    await store.append([happened(id="a")])
    await store.close()
    now = schema.newest()
    newer = (*schema.MIGRATIONS, ("ALTER TABLE events ADD COLUMN colour TEXT",))
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    told = rf"are of version {now}; this Beforehand uses version {now + 1}"
    for lead in (True, False):
        with pytest.raises(UnavailableError, match=told) as refused:
            await opened(url, lead=lead)
        assert "beforehand db migrate" in refused.value.hint
    assert await migrate_store(url) == (now, now + 1)
    assert await migrate_store(url) == (now + 1, now + 1)
    store = await opened(url)
    assert await store.rows("thing") == [{"id": "a"}]
    await store.close()


async def test_an_upgrade_that_fails_leaves_everything_as_it_was(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await (await opened(url)).close()
    broken = (*schema.MIGRATIONS, ("ALTER TABLE rows ADD COLUMN colour TEXT", "ALTER TABLE nothing ADD COLUMN x INT"))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", broken)
        with pytest.raises(UnavailableError):
            await migrate_store(url)
    await (await opened(url)).close()


async def test_newer_tables_are_refused(url: str, postgres: PostgresServer) -> None:
    await (await opened(url)).close()
    within(postgres, url, "UPDATE schema_version SET version = 99")
    for attempt in (opened(url), opened(url, lead=False), migrate_store(url)):
        with pytest.raises(UnavailableError, match="of version 99, made by a newer Beforehand"):
            await attempt


async def test_tables_of_another_program_are_left_alone(url: str, postgres: PostgresServer) -> None:
    postgres.tell("CREATE SCHEMA beforehand CREATE TABLE theirs (n INT)", url.rpartition("/")[2])
    for attempt in (opened(url), migrate_store(url)):
        with pytest.raises(UnavailableError, match="a schema named beforehand that is not a Beforehand log"):
            await attempt


# --- sentences


async def test_no_password_is_in_any_sentence(postgres: PostgresServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = [
        postgres.url("postgres", user="locked", password="pass-word-1"),
        postgres.url("nowhere", password="pass-word-1"),
        postgres.url("postgres", password="pass-word-1", port=1),
        "postgresql://me:pass-word-1%ZZ@127.0.0.1/x",
    ]
    said = []
    for url in wrong:
        with pytest.raises((UnavailableError, BadInputError)) as refused:
            await opened(url)
        said += [str(refused.value), refused.value.hint, repr(refused.value.extra)]
        if "%ZZ" not in url:
            said += [repr(finding) for finding in [*check_store(url), *check_log(url)]]
            said.append(store_location(url))
            assert read_leader(url) is None
    assert "refuses the user name or the password" in said[0]
    assert any("is not there" in text for text in said)
    assert any("does not answer" in text for text in said)
    assert "pass-word" not in " ".join([*said, caplog.text])


async def test_who_has_the_password_gets_in(postgres: PostgresServer) -> None:
    name = postgres.new_database().rpartition("/")[2]
    postgres.tell(f"GRANT ALL ON DATABASE {name} TO locked")
    store = await opened(postgres.url(name, user="locked", password=PASSWORD))
    await store.append([happened()])
    assert "sesame" not in repr(store._address)
    await store.close()


async def test_doctor_says_which_server_and_how_safe_it_is(url: str) -> None:
    found = {finding.check: finding for finding in check_store(url)}
    assert "Postgres 1" in found["postgres"].says
    assert found["durability"].state == "broken"
    assert "fsync and full_page_writes off" in found["durability"].says
    assert found["tables"].says.startswith("No tables yet")
    store = await opened(url)
    await store.append([happened()])
    assert [finding.says for finding in check_log(url)] == ["1 event at the end of the log can be read."]
    await store.close()


# --- leading


async def test_the_leader_is_known_without_opening_the_store(url: str) -> None:
    assert read_leader(url) is None
    store = await opened(url, url_of_server="http://here", note="up")
    leader = read_leader(url)
    assert leader is not None
    assert (leader.url, leader.note, leader.pid, leader.alive) == ("http://here", "up", os.getpid(), True)
    with pytest.raises(NotLeadingError, match="http://here"):
        await migrate_store(url)
    await store.close()
    leader = read_leader(url)
    assert leader is not None
    assert not leader.alive


async def test_a_lead_that_was_given_back_is_free_before_its_session_ends(url: str, store: PostgresStore) -> None:
    await store.close()
    address = address_of(url)
    leading, looking = await connect(address), await connect(address)
    assert await lock(leading)
    epoch = await take_lead(leading, await lease_in(looking), since=0, url=None, note="")
    assert epoch is not None
    await give_back(leading, epoch)
    assert not await is_locked(looking)
    await leading.close()
    await looking.close()


async def test_opening_cancelled_at_any_statement_gives_the_lead_back(
    url: str, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, number = url.rpartition("/")[2], 0
    sessions = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'"
    while True:
        number += 1
        came, asked = await opened_and_cancelled(url, number, monkeypatch)
        if isinstance(came, PostgresStore):
            await came.close()
        await until(lambda: postgres.tell(sessions) == "0")
        await (await opened(url)).close()
        if asked < number:
            break
    assert number > 8, "each of its statements was one at which it was cancelled"


async def opened_and_cancelled(url: str, number: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, int]:
    """What became of an opening that was cancelled while its n-th statement was under way, and how many it came to."""
    from psycopg import AsyncConnection

    asks, asked = AsyncConnection.execute, 0

    async def execute(*given: Any, **named: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == number:
            asyncio.get_running_loop().call_soon(opening.cancel)
        return await asks(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(AsyncConnection, "execute", execute)
        opening = asyncio.ensure_future(opened(url))
        [came] = await asyncio.gather(opening, return_exceptions=True)
    assert isinstance(came, PostgresStore | asyncio.CancelledError), came
    return came, asked


async def test_one_that_cannot_be_written_costs_the_others_of_its_commit_nothing(store: PostgresStore) -> None:
    too_long = "".join(chr(0x4E00 + n * 7 % 20000) for n in range(5000))
    done = await asyncio.gather(
        store.append([happened(n=1)]),
        store.append([happened(id=too_long)]),
        store.append([happened(n=2)]),
        return_exceptions=True,
    )
    assert isinstance(done[1], TooLargeError)
    assert [event.data["n"] for event in await store.events()] == [1, 2]


# --- followers


async def test_who_reads_is_told_of_every_commit(url: str, store: PostgresStore) -> None:
    await store.append([happened(n=0)])
    reader = await opened(url, lead=False)
    told: list[Record] = []
    reader.on_commit(told.extend)
    for n in range(1, 40):
        await store.append([happened(n=n)])
    await until(lambda: len(told) >= 39)
    assert told == await store.records(1)
    await reader.close()


async def test_a_follower_whose_line_breaks_misses_nothing(
    url: str, store: PostgresStore, postgres: PostgresServer
) -> None:
    reader = await opened(url, lead=False)
    told: list[Record] = []
    reader.on_commit(told.extend)
    await store.append([happened(n=0)])
    await until(lambda: len(told) == 1)
    end_sessions(postgres, url, "query LIKE 'LISTEN%'")
    await store.append([happened(n=1), happened(n=2)])
    await until(lambda: len(told) >= 3)
    assert [record.seq for record in told] == [1, 2, 3]
    await reader.close()


# --- lines that break


def end_sessions(postgres: PostgresServer, url: str, which: str = "true") -> None:
    name = url.rpartition("/")[2]
    postgres.tell(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}' AND {which}")


async def test_sessions_that_were_ended_are_replaced(url: str, store: PostgresStore, postgres: PostgresServer) -> None:
    await store.append([happened(id="a", n=1)])
    await asyncio.gather(*(store.row("thing", "a") for _ in range(5)))
    end_sessions(postgres, url)
    assert await store.rows("thing") == [{"id": "a", "n": 1}]
    (second,) = await written(store, happened(id="a", n=2))
    assert second.seq == 2
    leader = await store.leader()
    assert leader is not None
    assert (leader.epoch, leader.alive) == (1, True)


async def written(store: Store, *events: Event) -> list[Event]:
    """As the loop does it: try again while the store does not take them."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        try:
            return list(await store.append(events))
        except UnavailableError:
            assert time.monotonic() < give_up
            await asyncio.sleep(0.05)


def stop_heart(store: PostgresStore) -> None:
    """As in a process that is frozen, or cut off from the database."""
    assert store._heart is not None
    store._heart.stop()


async def test_who_lost_the_session_and_then_the_lead_never_writes_again(
    url: str, store: PostgresStore, postgres: PostgresServer
) -> None:
    await store.append([happened(n=1)])
    stop_heart(store)
    end_sessions(postgres, url)
    other = await opened(url, url_of_server="http://other")
    await other.append([happened(n=2)])
    for _ in range(2):
        with pytest.raises(NotLeadingError, match="http://other"):
            await store.append([happened(n=3)])
    await other.close()
    with pytest.raises(NotLeadingError):
        await store.append([happened(n=3)])
    assert [event.data["n"] for event in await store.events()] == [1, 2]


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
async def test_a_commit_in_doubt_is_written_exactly_once(
    url: str, store: PostgresStore, postgres: PostgresServer, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line breaks just before the commit, or just behind it, when nobody has heard of it yet."""
    await store.append([happened(n=0)])
    assert store._writer is not None
    whole = store._writer._whole

    async def broken_off(line: Any, statements: Any) -> None:
        monkeypatch.undo()
        if kept:
            await statements()
        end_sessions(postgres, url)
        await whole(line, statements)

    monkeypatch.setattr(store._writer, "_whole", broken_off)
    await written(store, happened(id="x", n=1))
    await written(store, happened(n=2))
    assert [event.data["n"] for event in await store.events()] == [0, 1, 2]
    assert [event.seq for event in await store.events()] == [1, 2, 3]


async def test_a_session_ended_just_behind_a_commit_leaves_it_written_once(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's last words come before the line is seen to be closed."""
    from psycopg.errors import AdminShutdown

    assert store._writer is not None
    whole = store._writer._whole

    async def ended(line: Any, statements: Any) -> None:
        monkeypatch.undo()

        async def and_told_so() -> None:
            await statements()
            raise AdminShutdown("terminating connection due to administrator command")

        await whole(line, and_told_so)

    monkeypatch.setattr(store._writer, "_whole", ended)
    await written(store, happened(n=1))
    await written(store, happened(n=2))
    assert [event.data["n"] for event in await store.events()] == [1, 2]


async def test_no_limit_of_the_database_ends_the_session_of_an_idle_leader(url: str, postgres: PostgresServer) -> None:
    limits = ("statement_timeout", "idle_session_timeout", "idle_in_transaction_session_timeout")
    for limit in limits:
        postgres.tell(f"ALTER DATABASE {url.rpartition('/')[2]} SET {limit} = '10min'")
    store = await opened(url)
    assert store._writer is not None
    line = store._writer._line
    assert [await (await line.execute(f"SHOW {limit}")).fetchone() for limit in limits] == [("0",)] * 3
    assert await (await line.execute("SHOW synchronous_commit")).fetchone() == ("on",)
    await store.close()


# --- kill -9


WRITER = """
import asyncio, sys
from beforehand.adapters.postgres.store import PostgresStore
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import Row

def project(event):
    yield Row("thing", event.data["id"], event.data)

async def chain(store, name):
    for n in range(10**9):
        events = [Event("noted", {}, {"id": f"{name}-{n}-{half}"}, 0, None, "", name) for half in "ab"]
        while True:
            try:
                done = await store.append(events)
                break
            except UnavailableError:
                await asyncio.sleep(0.05)
        print(done[0].seq, f"{name}-{n}", flush=True)

async def main():
    store = await PostgresStore.open(sys.argv[1], project=project, now_ms=lambda: 0)
    await asyncio.gather(*(chain(store, f"c{each}") for each in range(8)))

asyncio.run(main())
"""


class Acknowledged:
    """A process that writes until it is killed, and every pair of events it was told to be on disk."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.pairs: dict[str, int] = {}

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, self._url, stdout=asyncio.subprocess.PIPE
        )
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            if line.endswith(b"\n"):  # else it was killed amid the word
                seq, name = line.decode().split()
                self.pairs[name] = int(seq)

    async def more(self, many: int) -> None:
        enough = len(self.pairs) + many
        await until(lambda: len(self.pairs) >= enough or self._process.returncode is not None)
        assert self._process.returncode is None

    async def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()
        await self._reading


async def check_sound(url: str, acknowledged: dict[str, int]) -> None:
    """Gap-free, whole pairs, each once, everything that was acknowledged, and rows that the events say."""
    store = await opened(url)
    after, ids = 0, []
    while records := await store.records(after, 5000):
        assert [record.seq for record in records] == list(range(after + 1, after + 1 + len(records)))
        ids += [json.loads(record.line)["data"]["id"] for record in records]
        after = records[-1].seq
    assert len(set(ids)) == len(ids)
    assert [one[:-1] for one in ids[::2]] == [one[:-1] for one in ids[1::2]]
    for name, seq in acknowledged.items():
        assert ids[seq - 1 : seq + 1] == [f"{name}-a", f"{name}-b"]
    assert [row["id"] for row in await store.rows("thing")] == ids
    await store.rebuild_rows()
    assert [row["id"] for row in await store.rows("thing")] == ids
    await store.close()


async def kill_process_and_server(server: PostgresServer, rounds: int) -> None:
    url = server.new_database()
    for _ in range(rounds):
        process = Acknowledged(url)
        await process.start()
        await process.more(60)
        server.kill()
        server.start()
        await process.more(60)
        await process.kill()
        await check_sound(url, process.pairs)
        server.tell("TRUNCATE beforehand.events, beforehand.rows", url.rpartition("/")[2])


async def test_process_and_server_killed_amid_appends(durable_postgres: PostgresServer) -> None:
    await kill_process_and_server(durable_postgres, rounds=1)


@pytest.mark.soak
async def test_process_and_server_killed_again_and_again(durable_postgres: PostgresServer) -> None:
    await kill_process_and_server(durable_postgres, rounds=25)


async def test_a_question_waits_for_a_database_that_is_back_in_a_moment(durable_postgres: PostgresServer) -> None:
    store = await opened(durable_postgres.new_database())
    await store.append([happened()])
    assert len(await store.records()) == 1
    durable_postgres.kill()
    try:
        asked = asyncio.create_task(store.records())
    finally:
        await asyncio.to_thread(durable_postgres.start)
    assert len(await asked) == 1
    await store.close()


@pytest.mark.parametrize("patience_s", [3600, -1])
async def test_the_first_write_after_the_database_was_away_is_done_where_that_took_but_a_moment(
    durable_postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, patience_s: float
) -> None:
    """An idle line that broke is noticed by the next commit, which was not kept for certain."""
    monkeypatch.setattr("beforehand.adapters.postgres.writer.PATIENCE_S", patience_s)
    store = await opened(durable_postgres.new_database())
    await store.append([happened()])
    durable_postgres.kill()
    await asyncio.to_thread(durable_postgres.start)
    if patience_s > 0:
        appended = await asyncio.gather(store.append([happened(), happened()]), store.append([happened()]))
        assert sorted(event.seq for events in appended for event in events) == [2, 3, 4]
    else:
        with pytest.raises(UnavailableError, match="does not answer"):
            await store.append([happened()])
        assert [event.seq for event in await store.append([happened()])] == [2]
    assert [record.seq for record in await store.records()] == list(range(1, await store.last_seq() + 1))
    await store.close()


async def test_a_database_that_stays_away_is_waited_for_once(
    durable_postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beforehand.adapters.postgres.reader.PATIENCE_S", 0.3)
    store = await opened(durable_postgres.new_database())
    assert await store.records() == []
    durable_postgres.kill()
    try:
        with pytest.raises(UnavailableError, match="does not answer"):
            await store.records()
        monkeypatch.setattr("beforehand.adapters.postgres.reader._AGAIN_S", 3600)  # nobody waits again
        with pytest.raises(UnavailableError, match="does not answer"):
            await store.records()
    finally:
        await asyncio.to_thread(durable_postgres.start)
    assert await store.records() == []
    await store.close()
