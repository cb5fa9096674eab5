"""The questions of a runtime: asked, followed, found again in the log, and what people answer to them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beforehand.app.craft import Answering
from beforehand.app.ids import new_id
from beforehand.app.runtime import Runtime
from beforehand.crafts.rounds.core.artifacts import QUERY, newest_query
from beforehand.crafts.rounds.core.chart import svg
from beforehand.crafts.rounds.core.event_kinds import FINISHED
from beforehand.crafts.rounds.core.folding import from_events
from beforehand.crafts.rounds.core.inputs import Answered, CalledOff
from beforehand.crafts.rounds.core.intake import PASTED, take_in
from beforehand.crafts.rounds.core.replay import recorded
from beforehand.crafts.rounds.core.results import chart_from
from beforehand.crafts.rounds.core.state import Artifact, QuestionState, without_model
from beforehand.crafts.rounds.core.words import NEEDS_CLARIFICATION, WITHOUT_MODEL
from beforehand.crafts.rounds.driver import QuestionDriver
from beforehand.crafts.rounds.help_worker import asks_for_help
from beforehand.crafts.rounds.planning import thinking_for
from beforehand.crafts.rounds.rows import QUESTION_ROW
from beforehand.crafts.rounds.workers import Crew
from beforehand.loop.fold import folding
from beforehand.loop.host import Host
from beforehand.model.decision import Decision
from beforehand.model.errors import BeforehandError, ConflictError, ModelError, NotFoundError
from beforehand.model.event import Event
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter
from beforehand.ports.tasks import TaskOwner

log = Log("beforehand.rounds")
CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks."""

    text: str
    context: Mapping[str, Any] = field(default_factory=dict)
    follows: str | None = None
    model: str | None = None
    max_rounds: int = 10
    by: str = ""


