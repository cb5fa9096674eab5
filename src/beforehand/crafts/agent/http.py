"""Sessions over HTTP: started, commanded, looked at, and replayed to any tick."""

from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import Field

from beforehand.crafts.agent import session_verbs as verbs
from beforehand.crafts.agent.lanes import command_log, lanes
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.agent.steering import options_of
from beforehand.model.errors import BadInputError
from beforehand.server.kit import (
    APIRouter,
    CallerDep,
    DoneWrite,
    HttpPart,
    Json,
    NoBody,
    ProblemShape,
    RuntimeDep,
    SceneQuery,
    Shape,
    WireModel,
    answered_from,
    body,
    changes_nothing,
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


LeaseS = Annotated[
    float,
    Field(ge=1, le=3600, description="For how long whoever steers may be silent; then the session is ended."),
]
Turn = Annotated[int, Field(strict=True, ge=0, description="The session's `turn` at which you steer, as you saw it.")]


class SessionBudget(ModelBudget):
    """What a session may use from now on, all it has used counted."""

    max_steps: Annotated[int, Field(ge=1, le=100_000)] | None = None


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
    lease_s: LeaseS | None = None


class SessionCommand(WireModel):
    """One line: start("action"), stop("action"), skip(seconds) or end()."""

    command: Text
    turn: Turn | None = None


class Renewal(WireModel):
    """Whoever steers with a lease is still there."""

    turn: Turn


class EndSession(WireModel):
    """With `turn`: only if nobody else has taken it over meanwhile. The note is kept as the reason."""

    turn: Turn | None = None
    note: Text | None = None


class TakeOver(WireModel):
    """Who calls steers from here on. With `turn`: only if nobody else has taken it over meanwhile."""

    turn: Turn | None = None
    lease_s: LeaseS | None = None


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


class SessionUsageShape(Shape):
    requests: int
    input_tokens: int
    output_tokens: int
    money: float | None = None
    seconds: float
    estimated: bool | None = Field(default=None, description="Tokens are reckoned from bytes: nobody told them.")


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
    turn: int | None = Field(default=None, description="How often the steering has changed hands.")
    steerer: str | None = Field(default=None, description="Who steers and nobody else.")
    lease_s: float | None = Field(default=None, description="0: for as long as the command's process leads the home.")
    used: SessionUsageShape | None = None
    note: str | None = None
    started_at: str
    last_said_at: str | None = None
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
    held_by: str | None = Field(default=None, description="Who has the body, in words.")
    idle_s: float | None = Field(default=None, description="For how long nobody has said anything.")
    budget_left: dict[str, float] | None = None
    driven: bool | None = Field(default=None, description="False where it goes on only when its home is live again.")


class HandedOverShape(SessionShape):
    """The session afterwards, and the actions that were stopped for that."""

    cancelled: list[str]


class ResetShape(Shape):
    scene: str
    by: str
    state: str


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


async def as_handed_over(done: DoneWrite) -> Any:
    return await verbs.handed_over(done.runtime.service(Sessions), done.event)


async def as_reset(done: DoneWrite) -> Any:
    return dict(done.event.data)


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
        lease_s=asked.lease_s,
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
    """Give one command; the reply says what came of it, and a refused one says why and changes nothing.

    409 where somebody else steers: a step of a plan, a command with a lease, or who took it over.
    """
    return Json(await runtime.service(Sessions).say(session_id, asked.command, by=caller.name, turn=asked.turn))


@router.post(
    "/{session_id}/renew", operation_id="renewSession", openapi_extra=takes(Renewal), responses=gives(SessionShape)
)
@changes_nothing
async def renew_session(runtime: RuntimeDep, session_id: str, asked: Annotated[Renewal, body(Renewal)]) -> Json:
    """Say that whoever steers with a lease is still there; 409 where somebody else steers by now."""
    return Json(await verbs.renew_session(runtime.service(Sessions), session_id, asked.turn))


@router.post(
    "/{session_id}/end",
    operation_id="endSession",
    openapi_extra=takes(EndSession, required=False),
    responses=gives(HandedOverShape),
)
@answered_from(as_handed_over)
async def end_session(
    runtime: RuntimeDep,
    caller: CallerDep,
    session_id: str,
    asked: Annotated[EndSession, body(EndSession, optional=True)],
) -> Json:
    """Stop everything, end the session and give the body back, whoever steers it."""
    sessions = runtime.service(Sessions)
    return Json(await verbs.end_session(sessions, session_id, by=caller.name, note=asked.note or "", turn=asked.turn))


@router.post(
    "/{session_id}/take-over",
    operation_id="takeSessionOver",
    openapi_extra=takes(TakeOver, required=False),
    responses=gives(HandedOverShape),
)
@answered_from(as_handed_over)
async def take_session_over(
    runtime: RuntimeDep, caller: CallerDep, session_id: str, asked: Annotated[TakeOver, body(TakeOver, optional=True)]
) -> Json:
    """Steer a session from here on, whoever did before; what a model or the policy had under way is stopped."""
    sessions = runtime.service(Sessions)
    return Json(
        await verbs.take_session_over(sessions, session_id, by=caller.name, lease_s=asked.lease_s, turn=asked.turn)
    )


@router.post(
    "/{session_id}/resume",
    operation_id="resumeSession",
    openapi_extra=takes(SessionBudget, required=False),
    responses=gives(SessionShape),
)
@answered_from(as_started)
async def resume_session(
    runtime: RuntimeDep,
    caller: CallerDep,
    session_id: str,
    asked: Annotated[SessionBudget, body(SessionBudget, optional=True)],
) -> Json:
    """Have a session that waits for a person go on, with more to use where that is given."""
    return Json(await verbs.resume_session(runtime.service(Sessions), session_id, asked.wire(), by=caller.name))


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


homes = APIRouter(prefix="/homes", tags=["agent"])


@homes.post("/{scene}/reset", operation_id="resetHome", responses=gives(ResetShape))
@answered_from(as_reset)
async def reset_home(runtime: RuntimeDep, caller: CallerDep, scene: str, _: NoBody) -> Json:
    """Put a simulated body and its world back to where the scene begins; 409 while somebody holds the body."""
    return Json(await runtime.service(Sessions).homes.reset(scene, caller.name))


HTTP = HttpPart(
    routers=(router, homes),
    requests=(NewSession, ModelBudget, SessionBudget, SessionCommand, Renewal, EndSession, TakeOver, SessionFault),
    state={"sessions": SessionShape},
    brakes=("sessions/*/end", "sessions/*/commands"),
)
