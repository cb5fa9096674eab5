"""Proposals after a failure: a model looks at a step that failed, and a person finds its proposals beside the question.

Only where a model is configured. Every proposal is tried against the run before it is shown, exactly as its answer
would be; what does not hold is told to the model once, and else left out. Accepting one is answering the decision.
"""

import asyncio
import json
from typing import Any

from beforehand.adapters.models.budget import Budget, Limits
from beforehand.app.model_log import LoggedModel
from beforehand.app.models import open_model
from beforehand.app.run_answers import check_answer
from beforehand.app.runtime import Runtime
from beforehand.crafts.drafting.core.advice import Failure, advice_ask, proposal_of
from beforehand.crafts.drafting.core.prompt import corrected
from beforehand.engine.inputs import Advised
from beforehand.engine.state import RunState
from beforehand.loop.loop import stop
from beforehand.model.decision import Decision
from beforehand.model.errors import BeforehandError, ModelAnswerError
from beforehand.ports.log import Log
from beforehand.ports.model import Message, Model
from beforehand.ports.store import EventFilter

log = Log("beforehand.drafting")
TRIES = 2
LIMITS = Limits(requests=8, seconds=300)
LONGEST_VALUE = 500
"""Characters of a step's value that are shown."""
Proposal = dict[str, Any]


class Advising:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._watching: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Look out for failures from now on, where a model is configured."""
        if self._runtime.settings["model"]:
            after = await self._runtime.store.last_seq()
            self._watching = asyncio.create_task(self._watch(after))

    async def close(self) -> None:
        await stop([*self._asking, *([self._watching] if self._watching is not None else [])])

    async def _watch(self, after: int) -> None:
        async for batch in self._runtime.feed.follow(after, EventFilter(kinds=frozenset({"decisionOpened"}))):
            for record, _ in batch:
                decision = Decision.model_validate(json.loads(record.line)["data"])
                if decision.kind == "failure" and decision.owner.startswith("run:"):
                    task = asyncio.create_task(self._advise(decision))
                    self._asking.add(task)
                    task.add_done_callback(self._asking.discard)

    async def _advise(self, decision: Decision) -> None:
        """A run waits for a person in any case, so whatever goes wrong here is only told in the server's log."""
        try:
            run_id = decision.owner.partition(":")[2]
            proposals = await self._proposals(decision, await self._runtime.runs.state(run_id))
            if proposals and decision.id in (await self._runtime.runs.state(run_id)).decisions:
                await self._runtime.runs.send(run_id, Advised(self._runtime.now(), decision.id, tuple(proposals)))
        except BeforehandError as error:
            log.warning("there is no proposal", decision=decision.id, says=error.says)
        except Exception:  # advice is a convenience: a bug in it must not stop the next one
            log.exception("a proposal could not be made", decision=decision.id)

    async def _proposals(self, decision: Decision, run: RunState) -> list[Proposal]:
        model = self._model(decision)
        try:
            return await self._tried(model, decision, _failure(decision, run))
        finally:
            await model.close()

    def _model(self, decision: Decision) -> Model:
        about: dict[str, Any] = {
            name: decision.about[name] for name in ("planId", "runId", "stepId") if name in decision.about
        }
        return LoggedModel(
            Budget(open_model(self._runtime.settings), LIMITS),
            self._runtime.store,
            self._runtime.clock,
            owner=f"advice:{decision.id}",
            about={**about, "decisionId": decision.id},
        )

    async def _tried(self, model: Model, decision: Decision, failure: Failure) -> list[Proposal]:
        """The proposals that hold; the model is told once about those that do not."""
        talk: tuple[Message, ...] = ()
        good: list[Proposal] = []
        for _ in range(TRIES):
            try:
                answer = await model.answer(advice_ask(failure, self._runtime.catalog, talk))
            except ModelAnswerError as error:
                talk = (*talk, *corrected("(unreadable)", [problem.says for problem in error.problems]))
                continue
            good, problems = await self._sorted(decision, failure, answer.data["proposals"])
            if not problems:
                break
            talk = (*talk, *corrected(answer.text, problems))
        return [{**proposal, "model": model.name} for proposal in good]

    async def _sorted(
        self, decision: Decision, failure: Failure, written: list[dict[str, Any]]
    ) -> tuple[list[Proposal], list[str]]:
        good: list[Proposal] = []
        problems: list[str] = []
        for one in written:
            proposal, wrong = proposal_of(one, failure, self._runtime.catalog)
            wrong = wrong or await self._refusals(decision, proposal)
            problems += [f"{proposal['verb']}: {says}" for says in wrong]
            good += [] if wrong else [proposal]
        return good, problems

    async def _refusals(self, decision: Decision, proposal: Proposal) -> list[str]:
        try:
            await check_answer(self._runtime, decision, proposal["verb"], proposal.get("value"))
        except BeforehandError as error:
            return [problem.says for problem in error.problems] or [error.says]
        return []


def _failure(decision: Decision, run: RunState) -> Failure:
    evidence = decision.evidence
    steps = [
        {"id": name, "tool": state.step.tool, "dependsOn": list(state.needs), "status": str(state.status)}
        | {"description": state.step.description, "args": state.step.args}
        | ({} if state.value is None else {"value": str(state.value)[:LONGEST_VALUE]})
        for name, state in list(run.steps.items())[:200]
    ]
    wanted = run.plan.origin.text or run.plan.description or run.plan.name or "The plan above."
    return Failure(
        wanted, steps, str(decision.about["stepId"]), evidence["tool"], evidence["args"], str(evidence["error"])
    )
