"""The workers that answer questions about what the installation has been doing, over its own log.

They are the spec's: metadata first, then the query, alone, then what it finds. Without a model the words are read by a
grammar over the declared indexes; what it is not sure of is asked about, and what it cannot read is refused.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from beforehand.app.crafts import load_crafts
from beforehand.app.runtime import Runtime
from beforehand.app.search import searched
from beforehand.crafts.rounds.core.inputs import RunWorker
from beforehand.crafts.rounds.core.intake import CLAUSES, DEFAULT_INDEX
from beforehand.crafts.rounds.core.query_writing import SCHEMA, SYSTEM, TRIES, body_problem, told_indexes
from beforehand.crafts.rounds.core.question_answer import answer_of
from beforehand.crafts.rounds.core.question_parts import AMBIGUOUS, NOT_UNDERSTOOD
from beforehand.crafts.rounds.core.question_query import body_of, summary_of
from beforehand.crafts.rounds.core.question_shape import Question
from beforehand.crafts.rounds.core.question_text import understand
from beforehand.crafts.rounds.core.results import as_found, in_table, told_of
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import NEEDS_CLARIFICATION, Precondition, Worker
from beforehand.crafts.rounds.history_asking import gather_knowledge
from beforehand.crafts.rounds.worker_kind import Outputs, WorkerKind
from beforehand.model.errors import BadInputError, BeforehandError, NotUnderstoodError
from beforehand.model.event import iso
from beforehand.ports.model import Ask, Message
from beforehand.ports.search import Index

CLEAR = Precondition(slot=NEEDS_CLARIFICATION, equals=False)
UNCLEAR = Precondition(slot=NEEDS_CLARIFICATION, equals=True)
PAGE = 10
MOST_ROWS = 1_000


def _indexes() -> tuple[Index, ...]:
    return searched(load_crafts())


async def _look_up(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    """What the question is about: index, names, times; or what has to be said more clearly."""
    text = command.question
    if command.inputs.get("clarification"):
        text = f"{text} {command.inputs['clarification']}"
    before = command.inputs.get("prior_analysis")
    previous = _question(before) if isinstance(before, Mapping) else None
    parts = load_crafts().searchables()
    known = await gather_knowledge(runtime.search, _indexes(), parts, runtime.now(), text)
    try:
        question = understand(text, known, previous)
    except NotUnderstoodError as error:
        if state.options.get("model") and error.code == NOT_UNDERSTOOD:
            return {
                "analysis_result": {"words": text, "problem": error.says},
                NEEDS_CLARIFICATION: False,
                "unclear": "",
            }
        if error.code != AMBIGUOUS or state.forces:
            raise
        unclear = {"problem": error.says, "choices": list(error.nearest)}
        return {"analysis_result": unclear, NEEDS_CLARIFICATION: True, "unclear": error.says}
    return {"analysis_result": question.wire(), NEEDS_CLARIFICATION: False, "unclear": ""}


async def _make_query(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    """The query for a question that is understood, checked against the mapping before anybody runs it."""
    analysis = command.inputs["analysis_result"]
    if isinstance(analysis, Mapping) and "words" in analysis:
        if "model" not in state.options:
            raise NotUnderstoodError(str(analysis["problem"]), code=NOT_UNDERSTOOD)
        return await _have_it_written(runtime, command, state, str(analysis["words"]))
    question = _question(analysis)
    body = body_of(question)
    if isinstance(size := command.params.get("size"), int) and question.act == "list":
        body["size"] = max(1, min(size, MOST_ROWS))
    await runtime.search.check(question.index, body)
    query = {"index": question.index, "body": body}
    return {"es_query": query, "query_summary": summary_of(question), NEEDS_CLARIFICATION: False}


async def _have_it_written(runtime: Runtime, command: RunWorker, state: QuestionState, words: str) -> Outputs:
    """The query of a model for words that the grammar does not read; checked against the mapping before it counts."""
    from beforehand.crafts.rounds.planning import open_logged_model

    model = open_logged_model(runtime, state)
    messages = [Message("user", f"Now it is {iso(runtime.now())}.\nQuestion: {words}")]
    system = SYSTEM + told_indexes(_indexes())
    problem = ""
    try:
        for _ in range(TRIES):
            answer = await model.answer(Ask(tuple(messages), system=system, schema=SCHEMA))
            problem = body_problem(answer.data) or await _wrong_query(runtime, answer.data)
            if not problem:
                return _written(answer.data, command)
            messages += [Message("assistant", answer.text), Message("user", f"That cannot run: {problem}")]
    finally:
        await model.close()
    raise NotUnderstoodError(f"The model wrote no query that can run: {problem}", code="question.query")


async def _wrong_query(runtime: Runtime, data: Mapping[str, Any]) -> str:
    if not data["index"]:
        return ""
    try:
        await runtime.search.check(str(data["index"]), json.loads(str(data["body_json"])))
    except BeforehandError as error:
        return error.says
    return ""


def _written(data: Mapping[str, Any], command: RunWorker) -> Outputs:
    summary = str(data["query_summary"])
    if not data["index"]:
        if command.params.get("force_execute"):
            raise NotUnderstoodError(summary, code="question.query")
        return {"es_query": {}, "query_summary": summary, NEEDS_CLARIFICATION: True, "unclear": summary}
    query = {"index": data["index"], "body": json.loads(str(data["body_json"]))}
    return {"es_query": query, "query_summary": summary, NEEDS_CLARIFICATION: False, "unclear": ""}


async def _execute(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    index, body = _query(command.inputs["es_query"])
    if isinstance(size := command.params.get("size"), int):
        body["size"] = max(1, min(size, MOST_ROWS))
    return await _searched(runtime, index, body)


async def _next_page(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    index, body = _query(command.inputs["es_query"])
    said = command.params.get("size")
    limit = said if isinstance(said, int) else command.inputs.get("limit") or body.get("size") or PAGE
    limit = max(1, min(int(limit), MOST_ROWS))
    return await _searched(runtime, index, {**body, "from": int(command.inputs["offset"]), "size": int(limit)})


async def _searched(runtime: Runtime, index: str, body: Mapping[str, Any]) -> Outputs:
    found = await runtime.search.search(index, body)
    size, start = int(body.get("size", PAGE)), int(body.get("from", 0))
    shown = start + len(found.hits)
    query = {"index": index, "body": dict(body)}
    results = {"index": index, "query": query, **found.wire(index)}
    return {
        "es_results": results,
        "next_offset": shown if found.hits and shown < found.total else None,
        "page_size": size,
        "es_query": query,
    }


async def _show(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    """A sentence, a table, a chart where a picture says more, and the query that made it."""
    results = command.inputs["es_results"]
    analysis = command.inputs.get("analysis_result")
    query = results.get("query") or command.inputs.get("es_query")
    if isinstance(analysis, Mapping) and analysis.get("index") == results["index"]:
        question = _question(analysis)
        if isinstance(query, Mapping) and query["body"].get("size", PAGE):  # none where groups are shown, and no hits
            body = query["body"]
            question = question.model_copy(update={"start": body.get("from", 0), "size": body.get("size", PAGE)})
        index = next(one for one in _indexes() if one.name == results["index"])
        shown = answer_of(question, as_found(results), index).wire()
    else:
        shown = in_table(results)
    return {"formatted_results": {**shown, **({"query": query} if query else {})}}


async def _analyse(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    return {"analysis": told_of(command.inputs["es_results"])}


async def _explain(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    """Which indexes there are, and what each has."""
    lines = []
    for index in _indexes():
        fields = ", ".join(one.name for one in index.fields[:12])
        lines.append(f"{index.name}: {index.says} Fields: {fields}{' …' if len(index.fields) > 12 else ''}")
    return {"explanation": "\n".join(lines)}


async def _clarify(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    raise BadInputError("Only a person can say what was meant.", code="question.person")


def _question(analysis: Any) -> Question:
    if not isinstance(analysis, Mapping) or "index" not in analysis:
        raise BadInputError("There is no question that is understood to make a query from.", code="question.analysis")
    try:
        return Question.model_validate(analysis)
    except ValidationError as error:
        wrong = ", ".join(sorted({".".join(map(str, each["loc"])) for each in error.errors()}))
        raise BadInputError(
            f"What a question was understood as is not written like this: {wrong}.",
            code="question.analysis",
            hint="Leave prior_analysis out of the context, and name the question it goes on from.",
        ) from None


def _query(given: Any) -> tuple[str, dict[str, Any]]:
    """The index and the body of a query: as made here, or as somebody pasted it."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as error:
            raise BadInputError(f"The pasted query is not JSON: {error}.", code="question.query") from None
    if not isinstance(given, Mapping):
        raise BadInputError("A query is an object.", code="question.query")
    if isinstance(given.get("body"), Mapping):
        return str(given.get("index", DEFAULT_INDEX)), dict(given["body"])
    body = dict(given)
    index = str(body.pop("index", DEFAULT_INDEX))
    return index, {"query": body} if len(body) == 1 and body.keys() <= CLAUSES else body


