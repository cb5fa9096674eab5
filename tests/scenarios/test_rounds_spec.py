"""`specs/rounds.md` by its sections, with the rule planner as planner: no model anywhere."""

from collections.abc import Mapping
from typing import Any

from tests.rooms.crafts.rounds.registry import REGISTRY, outputs_for
from tests.rooms.crafts.rounds.sessions import Live, go, goal, worker

from beforehand.crafts.rounds.core.artifacts import artifacts_of
from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.inputs import (
    Answered,
    Asked,
    AskPerson,
    CallPlanner,
    Command,
    PlannerDecided,
    PlannerFailed,
    QuestionInput,
    RunWorker,
    Synthesise,
    Synthesised,
    WorkerFailed,
    WorkerFinished,
)
from beforehand.crafts.rounds.core.intake import take_in
from beforehand.crafts.rounds.core.rule_planner import plan_by_rules
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.synthesis import in_plain_words

DATA = ("formatted_results", "help_answer")


class Turn:
    """A question asked of the rule planner; workers give what is usual, or what the test says in their turn."""

    def __init__(self, text: str, after: "Turn | None" = None, wanted: tuple[str, ...] = DATA, **told: Any) -> None:
        artifacts = artifacts_of(after.state) if after else ()
        took = take_in(text, prior_question=after.state.question if after else "", artifacts=artifacts)
        self.told = {name: list(results) for name, results in told.items()}
        self.calls: list[RunWorker] = []
        self.asked: list[str] = []
        self.state = QuestionState(
            "q", took.question, REGISTRY, took.context, text=text, wanted=wanted, prior_artifacts=artifacts
        )
        flying: list[Command] = []
        given: QuestionInput = Asked()
        while True:
            self.state, verdict = decide(self.state, given, 0)
            flying += verdict.commands
            if not self.state.is_open:
                break
            given = self._outcome(flying.pop(0))

    def _outcome(self, command: Command) -> QuestionInput:
        match command:
            case CallPlanner():
                return PlannerDecided(command.round, plan_by_rules(self.state))
            case AskPerson():
                self.asked.append(command.decision.title)
                return Answered(command.decision.id, "answer", "at the dock")
            case Synthesise():
                return Synthesised(in_plain_words(command.values))
            case RunWorker():
                return self._worked(command)
        raise AssertionError(command)

    def _worked(self, command: RunWorker) -> QuestionInput:
        self.calls.append(command)
        result: Any = self.told[command.worker].pop(0) if self.told.get(command.worker) else {}
        if isinstance(result, Mapping):
            return WorkerFinished(command.sub_goal, outputs_for(command.worker, **result))
        return WorkerFailed(command.sub_goal, result, transient="busy" in result)

    @property
    def path(self) -> list[str]:
        return [call.worker for call in self.calls]


def test_first_round_a_data_question_begins_with_the_metadata() -> None:
    turn = Turn("how many picks failed?")
    assert turn.path == ["metadata_lookup", "es_query_gen", "es_query_exec", "show_results"]
    assert turn.state.answer == "| 1 | 2 |"
    assert turn.state.round == 4


def test_first_round_a_question_of_how_goes_to_the_help_desk() -> None:
    turn = Turn("how do I add a token?", wanted=("help_answer",))
    assert turn.path == ["common_helpdesk"]
    assert turn.state.answer == "Read the manual."


def test_when_the_data_cannot_be_had_the_next_best_is_answered() -> None:
    turn = Turn("how many?", metadata_lookup=["no such index"])
    assert turn.path == ["metadata_lookup", "common_helpdesk"]
    assert turn.state.status == "done"


def test_query_gen_is_dispatched_alone() -> None:
    turn = Turn("how many picks failed?")
    rounds = [[each.worker for each in decision.sub_goals] for decision in turn.state.decided]
    assert rounds == [["metadata_lookup"], ["es_query_gen"], ["es_query_exec", "show_results"], []]


def test_clarification_routing_from_metadata_lookup() -> None:
    turn = Turn("how many picks?", metadata_lookup=[{"needs_clarification": True}])
    assert len(turn.asked) == 1
    assert turn.path[:2] == ["metadata_lookup", "metadata_lookup"]
    assert turn.calls[1].inputs == {"clarification": "at the dock"}
    assert turn.state.status == "done"


def test_clarification_routing_from_query_gen_which_is_made_anew_with_the_answer() -> None:
    turn = Turn("how many picks?", es_query_gen=[{"needs_clarification": True}])
    assert turn.path == ["metadata_lookup", "es_query_gen", "es_query_gen", "es_query_exec", "show_results"]
    assert turn.calls[2].inputs["clarification"] == "at the dock"
    assert turn.state.status == "done"


