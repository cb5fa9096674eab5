"""Errors on the wire: `application/problem+json`, by one table from the error tree to HTTP statuses.

Nothing else knows a status code. What nobody expected is a 500 with the correlation id to look for in
the log, and no traceback.
"""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from beforehand.model import errors as tree
from beforehand.model.reason import Problem, unknown
from beforehand.model.words import wanted_value
from beforehand.server.responses import written

PROBLEM = "application/problem+json"


class MalformedError(tree.BadInputError):
    """The body cannot even be read."""

    code = "input.malformed"


class ContentTypeError(tree.BadInputError):
    code = "input.content_type"


class VersionNeededError(tree.BadInputError):
    """An edit must say which version it was made on."""

    code = "plan.version_needed"


class MethodError(tree.BeforehandError):
    code = "http.method"


STATUSES: dict[type[tree.BeforehandError], tuple[int, str]] = {
    tree.BadInputError: (422, "The input is wrong"),
    MalformedError: (400, "The body cannot be read"),
    ContentTypeError: (415, "The body is of the wrong kind"),
    VersionNeededError: (428, "The edit does not say its version"),
    tree.TooLargeError: (413, "This is too large"),
    tree.TooSlowError: (408, "The body took too long"),
    tree.NotFoundError: (404, "Not found"),
    MethodError: (405, "This cannot be done here"),
    tree.ConflictError: (409, "The state has changed since"),
    tree.RefusedError: (409, "Refused"),
    tree.NotUnderstoodError: (422, "This was not understood"),
    tree.UnauthorisedError: (401, "A token is needed"),
    tree.ForbiddenError: (403, "Not allowed"),
    tree.TooManyError: (429, "Too many tries"),
    tree.UnavailableError: (503, "Something does not answer"),
    tree.NotLeadingError: (503, "Another process leads this home"),
    tree.ModelError: (502, "The model gave no answer"),
    tree.ModelNotConfiguredError: (409, "No model is configured"),
    tree.ModelNameError: (422, "This is not a model"),
    tree.ModelBudgetError: (409, "The budget is used up"),
    tree.Fault: (502, "It failed"),
    tree.BeforehandError: (500, "An error in Beforehand itself"),
}


def status_of(error: tree.BeforehandError) -> tuple[int, str]:
    """The HTTP status and title of an error: its own, or its nearest ancestor's."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def problem(error: tree.BeforehandError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that tells a caller what is wrong and what to do."""
    status, title = status_of(error)
    told: dict[str, Any] = {
        "type": f"urn:beforehand:problem:{error.code}",
        "title": title,
        "status": status,
        "detail": error.says,
        "code": error.code,
    }
    if error.hint:
        told["hint"] = error.hint
    if error.problems:
        told["problems"] = [one.wire() for one in error.problems]
    if error.nearest:
        told["nearest"] = list(error.nearest)
    for name, value in error.extra.items():
        told.setdefault(name, value)
    more = dict(headers or {})
    if status == 401:
        more.setdefault("WWW-Authenticate", 'Bearer realm="beforehand"')
    if status == 429:
        more.setdefault("Retry-After", str(error.extra.get("retryAfterS", 60)))
    if status == 503 and "retryAfterS" in error.extra:
        more.setdefault("Retry-After", str(error.extra["retryAfterS"]))
    if status == 408:
        more.setdefault("Connection", "close")
    return Response(written(told), status, more, PROBLEM)


def bug(correlation_id: str) -> Response:
    """The answer to what nobody expected."""
    return problem(
        tree.BeforehandError(
            "Something went wrong inside Beforehand; what was asked for may not have happened.",
            code="bug",
            hint=f"Look in the server's log for {correlation_id}.",
            extra={"correlationId": correlation_id},
        )
    )


def input_problems(found: Any, model: type[BaseModel] | None = None) -> list[Problem]:
    """What a validation found, each with where it is and a sentence."""
    problems = []
    for one in found:
        path = ".".join(str(part) for part in one["loc"] if part not in ("body", "query", "path", "header"))
        if one["type"] == "extra_forbidden":
            names = fields_of(_inside(model, one["loc"][:-1]))
            says = unknown("field", path, names or None).says
            problems.append(Problem(code="input.unknown", about=path, path=path, says=says, nearest=names))
        else:
            says = f"{path or 'The body'}{_amiss(one)}."
            problems.append(Problem(code="input.invalid", about=path, path=path, says=says))
    return problems


def _amiss(found: Any) -> str:
    """How the sentence goes on behind the name of what is wrong."""
    if found["type"] == "missing":
        return " is missing"
    if wanted := wanted_value(found["type"], found.get("ctx", {})):
        return f" must be {wanted}"
    told = str(found["msg"]).removeprefix("Value error, ")
    return f": {told[:1].lower()}{told[1:].rstrip('.')}"


def fields_of(model: type[BaseModel] | None) -> tuple[str, ...]:
    """The names of a body's fields, as callers write them."""
    return () if model is None else tuple(field.alias or name for name, field in model.model_fields.items())


def _inside(model: type[BaseModel] | None, path: Iterable[Any]) -> type[BaseModel] | None:
    """The model of what lies inside a body, where it has one."""
    for part in path:
        fields = {} if model is None else {field.alias or name: field for name, field in model.model_fields.items()}
        kinds = get_args(fields[part].annotation) or (fields[part].annotation,) if part in fields else ()
        model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
    return model


def invalid(found: Any, model: type[BaseModel] | None = None) -> tree.BadInputError:
    problems = input_problems(found, model)
    nearest = problems[0].nearest or fields_of(model) if len(problems) == 1 else ()
    return tree.BadInputError(" ".join(one.says for one in problems[:5]), problems=problems, nearest=nearest)


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, tree.BeforehandError)
    return problem(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem(invalid(error.errors()))


async def _http(request: Request, error: Exception) -> Response:
    """What the framework itself refuses: an unknown path, a wrong method."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 404:
        says = f"There is nothing at {path}."
        return problem(tree.NotFoundError(says, code="http.path", hint="The calls are listed in docs/http.md."))
    if error.status_code == 405:
        methods = methods_at(request)
        says = f"{request.method} cannot be used on {path}; {', '.join(methods) or 'nothing'} can."
        return problem(MethodError(says, nearest=methods), {"Allow": ", ".join(methods)})
    return problem(MalformedError(str(error.detail)))


def methods_at(request: Request) -> list[str]:
    """Every method some route takes at the asked path."""
    asked = {name: request.scope[name] for name in ("type", "path", "root_path", "headers") if name in request.scope}
    found = set()
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
        for route in request.app.router.routes:
            match, _ = route.matches({**asked, "method": method})
            if match.value == 2:
                found.add(method)
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def install(app: FastAPI) -> None:
    app.add_exception_handler(tree.BeforehandError, _told)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
