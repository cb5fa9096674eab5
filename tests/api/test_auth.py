"""Who may call: tokens and roles, the cookie for browsers, other sites' pages, and other names for this machine."""

import asyncio
import hashlib
import json
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.api.conftest import bearer

from beforehand.app.settings import load_settings
from beforehand.app.tokens import SESSION_S, Tokens
from beforehand.model.errors import TooManyError
from beforehand.server.auth import is_loopback, same_place, shown_session, shown_token
from beforehand.server.login_limit import LoginLimit

READS = ("/state", "/plans", "/runs", "/inbox", "/templates", "/scenes", "/tools", "/metrics", "/me", "/events?after=x")
READS += ("/plugins", "/settings", "/doctor", "/tokens")


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


async def test_viewers_may_try_what_changes_nothing(guarded: Any) -> None:
    operator, viewer = (bearer(guarded.tokens[role]) for role in ("operator", "viewer"))
    made = await guarded.http.post("/plans", json={"plan": {"steps": [guarded.step("a")]}}, headers=operator)
    plan = made.json()["id"]
    assert (await guarded.http.post(f"/plans/{plan}/preview", json={}, headers=viewer)).status_code == 200
    assert (await guarded.http.post("/scenes/check", json={"kind": "none"}, headers=viewer)).status_code == 200
    guarded.problem(await guarded.http.put("/scenes/check", json={"kind": "none"}, headers=viewer), 403)
    guarded.problem(await guarded.http.post(f"/plans/{plan}/runs", json={"version": 1}, headers=viewer), 403)


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


async def test_a_workspace_outside_is_admins_to_start_and_to_change(guarded: Any, tmp_path: Any) -> None:
    """An operator may look at such a plan and stop it, and nothing else."""
    outside = tmp_path / "system"
    outside.mkdir()
    (outside / "secret.txt").write_text("for admins")
    operator, admin = bearer(guarded.tokens["operator"]), bearer(guarded.tokens["admin"])
    ask = {"id": "a", "tool": "read_file", "args": {"path": "none"}, "onFailure": "ask"}
    approve = {"id": "b", "tool": "wait", "args": {"seconds": 0}, "requiresApproval": True}
    body = {"plan": {"steps": [ask, approve]}, "workspace": str(outside)}
    plan = (await guarded.http.post("/plans", json=body, headers=admin)).json()
    path, read = f"/plans/{plan['id']}", {"args": {"path": "secret.txt"}}
    edits = {"edits": [{"op": "edit", "id": "a", "set": read}]}

    async def refused(method: str, where: str, told: Any, **more: str) -> None:
        answer = await guarded.http.request(method, where, json=told, headers=operator | more)
        assert "needs admin" in guarded.problem(answer, 403)["detail"]

    await refused("PATCH", path, edits, **{"If-Match": "1"})
    await refused("POST", f"{path}/regenerate", {})
    await refused("POST", f"{path}/runs", {"version": 1})
    await refused("POST", f"/inbox/{plan['decision']['id']}", {"verb": "start"})
    run = (await guarded.http.post(f"{path}/runs", json={"version": 1}, headers=admin)).json()
    asked: dict[str, str] = {}
    while len(asked) < 2:
        for decision in (await guarded.http.get("/inbox", headers=operator)).json():
            asked[decision["kind"]] = decision["id"]
    for kind, told in (
        ("failure", {"verb": "retry", "value": read}),
        ("failure", {"verb": "insert", "value": {"steps": [{"id": "c", "tool": "read_file", **read}]}}),
        ("approval", {"verb": "approve"}),
    ):
        await refused("POST", f"/inbox/{asked[kind]}", told)
    await refused("POST", f"/runs/{run['runId']}/steps/a/retry", read)
    edited = await guarded.http.patch(path, json=edits, headers=admin | {"If-Match": "1"})
    if edited.status_code == 200:
        await refused("POST", f"/runs/{run['runId']}/adopt", {"version": 2})
    assert (await guarded.http.post(f"/runs/{run['runId']}/cancel", headers=operator)).status_code == 200
    shown = (await guarded.http.get(f"/runs/{run['runId']}", headers=operator)).text
    assert "for admins" not in shown


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
    out = await guarded.http.post("/logout", headers={"Cookie": value})
    assert out.status_code == 200
    assert 'beforehand=""' in out.headers["set-cookie"]
    guarded.problem(await guarded.http.get("/inbox", headers={"Cookie": value}), 401)
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
    Tokens(guarded.runtime.settings).revoke("viewer", 0)
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


