"""`beforehand mcp --http` with the official client and without it: who is let in, and what they may do there."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from tests.cli.conftest import PATIENCE_S, Cli
from tests.cli.mcp_clients import WAIT, over_http, over_stdio, served

ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


async def asked(url: str, method: str = "POST", body: Any = LIST, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as http:
        given = ACCEPT | {name.replace("_", "-"): value for name, value in headers.items()}
        return await http.request(method, url, json=body, headers=given)


def token(cli: Cli, name: str, role: str) -> str:
    return str(cli("token", "add", name, "--role", role, "-o", "json", code=0).document["token"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_plan_is_handed_in_approved_and_followed(cli: Cli, mode: str) -> None:
    api = f"{cli.up('--speed', '100')}/api/v1"
    async with over_http(served(cli), mode=mode) as caller:
        made = await caller("plan", scene="weld_star", text="weld 1")
        assert (await caller("preview_plan", plan=made["plan"]))["problems"] == []
        handed = await caller("submit_plan", plan=made["plan"])
        waiting = asyncio.create_task(caller("follow_plan", planId=handed["planId"], waitS=60))
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as http:
            (await http.post(f"{api}/scenes/weld_star/activate")).raise_for_status()
            (await http.post(f"{api}/inbox/{handed['decisionId']}", json={"verb": "start"})).raise_for_status()
        assert (await waiting)["status"] == "completed"


async def test_two_clients_at_once_one_of_them_over_pipes(cli: Cli) -> None:
    async with over_http(served(cli)) as first, over_stdio(cli) as second, over_http(served(cli)) as third:
        calls = [one("submit_plan", plan={"steps": [WAIT]}) for one in (first, second, third) for _ in range(3)]
        handed = [told["planId"] for told in await asyncio.gather(*calls)]
        looked = await asyncio.gather(*(one("list_plans") for one in (first, second, third)))
    assert all({plan["id"] for plan in one["plans"]} == set(handed) for one in looked)


async def test_a_token_decides_what_a_client_may_do(cli: Cli) -> None:
    token(cli, "ada", "admin")
    viewer, operator = token(cli, "vera", "viewer"), token(cli, "otto", "operator")
    url = served(cli)
    assert (await asked(url)).status_code == 401
    assert (await asked(url, Authorization="Bearer wrong")).status_code == 401
    async with over_http(url, viewer) as caller:
        assert (await caller("list_scenes"))["scenes"]
        assert (await caller("check_plan", plan={"steps": [WAIT]}))["valid"]
        for tool, given in (
            ("submit_plan", {"plan": {"steps": [WAIT]}}),
            ("preview_plan", {"plan": {"steps": [WAIT]}}),
            ("plan", {"scene": "weld_star", "text": "weld 1"}),
        ):
            told = await caller.refused(tool, **given)
            assert told["code"] == "auth.role"
    async with over_http(url, operator) as caller:
        handed = await caller("submit_plan", plan={"steps": [WAIT]})
    assert next(event for event in cli.events() if event["kind"] == "decisionOpened")["data"]["askedBy"] == "otto"
    assert handed["planId"].startswith("plan_")


async def test_the_server_of_the_home_sees_the_caller_s_own_token(cli: Cli) -> None:
    token(cli, "ada", "admin")
    viewer, operator = token(cli, "vera", "viewer"), token(cli, "otto", "operator")
    cli.up()
    url = served(cli)
    async with over_http(url, operator) as caller:
        handed = await caller("submit_plan", plan={"steps": [WAIT]})
    async with over_http(url, viewer) as caller:
        decision = (await caller("show_decision", decisionId=handed["decisionId"]))["decision"]
        assert decision["askedBy"] == "otto"
        assert (await caller.refused("submit_plan", plan={"steps": [WAIT]}))["code"] == "auth.role"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "evil.example"}, 403),
        ({}, 200),
    ],
)
async def test_other_sites_are_not_let_in(cli: Cli, headers: dict[str, str], status: int) -> None:
    url = served(cli)
    answer = await asked(url, **headers)
    assert answer.status_code == status, answer.text
    if status == 403:
        assert (await asked(url, "GET", None, **headers)).status_code == 403
        assert answer.json()["detail"].endswith(".")


async def test_only_one_path_is_there_and_big_bodies_are_refused(cli: Cli) -> None:
    url = served(cli)
    assert (await asked(url.removesuffix("mcp"))).status_code == 404
    assert (await asked(url.replace("/mcp", "/api/v1/runs"), "GET", None)).status_code == 404
    assert (await asked(url, body={**LIST, "params": {"x": "y" * 5_000_000}})).status_code == 413
    for hostile in ([], "text", {"jsonrpc": "1.0"}, {**LIST, "method": "tools/nope"}):
        answer = await asked(url, body=hostile)
        assert answer.status_code < 500
        assert "Traceback" not in answer.text
    assert (await asked(url)).status_code == 200


def test_nobody_else_can_reach_it_without_a_token(cli: Cli) -> None:
    told = cli("mcp", "--http", "--host", "0.0.0.0", "--port", "0", code=2)
    assert "no token is set" in told.err
    assert json.loads(cli("token", "list", "-o", "json", code=0).out) == []
