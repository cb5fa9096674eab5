"""The database is gone and robots drive on: the server that holds their links stops them; one that stands by hands on.

The robot shares no code with ours and is asked itself whether it stands.
"""

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.contract.other_robokit import RUNNING, SUSPENDED, Habits, OtherRobot
from tests.contract.robokit_floor import floor
from tests.contract.servers import Server, Servers, until

from beforehand.testing.postgres_server import PostgresServer


@pytest.fixture
def robot() -> Iterator[OtherRobot]:
    nodes = [node.id for node in floor(1, 1).nodes]
    with closing(OtherRobot("K0", nodes, Habits(takes_s=300.0))) as other:
        yield other


@pytest.fixture
def servers(tmp_path: Path, durable_postgres: PostgresServer) -> Iterator[Servers]:
    running = Servers(tmp_path, durable_postgres.new_database())
    yield running
    running.close()


def asked(server: Server, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx2.Client(base_url=f"{server.url}/api/v1", trust_env=False, timeout=60) as http:
        return http.request(method, path, json=body, headers=shown)


def status(robot: OtherRobot) -> int:
    return robot._status


def let_drive(server: Server, robot: OtherRobot) -> None:
    document = floor(1, 1, tickS=0.1).wire()
    document["robots"][0]["link"] = {"kind": "robokit", "host": "127.0.0.1", "ports": robot.ports}
    assert asked(server, "PUT", "/scenes/floor", document).status_code in (200, 201)
    assert asked(server, "POST", "/scenes/floor/activate").status_code == 200
    until(lambda: status(robot) == RUNNING)


def driving(servers: Servers, robot: OtherRobot) -> tuple[Server, Server]:
    """The server that leads, and has the robot drive, and one that stands by."""
    leader = servers.start()
    until(lambda: leader.role == "leads")
    standby = servers.start()
    until(lambda: standby.role == "standsBy")
    let_drive(leader, robot)
    return leader, standby


def test_robots_are_stopped_while_the_database_is_away(
    servers: Servers, robot: OtherRobot, durable_postgres: PostgresServer
) -> None:
    leader, standby = driving(servers, robot)
    durable_postgres.kill()
    held = asked(leader, "POST", "/fleet/floor/hold", Idempotency_Key="one")
    assert (held.status_code, held.json()["person"]) == (200, True)
    assert held.json()["notRecorded"]
    until(lambda: status(robot) == SUSPENDED)
    for path in ("/fleet/floor/clear", "/robots/RB-00/release"):
        refused = asked(leader, "POST", path)
        assert (refused.status_code, refused.json()["code"][:4]) == (503, "log."), refused.text
    assert asked(leader, "GET", "/robots").json()[0]["paused"] is True
    also = asked(standby, "POST", "/robots/RB-00/hold")
    assert (also.status_code, also.json()["held"]) == (200, True), also.text
    assert status(robot) == SUSPENDED

    servers.drop(standby)  # it might lead before the other one does again, and would know nothing of the hold
    durable_postgres.start()
    until(lambda: asked(leader, "GET", "/health").status_code == 200)

    def recorded() -> list[str]:
        answer = asked(leader, "GET", "/events?before=100000&limit=1000")
        return [event["kind"] for event in answer.json()] if answer.status_code == 200 else []

    until(lambda: "fleetHeld" in recorded())
    assert recorded().count("fleetHeld") == 1
    assert status(robot) == SUSPENDED
    assert asked(leader, "POST", "/robots/RB-00/release").status_code == 200
    assert status(robot) == SUSPENDED, "the fleet is still held"
    assert asked(leader, "POST", "/fleet/floor/clear").status_code == 200
    until(lambda: status(robot) == RUNNING)
    assert recorded().count("taskCreated") == 1, "nothing was given out anew"


def test_where_nobody_reaches_a_machine_that_is_said(
    servers: Servers, robot: OtherRobot, durable_postgres: PostgresServer
) -> None:
    leader, standby = driving(servers, robot)
    leader.send(signal.SIGSTOP)
    durable_postgres.kill()
    told = asked(standby, "POST", "/hold")
    assert (told.status_code, told.json()["code"]) == (503, "brake.no_machine")
    assert "cannot be said that anything was stopped" in told.json()["detail"]
    assert status(robot) == RUNNING
    leader.send(signal.SIGCONT)
    assert asked(standby, "POST", "/hold").status_code == 200
    until(lambda: status(robot) == SUSPENDED)


def test_a_brake_that_could_not_be_recorded_is_told_to_whoever_leads_next(
    servers: Servers, robot: OtherRobot, durable_postgres: PostgresServer
) -> None:
    leader, standby = driving(servers, robot)
    durable_postgres.kill()
    assert asked(leader, "POST", "/hold").json()["notRecorded"]
    until(lambda: status(robot) == SUSPENDED)
    leader.send(signal.SIGSTOP)
    durable_postgres.start()
    until(lambda: standby.role == "leads")
    leader.send(signal.SIGCONT)
    until(lambda: leader.role == "standsBy")

    def held() -> bool:
        return "hold" in asked(standby, "GET", "/state").json()

    until(held)
    until(lambda: status(robot) == SUSPENDED)
    assert asked(standby, "POST", "/clear").status_code == 200
    until(lambda: status(robot) == RUNNING)
    assert not held(), "it is told once"
