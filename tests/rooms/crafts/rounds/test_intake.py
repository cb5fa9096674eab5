"""The intake: only the slots that are there."""

import pytest

from beforehand.crafts.rounds.core.intake import asks_for_page, explicit_size, take_in

PAGED = {"es_query": {"q": 1}, "next_offset": 10, "page_size": 5}


def test_a_plain_question_has_an_empty_context() -> None:
    took = take_in("  How many\tpicks   failed\n today?\u0000 ")
    assert (took.question, took.context, took.size) == ("How many picks failed today?", {}, None)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("just run it: how many picks failed?", "how many picks failed?"),
        ("How many picks failed? Just run it.", "How many picks failed?"),
        ("how many picks failed, don’t ask", "how many picks failed"),
        ("Use best guess and count the picks", "count the picks"),
        ("count the picks (use your best guess)", "count the picks"),
        ("do not ask me anything, count the picks", "count the picks"),
        ("just run it", "just run it"),
        ("DON'T ASK!", "DON'T ASK!"),
    ],
)
def test_words_that_say_not_to_ask(text: str, question: str) -> None:
    took = take_in(text)
    assert (took.question, took.context) == (question, {"force_execute": True})


@pytest.mark.parametrize("text", ["what did I ask?", "who runs it?", "did anybody guess best?", "ask nothing of me"])
def test_other_words_do_not(text: str) -> None:
    assert take_in(text).context == {}


@pytest.mark.parametrize(
    ("text", "question", "query"),
    [
        ('{"query": {"match_all": {}}}', "Run the pasted query.", '{"query": {"match_all": {}}}'),
        ('```json\n{"size": 3}\n```', "Run the pasted query.", '{"size": 3}'),
        ('please run {"term": {"a": "b}"}} for me', "please run for me", '{"term": {"a": "b}"}}'),
        ('GET events/_search\n{"aggs": {}}', "Run the pasted query.", '{"aggs": {}}'),
        ('GET _search {"aggs": {}}', "Run the pasted query.", '{"aggs": {}}'),
        ('GET tasks/_search\n{"size": 1}', "Run the pasted query.", '{"index": "tasks", "size": 1}'),
        ('POST /search/runs/_search?pretty {"size": 1}', "Run the pasted query.", '{"index": "runs", "size": 1}'),
        ('{"index": "tasks", "body": {"size": 1}}', "Run the pasted query.", '{"index": "tasks", "body": {"size": 1}}'),
    ],
)
def test_pasted_queries_are_kept_to_the_letter(text: str, question: str, query: str) -> None:
    took = take_in(text)
    assert (took.question, took.context) == (question, {"user_es_query": query})


@pytest.mark.parametrize("text", ['what is {"a": 1}?', "what does {query} mean?", '{"query": ', "{" * 5_000])
def test_what_is_no_query_is_left_in_the_question(text: str) -> None:
    took = take_in(text)
    assert took.context == {}
    assert took.question == text.strip()


@pytest.mark.parametrize("text", ["next page", "Next", "more", "show me the next 20", "show more results", "20 more"])
def test_words_that_ask_for_more(text: str) -> None:
    took = take_in(text, prior_question="list picks", artifacts=[{"es_query": 0, "next_offset": 1}, PAGED])
    assert took.context == {
        "prior_question": "list picks",
        "prior_es_query": {"q": 1},
        "prior_next_offset": 10,
        "prior_page_size": 5,
    }


def test_another_question_has_only_the_words_of_the_one_before() -> None:
    assert take_in("and per hour?", prior_question="count picks", artifacts=[PAGED]).context == {
        "prior_question": "count picks"
    }
    assert not asks_for_page("what happens next in line 3?")
    assert take_in("next page").context == {}


def test_the_callers_own_context_is_kept() -> None:
    assert take_in("x", context={"scene": "dock"}).context == {"scene": "dock"}


@pytest.mark.parametrize(
    ("question", "size"),
    [
        ("top 5 robots", 5),
        ("show me 20 failed picks", 20),
        ("the first 3 tasks", 3),
        ("list tasks, limit 7", 7),
        ("25 results please", 25),
        ("picks in the last 24 hours", None),
        ("what happened to task 13?", None),
        ("show 5% of it", None),
        ("show 2026-01-01", None),
        ("top 0", None),
    ],
)
def test_a_size_in_so_many_words(question: str, size: int | None) -> None:
    assert explicit_size(question) == size