def test_a_person_is_not_asked_for_ever() -> None:
    turn = Turn("how many picks?", wanted=DATA[:1], es_query_gen=[{"needs_clarification": True}] * 9)
    assert len(turn.asked) == 2
    assert turn.state.status == "failed"
    assert "es_query_exec needs needs_clarification = false" in turn.state.reason


def test_force_execute_without_a_query_has_one_made_and_does_not_ask() -> None:
    turn = Turn(
        "just run it: how many picks?",
        metadata_lookup=[{"needs_clarification": True}],
        es_query_gen=[{"needs_clarification": True}],
    )
    assert turn.asked == []
    assert turn.path == ["metadata_lookup", "es_query_gen", "es_query_exec", "show_results"]
    assert turn.calls[1].params == {"force_execute": True}


def test_force_execute_with_a_query_runs_it_and_makes_none() -> None:
    first = Turn("how many picks?", wanted=("es_query",))
    turn = Turn("just run it", after=first)
    assert turn.path == ["es_query_exec", "show_results"]
    assert turn.calls[0].inputs == {"es_query": {"match_all": {}}}


def test_pasted_query_text_is_run_as_it_is() -> None:
    turn = Turn('run this, don\'t ask: {"query": {"term": {"kind": "taskUpdated"}}}')
    assert turn.path == ["es_query_exec", "show_results"]
    assert turn.calls[0].inputs == {"es_query": '{"query": {"term": {"kind": "taskUpdated"}}}'}


def test_pagination_next_page_after_next_page() -> None:
    first = Turn("list the failed picks")
    second = Turn("next page", after=first)
    assert second.path == ["page_query", "show_results"]
    assert second.calls[0].inputs == {"es_query": {"match_all": {}}, "offset": 2, "limit": 2}
    third = Turn("next page", after=Turn("how do I stop it?", after=second, wanted=("help_answer",)))
    assert third.calls[0].inputs["offset"] == 4, "artifacts outlive a turn that made none"


def test_pagination_past_the_last_page_says_so() -> None:
    last = Turn("list the failed picks", es_query_exec=[{"next_offset": None}])
    turn = Turn("next page", after=last)
    assert (turn.state.status, turn.path) == ("failed", [])
    assert turn.state.reason == "There is no next page: everything has been shown."


def test_explicit_size_is_a_parameter_and_not_ignored() -> None:
    first = Turn("show the last 5 failed picks")
    assert first.calls[2].params["size"] == 5
    assert Turn("next 20", after=first).calls[0].params == {"size": 20}
    assert "size" not in Turn("picks in the last 5 hours").calls[2].params


def test_query_bundling_merges_query_and_results_over_rounds() -> None:
    turn = Turn("list picks")
    assert turn.calls[2].params["bundles_with_sub_goal"] == 2
    assert [dict(artifact) for artifact in artifacts_of(turn.state)] == [
        {
            "question": "list picks",
            "sub_goals": [2, 3],
            "es_query": {"match_all": {}},
            "next_offset": 2,
            "page_size": 2,
        }
    ]


def test_a_failure_that_may_pass_is_retried_and_what_waited_goes_on() -> None:
    turn = Turn("list picks", es_query_exec=["busy for now"])
    assert turn.path == ["metadata_lookup", "es_query_gen", "es_query_exec", "es_query_exec", "show_results"]
    assert turn.calls[3].params["retry_of"] == 3
    assert turn.state.status == "done"
    assert Turn("list picks", wanted=DATA[:1], es_query_exec=["busy", "busy"]).state.status == "failed"
    assert Turn("list picks", wanted=DATA[:1], es_query_exec=["broken"]).path.count("es_query_exec") == 1


def test_planner_exceptions_end_failed_with_their_message_and_keep_what_was_finished() -> None:
    live = Live([worker("bake", {"bread": 1})])
    live.plans(go(goal("bake", "deliverable")))
    live.gives(1, bread="two loaves")
    live.says(PlannerFailed(2, "The model does not answer."))
    assert live.state.status == "failed"
    assert live.state.reason == "The planner failed: The model does not answer."
    assert live.state.partial_response == "two loaves"


def test_the_planner_may_give_up() -> None:
    live = Live([worker("bake", {"bread": 1})])
    live.plans({"action": "failed", "reasoning": "Nobody can know."})
    assert (live.state.status, live.state.reason) == ("failed", "Nobody can know.")
    assert live.state.planner_reasoning == "Nobody can know."
