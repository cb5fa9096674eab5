"""A URL names a store, and everything about stores is asked by it."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from beforehand.app.stores import SCHEMES, check_store, open_store, read_leader, store_exists, store_location
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.versions import Upcasters
from beforehand.ports.store import Row, Store


def project(event: Event) -> Iterable[Row]:
    yield Row("thing", event.kind, event.data)


async def opened(url: str, *, lead: bool = True, upcasters: Upcasters | None = None) -> Store:
    return await open_store(
        url, project=project, lead=lead, now_ms=lambda: 5, url_of_server="http://here", note="up", upcasters=upcasters
    )


@pytest.mark.parametrize("scheme", ["sqlite:///", ""])
async def test_a_file_is_opened_found_and_asked_who_leads(tmp_path: Path, scheme: str) -> None:
    url = f"{scheme}{tmp_path}/odd name %20/log.db"
    assert (store_exists(url), read_leader(url)) == (False, None)
    assert store_location(url) == f"{tmp_path}/odd name %20/log.db"
    with pytest.raises(UnavailableError, match="There is no log"):
        await opened(url, lead=False)
    store = await opened(url)
    leader = read_leader(url)
    assert leader == await store.leader()
    assert leader is not None
    assert (leader.pid, leader.url, leader.note, leader.since) == (os.getpid(), "http://here", "up", 5)
    assert store_exists(url)
    await store.close()


async def test_relative_paths_begin_where_the_process_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("own.db", "sqlite:///own.db", f"sqlite:///{tmp_path}/own.db"):
        assert store_location(url) == str(tmp_path / "own.db")


async def test_memory_is_a_new_one_each_time() -> None:
    first, second = await opened("memory:"), await opened("memory:")
    await first.append([Event("noted", {}, {}, 0)])
    assert (await first.count("thing"), await second.count("thing")) == (1, 0)
    assert (store_exists("memory:"), read_leader("memory:"), check_store("memory:")) == (False, None, [])
    assert store_location("memory:") == "in memory"


@pytest.mark.parametrize("url", ["mysql://ada:sesame@host/db", "sqlite://host/db", "sqlite:log.db"])
def test_a_url_that_nobody_knows_is_refused_without_its_password(url: str) -> None:
    for ask in (store_exists, read_leader, store_location, check_store):
        with pytest.raises(BadInputError) as refused:
            ask(url)
        assert refused.value.code == "settings.db"
        assert "sesame" not in refused.value.says
        assert all(scheme in refused.value.says for scheme in (SCHEMES if url.startswith("mysql") else ["sqlite"]))


async def test_crafts_bring_upcasters_for_their_own_kinds(tmp_path: Path) -> None:
    url = f"{tmp_path}/log.db"
    old = {"id": "d", "kind": "approval", "about": {}, "status": "open"}
    store = await opened(url)
    await store.append([Event("brewed", {}, {"cups": 1}, 0), Event("decisionOpened", {}, old, 0)])
    await store.close()
    again = await opened(url, upcasters={"brewed": (lambda event: replace(event, data={"cups": [1]}),)})
    assert await again.row("thing", "brewed") == {"cups": [1]}
    assert await again.row("thing", "decisionOpened") == old, "it was written in the present version"
    await again.close()


def test_the_doctor_hears_how_a_file_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"{tmp_path}/not/there/yet/log.db"
    assert {found.check: found.state for found in check_store(url)} == dict.fromkeys(
        ("sqlite", "disk", "journal"), "ok"
    )
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    broken = {found.check: found for found in check_store(f"{tmp_path}/file/log.db")}["journal"]
    assert (broken.state, bool(broken.try_next)) == ("broken", True)
    monkeypatch.setattr("beforehand.adapters.sqlite.checks.LITTLE_ROOM_MB", 10**12)
    monkeypatch.setattr("beforehand.adapters.sqlite.checks.OLDEST_SQLITE", (99, 0))
    states = {found.check: found.state for found in check_store(url)}
    assert states == {"sqlite": "broken", "disk": "broken", "journal": "ok"}
