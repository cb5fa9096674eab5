"""What a question decides: `decide(state, input, now)` gives the state after it, the events to make durable and the
commands to carry out afterwards.

Pure, total, and the same whether live, in a replay or in a test. A finished sub-goal is never done again: after a crash
`TakenUp` gives the commands for what had not ended, under the same keys.
"""

from typing import Any

from beforehand.crafts.rounds.core.artifacts import artifacts_of
from beforehand.crafts.rounds.core.board import Board, asked_command, run_command
from beforehand.crafts.rounds.core.dispatch import dispatch
from beforehand.crafts.rounds.core.event_kinds import ASKED, FINISHED, PLANNER_CALLED, PLANNER_DECIDED
from beforehand.crafts.rounds.core.gate import admit, completed
from beforehand.crafts.rounds.core.inputs import (
    Answered,
    Asked,
    CalledOff,
    CallPlanner,
    Command,
    Noted,
    PlannerDecided,
    PlannerFailed,
    QuestionInput,
    Synthesise,
    Synthesised,
    SynthesisFailed,
    TakenUp,
    WorkerFailed,
    WorkerFinished,
)
from beforehand.crafts.rounds.core.state import QuestionState, SubGoal, changed
from beforehand.crafts.rounds.core.synthesis import NOT_IN_WORDS, in_plain_words, kept_in_words, synthesis_of
from beforehand.crafts.rounds.core.words import PlannerDecision
from beforehand.model.decision import Answer
from beforehand.model.event import Verdict, iso
from beforehand.model.reason import name_list
from beforehand.model.words import counted


def decide(state: QuestionState, given: QuestionInput, now: int) -> tuple[QuestionState, Verdict[Command]]:
    board = Board(state, now, given.correlation_id if isinstance(given, Asked) else "")
    if not state.is_open:
        board.refuse("question.over", state.question_id, f"The question {state.question_id} is over: {state.status}.")
        return board.verdict()
    match given:
        case Asked():
            _asked(board)
        case PlannerDecided():
            _planner_decided(board, given)
        case PlannerFailed():
            if _is_expected(board, given.round):
                board.set(planning=False)
                _end(board, f"The planner failed: {given.says}")
        case WorkerFinished():
            _worker_finished(board, given)
        case WorkerFailed():
            _worker_failed(board, given)
        case Answered():
            _answered(board, given)
        case Synthesised() | SynthesisFailed():
            _synthesised(board, given)
        case CalledOff():
            _end(board, given.says)
        case TakenUp():
            _take_up(board)
        case Noted():
            if given.says not in state.warnings:
                board.warn(given.says)
    return board.verdict()


# -- beginning, rounds, ending ---------------------------------------------------------------------------------------


def _asked(board: Board) -> None:
    state = board.state
    if state.status != "new":
        board.refuse("question.begun", state.question_id, f"The question {state.question_id} has begun already.")
        return
    board.set(status="executing", asked_at=board.now)
    board.tell(ASKED, asked_data(board.state))
    if not state.question.strip():
        _end(board, "The question is empty.")
    else:
        _next_round(board)


def asked_data(state: QuestionState) -> dict[str, Any]:
    """Everything a question begins with."""
    return {
        **state.head(),
        "context": dict(state.context),
        "workers": [worker.model_dump(mode="json", exclude_unset=True) for worker in state.workers.values()],
        "wanted": list(state.wanted),
        "prior_artifacts": [dict(artifact) for artifact in state.prior_artifacts],
        "options": dict(state.options),
    }


def _go_on(board: Board) -> None:
    """Dispatch what can go; where nothing runs then, the planner is next."""
    dispatch(board)
    if not board.state.is_busy:
        _next_round(board)


def _next_round(board: Board) -> None:
    state = board.state
    if state.round >= state.max_rounds:
        _end(board, f"The budget of {counted(state.max_rounds, 'round')} is used up.")
        return
    board.set(round=state.round + 1, planning=True)
    board.tell(PLANNER_CALLED, {"questionId": state.question_id, "round": board.state.round})
    board.commands.append(_call(board.state))


def _call(state: QuestionState) -> CallPlanner:
    return CallPlanner(state.round, f"{state.question_id}/round/{state.round}")


