"""A server among others goes on when the lead cannot be taken at once, or the log cannot be read."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.postgres.standing import PostgresStandby
from beforehand.app.settings import load_settings
from beforehand.model.errors import UnavailableError
from beforehand.ports.tasks import stop
from beforehand.server import standing_by
from beforehand.server.standing_by import Turns
from beforehand.testing.postgres_server import PostgresServer


def fails_once(done: Callable[..., Awaitable[Any]]) -> tuple[Callable[..., Awaitable[Any]], list[str]]:
    """The same call, but the first time the database is away; and how each call ended."""
    calls: list[str] = []

    async def call(*args: Any, **named: Any) -> Any:
        calls.append("away" if not calls else "done")
        if calls == ["away"]:
            raise UnavailableError("The database is away.", code="store.away")
        return await done(*args, **named)

    return call, calls


@asynccontextmanager
async def server(folder: Path, url: str) -> AsyncIterator[Turns]:
    turns = Turns(load_settings({"home": str(folder), "workspace": str(folder), "db": url}, {}, folder / "none"), ())
    assert await turns.begin()
    try:
        yield turns
    finally:
        await turns.close()


async def leads(turns: Turns) -> None:
    async with asyncio.timeout(60):
        while not (turns.place.leads and turns.place.is_ready):  # noqa: ASYNC110  as whoever asks /health/ready
            await asyncio.sleep(0.05)


async def test_what_fails_once_is_tried_again(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new_database()
    async with server(tmp_path / "one", url) as first, server(tmp_path / "two", url) as second:
        await first.lead(anew=True)
        assert not second.place.leads
        take_over, takeovers = fails_once(PostgresStandby.take_over)
        monkeypatch.setattr(PostgresStandby, "take_over", take_over)
        going_on = asyncio.create_task(second.go_on())
        await first.close()
        await leads(second)
        assert takeovers == ["away", "done"]

        stand_by, readings = fails_once(standing_by.stand_by)
        monkeypatch.setattr(standing_by, "stand_by", stand_by)
        lost = second.now
        postgres.tell("UPDATE beforehand.lead SET epoch = epoch + 1", url.rpartition("/")[2])
        async with asyncio.timeout(60):
            while second.now is lost:  # noqa: ASYNC110  a turn that is over tells nobody
                await asyncio.sleep(0.05)
        assert readings == ["away", "done"]
        await leads(second)
        await stop([going_on])
