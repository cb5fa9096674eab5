"""Whatever is thrown at it, the server answers with a problem that says what is wrong, and stays up."""

import asyncio
import gzip
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

JSON = {"Content-Type": "application/json"}
MIB = 1024 * 1024


async def test_unknown_paths_are_json(server: Any) -> None:
    for path in ("/nothing", "/plans/x/y/z", "/", "", "/plans/", "/%2e%2e/%2e%2e/etc/passwd", "/%00", "/%ff"):
        server.problem(await server.http.get(f"{server.url}/api/v1{path}"), 404)
    server.problem(await server.http.get(f"{server.url}/api/anything"), 404)
    server.problem(await server.http.get(f"{server.url}/nowhere.js"), 404)


async def test_a_head_is_the_head_of_what_a_get_gives(server: Any) -> None:
    """Monitors and proxies ask so; a stream's ends with its head, and the connection goes on."""
    plan = await server.plan(server.step("a"))
    for path in ("/tools", f"/plans/{plan['id']}", "/plans/none", "/nothing", "/plans?limit=x", "/hold"):
        given, asked = await server.http.get(path), await server.http.head(path)
        assert (asked.status_code, asked.content) == (given.status_code, b""), path
        for name in ("content-type", "content-length", "etag", "allow"):
            assert asked.headers.get(name) == given.headers.get(name), (path, name)
    for path in ("/health", "/health/live", "/health/ready", "/metrics"):
        assert (await server.http.head(path)).status_code == 200
    for path in ("/events", "/telemetry", "/live"):
        asked = await server.http.head(path)
        assert (asked.status_code, asked.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    await server.until(lambda: server.app.state.audience.following == 0)


async def test_a_wrong_method_names_the_right_ones(server: Any) -> None:
    answer = await server.http.put("/plans", json={})
    assert server.problem(answer, 405)["nearest"] == ["GET", "HEAD", "POST"]
    assert answer.headers["allow"] == "GET, HEAD, POST"
    await server.refused("DELETE", "/runs/x", status=405)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"{'plan': 1}", 400),
        (b"\x00", 400),
        (b"\xff\xfe", 400),
        (b'{"plan": "\xed\xa0\x80"}', 400),
        (b'{"plan": {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}, "plan": {"steps": []}}', 422),
        (b'{"plan": {"steps": [{"id": "a", "id": "b", "tool": "wait", "args": {"seconds": 0}}]}}', 422),
        (b'{"plan": NaN}', 422),
        (b'{"plan": {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": Infinity}}]}}', 422),
        (b'{"plan": 1e999}', 422),
        (b"[" * 100_000, 422),
        (b'{"plan":' * 500 + b"1" + b"}" * 500, 422),
        (b'{"plan": ' + b"9" * 5000 + b"}", 400),
        (b"null", 422),
        (b'"\\ud800"', 422),
        (b'{"\\ud800": 1}', 422),
        (b'{"plan": {"steps": [{"id": "\\ud800", "tool": "wait"}]}}', 422),
        (b'{"plan": {"name": "\\ud800", "steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}}', 422),
        (b'{"plan": {"steps": [{"id": "a\\u0000b", "tool": "wait"}]}}', 422),
        (b'{"plan": {"steps": [{"id": "a", "tool": "\\u0000"}]}}', 422),
        (b'{"scene": "\\u0000", "text": "x"}', 422),
        (b'{"scene": "\\ud800", "text": "x"}', 422),
    ],
)
async def test_hostile_bodies_get_a_sentence(server: Any, body: bytes, status: int) -> None:
    server.problem(await server.http.post("/plans", content=body, headers=JSON), status)
    assert (await server.call("GET", "/health"))["status"] == "ok"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
