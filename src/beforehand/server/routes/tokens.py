"""Access tokens: listed without their secrets, made, revoked.

A token stands in the answer to the call that made it and nowhere else: what is kept for a repeated call has none.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from beforehand.app.token_verbs import add_token, revoke_token, token_of
from beforehand.app.tokens import Tokens
from beforehand.server.answers import DoneWrite, answered_from
from beforehand.server.callers import CallerDep, RuntimeDep, admins_only, require
from beforehand.server.installation_shapes import MadeTokenShape, RevokedShape, TokenShape
from beforehand.server.request_shapes import NewToken, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives
from beforehand.server.writes import keep_instead

router = APIRouter(prefix="/tokens", tags=["auth"], dependencies=[admins_only()])
ONCE = "Keep the token now: it is shown only here."
GONE = "The token was shown when it was made and is not kept. If it is lost, revoke it and make another."


def _tokens(request: Request) -> Tokens:
    tokens: Tokens = request.app.state.tokens
    return tokens


def _told_once(request: Request, made: dict[str, Any]) -> Json:
    told = {name: value for name, value in made.items() if name != "token"}
    keep_instead(request, Json({**told, "says": GONE}, 201))
    return Json({**made, "says": ONCE if "token" in made else GONE}, 201)


async def as_added(done: DoneWrite) -> Json:
    """The token without its secret: what the log says was made is there, and may have been shown."""
    require(done.request.state.caller, "admin")  # who was one when it was made may be none now
    return _told_once(done.request, token_of(_tokens(done.request), done.event))


async def as_revoked(done: DoneWrite) -> Any:
    require(done.request.state.caller, "admin")
    return {"name": done.event.data["name"], "revoked": True}


@router.get("", operation_id="listTokens", responses=gives(list[TokenShape]))
async def list_tokens(request: Request) -> Json:
    """The tokens without their secrets: name, role and when each was made."""
    return Json(_tokens(request).list())


@router.post(
    "", status_code=201, operation_id="addToken", openapi_extra=takes(NewToken), responses=gives(MadeTokenShape, 201)
)
@answered_from(as_added)
async def add(
    request: Request, runtime: RuntimeDep, caller: CallerDep, asked: Annotated[NewToken, body(NewToken)]
) -> Json:
    """Make a token. A repeated call with the same key does not make another, and its answer has no `token`."""
    return _told_once(request, await add_token(runtime, _tokens(request), asked.name, asked.role, by=caller.name))


@router.delete("/{name}", operation_id="revokeToken", responses=gives(RevokedShape))
@answered_from(as_revoked)
async def revoke(request: Request, runtime: RuntimeDep, caller: CallerDep, name: str) -> Json:
    """Refuse a token from now on; its streams end within a second."""
    says = await revoke_token(runtime, _tokens(request), name, by=caller.name)
    return Json({"name": name, "revoked": True} | ({"says": says} if says else {}))


@router.delete("", operation_id="revokeTokenByName", responses=gives(RevokedShape))
@answered_from(as_revoked)
async def revoke_by_name(
    request: Request,
    runtime: RuntimeDep,
    caller: CallerDep,
    name: Annotated[str, Query(description="For names that no path can hold, such as `a/b`.")],
) -> Json:
    """The same, the token's name given in the query."""
    return await revoke(request, runtime, caller, name)
