"""The server's figures in Prometheus text."""

from collections import Counter
from collections.abc import Mapping

from beforehand.app.inbox import list_decisions
from beforehand.app.not_live import reasons
from beforehand.app.runs import list_runs
from beforehand.app.runtime import Runtime
from beforehand.model.plan import RunStatus
from beforehand.ports.tasks import register
from beforehand.server.sse import Audience


async def metrics_text(runtime: Runtime, audience: Audience, uptime_s: float, *, leads: bool) -> str:
    seq = await runtime.store.last_seq()
    still_open = Counter(run["status"] for run in await list_runs(runtime, open=True, limit=100_000))
    runs = {status.value: still_open[status.value] for status in RunStatus if not status.is_final}
    decisions = Counter(item["kind"] for item in await list_decisions(runtime))
    driven = 0 if runtime.run_host is None else runtime.run_host.driven
    failing = sum(one.failures > 0 for one in register)
    lines = [
        *_one("events_total", "counter", "Events in the log.", seq),
        *_one("last_seq", "gauge", "Number of the newest event.", seq),
        *_many("open_runs", "Runs that have not ended, by status.", "status", runs),
        *_one("runs_total", "counter", "Runs ever started.", await runtime.store.count("run")),
        *_one("plans_total", "counter", "Plans ever taken in.", await runtime.store.count("planHead")),
        *_many("open_decisions", "Decisions that wait for a person, by kind.", "kind", decisions or {"review": 0}),
        *_one("scenes_not_live", "gauge", "Scenes that are active and not live.", len(await reasons(runtime.store))),
        *_one("leads", "gauge", "1 where this server leads, 0 where it stands by.", int(leads)),
        *_one("drivers", "gauge", "Runs that are being driven.", driven),
        *_one("sse_clients", "gauge", "Clients that follow a stream.", audience.following),
        *_one("sse_cut_off_total", "counter", "Clients cut off for reading too slowly.", audience.cut_off),
        *_one("telemetry_listeners", "gauge", "Clients that follow live frames.", runtime.telemetry.listeners),
        *_one("tasks", "gauge", "Tasks at work that somebody watches.", len(register)),
        *_one("tasks_failing", "gauge", "Those that broke off and are begun again.", failing),
        *_one("uptime_seconds", "gauge", "Seconds since the server started.", round(uptime_s, 3)),
    ]
    return "\n".join(lines) + "\n"


def _one(name: str, kind: str, says: str, value: float) -> list[str]:
    return [f"# HELP beforehand_{name} {says}", f"# TYPE beforehand_{name} {kind}", f"beforehand_{name} {value}"]


def _many(name: str, says: str, label: str, values: Mapping[str, int]) -> list[str]:
    told = [f'beforehand_{name}{{{label}="{key}"}} {value}' for key, value in sorted(values.items())]
    return [f"# HELP beforehand_{name} {says}", f"# TYPE beforehand_{name} gauge", *told]
