"""Runs on Temporal with real processes that are killed: nothing is lost, and nothing physical is done twice."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.contract.temporal_site import Document, Site, assert_sound

from beforehand.testing.temporal_server import TemporalServer

pytestmark = pytest.mark.needs("temporal", "temporalio")
BLIND = "bench.append_noprobe"


def mixed(site: Site, number: int, hang_s: float) -> list[Document]:
    """Two branches that meet: pure, idempotent and physical steps, which hang on either side of the effect."""
    note = f"notes/{number}.txt"
    return [
        {"id": "note", "tool": "write_file", "args": {"path": note, "content": f"plan {number}"}},
        site.append("drill", number, "note", hang_s=hang_s, hang="after"),
        site.append("bolt", number, "drill", tool=BLIND, hang_s=hang_s, hang="before"),
        {"id": "rest", "tool": "wait", "args": {"seconds": hang_s}, "dependsOn": ["note"]},
        site.append("glue", number, "rest", tool=BLIND, hang_s=hang_s, hang="after"),
        {"id": "read", "tool": "read_file", "args": {"path": note}, "dependsOn": ["bolt", "glue"]},
    ]


PHYSICAL = ("drill", "bolt", "glue")


async def begin_mixed(site: Site, plans: int, hang_s: float) -> list[str]:
    (site.folder / "notes").mkdir()
    return [await site.begin(*mixed(site, number, hang_s)) for number in range(plans)]


async def assert_all_done_once(site: Site, run_ids: list[str]) -> None:
    runs = await site.all_ended(run_ids)
    assert [run["status"] for run in runs] == ["completed"] * len(run_ids)
    for number in range(len(run_ids)):
        assert [site.effects(f"effects/{number}-{name}") for name in PHYSICAL] == [1, 1, 1], number


async def test_processes_are_killed_amid_plans(tmp_path: Path, temporal: TemporalServer) -> None:
    """First a worker: a machine that can be asked is, by another worker, else a person is. Then the leader."""
    async with Site(tmp_path, temporal, workers=2) as site:
        lost = await begin_lost(site)
        run_ids = await begin_mixed(site, 10, hang_s=0.2)
        await site.until(lambda: site.effects("effects/lost-done") and site.effects("effects/lost-blind"))
        await site.run_until(lost, lambda run: status(run, "notBegun") == "running")
        await site.claimed(lost, 3)
        for worker in list(site.workers):
            await site.kill(worker)
        await site.hire()
        await assert_taken_up(site, lost)
        await assert_all_done_once(site, run_ids)
        await assert_leader_is_replaced(site)
        assert_sound(site.events())


async def begin_lost(site: Site) -> str:
    """A run whose steps wait for the death of their workers: behind their effect, before it, and where none can say."""
    run_id = await site.begin(
        site.append("done", "lost", hang_s=60, hang="after"),
        site.append("notBegun", "lost", hang_s=60, hang="before"),
        site.append("blind", "lost", tool=BLIND, hang_s=60, hang="after"),
    )
    site.left_alone.add(run_id)
    return run_id


async def assert_taken_up(site: Site, run_id: str) -> None:
    def is_settled(run: Document) -> bool:
        return bool(run["decisions"]) and attempt(run, "notBegun") == 2 and status(run, "done") == "completed"

    run = await site.run_until(run_id, is_settled)
    assert [(asked["kind"], asked["about"]["stepId"]) for asked in run["decisions"]] == [("inDoubt", "blind")]
    assert status(run, "blind") == "inDoubt"
    await site.call("POST", f"/runs/{run_id}/cancel")
    assert [site.effects(f"effects/lost-{name}") for name in ("done", "notBegun", "blind")] == [1, 0, 1]


async def assert_leader_is_replaced(site: Site) -> None:
    """What runs on a worker goes on meanwhile, and its result waits at the server: nobody is asked."""
    first = site.append("a", "led", tool=BLIND, hang_s=1, hang="after")
    run_id = await site.begin(first, site.append("b", "led", "a", tool=BLIND))
    await site.until(lambda: site.effects("effects/led-a"))
    doubts = site.doubts
    await site.kill_leader()
    await site.lead()
    [run] = await site.all_ended([run_id])
    assert (run["status"], site.doubts) == ("completed", doubts)
    assert [site.effects(f"effects/led-{name}") for name in ("a", "b")] == [1, 1]


@pytest.mark.soak
async def test_workers_and_the_server_are_killed_amid_plans(tmp_path: Path, own_temporal: TemporalServer) -> None:
    async with Site(tmp_path, own_temporal, workers=3) as site:
        run_ids = await begin_mixed(site, 200, hang_s=0.3)

        async def kill_workers() -> None:
            """Always amid the work, however slow the machine is."""
            for count in range(12):
                effects = 40 * (count + 1)
                await site.until(lambda effects=effects: len(list((site.folder / "effects").iterdir())) >= effects)
                await site.kill(site.workers.pop(0))
                await site.hire()
                if count == 6:
                    own_temporal.kill()
                    await asyncio.sleep(1)
                    await asyncio.to_thread(own_temporal.start)

        killing = asyncio.create_task(kill_workers())
        await assert_all_done_once(site, run_ids)
        await killing
        assert site.doubts
        sys.stderr.write(f"\n{len(run_ids)} plans, 12 workers killed, {site.doubts} steps in doubt answered\n")
        assert_sound(site.events())


def status(run: Document, step: str) -> str:
    return str(next(one["status"] for one in run["steps"] if one["id"] == step))


def attempt(run: Document, step: str) -> int:
    return int(next(one.get("attempt", 0) for one in run["steps"] if one["id"] == step))
