"""The HTTP application: routes, errors, guard and door put together round a house.

Without a house it is only good for its schema.
"""

import time
from typing import Any

from fastapi import APIRouter, FastAPI
from pydantic.json_schema import models_json_schema

from beforehand import __version__
from beforehand.app.runtime import Runtime
from beforehand.app.tokens import Tokens
from beforehand.crafts.cell import http as cells
from beforehand.crafts.fleet.http import fleets, robots, streams, tasks, worksites
from beforehand.crafts.fleet.http.shapes import REQUESTS as SCENE_REQUESTS
from beforehand.server import errors
from beforehand.server.auth import AuthMiddleware
from beforehand.server.middleware import RequestMiddleware
from beforehand.server.page import routes as page
from beforehand.server.routes import auth, events, health, inbox, plans, runs, scenes, state, templates
from beforehand.server.shapes import ALWAYS_NAMED, REQUESTS
from beforehand.server.sse import Audience

BASE = "/api/v1"
ROUTERS: tuple[APIRouter, ...] = (
    state.router,
    events.router,
    plans.router,
    runs.router,
    templates.router,
    inbox.router,
    scenes.router,
    cells.router,
    robots.router,
    worksites.router,
    streams.router,
    tasks.router,
    fleets.router,
    auth.router,
    health.router,
)
"""One per noun; a craft that brings calls of its own adds its router here."""


class Api(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The schema, with the words of request bodies, which are read by `bodies` and not by the framework."""
        if self.openapi_schema is None:
            schema = super().openapi()
            asked: Any = [(model, "validation") for model in (*REQUESTS, *SCENE_REQUESTS)]
            shown: Any = [(model, "serialization") for model in ALWAYS_NAMED]
            _, words = models_json_schema([*asked, *shown], ref_template="#/components/schemas/{model}")
            schema["components"]["schemas"].update(words["$defs"])
            schema["components"]["schemas"] = dict(sorted(schema["components"]["schemas"].items()))
            _forget_framework_errors(schema)
        assert self.openapi_schema is not None
        return self.openapi_schema


def _forget_framework_errors(schema: dict[str, Any]) -> None:
    """The framework describes its own shape of a 422; ours is the same everywhere and stands under `default`."""
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    for name in ("HTTPValidationError", "ValidationError"):
        schema["components"]["schemas"].pop(name, None)


def create_app(runtime: Runtime | None, *, host: str = "127.0.0.1") -> FastAPI:
    """The application for a house; `host` is the address or name the server is bound to."""
    app = Api(
        title="Beforehand",
        version=__version__,
        description="Plans you can see, check and change before anything moves, and then carry out.",
        openapi_url=f"{BASE}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    errors.install(app)
    for router in ROUTERS:
        app.include_router(router, prefix=BASE)
    page.install(app)
    app.state.audience = Audience()
    app.state.began = time.monotonic()
    if runtime is not None:
        app.state.runtime = runtime
        app.state.tokens = Tokens(runtime.settings)
        app.add_middleware(AuthMiddleware, tokens=app.state.tokens, host=host)
    app.add_middleware(RequestMiddleware)
    return app
