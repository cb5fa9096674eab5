"""Recorded histories of runs on Temporal, of every release of the decisions, still replay with the present code."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.needs("temporalio")
HISTORIES = sorted((Path(__file__).parents[1] / "fixtures" / "histories").glob("*/*.json"))


def replayer() -> Any:
    from temporalio.worker import Replayer

    from beforehand.adapters.temporal.connection import converter
    from beforehand.adapters.temporal.workflow import RunWorkflow
    from beforehand.adapters.temporal.working import workflow_runner

    return Replayer(workflows=[RunWorkflow], data_converter=converter(), workflow_runner=workflow_runner())


def history(file: Path) -> Any:
    from temporalio.client import WorkflowHistory

    document = json.loads(file.read_text())
    return WorkflowHistory.from_json(document.pop("workflowId"), {"events": document["events"]})


async def test_every_recorded_history_replays() -> None:
    assert len(HISTORIES) >= 20

    async def histories() -> AsyncIterator[Any]:
        for file in HISTORIES:
            yield history(file)

    results = await replayer().replay_workflows(histories(), raise_on_replay_failure=False)
    assert results.replay_failures == {}


async def test_other_decisions_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from beforehand.adapters.temporal import workflow
    from beforehand.engine.inputs import SetTimer
    from beforehand.model.event import Verdict

    def decides_more(*given: Any) -> Verdict[Any]:
        verdict = workflow_decide(*given)
        return Verdict(verdict.events, (SetTimer("probe:none:1", given[1].ts + 5000), *verdict.commands))

    workflow_decide = workflow.decide
    monkeypatch.setattr(workflow, "decide", decides_more)
    chain = next(file for file in HISTORIES if file.stem == "chain")
    with pytest.raises(Exception, match=r"[Nn]ondeterminism"):
        await replayer().replay_workflow(history(chain))
