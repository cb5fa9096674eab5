"""What a question asks of people: clarification, leave for what destroys, and what is in doubt after a crash."""

from tests.rooms.crafts.rounds.sessions import Live, done, go, goal, worker

from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.folding import from_events
from beforehand.crafts.rounds.core.inputs import Answered, CalledOff, SynthesisFailed, TakenUp

ASK = worker("clarify", {"clarification": 1}, asks=True)
WIPE = worker("wipe", {"wiped": 1}, destructive=True)
DRIVE = worker("drive", {"there": 1}, effect="physical")
BAKE = worker("bake", {"bread": 1})


def test_a_clarifying_question_is_a_decision_and_its_answer_an_output() -> None:
    live = Live([ASK, BAKE])
    live.plans(go(goal("clarify", params={"question": "Which oven?"}), goal("bake", oven="1.clarification")))
    assert live.called == ["1:question"]
    (decision,) = live.state.decisions.values()
    assert (decision.title, decision.verbs, decision.owner) == ("Which oven?", ("answer", "skip"), "question:q1")
    live.says(Answered(decision.id, "answer", "the left one", by="anna"))
    assert live.called == ["2:bake"]
    assert live.commands[0].inputs == {"oven": "the left one"}  # type: ignore[union-attr]
    assert [event.kind for event in live.events[-3:]] == ["decisionAnswered", "subGoalUpdated", "subGoalUpdated"]


def test_a_question_left_out_fails_what_waits_for_it() -> None:
    live = Live([ASK, BAKE])
    live.plans(go(goal("clarify"), goal("bake", oven="1.clarification")))
    live.says(Answered("q1-1", "skip", by="anna"))
    assert live.state.sub_goals[1].error == "Nobody answered: anna left the question out."
    assert live.state.sub_goals[2].root == 1
    assert live.called == ["planner"]


def test_what_destroys_is_called_only_with_leave() -> None:
    live = Live([WIPE])
    live.plans(go(goal("wipe", params={"all": True})))
    assert live.called == ["1:approval"]
    assert live.state.decisions["q1-1"].evidence["params"] == {"all": True}
    assert live.says(Answered("q1-1", "please")).reasons[0].code == "decision.verb"
    live.says(Answered("q1-1", "approve"))
    assert live.called == ["1:wipe"]
    assert live.says(Answered("q1-1", "approve")).reasons[0].code == "decision.closed"


def test_denied_is_not_called() -> None:
    live = Live([WIPE])
    live.plans(go(goal("wipe")))
    live.says(Answered("q1-1", "deny", by="anna"))
    assert live.state.sub_goals[1].error == "It was not done: anna said deny."
    assert live.called == ["planner"]


def test_after_a_crash_what_moves_something_is_asked_about_and_the_rest_called_again() -> None:
    live = Live([DRIVE, BAKE, WIPE])
    live.plans(go(goal("drive"), goal("bake"), goal("wipe")))
    live.gives(2, bread="x")
    state = from_events(live.events)
    assert state == live.state
    live.says(TakenUp())
    assert live.called == ["3:approval", "1:inDoubt"]
    live.says(Answered("q1-2", "run-again"))
    assert [command.key for command in live.commands] == ["q1/1/2"]  # type: ignore[union-attr]
    live.gives(1, there=True)
    live.says(Answered("q1-1", "deny"))
    assert live.called == ["planner"]
    assert live.state.finished == (2, 1)


def test_in_doubt_may_have_happened_or_not() -> None:
    for verb, status in (("happened", "success"), ("abort", "failed")):
        live = Live([DRIVE])
        live.plans(go(goal("drive")))
        live.says(TakenUp())
        live.says(Answered("q1-1", verb, True))
        assert live.state.sub_goals[1].status == status


def test_called_off_stops_what_runs_withdraws_what_is_asked_and_keeps_what_was_finished() -> None:
    live = Live([ASK, BAKE])
    live.plans(go(goal("bake", "deliverable"), goal("bake", params={"n": 2}), goal("clarify")))
    live.gives(1, bread="rye")
    verdict = live.says(CalledOff("Cancelled by anna."))
    assert live.called == ["2:stop", "3:stop"]
    assert [event.kind for event in verdict.events] == ["decisionWithdrawn", "questionFinished"]
    assert (live.state.status, live.state.reason) == ("failed", "Cancelled by anna.")
    assert live.state.partial_response == "rye"
    assert live.gives(2, bread="late").reasons[0].code == "question.over"


def test_an_answer_nobody_puts_into_words_is_told_as_it_is() -> None:
    live = Live([BAKE])
    live.plans(go(goal("bake", "deliverable")))
    live.gives(1, bread=["rye", "oat"])
    live.plans(done(bread="1.bread"))
    assert live.commands[0].values == {"bread": ["rye", "oat"]}  # type: ignore[union-attr]
    live.says(SynthesisFailed("The model is busy."))
    assert (live.state.status, live.state.answer) == ("done", '["rye", "oat"]')
    assert "The model is busy." in live.state.warnings[-1]


def test_a_question_taken_up_at_the_planner_or_the_synthesiser_asks_them_again() -> None:
    live = Live([BAKE])
    asked = list(live.commands)
    assert list(decide(live.state, TakenUp(), 5)[1].commands) == asked
    live.plans(go(goal("bake", "deliverable")))
    live.gives(1, bread=1)
    live.plans(done(bread="1.bread"))
    assert decide(live.state, TakenUp(), 5)[1].commands == tuple(live.commands)
