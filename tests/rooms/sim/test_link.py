"""What the simulated link adds to the port: people's hands in the hall, faults, and keeping the robots' state."""

import asyncio

from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.link import SimLink
from beforehand.model.robot import GoTarget, Telemetry


class SteppedClock:
    """Time passes when somebody sleeps."""

    ms = 0

    def now_ms(self) -> int:
        return self.ms

    async def sleep_until(self, ts_ms: int) -> None:
        self.ms = max(self.ms, ts_ms)
        await asyncio.sleep(0)


async def first(link: SimLink, wanted) -> Telemetry:
    async for report in link.reports():
        if isinstance(report, Telemetry) and wanted(report):
            return report
    raise AssertionError("the reports ended")


async def test_the_state_is_kept_after_every_change_and_not_otherwise(yard_scene):
    kept: list[object] = []
    clock = SteppedClock()
    link = SimLink(SimFleet(yard_scene), clock, keep=kept.append)
    await first(link, lambda report: report.ts >= 5000)
    assert kept == []
    await link.send(GoTarget("k", "R1", {"id": "B"}))
    await first(link, lambda report: report.task_status == 4)
    assert len(kept) == 1
    link.set_occupancy("DROP", "filled")
    link.set_load("R1", True)
    await first(link, lambda report: report.ts >= clock.ms)
    assert len(kept) == 2
    again = SimLink(SimFleet(yard_scene), clock, kept=kept[-1])
    assert set(again.fleet.pallets().values()) >= {("worksite", "DROP"), ("robot", "R1")}


async def test_a_fault_strikes_a_live_robot(yard_scene):
    link = SimLink(SimFleet(yard_scene), SteppedClock())
    await link.send(GoTarget("k", "R1", {"id": "B"}))
    await first(link, lambda report: report.task_status == 2)
    link.inject(FaultSpec(at_s=1, robot_id="R1", fault="blocked", for_s=5))
    blocked = await first(link, lambda report: report.blocked)
    free = await first(link, lambda report: not report.blocked and report.ts > blocked.ts)
    assert free.ts - blocked.ts == 5000


async def test_after_a_long_sleep_of_the_machine_robots_have_gone_on_and_nobody_hears_every_report_of_it(yard_scene):
    clock = SteppedClock()
    link = SimLink(SimFleet(yard_scene), clock)
    await link.send(GoTarget("k", "R1", {"id": "B"}))
    reports, heard = link.reports(), []
    await anext(reports)
    clock.ms += 30 * 24 * 3_600_000
    async for report in reports:
        heard.append(report)
        if isinstance(report, Telemetry) and report.robot_id == "R1" and report.ts >= clock.ms:
            break
    assert len(heard) < 20
    assert report.node_id == "B"
    assert report.task_status == 4
    assert report.ts == clock.ms
