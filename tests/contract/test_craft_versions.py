"""A craft changes the form of its events: whoever reads an older log gets the present one, on every way out."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.crafts import Crafts, load_crafts
from beforehand.app.dry_run import open_dry_run, open_for_looking
from beforehand.app.runtime import open_runtime
from beforehand.app.settings import Settings, load_settings
from beforehand.cli.asking import look
from beforehand.model.event import Event
from beforehand.ports.store import Row

KIND = "bedWatered"
ROW = "bed"


def in_litres(event: Event) -> Event:
    """Version 2 says litres, where version 1 said gallons."""
    data = {name: value for name, value in event.data.items() if name != "gallons"}
    return replace(event, data={**data, "litres": event.data["gallons"] * 4}, scene="south")


def watered(event: Event) -> list[Row]:
    return [Row(ROW, event.data["bed"], event.data)]


def crafts(*, newer: bool) -> Crafts:
    known = load_crafts(built_in_only=True).by_name
    changed = replace(
        known["fleet"],
        rows={**known["fleet"].rows, KIND: watered},
        remembers=(ROW,),
        upcasters={KIND: (in_litres,)} if newer else {},
    )
    return Crafts({**known, "fleet": changed})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"home": str(tmp_path / "home")}, environment={})


@pytest.fixture
def older(settings: Settings) -> None:
    """A log of the version before, and tables for searching made from it."""
    asyncio.run(write(settings))


async def write(settings: Settings) -> None:
    async with open_runtime(settings, with_servers=False, crafts=crafts(newer=False)) as runtime:
        await runtime.log(KIND, {"bed": "south", "gallons": 3}, owner="fleet:north", scene="north", bed="south")
        await runtime.log("sceneSaved", {"name": "south"}, owner="scene:south", scene="south", sceneId="south")
        found = await runtime.search.search("events", {"query": {"term": {"scene": "south"}}})
        assert found.total == 1


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds crafts by themselves finds the newer one."""
    for room in ("app.crafts", "app.dry_run"):
        monkeypatch.setattr(f"beforehand.{room}.load_crafts", lambda **_: crafts(newer=True))


def in_present_form(row: Any) -> bool:
    return row == {"bed": "south", "litres": 12}


@pytest.mark.usefixtures("older")
async def test_the_tables_for_searching_are_made_anew(settings: Settings) -> None:
    async with open_runtime(settings, with_servers=False, crafts=crafts(newer=True)) as runtime:
        found = await runtime.search.search("events", {"query": {"term": {"scene": "south"}}})
        assert found.total == 2


@pytest.mark.usefixtures("older")
async def test_who_only_looks_and_a_dry_run_read_it_in_its_present_form(settings: Settings) -> None:
    async with open_for_looking(settings) as runtime:
        assert in_present_form(await runtime.store.row(ROW, "south"))
        (event,) = [one for one in await runtime.store.events() if one.kind == KIND]
        assert in_present_form(event.data)
    async with open_dry_run(settings, with_servers=False) as runtime:
        assert in_present_form(await runtime.store.row(ROW, "south"))


@pytest.mark.usefixtures("older")
def test_a_crafts_command_without_a_server_does_too(settings: Settings) -> None:
    async def beds(store: Any) -> Any:
        return await store.row(ROW, "south")

    assert in_present_form(look(settings, "/beds", beds, unknown="nothing is known"))