def test_a_token_is_found_in_the_header_and_a_session_in_the_cookie() -> None:
    assert shown_token({"authorization": "bearer abc"}) == "abc"
    assert shown_token({"cookie": "beforehand=abc"}) is None
    assert shown_session({"cookie": "other=1; beforehand=a.1.b"}) == "a.1.b"
    assert shown_session({"cookie": "garbage"}) is None
    assert shown_session({}) is None


async def test_the_cookie_is_not_the_token_and_cannot_be_made_up(guarded: Any) -> None:
    token = guarded.tokens["operator"]
    answer = await guarded.http.post("/login", json={"token": token})
    value = answer.headers["set-cookie"].split(";")[0].partition("=")[2]
    guarded.http.cookies.clear()
    name, until, signature = value.split(".")
    assert token not in value
    assert token.encode().hex() not in value
    assert hashlib.sha256(token.encode()).hexdigest() not in value
    later, viewer = str(int(until) + 1), b"viewer".hex()
    forged = [f"{name}.{later}.{signature}", f"{viewer}.{until}.{signature}", f"{name}.{until}.", token, f"{name}.1.x"]
    for wrong in (*forged, f"{name}.{until}.{signature[:-1]}x", "..", "é"):
        guarded.problem(await guarded.http.get("/inbox", headers={"Cookie": f"beforehand={wrong}".encode()}), 401)
    assert (await guarded.http.get("/inbox", headers={"Cookie": f"beforehand={value}"})).status_code == 200
    tokens = Tokens(guarded.runtime.settings)
    tokens.revoke("operator", 0)
    tokens.add("operator", "operator", 0)
    guarded.problem(await guarded.http.get("/inbox", headers={"Cookie": f"beforehand={value}"}), 401)


async def test_a_session_outlives_the_server_and_not_its_time(serve_with: Callable[..., Any]) -> None:
    async with serve_with(token="the-admins") as server:
        cookie = (await server.http.post("/login", json={"token": "the-admins"})).headers["set-cookie"].split(";")[0]
        session, tokens = cookie.partition("=")[2], Tokens(server.runtime.settings)
        assert tokens.role_of_session(session, int(session.split(".")[1]) * 1000) == ("admin", "admin")
        assert tokens.role_of_session(session, int(session.split(".")[1]) * 1000 + 1) is None
    async with serve_with(token="the-admins") as server:
        assert (await server.http.get("/inbox", headers={"Cookie": cookie})).status_code == 200
    async with serve_with(token="another") as server:
        server.problem(await server.http.get("/inbox", headers={"Cookie": cookie}), 401)


async def test_logging_out_ends_that_session_for_good_and_no_other(serve_with: Callable[..., Any]) -> None:
    async with serve_with(token="the-admins") as server:
        answers = [await server.http.post("/login", json={"token": "the-admins"}) for _ in range(3)]
        server.http.cookies.clear()
        mine, other, third = ({"Cookie": answer.headers["set-cookie"].split(";")[0]} for answer in answers)
        async with server.http.stream("GET", "/events", headers=mine) as following:
            lines = following.aiter_lines()
            await anext(lines)
            assert (await server.http.post("/logout", headers=mine)).status_code == 200
            with suppress(httpx2.TransportError):
                async with asyncio.timeout(30):
                    assert [line async for line in lines if line.startswith("data")] == []
        server.problem(await server.http.post("/logout", headers=mine), 401)
        assert (await server.http.post("/logout", headers=bearer("the-admins"))).status_code == 200
        assert (await server.http.post("/logout", headers=third | bearer("the-admins"))).status_code == 200
    async with serve_with(token="the-admins") as server:
        for ended in (mine, third):
            server.problem(await server.http.get("/inbox", headers=ended), 401)
        assert (await server.http.get("/inbox", headers=other)).status_code == 200
        assert (await server.http.get("/inbox", headers=bearer("the-admins"))).status_code == 200
        (server.runtime.settings.home / "session.ended").write_text("[")
        server.problem(await server.http.get("/inbox", headers=other), 503)
        assert (await server.http.get("/inbox", headers=bearer("the-admins"))).status_code == 200
        (server.runtime.settings.home / "session.ended").unlink()
        assert (await server.http.get("/inbox", headers=other)).status_code == 200


def test_what_is_known_of_ended_sessions_lasts_as_long_as_they_would_have(tmp_path: Path) -> None:
    tokens = Tokens(load_settings({"home": str(tmp_path), "token": "the-admins"}, {}, tmp_path / "none"))
    first = tokens.open_session("the-admins", 0)
    tokens.end_session(first, 1)
    tokens.end_session(first, 2)
    assert tokens.role_of_session(first, 3) is None
    later = SESSION_S * 1000 + 1000
    second = tokens.open_session("the-admins", later)
    tokens.end_session(second, later)
    tokens.end_session("nonsense", later)
    assert len(json.loads((tmp_path / "session.ended").read_text())) == 1
    assert tokens.role_of_session(first, later) is None
    assert tokens.role_of_session(second, later) is None


