"""A run as it is shown: all of one moment, whatever is written meanwhile."""

from collections.abc import Iterable
from typing import Any

from beforehand.adapters.memory.store import MemoryStore
from beforehand.app.run_documents import run_document_in
from beforehand.loop.rows import plan_row_id
from beforehand.model.event import Event
from beforehand.ports.store import Row, RowQuery


def project(event: Event) -> Iterable[Row]:
    version = event.data["version"]
    yield Row("run", "r", {"runId": "r", "planId": "p", "version": version, "status": "running"})
    yield Row("plan", plan_row_id("p", version), {"steps": [{"id": f"of version {version}"}]}, parent="p")


def adopted(version: int) -> Event:
    return Event("runAdopted", {}, {"version": version}, 0, None, "", "run:r")


class Adopting(MemoryStore):
    """Another version is adopted between the look at the head and the look at the rest."""

    adopts = True

    async def query(self, *queries: RowQuery) -> list[list[dict[str, Any]]]:
        if self.adopts:
            self.adopts = False
            await self.append([adopted(2)])
        return await super().query(*queries)


async def test_a_version_adopted_in_between_is_shown_with_its_own_steps() -> None:
    store = Adopting(project)
    await store.append([adopted(1)])
    shown = await run_document_in(store, "r")
    assert (shown["version"], shown["steps"]) == (2, [{"id": "of version 2"}])
