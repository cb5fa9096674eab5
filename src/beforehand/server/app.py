"""The HTTP application: routes, errors, guard and door put together round a house.

Without a house it is only good for its schema.
"""

import time
from typing import Any

from fastapi import APIRouter, FastAPI
from pydantic.json_schema import models_json_schema

from beforehand import __version__
from beforehand.app.house import House
from beforehand.app.tokens import Tokens
from beforehand.server import errors
from beforehand.server.door import Door
from beforehand.server.guard import Guard
from beforehand.server.page import routes as page
from beforehand.server.routes import (
    auth,
    cells,
    events,
    fleets,
    health,
    inbox,
    plans,
    robots,
    runs,
    scenes,
    state,
    streams,
    tasks,
    templates,
    worksites,
)
from beforehand.server.scene_shapes import REQUESTS as SCENE_REQUESTS
from beforehand.server.shapes import ALWAYS_NAMED, REQUESTS
from beforehand.server.streams import Audience

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


def create_app(house: House | None, *, host: str = "127.0.0.1") -> FastAPI:
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
    if house is not None:
        app.state.house = house
        app.state.tokens = Tokens(house.settings)
        app.add_middleware(Guard, tokens=app.state.tokens, host=host)
    app.add_middleware(Door)
    return app
