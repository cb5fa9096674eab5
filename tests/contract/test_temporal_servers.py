"""Several servers on one database with runs on Temporal: whoever leads takes the decisions, and workers go on."""

import json
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.contract.servers import (
    PATIENCE_S,
    Document,
    Listener,
    Person,
    Servers,
    assert_gap_free,
    assert_sound,
    call,
    finished,
    servers_on,
    start_run,
    until,
)

from beforehand.testing.postgres_server import PostgresServer
from beforehand.testing.temporal_server import TemporalServer

pytestmark = pytest.mark.needs("temporal", "temporalio")
PLANS = 6


@pytest.fixture
def servers(tmp_path: Path, durable_postgres: PostgresServer, temporal: TemporalServer) -> Iterator[Servers]:
    with servers_on(tmp_path, durable_postgres.new_database()) as made:
        made.environment |= {
            "BEFOREHAND_ENGINE": "temporal",
            "BEFOREHAND_TEMPORAL": temporal.address,
            "BEFOREHAND_TEMPORAL_LOST_S": "4",
            "BEFOREHAND_TEMPORAL_PREFIX": tmp_path.name,
        }
        yield made


def test_a_leader_is_killed_and_the_next_one_frozen_amid_plans_on_temporal(servers: Servers) -> None:
    """What runs on a worker goes on meanwhile, and its results wait.

    Asked about is at most a step that was written down as started and handed to nobody yet.
    """
    first, second = servers.start(), servers.start()
    servers.hire()
    listener = Listener(lambda: servers.running[-1].url)
    person = Person(servers, lambda: servers.running[-1].url)
    plans = [servers.plan(f"weld{number}", 6, hang_s=0.2, hang="before") for number in range(PLANS)]
    for plan in plans:
        start_run(second.url, plan)

    until(lambda: servers.effects().total() >= PLANS)
    servers.drop(first)
    until(lambda: second.role == "leads")
    third = servers.start()
    until(lambda: servers.effects().total() >= 3 * PLANS)
    second.send(signal.SIGSTOP)
    until(lambda: third.role == "leads")
    second.send(signal.SIGCONT)
    until(lambda: second.role == "standsBy")
    until(lambda: finished(servers).total() == PLANS)
    person.close()

    assert finished(servers) == {"completed": PLANS}
    assert_sound(servers, [step["id"] for plan in plans for step in plan["steps"]])
    events = servers.events()
    until(lambda: listener.last == len(events))
    listener.close()
    assert_gap_free(listener.seqs)
    assert "Traceback" not in "".join(file.read_text() for file in (servers.folder / "logs").glob("*.log"))


def test_how_far_a_call_on_a_worker_is_can_be_seen_at_every_server(servers: Servers) -> None:
    leads, stands_by = servers.start(), servers.start()
    servers.hire()
    plan = {"steps": [{"id": "rest", "tool": "wait", "args": {"seconds": 60}}]}
    made = call(stands_by.url, "/plans", {"plan": plan})
    run = call(stands_by.url, f"/plans/{made['id']}/runs", {"version": 1})
    for server in (leads, stands_by):
        with closing(frames(server.url)) as shown:
            frame = next(one for one in shown if one["kind"] == "progress" and one["progress"] > 0)
        assert frame.keys() == {"kind", "runId", "stepId", "progress"}
        assert (frame["runId"], frame["stepId"]) == (run["runId"], "rest")
    call(stands_by.url, f"/runs/{run['runId']}/cancel", {})


def frames(url: str) -> Iterator[Document]:
    with urllib.request.urlopen(f"{url}/api/v1/telemetry", timeout=PATIENCE_S) as stream:
        for line in stream:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))
