"""Every write says how its answer is given again: what a crash kept from being answered is answered from the log."""

from fastapi.routing import APIRoute

from beforehand.app.crafts import load_crafts
from beforehand.server.answers import REPEATED, is_declared
from beforehand.server.app import ROUTERS, http_parts
from beforehand.server.writes import WRITES

MADE_AGAIN = {
    "archiveEvents",
    "checkScene",
    "countFound",
    "dryRunDraft",
    "logOut",
    "previewPlan",
    "readIntent",
    "renewSession",
    "search",
    "tryOccupancy",
    "tryStream",
}
"""Calls that a second one cannot double. Whoever adds to them says why."""


def writes() -> dict[str, APIRoute]:
    routers = [*ROUTERS, *(router for part in http_parts(load_crafts()) for router in part.routers)]
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return {
        str(route.operation_id): route
        for route in routes
        if route.include_in_schema and route.methods & set(WRITES) and route.operation_id != "logIn"
    }


def test_every_write_can_be_answered_again() -> None:
    found = writes()
    assert len(found) > 50
    assert [name for name, route in found.items() if not is_declared(route.endpoint)] == []
    assert {name for name, route in found.items() if hasattr(route.endpoint, REPEATED)} == MADE_AGAIN
