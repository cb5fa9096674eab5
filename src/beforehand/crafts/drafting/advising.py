"""Proposals after a failure: a model looks at a step that failed, and a person finds its proposals beside the question.

Only where a model is configured: for failures from now on and, in a server, for those that wait already and that no
model was asked about, each once. Every proposal is tried against the run before it is shown, exactly as its answer
would be; what does not hold is told to the model once, and else left out. Accepting one is answering the decision.
"""

import asyncio
import json
from typing import TYPE_CHECKING, Any

from beforehand.adapters.models.budget import Budget, Limits
from beforehand.app.live_models import watched_model
from beforehand.app.models import open_model
from beforehand.app.runtime import Runtime
from beforehand.crafts.drafting.core.advice import Failure, advice_ask, proposal_of
from beforehand.crafts.drafting.core.prompt import corrected
from beforehand.model.decision import Decision
from beforehand.model.errors import BeforehandError, ModelAnswerError
from beforehand.ports.log import Log
from beforehand.ports.model import Message, Model
from beforehand.ports.store import EventFilter
from beforehand.ports.tasks import TaskOwner, job, lasting, note, stop

if TYPE_CHECKING:
    from beforehand.engine.state import RunState

log = Log("beforehand.drafting")
OWNER = TaskOwner("server:proposals", "The model that looks at failures")
TRIES = 2
LIMITS = Limits(requests=8, seconds=300)
MOST_OLD = 20
"""How many decisions that waited before the start a model is asked about; the newest."""
AT_ONCE = 2
"""How many it is asked about at the same time."""
LONGEST_VALUE = 500
"""Characters of a step's value that are shown."""
Proposal = dict[str, Any]


class Advising:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._watching: asyncio.Task[None] | None = None
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def begin(self) -> None:
        """Look out for failures from now on, where a model is configured."""
        if self._runtime.settings["model"]:
            after = await self._runtime.store.last_seq()
            self._watching = lasting(lambda: self._watch(after), "proposals after failures", OWNER, may_end=True)

    async def close(self) -> None:
        await stop([*self._asking.values(), *([self._watching] if self._watching is not None else [])])

    async def _watch(self, after: int) -> None:
        async for batch in self._runtime.feed.follow(after, EventFilter(kinds=frozenset({"decisionOpened"}))):
            for record, _ in batch:
                self._take(Decision.model_validate(json.loads(record.line)["data"]))

    async def catch_up(self) -> None:
        """Look at what waits already: opened while no model was set, or shortly before the last stop."""
        if not self._runtime.settings["model"]:
            return
        waiting = await self._runtime.store.rows("decision", open=True, newest_first=True)
        failures = [found for found in map(Decision.model_validate, waiting) if _is_failure(found)]
        for decision in failures:
            if not await self._was_asked(decision):
                self._take(decision)
            if len(self._asking) >= MOST_OLD:
                log.info("older failures are left without proposals until the next start")
                return

    async def _was_asked(self, decision: Decision) -> bool:
        """Whether a model was asked about it before, whatever came of that: asking costs money."""
        only = EventFilter(owner=_owner(decision))
        return "proposals" in decision.evidence or bool(await self._runtime.store.events(0, 1, only))

    def _take(self, decision: Decision) -> None:
        if not _is_failure(decision) or decision.id in self._asking:
            return
        task = self._asking[decision.id] = job(self._advise(decision), "proposals for a failure", OWNER)
        task.add_done_callback(lambda _: self._asking.pop(decision.id, None))

    async def _advise(self, decision: Decision) -> None:
        async with self._turn:
            await self._offer(decision)

    async def _offer(self, decision: Decision) -> None:
        """A run waits for a person in any case, so whatever goes wrong here is only told in the server's log."""
        from beforehand.engine.inputs import Advised

        try:
            run_id = decision.owner.partition(":")[2]
            run = await self._runtime.runs.state(run_id)
            if decision.id not in run.decisions or await self._was_asked(run.decisions[decision.id]):
                return  # answered while it waited for its turn, or looked at before
            proposals = await self._proposals(decision, run)
            if proposals and decision.id in (await self._runtime.runs.state(run_id)).decisions:
                await self._runtime.runs.send(run_id, Advised(self._runtime.now(), decision.id, tuple(proposals)))
        except BeforehandError as error:
            log.warning("there is no proposal", decision=decision.id, says=error.says)
        except Exception as error:  # advice is a convenience: a bug in it must not stop the next one
            note("a proposal after a failure", error)

    async def _proposals(self, decision: Decision, run: "RunState") -> list[Proposal]:
        model = self._model(decision)
        try:
            return await self._tried(model, decision, _failure(decision, run))
        finally:
            await model.close()

    def _model(self, decision: Decision) -> Model:
        about: dict[str, Any] = {
            name: decision.about[name] for name in ("planId", "runId", "stepId") if name in decision.about
        }
        return watched_model(
            self._runtime,
            Budget(open_model(self._runtime.settings), LIMITS),
            owner=_owner(decision),
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
                talk = (*talk, *corrected("(unreadable)", [problem.says for problem in error.problems], "answer"))
                continue
            good, problems = await self._sorted(decision, failure, answer.data["proposals"])
            if not problems:
                break
            talk = (*talk, *corrected(answer.text, problems, "answer"))
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
        from beforehand.app.run_answers import check_answer

        try:
            await check_answer(self._runtime, decision, proposal["verb"], proposal.get("value"))
        except BeforehandError as error:
            return [problem.says for problem in error.problems] or [error.says]
        return []


def _is_failure(decision: Decision) -> bool:
    return decision.kind == "failure" and decision.owner.startswith("run:")


def _owner(decision: Decision) -> str:
    """Whose events the questions about a decision are."""
    return f"advice:{decision.id}"


def _failure(decision: Decision, run: "RunState") -> Failure:
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