def _end(board: Board, says: str) -> None:
    """It has failed; what was finished is kept."""
    board.stop_all()
    board.warn(says)
    board.set(status="failed", reason=says, planning=False, partial_response=kept_in_words(board.state))
    _finish(board)


def _finish(board: Board) -> None:
    artifacts = [dict(artifact) for artifact in artifacts_of(board.state)]
    board.tell(FINISHED, {**board.state.head(), "artifacts": artifacts})


# -- the planner -----------------------------------------------------------------------------------------------------


def _is_expected(board: Board, round: int) -> bool:
    state = board.state
    if state.planning and state.round == round:
        return True
    board.refuse("planner.late", round, f"Nobody waits for a decision of round {round} any more.")
    return False


def _planner_decided(board: Board, given: PlannerDecided) -> None:
    if not _is_expected(board, given.round):
        return
    decision = completed(board.state, given.decision)
    decided = (*board.state.decided, decision)
    board.set(planning=False, planner_reasoning=decision.reasoning, decided=decided)
    for name, only in (("sub_goals", "continue"), ("synthesis_inputs", "done")):
        if getattr(decision, name) and decision.action != only:
            board.warn(f"The planner gave {name} with {decision.action}; they count only with {only}.")
    if decision.action == "continue":
        _continue(board, decision)
    elif decision.action == "done":
        _done(board, decision)
    else:
        _tell_decided(board, decision)
        _end(board, decision.reasoning or "The planner gave up.")


def _tell_decided(board: Board, decision: PlannerDecision, **more: Any) -> None:
    state = board.state
    data = {
        "questionId": state.question_id,
        "round": state.round,
        "decision": decision.wire(),
        "next_id": state.next_id,
        "aliases": {str(id): meant for id, meant in state.aliases.items()},
        "stand_ins": {str(id): meant for id, meant in state.stand_ins.items()},
        "warnings": list(state.warnings),
    }
    board.tell(PLANNER_DECIDED, {**data, **more})


def _continue(board: Board, decision: PlannerDecision) -> None:
    state = board.state
    held = any(each.status == "pending" for each in state.sub_goals.values())
    if not decision.sub_goals and not held:
        _tell_decided(board, decision)
        _end(board, "The planner wants to continue and gave no sub-goals.")
        return
    admission = admit(state, decision.sub_goals)
    board.set(next_id=admission.next_id, aliases=admission.aliases, stand_ins=admission.stand_ins)
    board.warn(*admission.warnings)
    _tell_decided(board, decision)
    for id in sorted(admission.changed):
        board.put(admission.changed[id])
    _go_on(board)


def _done(board: Board, decision: PlannerDecision) -> None:
    inputs, warnings = synthesis_of(board.state, decision.synthesis_inputs)
    board.warn(*warnings)
    if not inputs:
        _tell_decided(board, decision)
        _end(board, "The planner is done, and there is no deliverable to answer with.")
        return
    board.set(status="synthesising", synthesis_inputs=inputs)
    _tell_decided(board, decision, synthesis_inputs={name: ref.wire() for name, ref in inputs.items()})
    board.commands.append(_synthesise(board.state))


def _synthesise(state: QuestionState) -> Synthesise:
    values = {name: state.value_of(ref) for name, ref in state.synthesis_inputs.items()}
    return Synthesise(state.question, values, f"{state.question_id}/answer", state.synthesis_inputs)


def _synthesised(board: Board, given: Synthesised | SynthesisFailed) -> None:
    state = board.state
    if state.status != "synthesising":
        board.refuse("synthesis.late", state.question_id, "Nobody waits for an answer in words now.")
        return
    if isinstance(given, SynthesisFailed):
        board.warn(f"{NOT_IN_WORDS}{given.says}")
        given = Synthesised(in_plain_words(_synthesise(state).values))
    board.set(status="done", answer=given.text)
    _finish(board)


# -- workers and people ----------------------------------------------------------------------------------------------


def _running(board: Board, id: int) -> SubGoal | None:
    sub_goal = board.state.sub_goals.get(id)
    if sub_goal is not None and sub_goal.status == "running":
        return sub_goal
    board.refuse("sub_goal.late", id, f"Nobody waits for a result of sub-goal {id} any more.")
    return None


