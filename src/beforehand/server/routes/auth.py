"""Logging in and out: a cookie for browsers, whose EventSource cannot send a header."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Request

from beforehand.app.clock import wall_ms
from beforehand.app.tokens import SESSION_S, Tokens
from beforehand.model.errors import UnauthorisedError
from beforehand.server.answers import changes_nothing
from beforehand.server.auth import COOKIE, shown_session
from beforehand.server.callers import LOCAL, CallerDep
from beforehand.server.login_limit import LoginLimit
from beforehand.server.request_shapes import Login, Nothing, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import WhoShape, gives

router = APIRouter(tags=["auth"])


@router.post("/login", operation_id="logIn", openapi_extra=takes(Login), responses=gives(WhoShape))
async def log_in(request: Request, asked: Annotated[Login, body(Login)]) -> Json:
    """Exchange a token for a session, which the cookie names; where no tokens are set there is nothing to exchange."""
    tokens: Tokens = request.app.state.tokens
    limit: LoginLimit = request.app.state.login_limit
    if request.state.caller == LOCAL:
        return Json({"name": LOCAL.name, "role": LOCAL.role})
    address = request.client.host if request.client is not None else ""
    limit.refuse_if_reached(address)
    found = tokens.role_of(asked.token.strip())
    if found is None:
        limit.failed(address)
        raise UnauthorisedError("This token is not known, or was revoked.", code="auth.unknown")
    answer = Json({"name": found[0], "role": found[1]})
    answer.set_cookie(
        COOKIE,
        await asyncio.to_thread(tokens.open_session, asked.token.strip(), wall_ms()),
        max_age=SESSION_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout", operation_id="logOut", responses=gives(Nothing))
@changes_nothing  # a session that has ended stays so
async def log_out(request: Request) -> Json:
    """End the session that the cookie names, and have the browser forget it; a token stays as it was."""
    tokens: Tokens = request.app.state.tokens
    if session := shown_session(request.headers):
        await asyncio.to_thread(tokens.end_session, session, wall_ms())
    answer = Json({})
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


@router.get("/me", operation_id="whoAmI", responses=gives(WhoShape))
async def who_am_i(caller: CallerDep) -> Json:
    """Whom the server takes the caller for, and what they may do."""
    return Json({"name": caller.name, "role": caller.role})
