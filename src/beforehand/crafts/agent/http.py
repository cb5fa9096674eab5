"""Sessions over HTTP: started, commanded, looked at, and replayed to any tick."""

from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import Field

from beforehand.crafts.agent.lanes import command_log, lanes
from beforehand.crafts.agent.sessions import Asked, Sessions
from beforehand.crafts.agent.steering import options_of
from beforehand.model.errors import BadInputError
from beforehand.server.kit import (
    APIRouter,
    CallerDep,
    DoneWrite,
    HttpPart,
    Json,
    ProblemShape,
    RuntimeDep,
    SceneQuery,
    Shape,
    WireModel,
    answered_from,
    body,
    gives,
    gives_content,
    takes,
)

Text = Annotated[str, Field(strict=True, max_length=2_000)]


class ModelBudget(WireModel):
    """What a model may use in one session; 500 requests and an hour unless said otherwise."""

    requests: Annotated[int, Field(ge=1)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None
    money: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None


class NewSession(WireModel):
    """A session in a home. Without `model` and `policy` a person steers it, command by command."""

    scene: Annotated[str, Field(strict=True, max_length=200)]
    goal: Text | None = None
    instruction: Text | None = None
    model: Text | None = None
    policy: bool = False
    clock: Literal["virtual", "charged", "realtime"] = "virtual"
    max_steps: Annotated[int, Field(ge=1, le=100_000)] | None = None
    budget: ModelBudget | None = None
    pictures: bool = True


class SessionCommand(WireModel):
    """One line: start("action"), stop("action"), skip(seconds) or end()."""

    command: Text


class SessionFault(WireModel):
    """What goes wrong: `block`, `unblock` or `shut` a door, a thing that will `slip`, or `move` it to another."""

    fault: Text
    about: Text
    to: Text | None = None
    times: Annotated[int, Field(ge=1, le=100)] = 1


class ActionShape(Shape):
    action: str
    stage: str
    duration_s: float
    stuck_s: float | None = None
    reason: str | None = None


class SessionShape(Shape):
    session_id: str
    scene: str
    status: str
    steered_by: str
    clock: str
    goal: str | None = None
    instruction: str | None = None
    model: str | None = None
    by: str | None = None
    key: str | None = None
    max_steps: int | None = None
    budget: dict[str, float] | None = None
    pictures: bool | None = None
    started_at: str
    steps: int
    tick: int
    at_s: float
    state: str
    actions: list[ActionShape]
    goal_reached: bool | None
    reason: str | None = None
    waits_for: str | None = None
    held: bool | None = None
    says: str | None = Field(default=None, description="What it is for and what its body does, in words.")


class CommandShape(SessionShape):
    """The session after a command, and what was replied."""

    command: str
    given_tick: int
    reply: str
    refused: bool
    said_by: str | None = None
    waited: int | None = None
    reasons: list[ProblemShape]


class LoggedCommandShape(Shape):
    command: str
    reply: str
    refused: bool
    state: str
    given_s: float
    at_s: float
    said_by: str | None = None


class SurroundingsShape(Shape):
    session_id: str
    surroundings: str


class SpanShape(Shape):
    stage: str
    from_s: float
    to_s: float | None = None
    reason: str | None = None


class LaneShape(Shape):
    action: str
    spans: list[SpanShape]


class SessionFaultShape(Shape):
    session_id: str
    tick: int
    fault: str
    about: str
    to: str | None = None
    times: int | None = None


router = APIRouter(prefix="/sessions", tags=["agent"])
TickQuery = Annotated[int | None, Query(ge=0, le=10**9, description="As it was at this tick; 20 are a second.")]
PNG = gives_content("A PNG of 512 by 512 pixels.", {"image/png": {}})


async def as_started(done: DoneWrite) -> Any:
    return await done.runtime.service(Sessions).show(done.about("sessionId"))


async def as_replied(done: DoneWrite) -> Any:
    return await done.runtime.service(Sessions).reply(done.event)


async def as_disturbed(done: DoneWrite) -> Any:
    data = done.event.data
    return {"sessionId": data["sessionId"], "tick": data["givenTick"], **data["fault"]}


@router.post(
    "",
    status_code=201,
    operation_id="startSession",
    openapi_extra=takes(NewSession),
    responses=gives(SessionShape, 201),
)
@answered_from(as_started)
async def start_session(runtime: RuntimeDep, caller: CallerDep, asked: Annotated[NewSession, body(NewSession)]) -> Json:
    """Start a session; 409 while another one, or a run, has the body."""
    if asked.model and asked.policy:
        raise BadInputError("Either a model steers or the policy, not both.", code="session.steering")
    if (asked.model or asked.policy) and not asked.goal:
        raise BadInputError("A session that a model or the policy steers needs a `goal`.", code="session.no_goal")
    wanted = Asked(
        asked.scene,
        asked.goal or None,
        asked.instruction or None,
        asked.model or None,
        "model" if asked.model else "policy" if asked.policy else "person",
        asked.clock,
        asked.max_steps,
        caller.name,
        options=options_of(asked.budget.wire() if asked.budget else None, asked.pictures),
    )
    state = await runtime.service(Sessions).start(wanted)
    return Json(state.head(), status_code=201)


@router.get("", operation_id="listSessions", responses=gives(list[SessionShape]))
async def list_sessions(
    runtime: RuntimeDep,
    scene: SceneQuery = None,
    still_open: Annotated[bool | None, Query(alias="open", description="Only those that go on.")] = None,
) -> Json:
    """Sessions, newest first."""
    return Json(await runtime.service(Sessions).listed(scene, open=still_open))


@router.get("/{session_id}", operation_id="getSession", responses=gives(SessionShape))
async def get_session(runtime: RuntimeDep, session_id: str, tick: TickQuery = None) -> Json:
    """A session as it is, or as it was at a tick."""
    sessions = runtime.service(Sessions)
    if tick is None:
        return Json(await sessions.show(session_id))
    return Json((await sessions.from_log(session_id, until_tick=tick)).head())


@router.post(
    "/{session_id}/commands",
    operation_id="commandSession",
    openapi_extra=takes(SessionCommand),
    responses=gives(CommandShape),
)
@answered_from(as_replied)
async def command_session(
    runtime: RuntimeDep, caller: CallerDep, session_id: str, asked: Annotated[SessionCommand, body(SessionCommand)]
) -> Json:
    """Give one command; the reply says what came of it, and a refused one says why and changes nothing."""
    return Json(await runtime.service(Sessions).say(session_id, asked.command, by=caller.name))


@router.get("/{session_id}/commands", operation_id="listCommands", responses=gives(list[LoggedCommandShape]))
async def list_commands(runtime: RuntimeDep, session_id: str) -> Json:
    """Every command of the session with its reply."""
    return Json(await command_log(runtime.service(Sessions), session_id))


@router.get("/{session_id}/surroundings", operation_id="getSurroundings", responses=gives(SurroundingsShape))
async def get_surroundings(runtime: RuntimeDep, session_id: str) -> Json:
    """What there is around the body, a line each."""
    return Json(await runtime.service(Sessions).surroundings(session_id))


@router.get("/{session_id}/lanes", operation_id="getLanes", responses=gives(list[LaneShape]))
async def get_lanes(runtime: RuntimeDep, session_id: str) -> Json:
    """When each action was moving, acting and done."""
    return Json(await lanes(runtime.service(Sessions), session_id))


@router.get("/{session_id}/picture", operation_id="getPicture", responses=PNG, response_class=Response)
async def get_picture(runtime: RuntimeDep, session_id: str, tick: TickQuery = None) -> Response:
    """The home from above, as it is or as it was at a tick."""
    sessions = runtime.service(Sessions)
    if tick is None and session_id in sessions.live:
        state = sessions.live[session_id].seen_now()
    else:
        state = await sessions.from_log(session_id, until_tick=tick)
    return Response(state.body.picture(), media_type="image/png")


@router.post(
    "/{session_id}/faults",
    operation_id="injectSessionFault",
    openapi_extra=takes(SessionFault),
    responses=gives(SessionFaultShape),
)
@answered_from(as_disturbed)
async def inject(runtime: RuntimeDep, session_id: str, asked: Annotated[SessionFault, body(SessionFault)]) -> Json:
    """Let something go wrong in the simulated home."""
    return Json(await runtime.service(Sessions).disturb(session_id, asked.wire()))


HTTP = HttpPart(
    routers=(router,),
    requests=(NewSession, ModelBudget, SessionCommand, SessionFault),
    state={"sessions": SessionShape},
)
