"""Questions over HTTP: asked, followed, cancelled; and charts of their answers."""

from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import ConfigDict, Field

from beforehand.crafts.rounds.questions import Question, Questions
from beforehand.model.errors import NotFoundError
from beforehand.server.kit import (
    APIRouter,
    CallerDep,
    DoneWrite,
    HttpPart,
    Json,
    NoBody,
    RuntimeDep,
    Shape,
    WireModel,
    answered_from,
    body,
    gives,
    gives_content,
    takes,
)

Text = Annotated[str, Field(strict=True, max_length=20_000)]


class NewQuestion(WireModel):
    """A question; `follows` names the one before it, `context` brings values of your own at id 0."""

    text: Text
    context: dict[str, Any] | None = None
    follows: Annotated[str, Field(strict=True, max_length=200)] | None = None
    model: Annotated[str, Field(strict=True, max_length=200)] | None = None
    max_rounds: Annotated[int, Field(ge=1, le=100)] = 10


class SubGoalShape(Shape):
    id: int
    worker: str
    status: str
    round: int
    description: str
    inputs: dict[str, Any]
    params: dict[str, Any]
    goal_type: Annotated[str, Field(alias="goal_type")]
    error: str | None = None
    root: int | None = None
    transient: bool | None = None
    refused: bool | None = None
    outputs: dict[str, Any] | None = None
    behind: list[int] | None = None
    ended_round: Annotated[int | None, Field(alias="ended_round")] = None
    calls: int | None = None


class QuestionHeadShape(Shape):
    question_id: str
    text: str
    question: str
    status: str
    round: int
    max_rounds: Annotated[int, Field(alias="max_rounds")]
    follows: str | None = None
    by: str | None = None
    asked_at: str
    model: str | None = None
    planner_reasoning: Annotated[str, Field(alias="planner_reasoning")]
    synthesis_inputs: Annotated[dict[str, Any], Field(alias="synthesis_inputs")]
    answer: str | None = None
    partial_response: Annotated[str | None, Field(alias="partial_response")] = None
    reason: str | None = None
    refused: bool | None = None
    """Whether it failed because nobody would guess what its words mean; nothing was searched."""
    warnings: list[str]
    waits_for: list[str] | None = None


class QuestionShape(QuestionHeadShape):
    sub_goals: Annotated[list[SubGoalShape], Field(alias="sub_goals")]


class ReplayShape(Shape):
    """A replay file, as `beforehand rounds replay` takes it."""

    model_config = ConfigDict(extra="allow")

    question: str


router = APIRouter(prefix="/questions", tags=["rounds"])


async def as_asked(done: DoneWrite) -> Any:
    """The question without its sub-goals, as it is now."""
    shown = await done.runtime.service(Questions).show(done.about("questionId"))
    return {name: value for name, value in shown.items() if name != "sub_goals"}


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Questions).show(done.path["question_id"])


SVG = gives_content("The chart of the answer.", {"image/svg+xml": {}})


@router.post(
    "",
    status_code=202,
    operation_id="askQuestion",
    openapi_extra=takes(NewQuestion),
    responses=gives(QuestionHeadShape, 202),
)
@answered_from(as_asked)
async def ask(runtime: RuntimeDep, caller: CallerDep, asked: Annotated[NewQuestion, body(NewQuestion)]) -> Json:
    """Ask; it goes on as events, and `GET /questions/{id}` has the answer. Without `model` rules plan it."""
    given = Question(
        asked.text, asked.context or {}, asked.follows or None, asked.model or None, asked.max_rounds, caller.name
    )
    return Json((await runtime.service(Questions).ask(given)).head(), status_code=202)


@router.get("", operation_id="listQuestions", responses=gives(list[QuestionHeadShape]))
async def list_questions(
    runtime: RuntimeDep,
    still_open: Annotated[bool | None, Query(alias="open", description="Only those that go on.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Json:
    """Questions, newest first."""
    return Json(await runtime.service(Questions).listed(open=still_open, limit=limit))


@router.get("/{question_id}", operation_id="getQuestion", responses=gives(QuestionShape))
async def get_question(runtime: RuntimeDep, question_id: str) -> Json:
    """A question with its sub-goals and what they gave."""
    return Json(await runtime.service(Questions).show(question_id))


@router.post("/{question_id}/cancel", operation_id="cancelQuestion", responses=gives(QuestionShape))
@answered_from(as_it_is)
async def cancel(runtime: RuntimeDep, caller: CallerDep, question_id: str, _: NoBody) -> Json:
    """End it now; what was finished is kept."""
    return Json(await runtime.service(Questions).cancel(question_id, by=caller.name))


@router.get("/{question_id}/replay", operation_id="getReplay", responses=gives(ReplayShape))
async def get_replay(runtime: RuntimeDep, question_id: str) -> Json:
    """The question as a replay file, which `beforehand rounds replay` runs again without a model."""
    return Json(await runtime.service(Questions).replay_file(question_id))


@router.get("/{question_id}/chart", operation_id="getChart", responses=SVG, response_class=Response)
async def get_chart(runtime: RuntimeDep, question_id: str) -> Response:
    """The answer as a picture, where it has one."""
    drawn = await runtime.service(Questions).chart(question_id)
    if drawn is None:
        raise NotFoundError(f"The answer to {question_id} has no chart.", code="question.no_chart")
    return Response(drawn, media_type="image/svg+xml")


HTTP = HttpPart(routers=(router,), requests=(NewQuestion,), state={"questions": QuestionHeadShape})
