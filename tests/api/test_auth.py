"""Who may call: tokens and roles, the cookie for browsers, other sites' pages, and other names for this machine."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from beforehand.app.tokens import Tokens
from beforehand.server.auth import is_loopback, same_place, shown_token, to_cookie

READS = ("/state", "/plans", "/runs", "/inbox", "/templates", "/scenes", "/tools", "/metrics", "/me", "/events?after=x")


@pytest.fixture
async def guarded(serve_with: Callable[..., Any]) -> AsyncIterator[Any]:
    async with serve_with(token="the-admins") as server:
        tokens = Tokens(server.runtime.settings)
        server.tokens = {role: tokens.add(role, role, 0) for role in ("viewer", "operator")} | {"admin": "the-admins"}
        yield server


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_without_a_token_only_health_and_login_answer(guarded: Any) -> None:
    assert (await guarded.http.get("/health")).status_code == 200
    for path in READS:
        answer = await guarded.http.get(path)
        guarded.problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")
    guarded.problem(await guarded.http.post("/plans", json={}), 401)
    guarded.problem(await guarded.http.get("/no/such/path"), 401)
    for wrong in ("Bearer nonsense", "Bearer", "Basic the-admins", "the-admins", "Bearer the-admins2"):
        guarded.problem(await guarded.http.get("/state", headers={"Authorization": wrong}), 401)


async def test_the_page_sends_strangers_to_log_in(guarded: Any) -> None:
    answer = await guarded.http.get(guarded.url)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login"
    form = await guarded.http.get(f"{guarded.url}/login")
    assert form.status_code == 200
    assert "password" in form.text
    assert (await guarded.http.get(f"{guarded.url}/static/page.css")).status_code == 200
    guarded.problem(await guarded.http.get(f"{guarded.url}/page/now"), 401)


async def test_the_page_shows_viewers_what_they_may_not_do(guarded: Any) -> None:
    body = {"plan": {"steps": [guarded.step("a")]}}
    await guarded.http.post("/plans", json=body, headers=bearer(guarded.tokens["operator"]))
    looking = (await guarded.http.get(guarded.url, headers=bearer(guarded.tokens["viewer"]))).text
    assert 'value="start" disabled' in looking
    assert "answering needs an operator" in looking
    working = (await guarded.http.get(guarded.url, headers=bearer(guarded.tokens["operator"]))).text
    assert 'value="start">' in working


async def test_viewers_look_operators_write_admins_rule(guarded: Any) -> None:
    plan = {"plan": {"steps": [guarded.step("a")]}}
    scene = {"kind": "nothing"}
    allowed = {"viewer": (403, 403, 403), "operator": (201, 403, 403), "admin": (201, 200, 422)}
    for role, (planned, kept, set_up) in allowed.items():
        headers = bearer(guarded.tokens[role])
        assert (await guarded.http.get("/inbox", headers=headers)).status_code == 200
        assert (await guarded.http.get("/me", headers=headers)).json()["role"] == role
        assert (await guarded.http.post("/plans", json=plan, headers=headers)).status_code == planned
        assert (await guarded.http.put("/templates/t", json=plan, headers=headers)).status_code == kept
        assert (await guarded.http.put("/scenes/s", json=scene, headers=headers)).status_code == set_up
    refused = await guarded.http.post("/plans", json=plan, headers=bearer(guarded.tokens["viewer"]))
    assert "operator" in guarded.problem(refused, 403)["detail"]


async def test_an_answer_says_who_gave_it(guarded: Any) -> None:
    headers = bearer(guarded.tokens["operator"])
    plan = (await guarded.http.post("/plans", json={"plan": {"steps": [guarded.step("a")]}}, headers=headers)).json()
    path = f"/inbox/{plan['decision']['id']}"
    answered = (await guarded.http.post(path, json={"verb": "start"}, headers=headers)).json()
    assert answered["answer"]["by"] == "operator"


async def test_only_admins_choose_a_workspace_outside(guarded: Any, tmp_path: Any) -> None:
    (guarded.workspace / "inner").mkdir()
    body = {"plan": {"steps": [guarded.step("a")]}}
    for folder, operator, admin in (("inner", 201, 201), (str(guarded.workspace), 201, 201), (str(tmp_path), 403, 201)):
        for role, status in (("operator", operator), ("admin", admin)):
            headers = bearer(guarded.tokens[role])
            answer = await guarded.http.post("/plans", json={**body, "workspace": folder}, headers=headers)
            assert answer.status_code == status, (folder, role)


async def test_logging_in_gives_a_cookie_that_scripts_cannot_read(guarded: Any) -> None:
    answer = await guarded.http.post("/login", json={"token": guarded.tokens["viewer"]})
    assert answer.status_code == 200
    assert answer.json() == {"name": "viewer", "role": "viewer"}
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    value = cookie.split(";")[0]
    guarded.http.cookies.clear()
    assert (await guarded.http.get("/inbox", headers={"Cookie": value})).status_code == 200
    guarded.problem(await guarded.http.post("/plans", json={}, headers={"Cookie": value}), 403)
    assert (await guarded.http.get(guarded.url, headers={"Cookie": value})).status_code == 200
    out = await guarded.http.post("/logout", headers={"Cookie": value})
    assert out.status_code == 200
    assert 'beforehand=""' in out.headers["set-cookie"]
    for body in ({"token": "wrong"}, {"token": "😀"}):
        guarded.problem(await guarded.http.post("/login", json=body), 401)
    for body in ({}, {"token": ""}, {"token": 5}):
        guarded.problem(await guarded.http.post("/login", json=body), 422)
    lone = b'{"token": "\\ud800"}'
    answer = await guarded.http.post("/login", content=lone, headers={"Content-Type": "application/json"})
    assert answer.status_code in (401, 422)


async def test_a_revoked_token_stops_working_at_once(guarded: Any) -> None:
    headers = bearer(guarded.tokens["viewer"])
    assert (await guarded.http.get("/inbox", headers=headers)).status_code == 200
    Tokens(guarded.runtime.settings).revoke("viewer")
    guarded.problem(await guarded.http.get("/inbox", headers=headers), 401)


async def test_an_unreadable_token_file_lets_nobody_in(serve_with: Callable[..., Any]) -> None:
    async with serve_with() as server:
        (server.runtime.settings.home / "tokens.json").write_text("{")
        server.problem(await server.http.get("/inbox"), 503)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "self"}, 403),
        ({"Origin": "{url}"}, 201),
        ({"Origin": "{url}", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
    ],
)
async def test_another_sites_page_may_not_write(server: Any, headers: dict[str, str], status: int) -> None:
    told = {name: value.replace("{url}", server.url) for name, value in headers.items()}
    answer = await server.http.post("/plans", json={"plan": {"steps": [server.step("a")]}}, headers=told)
    assert answer.status_code == status
    if status == 403:
        assert server.problem(answer, 403)["code"] == "auth.cross_origin"
    assert (await server.http.get("/inbox", headers=told)).status_code == 200


async def test_a_token_does_not_let_another_sites_page_write(guarded: Any) -> None:
    headers = bearer("the-admins") | {"Origin": "http://evil.example"}
    guarded.problem(await guarded.http.post("/plans", json={}, headers=headers), 403)
    guarded.problem(await guarded.http.post("/login", json={"token": "the-admins"}, headers=headers), 403)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("localhost:8700", 200),
        ("127.0.0.1", 200),
        ("127.9.9.9:1", 200),
        ("[::1]:8700", 200),
        ("evil.example", 403),
        ("evil.example:8700", 403),
        ("localhost.evil.example", 403),
        ("192.168.0.7", 403),
        ("[::1", 403),
    ],
)
async def test_without_tokens_no_other_name_points_here(server: Any, host: str, status: int) -> None:
    for path in ("/inbox", "/health"):
        assert (await server.http.get(path, headers={"Host": host})).status_code == status


async def test_with_tokens_any_name_will_do(guarded: Any) -> None:
    headers = bearer("the-admins") | {"Host": "plans.example"}
    assert (await guarded.http.get("/inbox", headers=headers)).status_code == 200


def test_origins_and_hosts_are_compared_by_place() -> None:
    assert same_place("http://a.example", "a.example:80")
    assert same_place("https://a.example", "a.example")
    assert same_place("http://A.example:8700", "a.example:8700")
    assert same_place("http://[::1]:8700", "[::1]:8700")
    assert not same_place("http://a.example:8700", "a.example")
    assert not same_place("file://", "")
    assert not same_place("null", "null")
    assert not same_place("http://a:b:c", "a")
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("")


def test_a_token_is_found_in_the_header_or_the_cookie() -> None:
    assert shown_token({"authorization": "bearer abc"}) == "abc"
    assert shown_token({"cookie": f"other=1; beforehand={to_cookie('t;=, ü')}"}) == "t;=, ü"
    assert shown_token({"cookie": "beforehand=***"}) in (None, "")
    assert shown_token({"cookie": "garbage"}) is None
    assert shown_token({}) is None
