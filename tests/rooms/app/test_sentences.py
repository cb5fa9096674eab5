"""Events in words: a person reads what happened, never only ids."""

from beforehand.app.sentences import Sentences


def test_a_request_that_was_done_is_told_by_what_it_asked_and_who_asked() -> None:
    about = {"requestId": "18a6b033", "requestHash": "522e10f1"}
    data = {"what": "POST /api/v1/plans/p/preview", "by": "ann"}
    assert Sentences().of("requestDone", about, data) == "A request was done by ann: POST /api/v1/plans/p/preview."
