"""Questions whose server is killed and comes back without their model: rules go on from what was finished."""

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from tests.cli.conftest import beside

from beforehand.crafts.rounds.core.wire import to_wire
from beforehand.crafts.rounds.core.words import PlannedSubGoal, PlannerDecision
from beforehand.testing.model_replies import Reply, Seen, gives, stalls
from beforehand.testing.model_servers import FakeOpenAI

PATIENCE_S = 60
MODEL = "openai:some-model"
FIRST = {"token": "common_helpdesk", "unicorns": "metadata_lookup"}
"""The worker that the model calls first, by a word of the question; then it is silent."""


def thinks(seen: Seen) -> Reply:
    for word, worker in FIRST.items():
        if word in seen.last and "Completed sub-goals" not in seen.last:
            goal = PlannedSubGoal(worker=worker)
            return gives(to_wire(PlannerDecision(action="continue", sub_goals=(goal,))))
    return stalls()


def call(url: str, path: str, body: Any = None) -> Any:
    request = urllib.request.Request(f"{url}/api/v1{path}", method="GET" if body is None else "POST")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def until(look: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + PATIENCE_S
    while not holds(found := look()):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


@pytest.mark.needs("pydantic_ai")
def test_rules_plan_on_where_the_model_of_a_question_is_gone(cli: Any) -> None:
    fake = FakeOpenAI(thinks)
    with beside(fake):
        url = cli.up(BEFOREHAND_MODEL=MODEL, BEFOREHAND_MODEL_URL=fake.url, BEFOREHAND_MODEL_KEY="sk-not-a-real-key")
        texts = ("how do I add a token?", "how many plans today?", "how many unicorns today?")
        ids = [call(url, "/questions", {"text": text, "model": MODEL})["questionId"] for text in texts]
        for id, round in zip(ids, (2, 1, 2), strict=True):
            until(lambda id=id: call(url, f"/questions/{id}"), lambda told, round=round: told["round"] == round)
        os.kill(cli._started[-1].pid, signal.SIGKILL)
        cli._started[-1].wait()
    url = cli.up()
    ended = [
        until(lambda id=id: call(url, f"/questions/{id}"), lambda told: told["status"] in ("done", "failed"))
        for id in ids
    ]
    helped, counted, unknown = ended
    for question in ended:
        assert f"without the model {MODEL}" in question["warnings"][0]
        assert sum("without the model" in says for says in question["warnings"]) == 1
    assert helped["status"] == "done"
    assert "token" in helped["answer"]
    calls = [each["data"]["id"] for each in cli.events() if _is_start(each, ids[0])]
    assert calls == [1], "what was finished is not done again"
    assert (counted["status"], counted["answer"].split()[0]) == ("done", "0")
    assert unknown["status"] == "failed", "there is nobody to write its query"
    assert "unicorns" in unknown["reason"]
    for id in ids:
        cli.write("again.json", json.dumps(call(url, f"/questions/{id}/replay")))
        told = call(url, f"/questions/{id}")
        again = cli("rounds", "replay", "again.json", "-o", "json").document
        assert (again["warnings"], again["status"]) == (told["warnings"], told["status"])


def _is_start(event: dict[str, Any], question_id: str) -> bool:
    data = event["data"]
    return event["kind"] == "subGoalUpdated" and data["questionId"] == question_id and data["status"] == "running"
