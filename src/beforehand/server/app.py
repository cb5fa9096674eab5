"""The HTTP application: routes, errors, authentication and middleware put together round a runtime.

Calls, shapes and page sections of crafts are added to the ones here. Without a runtime it is only good for its schema.
"""

import time
from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import APIRouter, FastAPI
from pydantic.json_schema import models_json_schema

from beforehand import __version__
from beforehand.app.checkup import Checkup
from beforehand.app.crafts import Crafts, load_crafts
from beforehand.app.runtime import Runtime
from beforehand.app.tokens import Tokens
from beforehand.server import errors
from beforehand.server.auth import AuthMiddleware, is_loopback
from beforehand.server.brake import Brake
from beforehand.server.kit import HttpPart
from beforehand.server.middleware import RequestMiddleware
from beforehand.server.page import routes as page
from beforehand.server.routes import (
    auth,
    events,
    health,
    hold,
    inbox,
    installation,
    plans,
    runs,
    scenes,
    search,
    state,
    templates,
    tokens,
)
from beforehand.server.shapes import ALWAYS_NAMED, REQUESTS
from beforehand.server.sse import Audience
from beforehand.server.writes import DEADLINE, KEY, WRITES, WriteMiddleware

log = structlog.get_logger("beforehand.server")
BASE = "/api/v1"
ROUTERS: tuple[APIRouter, ...] = (
    events.router,
    plans.router,
    runs.router,
    templates.router,
    inbox.router,
    hold.router,
    scenes.router,
    installation.router,
    search.router,
    tokens.router,
    auth.router,
    health.router,
)
"""One per noun."""


class Api(FastAPI):
    parts: Sequence[HttpPart] = ()

    def openapi(self) -> dict[str, Any]:
        """The schema, with the request bodies, which are read by `requests` and not by the framework."""
        if self.openapi_schema is None:
            schema = super().openapi()
            bodies = [*REQUESTS, *(model for part in self.parts for model in part.requests)]
            asked: Any = [(model, "validation") for model in bodies]
            shown: Any = [(model, "serialization") for model in ALWAYS_NAMED]
            _, words = models_json_schema([*asked, *shown], ref_template="#/components/schemas/{model}")
            schema["components"]["schemas"].update(words["$defs"])
            schema["components"]["schemas"] = dict(sorted(schema["components"]["schemas"].items()))
            _forget_framework_errors(schema)
            _name_what_writes_take(schema)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _forget_framework_errors(schema: dict[str, Any]) -> None:
    """The framework describes its own shape of a 422; ours is the same everywhere and stands under `default`."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)


def _name_what_writes_take(schema: dict[str, Any]) -> None:
    """The headers that one layer reads for every write."""
    said = {
        KEY: ("Drawn anew for every request; the same request with the same key is done once.", {"type": "string"}),
        DEADLINE: ("Milliseconds since 1970 by the server's clock; later it is not done.", {"type": "integer"}),
    }
    named = {
        name.replace("-", ""): {"name": name, "in": "header", "required": False, "description": says, "schema": kind}
        for name, (says, kind) in said.items()
    }
    schema["components"]["parameters"] = named
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            if method.upper() in WRITES and path != f"{BASE}/login" and not path.startswith(f"{BASE}/search/"):
                refs = [{"$ref": f"#/components/parameters/{name}"} for name in named]
                operation["parameters"] = [*operation.get("parameters", []), *refs]


def http_parts(crafts: Crafts) -> tuple[HttpPart, ...]:
    """The HTTP sides of the crafts that have one; one that cannot be loaded is told in the server's log."""
    found: list[HttpPart] = []
    for craft in crafts.by_name.values():
        try:
            found += [] if craft.http is None else [craft.http()]
        except Exception:  # somebody else's code: it may fail in any way, and the rest works on
            log.exception("the calls of a craft could not be loaded", craft=craft.name)
    return tuple(found)


def create_app(
    runtime: Runtime | None, *, host: str = "127.0.0.1", local: bool | None = None, crafts: Crafts | None = None
) -> FastAPI:
    """The application for a runtime; `host` is the address or name the server is bound to.

    `local` says whether only this machine can reach it, where the name alone does not.

    `crafts` are those whose calls it has; all that are installed unless others are given.
    """
    app = Api(
        title="Beforehand",
        version=__version__,
        description="Plans you can see, check and change before anything moves, and then carry out.",
        openapi_url=f"{BASE}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.parts = http_parts(crafts or load_crafts())
    errors.install(app)
    app.include_router(state.router_with([part.state for part in app.parts]), prefix=BASE)
    for router in (*ROUTERS, *(router for part in app.parts for router in part.routers)):
        app.include_router(router, prefix=BASE)
    page.install(app, [panel for part in app.parts for panel in part.panels])
    app.state.audience = Audience()
    app.state.began = time.monotonic()
    if runtime is not None:
        app.state.runtime = runtime
        app.state.tokens = Tokens(runtime.settings)
        app.state.brake = Brake()
        app.state.checkup = Checkup(runtime.settings.database)
        reachable_here = is_loopback(host) if local is None else local
        app.add_middleware(WriteMiddleware, runtime=runtime)
        app.add_middleware(AuthMiddleware, tokens=app.state.tokens, host=host, local=reachable_here)
    app.add_middleware(RequestMiddleware)
    return app
