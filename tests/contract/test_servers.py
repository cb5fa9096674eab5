"""Two and three real servers on one database: kill -9, freezing and planned handovers lose and double nothing.

The steps are physical: each writes its name into a file, so that they can be counted. The tests wait for what the log,
that file or a server shows, and kill then.
"""

import json
import signal
import sys
import threading
import time
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.servers import (
    PATIENCE_S,
    Listener,
    Person,
    RoundRobin,
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

TAKEOVER_S = 5.0
SOAK_S = 120
TABLE = "{:>3}  {:<9}  {:>10}"


@pytest.fixture
def servers(tmp_path: Path, durable_postgres: PostgresServer) -> Iterator[Servers]:
    with servers_on(tmp_path, durable_postgres.new_database()) as made:
        yield made


def refused(url: str, path: str, body: Any, **headers: str) -> tuple[int, Any, Any]:
    with pytest.raises(urllib.error.HTTPError) as error:
        call(url, path, body, **headers)
    return error.value.code, json.loads(error.value.read()), error.value.headers


def test_two_servers_answer_as_one_and_hand_over(servers: Servers) -> None:
    first, second = servers.start(), servers.start()
    assert (first.role, second.role) == ("leads", "standsBy")

    # What is written at one is read at both.
    made = call(second.url, "/plans", {"plan": servers.plan("a", 1)}, Idempotency_Key="once", X_Correlation_Id="mine")
    again = call(second.url, "/plans", {"plan": servers.plan("a", 1)}, Idempotency_Key="once")
    assert made == again
    code, told, _ = refused(second.url, "/plans", {"plan": servers.plan("b", 1)}, Idempotency_Key="once")
    assert (code, told["code"]) == (422, "request.key_used")
    assert servers.events()[-1]["correlationId"] == "mine"
    for path in ("/state", "/inbox", "/plans", "/scenes", "/robots", "/cells", "/tools", "/templates", "/questions"):
        assert call(second.url, path) == call(first.url, path), path
    edit = {"edits": [{"op": "skip", "id": "a-0"}]}
    code, told, _ = refused(second.url, f"/plans/{made['id']}", edit, method="PATCH", If_Match="7")
    assert code == 409
    assert call(second.url, f"/plans/{made['id']}", edit, method="PATCH", If_Match="1")["version"] == 2

    # What was handed on once is not handed on again.
    code, told, headers = refused(second.url, "/hold", {}, Beforehand_Handed_On="another")
    assert (code, told["code"], headers["Retry-After"]) == (503, "lead.moved", "1")

    # A token made at one is known to the other, and so is who has it.
    admin = call(second.url, "/tokens", {"name": "root", "role": "admin"})["token"]
    token = call(second.url, "/tokens", {"name": "me", "role": "operator"}, Authorization=f"Bearer {admin}")["token"]
    until(lambda: call_status(second.url) == 401 and call_status(first.url) == 401)
    mine = {"Authorization": f"Bearer {token}"}
    until(lambda: call_status(second.url, **mine) == 200)
    call(second.url, "/plans", {"plan": servers.plan("c", 1)}, **mine)
    assert call(first.url, "/me", **mine)["name"] == "me"
    assert refused(second.url, "/tokens", {"name": "x", "role": "admin"}, **mine)[0] == 403
    until(lambda: f"at {first.url}; {second.url} stands by." in who_leads(second.url, **mine))

    # Told to stop, the leader gives the lead back, and a write waits for the next one.
    first.send(signal.SIGTERM)
    assert "id" in call(second.url, "/plans", {"plan": servers.plan("d", 1)}, **mine)
    assert first.process.wait(PATIENCE_S) == 0
    until(lambda: second.role == "leads")
    assert_gap_free([event["seq"] for event in servers.events()])


def who_leads(url: str, **headers: str) -> str:
    (leads,) = [check for check in call(url, "/doctor", **headers)["checks"] if check["check"] == "leader"]
    return str(leads["says"])


def call_status(url: str, **headers: str) -> int:
    try:
        call(url, "/inbox", **headers)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def test_a_leader_killed_and_a_leader_frozen_amid_a_run(servers: Servers) -> None:
    first, second = servers.start(), servers.start()
    plan = servers.plan("weld", 10, hang_s=0.15, hang="before")
    listeners = [Listener(lambda: second.url), Listener(lambda: servers.running[0].url)]
    person = Person(servers, lambda: servers.running[-1].url)
    start_run(second.url, plan)

    until(lambda: servers.effects().total() >= 3)
    servers.drop(first)
    until(lambda: second.role == "leads")
    third = servers.start()
    until(lambda: servers.effects().total() >= 6)
    second.send(signal.SIGSTOP)
    until(lambda: third.role == "leads")
    second.send(signal.SIGCONT)
    until(lambda: second.role == "standsBy")
    until(lambda: finished(servers).total() == 1)
    person.close()

    assert finished(servers) == {"completed": 1}
    assert_sound(servers, [step["id"] for step in plan["steps"]])
    events = servers.events()
    until(lambda: all(listener.last == len(events) for listener in listeners))
    for listener in listeners:
        listener.close()
        assert_gap_free(listener.seqs)
    assert "Traceback" not in (servers.folder / "logs" / "s2.log").read_text()


# -- soak ------------------------------------------------------------------------------------------------------------


class Work(threading.Thread):
    """Hands plans in through the proxy and starts them, one after another, until told to stop."""

    def __init__(self, servers: Servers, url: str, name: str) -> None:
        super().__init__(daemon=True)
        self.servers, self.url, self.label = servers, url, name
        self.over = threading.Event()
        self.steps: list[str] = []
        self.plans = 0
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            while not self.over.wait(0.3):
                plan = self.servers.plan(f"{self.label}{self.plans}", 5, hang_s=0.1, hang="before")
                start_run(self.url, plan)
                self.plans += 1
                self.steps += [step["id"] for step in plan["steps"]]
        except BaseException as error:
            self.error = error
            raise


def take_down(servers: Servers, number: int) -> tuple[str, float]:
    """Kill or freeze the leader; how it was taken down and how long until the next one led, everything taken up."""
    leader = servers.leader()
    how = "frozen" if number % 4 == 3 else "kill -9"
    began_ms = time.time_ns() // 1_000_000
    if how == "frozen":
        leader.send(signal.SIGSTOP)
        servers.running.remove(leader)
    else:
        servers.drop(leader)
    until(lambda: servers.led_since(began_ms) is not None)
    took = (int(servers.led_since(began_ms) or 0) - began_ms) / 1000
    if how == "frozen":
        leader.send(signal.SIGCONT)
        until(lambda: leader.role == "standsBy")
        servers.running.append(leader)
    else:
        servers.start()
    return how, took


@pytest.mark.soak
@pytest.mark.parametrize("count", [2, 3])
def test_leaders_taken_down_every_few_seconds_under_load(
    tmp_path: Path, durable_postgres: PostgresServer, count: int
) -> None:
    with servers_on(tmp_path, durable_postgres.new_database()) as servers:
        for _ in range(count):
            servers.start()
        proxy = RoundRobin(servers)
        listeners = [Listener(lambda: proxy.url) for _ in range(100)]
        person = Person(servers, lambda: proxy.url)
        work = [Work(servers, proxy.url, name) for name in "ab"]
        took: list[tuple[str, float]] = []
        give_up = time.monotonic() + SOAK_S
        while time.monotonic() < give_up:
            threading.Event().wait(3)
            took.append(take_down(servers, len(took)))
        for one in work:
            one.over.set()
            one.join(PATIENCE_S * 2)
            assert one.error is None
        until(lambda: finished(servers).total() >= sum(one.plans for one in work), PATIENCE_S * 2)
        person.close()
        print_table(count, took, work, person)
        assert finished(servers) == {"completed": sum(one.plans for one in work)}
        assert_sound(servers, [step for one in work for step in one.steps])
        last = len(servers.events())
        until(lambda: all(listener.last >= last for listener in listeners))
        for listener in listeners:
            listener._over.set()
        for listener in listeners:
            assert_gap_free(listener.seqs)
        assert sorted(each for _, each in took)[len(took) // 2] < TAKEOVER_S, "the median: the machine has other work"
        proxy.close()


def print_table(count: int, took: list[tuple[str, float]], work: list[Work], person: Person) -> None:
    lines = [f"{count} servers, {sum(one.plans for one in work)} plans, {person.answers} steps in doubt answered"]
    lines.append(TABLE.format("", "leader", "next leads"))
    lines += [TABLE.format(number, how, f"{each:.2f} s") for number, (how, each) in enumerate(took, 1)]
    for how in sorted({how for how, _ in took}):
        times = sorted(each for one, each in took if one == how)
        lines.append(f"{how}: median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s")
    sys.stderr.write("\n".join(["", *lines, ""]))
