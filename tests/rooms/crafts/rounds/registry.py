"""A registry such as the spec's: a help desk, metadata, a query made and run, pages, and a question back."""

from typing import Any

from beforehand.crafts.rounds.core.words import Worker

CLEAR = {"slot": "needs_clarification", "equals": False}
UNCLEAR = {"slot": "needs_clarification", "equals": True}

REGISTRY: dict[str, Worker] = {
    document["name"]: Worker.model_validate(document)
    for document in (
        {"name": "common_helpdesk", "outputs": ["help_answer"], "answers": True},
        {
            "name": "metadata_lookup",
            "outputs": ["analysis_result", "needs_clarification"],
            "takes": {"clarification": ["clarification"]},
        },
        {
            "name": "es_query_gen",
            "preconditions": [{"slot": "analysis_result"}, CLEAR],
            "outputs": ["es_query", "needs_clarification", "query_summary"],
            "exclusive": True,
            "takes": {"analysis_result": ["analysis_result"], "clarification": ["clarification"]},
        },
        {
            "name": "page_query",
            "preconditions": [{"slot": "prior_es_query"}, {"slot": "prior_next_offset"}],
            "outputs": ["es_results", "next_offset", "page_size"],
            "takes": {
                "es_query": ["prior_es_query"],
                "offset": ["prior_next_offset"],
                "limit": ["prior_page_size"],
            },
            "options": ["size"],
        },
        {
            "name": "es_query_exec",
            "preconditions": [{"slot": "es_query"}, CLEAR],
            "outputs": ["es_results", "next_offset", "page_size"],
            "takes": {"es_query": ["user_es_query", "prior_es_query", "es_query"]},
            "options": ["size"],
            "bundles": "es_query",
        },
        {"name": "show_results", "preconditions": [{"slot": "es_results"}], "outputs": ["formatted_results"]},
        {
            "name": "clarify_question",
            "preconditions": [UNCLEAR],
            "outputs": ["clarification"],
            "asks": True,
            "takes": {"clarification_question": ["clarification_question"]},
        },
    )
}


def outputs_for(worker: str, **more: Any) -> dict[str, Any]:
    """What such a worker gives on a good day."""
    usual: dict[str, dict[str, Any]] = {
        "common_helpdesk": {"help_answer": "Read the manual."},
        "metadata_lookup": {"analysis_result": {"index": "events"}, "needs_clarification": False},
        "es_query_gen": {"es_query": {"match_all": {}}, "needs_clarification": False, "query_summary": "All events."},
        "es_query_exec": {"es_results": [1, 2], "next_offset": 2, "page_size": 2},
        "page_query": {"es_results": [3, 4], "next_offset": 4, "page_size": 2},
        "show_results": {"formatted_results": "| 1 | 2 |"},
    }
    return {**usual[worker], **more}