async def test_five_failed_logins_within_a_minute_are_enough(guarded: Any) -> None:
    for _ in range(5):
        guarded.problem(await guarded.http.post("/login", json={"token": "guess"}), 401)
    answer = await guarded.http.post("/login", json={"token": "the-admins"})
    assert "5 logins" in guarded.problem(answer, 429)["detail"]
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert (await guarded.http.get("/inbox", headers=bearer("the-admins"))).status_code == 200


def test_the_brake_loosens_after_a_minute() -> None:
    now = [0.0]
    brake = LoginLimit(lambda: now[0])
    for address in ("a", "a", "b", "a", "a"):
        brake.failed(address)
    brake.refuse_if_reached("a")
    brake.failed("a")
    with pytest.raises(TooManyError):
        brake.refuse_if_reached("a")
    brake.refuse_if_reached("b")
    now[0] = 60.0
    brake.refuse_if_reached("a")


async def test_off_loopback_no_token_means_nobody(serve_with: Callable[..., Any]) -> None:
    """Revoking the last token of a server on the network closes the door; it does not open it."""
    async with serve_with(host="0.0.0.0") as server:
        tokens = Tokens(server.runtime.settings)
        token = tokens.add("only", "admin", 0)
        assert (await server.http.get("/inbox", headers=bearer(token))).status_code == 200
        cookie = (await server.http.post("/login", json={"token": token})).headers["set-cookie"].split(";")[0]
        server.http.cookies.clear()
        tokens.revoke("only", 0)
        for headers in ({}, bearer(token), {"Cookie": cookie}, {"Host": "127.0.0.1"}):
            for path in READS:
                server.problem(await server.http.get(path, headers=headers), 401)
            server.problem(await server.http.post("/plans", json={}, headers=headers), 401)
        server.problem(await server.http.post("/login", json={"token": "x"}), 401)
        (server.runtime.settings.home / "tokens.json").unlink()
        server.problem(await server.http.get("/inbox"), 401)
        assert (await server.http.get("/health")).status_code == 200


async def test_on_loopback_the_last_token_leaves_the_door_as_it_was(serve_with: Callable[..., Any]) -> None:
    async with serve_with() as server:
        tokens = Tokens(server.runtime.settings)
        tokens.add("only", "admin", 0)
        server.problem(await server.http.get("/inbox"), 401)
        tokens.revoke("only", 0)
        assert (await server.http.get("/inbox")).status_code == 200
        for text in ("[]", '{"a": 1}', '{"a": {"role": "emperor", "hash": ""}}'):
            (server.runtime.settings.home / "tokens.json").write_text(text)
            server.problem(await server.http.get("/inbox"), 503)


async def test_a_revoked_tokens_streams_end(guarded: Any) -> None:
    headers = bearer(guarded.tokens["viewer"])
    for path in ("/events", "/telemetry"):
        tokens = Tokens(guarded.runtime.settings)
        async with guarded.http.stream("GET", path, headers=headers) as answer:
            lines = answer.aiter_lines()
            assert (await anext(lines)).startswith(": now ")
            tokens.revoke("viewer", 0)
            with suppress(httpx2.TransportError):  # cut off, whatever was still to come
                async with asyncio.timeout(30):
                    assert [line async for line in lines if line.startswith("data")] == []
        headers = bearer(tokens.add("viewer", "viewer", 0))
    await guarded.until(lambda: guarded.app.state.audience.following == 0)


async def test_the_home_is_its_owners_alone(guarded: Any) -> None:
    await guarded.http.post("/login", json={"token": "the-admins"})
    home = guarded.runtime.settings.home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*") if path.is_file()}
    assert {"log.db", "log.db-wal", "log.db.lock", "tokens.json", "session.key"} <= modes.keys()
    assert set(modes.values()) == {0o600}


async def test_a_home_that_was_left_open_is_closed(serve_with: Callable[..., Any]) -> None:
    async with serve_with() as server:
        home = server.runtime.settings.home
        Tokens(server.runtime.settings).add("a", "admin", 0)
    home.chmod(0o755)
    for name in ("log.db", "tokens.json"):
        (home / name).chmod(0o644)
    async with serve_with():
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert {stat.S_IMODE((home / name).stat().st_mode) for name in ("log.db", "tokens.json")} == {0o600}
