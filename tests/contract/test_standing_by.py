"""The lead of a log in Postgres as a lease: who may act, who may take over and when, and what the loser may do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import pytest
from tests.breaking import break_into, watched_here

from beforehand.adapters.postgres import lease
from beforehand.adapters.postgres.kept import KeptFiles
from beforehand.adapters.postgres.lease import LEASE_S, Lease, Stillness, is_dead, now_s, this_machine
from beforehand.adapters.postgres.standing import PostgresStandby
from beforehand.adapters.postgres.store import PostgresStore
from beforehand.app.kept_files import bring_along
from beforehand.app.stores import read_leader, read_servers, shared_files
from beforehand.model.errors import NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.versions import UPCASTERS
from beforehand.ports import tasks
from beforehand.ports.store import Record, Row
from beforehand.testing.postgres_server import PostgresServer


def project(event: Event) -> Iterable[Row]:
    return ()


def happened(n: int) -> Event:
    return Event("noted", {}, {"n": n}, 0, None, "", "run:r")


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


async def server(url: str, name: str) -> PostgresStandby:
    return await PostgresStandby.open(url, server_id=name, project=project, upcasters=UPCASTERS, now_ms=lambda: 0)


@pytest.fixture
async def two(url: str) -> AsyncIterator[tuple[PostgresStandby, PostgresStandby]]:
    """The first leads, the second stands by."""
    both = await server(url, "one"), await server(url, "two")
    yield both
    for each in both:
        await each.close()


def freeze(leader: PostgresStandby) -> float:
    """Let its heart stand still while its sessions stay, as a frozen process does; when that was."""
    store = leader.store
    assert isinstance(store, PostgresStore)
    assert store._heart is not None
    store._heart._over.set()
    return now_s()


async def patiently(waiting: Any) -> Any:
    async with asyncio.timeout(60):
        return await waiting


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110  what happens in the database has no event here
            await asyncio.sleep(0.02)


async def test_of_two_one_leads_and_both_are_known(url: str, two: tuple[PostgresStandby, PostgresStandby]) -> None:
    first, second = two
    assert (first.leads, second.leads) == (True, False)
    assert first.store.lead_left_s() > 0
    assert second.store.lead_left_s() == 0
    with pytest.raises(NotLeadingError):
        await second.store.append([happened(1)])
    while {one.id for one in second.servers} != {"one", "two"}:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert {one.id for one in read_servers(url)} == {"one", "two"}


async def test_a_server_that_signed_before_the_clock_of_the_database_was_set_back_counts_no_more(
    url: str, two: tuple[PostgresStandby, PostgresStandby]
) -> None:
    import psycopg

    async with await psycopg.AsyncConnection.connect(url, autocommit=True, options="-c search_path=beforehand") as line:
        later = "clock_timestamp() + interval '1 h'"
        await line.execute(f"INSERT INTO servers (id, url, host, pid, seen) VALUES ('gone', '', 'h', 1, {later})")
        assert "gone" not in {one.id for one in read_servers(url)}
        while await (await line.execute("SELECT id FROM servers WHERE id = 'gone'")).fetchone():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_leader_that_stands_still_is_replaced_after_its_time_and_not_before(
    two: tuple[PostgresStandby, PostgresStandby],
) -> None:
    first, second = two
    heard: list[int] = []

    def hear(records: Sequence[Record]) -> None:
        heard.extend(record.seq for record in records)

    second.store.on_commit(hear)
    await first.store.append([happened(1), happened(2)])
    still_since = freeze(first)
    assert first.store.lead_left_s() == 0
    await patiently(second.until_free())
    assert now_s() - still_since >= LEASE_S - lease.BEAT_S - 0.1, "its last beat was at most one beat earlier"
    await second.take_over()
    assert second.leads
    assert second.store.lead_left_s() > 0
    await second.store.append([happened(3)])
    with pytest.raises(NotLeadingError):
        await first.store.append([happened(4)])
    await patiently(first.until_lost())
    assert not first.leads
    assert [event.data["n"] for event in await second.store.events()] == [1, 2, 3]
    assert heard == [1, 2, 3], "whoever followed before goes on without a gap"


async def test_an_idle_leader_notices_that_another_one_leads(
    url: str, two: tuple[PostgresStandby, PostgresStandby], postgres: PostgresServer
) -> None:
    first, _ = two
    postgres.tell("UPDATE beforehand.lead SET epoch = epoch + 1", url.rpartition("/")[2])
    await patiently(first.until_lost())
    assert first.store.lead_left_s() == 0


async def test_a_leader_that_only_lost_its_session_goes_on(
    url: str, two: tuple[PostgresStandby, PostgresStandby], postgres: PostgresServer
) -> None:
    first, second = two
    name = url.rpartition("/")[2]
    postgres.tell(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    with pytest.raises(NotLeadingError, match="is about to lead it"):
        await PostgresStore.open(url, project=project, now_ms=lambda: 0)
    assert [event.seq for event in await patiently(_until_written(first, happened(1)))] == [1]
    assert first.leads
    assert not second.leads


async def _until_written(standby: PostgresStandby, *events: Event) -> Sequence[Event]:
    while True:
        try:
            return await standby.store.append(events)
        except UnavailableError:
            await asyncio.sleep(0.05)


async def test_a_lead_that_was_given_back_needs_no_waiting(url: str) -> None:
    first, second = await server(url, "one"), await server(url, "two")
    await first.store.append([happened(1)])
    await first.close()
    await patiently(second.until_free())
    assert second._over is not None
    assert second._over.released
    await second.take_over()
    assert [event.seq for event in await second.store.append([happened(2)])] == [2]
    await second.close()


async def test_whoever_changes_the_tables_is_not_thrown_out(url: str, postgres: PostgresServer) -> None:
    from beforehand.adapters.postgres.address import address_of
    from beforehand.adapters.postgres.opening import locked

    first, second = await server(url, "one"), await server(url, "two")
    await first.close()
    async with locked(address_of(url)) as line:
        await patiently(second.until_free())
        with pytest.raises(NotLeadingError):
            await second.take_over()
        assert await (await line.execute("SELECT 1")).fetchone() == (1,)
    await second.take_over()
    await second.close()


def test_only_this_machine_s_processes_can_be_known_to_be_dead() -> None:
    nobody = 2**22 - 1
    assert is_dead(this_machine(), nobody)
    assert not is_dead("another machine", nobody)
    assert not is_dead("", nobody)
    assert not is_dead(this_machine(), 1)


def test_stillness_begins_when_a_beat_is_first_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(lease, "now_s", lambda: now[0])
    still = Stillness()
    beat = Lease(1, 5, False, 7, "elsewhere", 1)
    assert not still.look(beat)
    now[0] += LEASE_S - 0.01
    assert not still.look(beat)
    assert not still.look(beat._replace(beat=6)), "it has beaten again"
    now[0] += LEASE_S
    assert still.look(beat._replace(beat=6))
    assert Stillness().look(beat._replace(released=True))


def test_private_files_are_the_same_for_everybody(url: str, postgres: PostgresServer, tmp_path: Any) -> None:
    mine, theirs = shared_files(url), shared_files(url)
    assert isinstance(mine, KeptFiles)
    assert theirs is not None
    assert mine.stamp("tokens.json") is None
    assert mine.read("tokens.json") == b""
    with pytest.raises(UnavailableError, match="no tables yet"):
        mine.write("tokens.json", b"{}")
    asyncio.run(_laid_out(url))
    (tmp_path / "tokens.json").write_bytes(b'{"a": 1}')
    bring_along(tmp_path, mine)
    assert theirs.read("tokens.json") == b'{"a": 1}'
    mine.write_soon("links", b"1")
    mine.write_soon("links", b"2")
    while theirs.read("links") != b"2":
        pass
    theirs.keep_up()
    before = theirs.stamp("tokens.json")
    mine.write("tokens.json", b"{}")
    while theirs.stamp("tokens.json") == before:
        pass
    assert theirs.read("tokens.json") == b"{}"
    bring_along(tmp_path, mine)
    assert theirs.read("tokens.json") == b"{}", "what was revoked stays so"
    theirs.close()


async def _laid_out(url: str) -> None:
    await (await PostgresStore.open(url, project=project, now_ms=lambda: 0)).close()
    assert read_leader(url) is not None


async def test_an_error_in_any_task_of_the_store_costs_neither_the_lead_nor_an_event(
    two: tuple[PostgresStandby, PostgresStandby], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "FIRST_PAUSE_S", 0.01)
    first, second = two
    told: list[int] = []
    second.store.on_commit(lambda records: told.extend(record.seq for record in records))
    names = {one.name for one in watched_here()}
    assert names == {"writing the log", "the watch over who leads", "reading what the leader writes"}
    for n, entry in enumerate(watched_here(), start=1):
        task = entry.task
        assert task is not None
        await until(lambda task=task: break_into(task))
        await until(lambda entry=entry: entry.failures > 0)
        assert (await first.store.append([happened(n)]))[0].seq == n
        await until(lambda n=n: told[-1:] == [n])
    await until(lambda: {one.id for one in first.servers} == {"one", "two"} and second.leader is not None)
    assert told == [1, 2, 3, 4]
    assert (first.leads, second.leads) == (True, False)