async def test_a_body_must_say_that_it_is_json(server: Any, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    server.problem(await server.http.post("/plans", content=b'{"plan": {}}', headers=headers), 415)


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.plan+json", "application/yaml"])
async def test_json_and_yaml_are_read(server: Any, kind: str) -> None:
    document = {"plan": {"steps": [server.step("a")]}}
    answer = await server.http.post("/plans", content=json.dumps(document), headers={"Content-Type": kind})
    assert answer.status_code == 201


async def test_a_call_without_fields_says_what_its_body_is(server: Any) -> None:
    refused = server.problem(await server.http.post("/hold", json=["everything"]), 422)
    assert refused["detail"] == "The body is left out, or an empty object."


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/drafts", {}, "text is missing."),
        ("/drafts", {"text": 5}, "text must be text."),
        ("/drafts", {"text": "x", "budget": {"requests": "many"}}, "budget.requests must be a whole number."),
        ("/drafts", {"text": "x", "budget": {"requests": -1}}, "budget.requests must be 1 or more."),
        ("/plans/p/runs", {"version": 1.5}, "version must be a whole number."),
    ],
)
async def test_what_is_wrong_in_a_body_is_said_in_plain_words(server: Any, path: str, body: Any, says: str) -> None:
    told = server.problem(await server.http.post(path, json=body), 422)
    assert says in [one["says"] for one in told["problems"]]


async def test_a_compressed_body_is_refused(server: Any) -> None:
    headers = {**JSON, "Content-Encoding": "gzip"}
    server.problem(await server.http.post("/plans", content=gzip.compress(b"{}"), headers=headers), 415)


@pytest.mark.parametrize(
    "said",
    [
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\n\r\n",
        b"POST /api/v1/plans HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_told_so(server: Any, said: bytes) -> None:
    parts = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(said)
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 400 ")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400
    assert (await server.call("GET", "/health"))["status"] == "ok"


async def test_a_body_too_large_is_refused_with_and_without_its_length(server: Any) -> None:
    huge = b'{"plan": "' + b"x" * (33 * MIB) + b'"}'
    server.problem(await server.http.post("/plans", content=huge, headers=JSON), 413)

    async def parts() -> Any:
        for start in range(0, len(huge), MIB):
            yield huge[start : start + MIB]

    server.problem(await server.http.post("/plans", content=parts(), headers=JSON), 413)
    told = await server.http.post("/plans", content=huge, headers={**JSON, "Connection": "close"})
    server.problem(told, 413)
    assert await server.call("GET", "/inbox") == []


async def test_a_large_plan_is_taken(server: Any) -> None:
    steps = [server.step(f"s{number}", description="d" * 200) for number in range(10_000)]
    plan = await server.plan(*steps)
    assert len(plan["steps"]) == 10_000


async def test_what_nobody_expected_is_a_problem_without_its_traceback(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: Any, **more: Any) -> Any:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(server.runtime.store, "row", broken)
    answer = await server.http.get("/plans/x", headers={"X-Correlation-Id": "look-for-me"})
    told = server.problem(answer, 500)
    assert told["correlationId"] == "look-for-me"
    assert "secret" not in answer.text


async def test_a_number_that_is_none_leaves_as_null(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def odd(*args: Any, **more: Any) -> Any:
        return [{"name": "x", "description": "\ud800", "parameters": {"n": float("nan")}, "plan": {}}]

    monkeypatch.setattr("beforehand.app.templates.list_templates", odd)
    answer = await server.http.get("/templates")
    assert "NaN" not in answer.text
    assert answer.json()[0]["parameters"] == {"n": None}


async def test_names_in_paths_may_be_anything(server: Any) -> None:
    for name in ("%00", "%ED%A0%80", "a%2Fb", "%F0%9F%A4%96", "x" * 5000, "'%20OR%201=1", "%3Cscript%3E"):
        for path in (f"/plans/{name}", f"/runs/{name}", f"/inbox/{name}", f"/templates/{name}", f"/scenes/{name}"):
            server.problem(await server.http.get(path), 404)


async def test_every_answer_carries_the_safety_headers(server: Any) -> None:
    for path in ("/health", "/nothing", "/events?after=x"):
        answer = await server.http.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "unsafe-inline" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-correlation-id"]


def test_every_error_of_the_tree_has_a_status() -> None:
    from beforehand.model import errors as tree
    from beforehand.server.errors import status_of

    kinds = [kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, tree.BeforehandError)]
    statuses = {kind.__name__: status_of(kind("It is so."))[0] for kind in kinds}
    assert statuses["BadInputError"] == 422
    assert statuses["TooLargeError"] == 413
    assert statuses["NotFoundError"] == 404
    assert statuses["ConflictError"] == statuses["RefusedError"] == 409
    assert statuses["UnauthorisedError"] == 401
    assert statuses["ForbiddenError"] == 403
    assert statuses["UnavailableError"] == statuses["NotLeadingError"] == 503
