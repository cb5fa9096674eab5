"""Keyed writes of all kinds while servers are killed: each is done exactly once, and answered with its id.

Two servers on one Postgres take turns; one server on SQLite is started again. Long in soak.
"""

import json
import random
import sqlite3
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.contract import keyed_writers as people
from tests.contract.servers import PATIENCE_S, RoundRobin, Server, Servers, assert_gap_free, servers_on, until

from beforehand.app.examples import find_document
from beforehand.testing.postgres_server import PostgresServer

KILLS, STEP = 2, 12
"""So many kills, each after so many further answers."""
LONG_KILLS, LONG_STEP = 50, 12
STORIES = (
    (people.runs, people.reviews),
    (people.documents,),
    (people.questions_and_tokens, people.runs),
    (people.fleets,),
    (people.documents, people.reviews),
)


class OneServer(Servers):
    """One server on SQLite: it is always the same home."""

    def start(self) -> Server:
        server = Server(self.folder, self.database, "s", self.environment)
        self.running.append(server)
        return server

    def events(self) -> list[Any]:
        file = sqlite3.connect(f"file:{self.folder}/log.db?mode=ro", uri=True)
        try:
            return [json.loads(line) for (line,) in file.execute("SELECT line FROM events ORDER BY seq")]
        finally:
            file.close()


def written(servers: Servers, url_of: Callable[[], str], kills: int, step: int, next_one: Callable[[], None]) -> None:
    """People write beside so many kills; then the log and the answers are looked at."""
    _open_hall(url_of())
    writers = [people.Writer(str(number), url_of, stories) for number, stories in enumerate(STORIES)]
    chance = random.Random(kills)
    for _ in range(kills):
        wanted = _count(writers) + step
        until(partial(_have_written, writers, wanted), 4 * PATIENCE_S)
        if kills == LONG_KILLS:
            threading.Event().wait(chance.random() / 5)  # anywhere in what is being written now
        next_one()
    until(lambda: bool(servers.leader()))
    for one in writers:
        one.over.set()
    for one in writers:
        one.join(4 * PATIENCE_S)
        assert one.error is None, one.error
    writes = [write for one in writers for write in one.writes]
    from_log = _answered_from_log(servers.folder)
    sys.stdout.write(f"{people.table(writes)}{from_log} were answered from the log\n")
    assert from_log or kills < LONG_KILLS, "no kill came between a write and its answer, so nothing was tried"
    events = servers.events()
    assert_gap_free([event["seq"] for event in events])
    people.assert_done_once(writes, events)
    people.assert_answered_alike(url_of(), writes)
    assert servers.events()[-1]["seq"] < len(events) + len(writes), "answering alike is no write"
    assert sum(write.is_done for write in writes) >= kills * step


def _answered_from_log(folder: Path) -> int:
    told = "a write that was done is answered from the log"
    return sum(file.read_text().count(told) for file in (folder / "logs").glob("*.log"))


def _have_written(writers: list[people.Writer], wanted: int) -> bool:
    return _count(writers) >= wanted or any(one.error for one in writers)


def _count(writers: list[people.Writer]) -> int:
    return sum(len(one.writes) for one in writers)


def _open_hall(url: str) -> None:
    document = find_document("line_pick_drop")
    document = {**document, "name": "line", "streams": [{**document["streams"][0], "enabled": False}]}
    assert people.ask(url, "PUT", "/scenes/line", document, "hall")[0] == 200
    assert people.ask(url, "POST", "/scenes/line/activate", {}, "live")[0] == 200


def _taking_turns(folder: Path, postgres: PostgresServer, kills: int, step: int) -> None:
    with servers_on(folder, postgres.new_database()) as servers:
        servers.environment["BEFOREHAND_TOKEN"] = people.TOKEN
        servers.start()
        servers.start()
        proxy = RoundRobin(servers)

        def take_down() -> None:
            servers.drop(servers.leader())
            servers.start()

        written(servers, lambda: proxy.url, kills, step, take_down)
        proxy.close()


def _again_and_again(folder: Path, kills: int, step: int) -> None:
    servers = OneServer(folder, f"sqlite:///{folder}/log.db")
    servers.environment["BEFOREHAND_TOKEN"] = people.TOKEN
    try:
        servers.start()
        urls = [servers.running[0].url]

        def start_again() -> None:
            servers.drop(servers.running[0])
            urls[0] = servers.start().url

        written(servers, lambda: urls[0], kills, step, start_again)
    finally:
        servers.close()


def test_every_keyed_write_is_done_once_over_takeovers(tmp_path: Path, durable_postgres: PostgresServer) -> None:
    _taking_turns(tmp_path, durable_postgres, KILLS, STEP)


def test_every_keyed_write_is_done_once_over_kills(tmp_path: Path) -> None:
    _again_and_again(tmp_path, KILLS, STEP)


@pytest.mark.soak
def test_hundreds_of_keyed_writes_are_done_once_over_fifty_takeovers(
    tmp_path: Path, durable_postgres: PostgresServer
) -> None:
    _taking_turns(tmp_path, durable_postgres, LONG_KILLS, LONG_STEP)


@pytest.mark.soak
def test_hundreds_of_keyed_writes_are_done_once_over_fifty_kills(tmp_path: Path) -> None:
    _again_and_again(tmp_path, LONG_KILLS, LONG_STEP)
