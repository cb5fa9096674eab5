"""Every answer the API tests see is held to the schema: declared, of its shape, and with no field it does not name."""

import re
from functools import cache
from typing import Any

import httpx2
from jsonschema import Draft202012Validator

from beforehand.app.crafts import load_crafts
from beforehand.server.app import create_app


@cache
def schema() -> dict[str, Any]:
    return create_app(None, crafts=load_crafts()).openapi()


@cache
def paths() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """The paths of the schema as patterns, those with fewer parameters first."""
    listed = sorted(schema()["paths"].items(), key=lambda item: item[0].count("{"))
    return [(re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path))), calls) for path, calls in listed]


@cache
def validator(method: str, path: str, status: int, kind: str) -> Draft202012Validator | None:
    """What judges the JSON of an answer; None for a path the schema does not have."""
    calls = next((calls for pattern, calls in paths() if pattern.fullmatch(path) and method in calls), None)
    if calls is None:
        return None
    responses = calls[method]["responses"]
    declared = responses.get(str(status), responses["default"] if status >= 400 else None)
    assert declared is not None, f"{method} {path} answered {status}, which the schema does not declare"
    content = declared.get("content", {})
    assert kind in content, f"{method} {path} answered {status} as {kind}, which the schema does not declare"
    return Draft202012Validator({**content[kind]["schema"], "components": schema()["components"]})


async def held_to_the_schema(answer: httpx2.Response) -> None:
    """A hook of the client; streams are left alone."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    path = answer.request.url.path
    if kind not in ("application/json", "application/problem+json") or path.endswith("/openapi.json"):
        return
    judge = validator(answer.request.method.lower(), path, answer.status_code, kind)
    if judge is None:
        return
    await answer.aread()
    wrong = [f"{error.json_path}: {error.message[:300]}" for error in judge.iter_errors(answer.json())]
    assert wrong == [], f"{answer.request.method} {path} {answer.status_code}: {wrong[:5]}"