@dataclass(slots=True)
class Questions:
    runtime: Runtime
    crew: Crew
    host: Host[QuestionDriver] = field(init=False)

    def __post_init__(self) -> None:
        self.host = Host(self.runtime.nursery, owner_of_question, self._take_up)

    @property
    def live(self) -> Mapping[str, QuestionDriver]:
        return self.host.live

    # -- asking and taking up --------------------------------------------------------------------------------------

    async def ask(self, asked: Question) -> QuestionState:
        """Begin a question, durable when this returns; it goes on by itself, and its events tell how."""
        prior = await self._prior(asked.follows)
        artifacts = () if prior is None else tuple(await self._artifacts(prior.question_id))
        analysis = {} if prior is None else _analysis(prior, artifacts)
        taken = take_in(
            asked.text,
            prior_question="" if prior is None else prior.question,
            artifacts=artifacts,
            context={**analysis, **asked.context},
        )
        workers = await self.crew.workers()
        state = QuestionState(
            new_id("question"),
            taken.question,
            {worker.name: worker for worker in workers},
            _context(taken.context),
            asked.max_rounds,
            asked.text,
            wanted=_wanted(taken.question),
            follows=asked.follows,
            by=asked.by,
            asked_at=self.runtime.now(),
            prior_artifacts=artifacts,
            options={} if asked.model is None else {"model": asked.model},
        )
        driver = self._drive(state)
        try:
            await driver.begin()
        except BeforehandError:  # too late, or the log cannot be written: there is no such question
            await self.host.stop(state.question_id)
            raise
        return state

    async def _prior(self, follows: str | None) -> QuestionState | None:
        if follows is None:
            return None
        prior = await self.from_log(follows)
        if prior.is_open:
            raise ConflictError(
                f"The question {follows} is not answered yet, so nothing can follow it.", code="question.open"
            )
        return prior

    async def _artifacts(self, question_id: str) -> list[Mapping[str, Any]]:
        events = await self._events(question_id, FINISHED)
        return list(events[-1].data["artifacts"]) if events else []

    def _drive(self, state: QuestionState, *, taken_up: bool = False, note: str = "") -> QuestionDriver:
        driver = QuestionDriver(
            state,
            self.runtime.store,
            self.runtime.clock,
            thinking_for(self.runtime, state),
            self.crew.run,
            taken_up=taken_up,
            note=note,
        )
        self.host.start(state.question_id, driver, driver.drive())
        return driver

    async def begin(self) -> None:
        """After a start: whatever was not answered goes on; what was finished is not done again."""
        if not self.runtime.serves:
            return
        rows = await self.runtime.store.rows(QUESTION_ROW, open=True)
        await self.host.take_up_all([row["questionId"] for row in rows])

    async def _take_up(self, question_id: str) -> None:
        state = await self.from_log(question_id)
        try:
            self._drive(state, taken_up=True)
        except ModelError as error:
            log.warning("the model of a question is not there", question=question_id, says=error.says)
            note = f"{WITHOUT_MODEL}{state.options['model']}, which is not there any more: {error.says}"
            self._drive(without_model(state), taken_up=True, note=note)

    async def from_log(self, question_id: str) -> QuestionState:
        events = await self._events(question_id)
        with folding(f"The question {question_id}"):
            state = from_events(events)
        if state is None:
            raise await self._unknown(question_id)
        return state

    async def _events(self, question_id: str, *kinds: str) -> list[Event]:
        only = EventFilter(kinds=frozenset(kinds), owner=f"question:{question_id}")
        found: list[Event] = []
        after = 0
        while events := await self.runtime.store.events(after=after, limit=CHUNK, only=only):
            found += events
            after = events[-1].seq
        return found

    # -- looking and steering --------------------------------------------------------------------------------------

    async def show(self, question_id: str) -> dict[str, Any]:
        """A question as it is: its head, and its sub-goals with what they gave."""
        driver = self.live.get(question_id)
        state = driver.state if driver is not None else await self.from_log(question_id)
        return {**state.head(), "sub_goals": [sub_goal.wire() for _, sub_goal in sorted(state.sub_goals.items())]}

    async def listed(self, *, open: bool | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """Questions without their sub-goals, newest first."""
        return await self.runtime.store.rows(QUESTION_ROW, open=open, limit=limit, newest_first=True)

    async def replay_file(self, question_id: str) -> dict[str, Any]:
        """The question as a file that runs again without a model; ConflictError while it goes on."""
        state = await self.from_log(question_id)
        if state.is_open:
            raise ConflictError(f"The question {question_id} is not over yet.", code="question.open")
        return recorded(state)

    async def chart(self, question_id: str) -> str | None:
        """The answer as SVG; None where it has no chart."""
        state = await self.from_log(question_id)
        for ref in state.synthesis_inputs.values():
            value = state.value_of(ref)
            if isinstance(value, Mapping) and isinstance(drawn := value.get("chart"), Mapping):
                return svg(chart_from(drawn))
        return None

    async def cancel(self, question_id: str, *, by: str = "") -> dict[str, Any]:
        """End it now; what was finished is kept."""
        driver = self.live.get(question_id)
        if driver is None:
            await self.from_log(question_id)
            raise ConflictError(f"The question {question_id} is over.", code="question.over")
        await driver.request(CalledOff(f"{by or 'A person'} cancelled it."))
        return await self.show(question_id)

    async def until_over(self, question_id: str) -> dict[str, Any]:
        await self.host.wait(question_id)
        return await self.show(question_id)

    async def answer(self, decision: Decision, given: Answering) -> None:
        """A person's answer to what a question asked. Where nobody works on it, it goes on here."""
        question_id = decision.owner.partition(":")[2]
        is_driven = question_id in self.live
        if not is_driven:
            if not (await self.from_log(question_id)).is_open:
                raise ConflictError(f"The question {question_id} is over.", code="question.over")
            await self.host.take_up(question_id)
        driver = self.live[question_id]
        verdict = await driver.request(Answered(decision.id, given.verb, given.value, given.note, given.by))
        if verdict.reasons:
            raise ConflictError(verdict.reasons[0].says, code=verdict.reasons[0].code)
        if not is_driven:
            await driver.settled()

    async def _unknown(self, question_id: str) -> NotFoundError:
        rows = await self.runtime.store.rows(QUESTION_ROW, limit=200, newest_first=True)
        return NotFoundError.unknown("question", question_id, [row["questionId"] for row in rows])


def owner_of_question(question_id: str) -> TaskOwner:
    """Who answers for the tasks of a question."""
    return TaskOwner(f"question:{question_id}", f"The question {question_id}", {"questionId": question_id})


def _context(slots: Mapping[str, Any]) -> Mapping[str, Any]:
    """The slots at id 0. A pasted query is clear, and is shown as itself, not as what was asked before it."""
    if PASTED not in slots:
        return slots
    kept = {slot: value for slot, value in slots.items() if slot != "prior_analysis"}
    return {**kept, NEEDS_CLARIFICATION: kept.get(NEEDS_CLARIFICATION, False)}


def _wanted(question: str) -> tuple[str, ...]:
    """What the rules work towards: help, what can be asked, or results."""
    if _ABOUT_DATA.search(question):
        return ("explanation",)
    return ("help_answer", "formatted_results") if asks_for_help(question) else ("formatted_results",)


_ABOUT_DATA = re.compile(r"\bwhat\s+can\s+(?:i|one|we)\s+ask\b|\bwhich\s+(?:indexes|indices|fields)\b", re.IGNORECASE)


def _analysis(prior: QuestionState, artifacts: Sequence[Artifact]) -> dict[str, Any]:
    """What the question before was understood as, for one that goes on from it."""
    ref = prior.newest("analysis_result")
    value = prior.context.get("prior_analysis") if ref is None else prior.value_of(ref)
    if not isinstance(value, Mapping) or "index" not in value:
        return {}
    return {"prior_analysis": {**value, **_page_shown(value, newest_query(artifacts))}}


def _page_shown(analysis: Mapping[str, Any], artifact: Artifact | None) -> dict[str, Any]:
    """Which page of a list was shown last: pages are turned by their query, not by new words."""
    query = {} if artifact is None else artifact[QUERY]
    if analysis.get("act") != "list" or not isinstance(query, Mapping) or query.get("index") != analysis["index"]:
        return {}
    body = query.get("body", {})
    return {"start": body.get("from", 0), "size": body["size"]} if body.get("size") else {}
