"""Which questions the documentation answers, where, and which the log does."""

import pytest
from tests.rooms.crafts.rounds.help_cases import HELP_CASES

from beforehand.app.doc_pages import doc_page, doc_pages
from beforehand.crafts.rounds.core.help_desk import Section, best_sections, in_words, sections_of
from beforehand.crafts.rounds.help_worker import asks_for_help


@pytest.fixture(scope="module")
def sections() -> tuple[Section, ...]:
    return sections_of({name: doc_page(name) for name in doc_pages() if name != "index"})


@pytest.mark.parametrize(("text", "page", "heading", "says"), HELP_CASES, ids=[case[0] for case in HELP_CASES])
def test_the_page_and_the_section_that_answer_come_first(
    sections: tuple[Section, ...], text: str, page: str, heading: str, says: str
) -> None:
    assert asks_for_help(text)
    first = best_sections(sections, text)[0]
    assert (first.page, first.heading) == (page, heading)
    assert says in in_words([first])


@pytest.mark.parametrize("text", ["what is a unicorn?", "how do I bake a cake?", "what is it?", "how do I?"])
def test_what_the_documentation_does_not_have_is_not_answered(sections: tuple[Section, ...], text: str) -> None:
    assert best_sections(sections, text) == []


def test_a_long_list_of_commands_is_answered_with_the_one_that_was_meant(sections: tuple[Section, ...]) -> None:
    first = best_sections(sections, "how do I add a token?")[0]
    assert first.text.startswith("`beforehand token add")
    assert "completion" not in first.text


def test_what_looks_like_a_heading_in_a_block_of_code_is_none() -> None:
    [only] = sections_of({"page": "# Title\n\n```sh\n# a comment\nrun it\n```\n"})
    assert only.heading == "Title"


@pytest.mark.parametrize(
    "text",
    [
        "how do I add a token?",
        "what is a lease?",
        "what is an approval",
        "what are templates",
        "where do tokens come from",
        "what does exit code 3 mean?",
        "which commands are there",
        "where can I see the inbox",
    ],
)
def test_how_things_work_is_answered_by_the_documentation(text: str) -> None:
    assert asks_for_help(text)


@pytest.mark.parametrize(
    "text",
    [
        "what is the status of task t13",
        "what is the failure rate of tasks yesterday?",
        "what are the open decisions",
        "what is the most frequent error of failed tasks",
        "where do picks fail most often in November?",
        "where is RB-01 now",
        "what was the mean waiting time of tasks",
        "how many tasks failed",
    ],
)
def test_what_happened_is_answered_by_the_log(text: str) -> None:
    assert not asks_for_help(text)