def _worker_finished(board: Board, given: WorkerFinished) -> None:
    sub_goal = _running(board, given.sub_goal)
    if sub_goal is not None:
        _deliver(board, sub_goal, dict(given.outputs))
        _go_on(board)


def _deliver(board: Board, sub_goal: SubGoal, outputs: dict[str, Any]) -> None:
    missing = [slot for slot in board.state.workers[sub_goal.worker].outputs if slot not in outputs]
    if missing:
        board.fail(sub_goal, f"{sub_goal.worker} did not deliver what it declares: {name_list(missing)}.")
    else:
        board.put(changed(sub_goal, status="success", outputs=outputs, ended_round=board.state.round))


def _worker_failed(board: Board, given: WorkerFailed) -> None:
    sub_goal = _running(board, given.sub_goal)
    if sub_goal is not None:
        says = given.says or f"{sub_goal.worker} failed."
        board.fail(sub_goal, says, transient=given.transient, refused=given.refused)
        _go_on(board)


def _answered(board: Board, given: Answered) -> None:
    decision = board.state.decisions.get(given.decision_id)
    if decision is None:
        board.refuse("decision.closed", given.decision_id, "This decision does not wait for an answer any more.")
        return
    if given.verb not in decision.verbs:
        board.refuse("decision.verb", given.decision_id, f"The verbs are: {name_list(decision.verbs)}.")
        return
    board.close(decision, Answer(verb=given.verb, value=given.value, note=given.note, by=given.by, at=iso(board.now)))
    sub_goal = board.state.sub_goals[int(decision.about["subGoalId"])]
    who = given.by or "a person"
    match given.verb:
        case "approve" | "run-again":
            board.start(sub_goal)
        case "answer" | "happened":
            _deliver(board, sub_goal, _as_outputs(board, sub_goal, given.value))
        case "skip":
            board.fail(sub_goal, f"Nobody answered: {who} left the question out.")
        case _:
            board.fail(sub_goal, f"It was not done: {who} said {given.verb}.")
    _go_on(board)


def _as_outputs(board: Board, sub_goal: SubGoal, value: Any) -> dict[str, Any]:
    """A person's answer as what the worker delivers: all slots where it names them, else the same for each."""
    slots = board.state.workers[sub_goal.worker].outputs
    if isinstance(value, dict) and all(slot in value for slot in slots):
        return dict(value)
    return dict.fromkeys(slots, value)


# -- after a crash ---------------------------------------------------------------------------------------------------


def _take_up(board: Board) -> None:
    """What was in the air comes again under its old key; what could do harm twice is asked about."""
    state = board.state
    if state.status == "new":
        _asked(board)
        return
    if state.planning:
        board.commands.append(_call(state))
    if state.status == "synthesising":
        board.commands.append(_synthesise(state))
    board.commands += [asked_command(decision) for decision in state.decisions.values()]
    for sub_goal in state.sub_goals.values():
        if sub_goal.status == "running":
            _run_again(board, sub_goal)
    if state.status == "executing" and not state.planning and not state.is_busy:
        _go_on(board)


def _run_again(board: Board, sub_goal: SubGoal) -> None:
    if board.state.workers[sub_goal.worker].effect != "physical":
        board.commands.append(run_command(board.state, sub_goal))
        return
    effects = {
        "happened": "It counts as done; the value is what it gave.",
        "run-again": "It is called once more.",
        "abort": "It counts as failed.",
    }
    title = f"Has {sub_goal.worker} been done? The server stopped while it was under way"
    values: dict[str, Any] = {"happened": {"description": "What it gave; null when left out."}}
    board.ask(sub_goal, board.decision(sub_goal, "inDoubt", title, effects, values=values))


def waiting_for(state: QuestionState, sub_goal: SubGoal) -> list[str]:
    """What a pending sub-goal waits for, as the planner is told: `es_results: from sg2.es_results`."""
    told = []
    for name, ref in sub_goal.inputs.items():
        if state.outputs_of(ref.from_sub_goal) is None:
            told.append(f"{name}: from sg{state.resolved(ref.from_sub_goal)}.{ref.slot}")
    if not told and sub_goal.behind:
        told.append("the decision after " + name_list(f"sg{id}" for id in sub_goal.behind))
    return told
