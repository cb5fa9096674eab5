"""A scene that is active and not live, over HTTP: who may answer for it, once, and what starts in it."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.conftest import bearer, line

from beforehand.adapters.sim.link import open_sim_link
from beforehand.app.scenes import recover_scenes
from beforehand.crafts.fleet import link_kinds
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.crafts.fleet.fleets import Fleets

SAYS = "line is active and not live: The robot link frayed failed: TypeError: the wire is cut."


@pytest.fixture
def wire() -> Iterator[set[str]]:
    """A kind of link that cannot be made while something is in the set."""
    cut: set[str] = set()

    def made(request: Any) -> Any:
        if cut:
            raise TypeError("the wire is cut")
        return open_sim_link(request)

    link_kinds.register_link("frayed", made)
    yield cut
    LINK_KINDS._checks.pop("frayed")
    LINK_KINDS._addresses.pop("frayed")
    link_kinds._FACTORIES.pop("frayed")


async def break_off(server: Any, wire: set[str], **headers: str) -> Any:
    """The scene lived, and then its server is as if it had been started again; the decision about it."""
    document = line()
    document["robots"][0]["link"] = "frayed"
    await server.call("PUT", "/scenes/line", document, **headers)
    await server.call("POST", "/scenes/line/activate", **headers)
    wire.add("cut")
    await server.runtime.service(Fleets).host.close()
    await recover_scenes(server.runtime)
    [decision] = await server.call("GET", "/inbox", **headers)
    return decision


async def test_an_operator_tries_again_and_an_admin_lets_it_rest(guarded: Any, wire: set[str]) -> None:
    decision = await break_off(guarded, wire, **bearer(guarded.tokens["admin"]))
    path = f"/inbox/{decision['id']}"
    operator, admin = (bearer(guarded.tokens[role]) for role in ("operator", "admin"))
    told = await guarded.refused("POST", path, {"verb": "deactivate"}, status=403, **operator)
    assert "letting a scene rest" in told["detail"]
    told = await guarded.refused("POST", path, {"verb": "try-again"}, status=409, **operator)
    assert (told["code"], told["detail"]) == (
        "foreign.failed",
        "The robot link frayed failed: TypeError: the wire is cut.",
    )
    assert (await guarded.call("POST", path, {"verb": "deactivate"}, **admin))["status"] == "answered"
    assert (await guarded.call("GET", "/scenes/line", **admin))["active"] is False


async def test_a_keyed_answer_is_given_once(server: Any, wire: set[str]) -> None:
    decision = await break_off(server, wire)
    path, key = f"/inbox/{decision['id']}", {"Idempotency-Key": "k1"}
    await server.refused("POST", path, {"verb": "try-again"}, status=409, **key)
    wire.clear()
    first = await server.call("POST", path, {"verb": "try-again"}, **key)
    assert await server.call("POST", path, {"verb": "try-again"}, **key) == first
    shown = await server.call("GET", "/scenes/line")
    assert (shown["live"], "reason" in shown) == (True, False)
    told = await server.refused("POST", path, {"verb": "try-again"}, status=409)
    assert told["code"] == "decision.closed"


async def test_what_is_asked_of_it_is_refused_with_its_reason(server: Any, wire: set[str]) -> None:
    await break_off(server, wire)
    for method, path, body in (
        ("POST", "/robots/RB-01/hold?scene=line", None),
        ("PATCH", "/worksites/PICK_01", {"occupancy": "empty"}),
        ("PATCH", "/streams/stream_pick_drop", {"enabled": True}),
        ("POST", "/fleet/line/hold", None),
        ("POST", "/fleet/line/clear", None),
    ):
        told = await server.refused(method, path, body, status=409)
        assert (told["code"], told["detail"]) == ("scene.not_live", SAYS), path
    plan = await server.call(
        "POST", "/plans", {"scene": "line", "text": "move the pallet from PICK_01 to DROP_01"}, status=201
    )
    told = await server.refused("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=409)
    assert told["detail"] == SAYS
    assert (await server.call("GET", "/robots/RB-01"))["says"] == f"RB-01 waits: {SAYS}"
    assert await server.call("POST", "/hold")
    assert (await server.call("POST", "/clear"))["couldNot"] == []
