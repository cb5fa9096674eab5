"""Who calls, and what reaches the calls: the runtime, and the caller that `auth` found."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from beforehand.app.runtime import Runtime
from beforehand.app.tokens import may
from beforehand.model.errors import ForbiddenError


@dataclass(frozen=True, slots=True)
class Caller:
    name: str
    role: str


LOCAL = Caller("local", "admin")
"""Whoever calls while no tokens are set: the machine's own users."""


def require(caller: Caller, role: str, for_what: str = "this") -> None:
    if not may(caller.role, role):
        raise ForbiddenError(
            f"The token {caller.name!r} has the role {caller.role}; {for_what} needs {role}.", code="auth.role"
        )


def _runtime(request: Request) -> Runtime:
    runtime: Runtime = request.app.state.runtime
    return runtime


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _correlation(request: Request) -> str:
    return str(request.state.correlation_id)


def admins_only() -> Any:
    """A dependency for calls that only an admin may make."""

    def check(caller: CallerDep) -> None:
        require(caller, "admin")

    return Depends(check)


RuntimeDep = Annotated[Runtime, Depends(_runtime)]
CallerDep = Annotated[Caller, Depends(_caller)]
CorrelationDep = Annotated[str, Depends(_correlation)]
