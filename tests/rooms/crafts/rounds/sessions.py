"""Sessions of the round planner, written short: workers, decisions, and what came of them."""

from typing import Any

from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.inputs import (
    Asked,
    CallPlanner,
    Command,
    PlannerDecided,
    QuestionInput,
    Synthesise,
    WorkerFailed,
    WorkerFinished,
)
from beforehand.crafts.rounds.core.replay import play, result_of
from beforehand.crafts.rounds.core.replay_file import read_replay
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import PlannerDecision, Worker
from beforehand.model.event import Event, Verdict

Document = dict[str, Any]


def worker(name: str, *results: Any, needs: list[Any] | None = None, gives: Any = None, **more: Any) -> Document:
    """A worker whose results are outputs (a mapping), or errors (text); it declares what its first result has."""
    told = [{"error": each} if isinstance(each, str) else {"outputs": each} for each in results]
    first = next((each for each in results if not isinstance(each, str)), {})
    needed = [{"slot": need} if isinstance(need, str) else need for need in needs or []]
    outputs = list(first) if gives is None else gives
    return {"name": name, "preconditions": needed, "outputs": outputs, "results": told, **more}


def goal(worker: str, goal_type: str = "support", params: Document | None = None, **inputs: str) -> Document:
    """`goal("press", steel="2.sheet")`: an input is written `id.slot`."""
    refs = {}
    for name, wired in inputs.items():
        source, _, slot = wired.partition(".")
        refs[name] = {"from_sub_goal": int(source), "slot": slot}
    return {"worker": worker, "inputs": refs, "params": params or {}, "goal_type": goal_type}


def go(*goals: Document, because: str = "") -> Document:
    return {"action": "continue", "reasoning": because, "sub_goals": list(goals)}


def done(because: str = "", **inputs: str) -> Document:
    return {"action": "done", "reasoning": because, "synthesis_inputs": goal("", **inputs)["inputs"]}


def session(workers: list[Document], *decisions: Document, **more: Any) -> Document:
    """What `rounds replay` prints for a session."""
    document = {"question": "What came in today?", "context": {}, "workers": workers, "decisions": list(decisions)}
    return result_of(play(read_replay({**document, **more})))


def statuses(result: Document) -> dict[int, str]:
    return {each["id"]: each["status"] for each in result["sub_goals"]}


def errors(result: Document) -> dict[int, str]:
    return {each["id"]: each["error"] for each in result["sub_goals"] if "error" in each}


class Live:
    """A session driven by hand: what is called is kept until the test says what came of it."""

    def __init__(self, workers: list[Document], context: Document | None = None, **more: Any) -> None:
        registry = {each["name"]: Worker.model_validate(_without_results(each)) for each in workers}
        more = {"question": "What came in today?", **more}
        self.state = QuestionState("q1", workers=registry, context=context or {}, **more)
        self.events: list[Event] = []
        self.commands: list[Command] = []
        self.says(Asked())

    def says(self, given: QuestionInput) -> Verdict[Command]:
        self.state, verdict = decide(self.state, given, 1_000)
        self.events += verdict.events
        self.commands = list(verdict.commands)
        return verdict

    def plans(self, decision: Document) -> Verdict[Command]:
        return self.says(PlannerDecided(self.state.round, PlannerDecision.model_validate(decision)))

    def gives(self, sub_goal: int, **outputs: Any) -> Verdict[Command]:
        return self.says(WorkerFinished(sub_goal, outputs))

    def breaks(self, sub_goal: int, says: str = "it broke", transient: bool = False) -> Verdict[Command]:
        return self.says(WorkerFailed(sub_goal, says, transient))

    @property
    def called(self) -> list[str]:
        """What was wanted last: `2:press`, or `planner`."""
        told = {CallPlanner: "planner", Synthesise: "synthesise"}
        return [told.get(type(each)) or f"{each.sub_goal}:{_what(each)}" for each in self.commands]  # type: ignore[union-attr]


def _what(command: Any) -> str:
    return str(getattr(command, "worker", getattr(command, "kind", "stop")))


def _without_results(document: Document) -> Document:
    return {name: value for name, value in document.items() if name != "results"}