def _needs(*slots: str) -> tuple[Precondition, ...]:
    return tuple(Precondition(slot=slot) for slot in slots)


HISTORY = (
    WorkerKind(
        Worker(
            name="metadata_lookup",
            description="Finds out what a question about the past is about: index, names, times.",
            outputs=("analysis_result", NEEDS_CLARIFICATION, "unclear"),
            takes={"clarification": ("clarification",), "prior_analysis": ("prior_analysis",)},
        ),
        _look_up,
    ),
    WorkerKind(
        Worker(
            name="es_query_gen",
            description="Makes the query for a question that is understood.",
            preconditions=(*_needs("analysis_result"), CLEAR),
            outputs=("es_query", "query_summary", NEEDS_CLARIFICATION),
            exclusive=True,
            options=("size", "force_execute"),
        ),
        _make_query,
    ),
    WorkerKind(
        Worker(
            name="page_query",
            description="Runs the query of the turn before for the next page.",
            preconditions=_needs("prior_es_query", "prior_next_offset"),
            outputs=("es_results", "next_offset", "page_size"),
            takes={
                "es_query": ("prior_es_query",),
                "offset": ("prior_next_offset",),
                "limit": ("prior_page_size",),
            },
            options=("size",),
        ),
        _next_page,
    ),
    WorkerKind(
        Worker(
            name="es_query_exec",
            description="Runs a query over the log.",
            preconditions=(*_needs("es_query"), CLEAR),
            outputs=("es_results", "next_offset", "page_size"),
            takes={"es_query": ("es_query", "user_es_query", "prior_es_query")},
            options=("size",),
            bundles="es_query",
        ),
        _execute,
    ),
    WorkerKind(
        Worker(
            name="show_results",
            description="Shows what a query found: a sentence, a table, a chart.",
            preconditions=_needs("es_results"),
            outputs=("formatted_results",),
            takes={
                "es_results": ("es_results",),
                "analysis_result": ("analysis_result", "prior_analysis"),
                "es_query": ("es_query", "prior_es_query", "user_es_query"),
            },
            answers=True,
        ),
        _show,
    ),
    WorkerKind(
        Worker(
            name="analyze_results",
            description="Says what stands out in what a query found: most, least, sum, average.",
            preconditions=_needs("es_results"),
            outputs=("analysis",),
        ),
        _analyse,
    ),
    WorkerKind(
        Worker(
            name="explain_metadata",
            description="Says which indexes and fields there are to ask about.",
            outputs=("explanation",),
        ),
        _explain,
    ),
    WorkerKind(
        Worker(
            name="clarify_question",
            description="Asks a person what was meant.",
            preconditions=(UNCLEAR,),
            outputs=("clarification",),
            takes={"unclear": ("unclear",)},
            asks=True,
        ),
        _clarify,
    ),
)
