"""The HTTP application: routes, errors, authentication and middleware put together round a runtime.

Calls and shapes of crafts are added to the ones here. Without a runtime it is only good for its schema.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from fastapi import APIRouter, FastAPI
from pydantic.json_schema import models_json_schema
from starlette.routing import BaseRoute

from beforehand import __version__
from beforehand.adapters.peers.client import Peers
from beforehand.app.crafts import Crafts, load_crafts
from beforehand.app.ids import new_id
from beforehand.app.log_health import LogHealth
from beforehand.app.runtime import Runtime
from beforehand.app.tokens import Tokens
from beforehand.model.hosts import is_loopback
from beforehand.ports.foreign import is_ours, loaded
from beforehand.server import console_files, errors
from beforehand.server.answers import AnsweredFromLog, from_log, tell
from beforehand.server.auth import AuthMiddleware, is_open
from beforehand.server.event_shapes import ALWAYS_NAMED
from beforehand.server.handing_on import HandingOn, UnrecordedBrakes
from beforehand.server.kit import HttpPart
from beforehand.server.log_gate import FIELD, Brakes, LogGate
from beforehand.server.login_limit import LoginLimit
from beforehand.server.middleware import HeadMiddleware, RequestMiddleware
from beforehand.server.place import Place
from beforehand.server.request_record import RequestRecord
from beforehand.server.request_shapes import REQUESTS
from beforehand.server.routes import (
    archive,
    audit,
    auth,
    docs,
    events,
    files,
    health,
    hold,
    inbox,
    installation,
    intents,
    plans,
    runs,
    scenes,
    search,
    state,
    templates,
    tokens,
)
from beforehand.server.sse import Audience
from beforehand.server.writes import DEADLINE, KEY, WRITES, WriteMiddleware

log = structlog.get_logger("beforehand.server")
BASE = "/api/v1"
ROUTERS: tuple[APIRouter, ...] = (
    events.router,
    intents.router,
    plans.router,
    runs.router,
    templates.router,
    inbox.router,
    hold.router,
    scenes.router,
    files.router,
    installation.router,
    archive.router,
    audit.router,
    search.router,
    docs.router,
    tokens.router,
    auth.router,
    health.router,
)
"""One per noun."""


@dataclass(frozen=True, slots=True)
class Among:
    """What a server needs that is one of several."""

    place: Place
    peers: Peers
    tokens: Tokens


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
            _name_what_brakes_give(schema, _brakes(self.parts))
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


def _name_what_brakes_give(schema: dict[str, Any], brakes: Brakes) -> None:
    """The field that one layer adds to every answer of theirs."""
    says = "What was done and is not in the log yet, a sentence each; left out where all of it is."
    field = {"type": "array", "items": {"type": "string"}, "description": says}
    for path, operations in schema["paths"].items():
        if "post" in operations and brakes.has("POST", path):
            shape = operations["post"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
            schema["components"]["schemas"][shape.rpartition("/")[2]]["properties"][FIELD] = field


def _brakes(parts: Sequence[HttpPart]) -> Brakes:
    return Brakes([pattern for part in parts for pattern in part.brakes])


def _led(parts: Sequence[HttpPart]) -> set[str]:
    """The first words of the crafts' calls: what they tell lives in the server that leads."""
    paths = [getattr(route, "path", "") for part in parts for router in part.routers for route in router.routes]
    return {path.strip("/").partition("/")[0] for path in paths}


def _own(crafts: Crafts) -> set[str]:
    """The patterns of the crafts' calls whose events say by themselves who asked."""
    return {pattern for craft in crafts.by_name.values() for pattern in craft.says_who}


def http_parts(crafts: Crafts) -> tuple[HttpPart, ...]:
    """The HTTP sides of the crafts that have one; one that cannot be loaded is told in the server's log."""
    found: list[HttpPart] = []
    for craft in crafts.by_name.values():
        try:
            found += [] if craft.http is None else [loaded(craft.http, ours=is_ours(craft.http))]
        except Exception:  # somebody else's code: it may fail in any way, and the rest works on
            log.exception("the calls of a craft could not be loaded", craft=craft.name)
    return tuple(found)


_prepared: dict[tuple[int, ...], list[BaseRoute]] = {}


def _calls(routers: Sequence[APIRouter]) -> list[BaseRoute]:
    """The calls of routers, shared by the applications of a process: what the framework prepares for each call when a
    request first comes is a tenth of a second of work, done once."""
    which = tuple(map(id, routers))
    if which not in _prepared:
        _prepared[which] = with_answers(routers).routes  # they hold the routers, so that nothing else gets their ids
    return _prepared[which]


def with_answers(routers: Sequence[APIRouter]) -> APIRouter:
    """The calls of routers, each of which is answered from the log where it was done before."""
    together = APIRouter()
    for router in routers:
        together.include_router(router, prefix=BASE, dependencies=[from_log])
    return together


def create_app(
    runtime: Runtime | None,
    *,
    host: str = "127.0.0.1",
    local: bool | None = None,
    crafts: Crafts | None = None,
    among: Among | None = None,
) -> FastAPI:
    """The application for a runtime; `host` is the address or name the server is bound to.

    `local` says whether only this machine can reach it, where the name alone does not. `crafts` are those whose calls
    it has; all that are installed unless others are given. `among` is its place among several servers.
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
    app.add_exception_handler(AnsweredFromLog, tell)
    app.include_router(state.router_with([part.state for part in app.parts]), prefix=BASE)
    app.router.routes.extend(_calls((*ROUTERS, *(router for part in app.parts for router in part.routers))))
    console_files.install(app)
    app.state.audience = Audience()
    app.state.began = time.monotonic()
    app.state.boot = new_id("boot")
    app.state.place = among.place if among is not None else Place()
    app.add_middleware(HeadMiddleware)
    if runtime is not None:
        app.state.runtime = runtime
        app.state.tokens = among.tokens if among is not None else Tokens(runtime.settings)
        app.state.login_limit = LoginLimit()
        app.state.log_health = LogHealth(runtime.settings.database)
        reachable_here = is_loopback(host) if local is None else local
        app.add_middleware(RequestRecord, own=_own(crafts or load_crafts()))
        app.add_middleware(WriteMiddleware)
        app.state.unrecorded = None if among is None else UnrecordedBrakes(among.place, among.peers)
        keep = None if among is None else app.state.unrecorded.keep
        app.add_middleware(LogGate, brakes=_brakes(app.parts), keep=keep)
        if among is not None:
            led, brakes = _led(app.parts), _brakes(app.parts)
            app.add_middleware(HandingOn, place=among.place, peers=among.peers, led=led, brakes=brakes)
        app.add_middleware(AuthMiddleware, tokens=app.state.tokens, host=host, local=reachable_here, is_open=is_open)
    app.add_middleware(RequestMiddleware)
    return app
