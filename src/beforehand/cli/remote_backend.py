"""The backend at the server that leads the home: the same verbs, over HTTP."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

import httpx2

from beforehand.app.settings import Settings
from beforehand.app.tls import client_context
from beforehand.cli.backend import Call, Document, Local
from beforehand.cli.screen import print_err
from beforehand.model.errors import (
    BadInputError,
    BeforehandError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RefusedError,
    UnauthorisedError,
    UnavailableError,
)
from beforehand.model.reason import Problem
from beforehand.ports.ticks import ticks_ns

TIMEOUT_S = 60.0
HELLO_S = 10.0
"""How long a server may take to say that it is there; one that is frozen takes connections and says nothing."""
SILENCE_S = 45.0
"""A stream is never silent for so long: the server sends its time when it has nothing else."""
DEADLINE_MS = 60_000
"""What somebody asks for is not done later than that; by then they have been told that nobody answers."""
TRIES = 2
RECONNECTS = 5
RECONNECT_S = 0.2
_ERRORS: dict[int, type[BeforehandError]] = {
    400: BadInputError,
    401: UnauthorisedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: BadInputError,
    415: BadInputError,
    422: BadInputError,
}
NOT_RECORDED = "notRecorded"
"""What an answer says to be done and not in the log yet; it is told beside whatever the command prints."""
_STANDARD = ("type", "title", "status", "detail", "code", "problems", "nearest", "hint")


def _ticks_ms() -> int:
    return ticks_ns() // 1_000_000


class RemoteBackend:
    def __init__(self, url: str, settings: Settings) -> None:
        self.url: str | None = url
        self._ahead_ms = 0
        token = settings["token"]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # A proxy set for the outside world has no business between a command and its own server.
        self._http = httpx2.AsyncClient(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers=headers,
            timeout=TIMEOUT_S,
            trust_env=False,
            verify=client_context(settings, url) if url.startswith("https:") else True,
        )

    async def __aenter__(self) -> "RemoteBackend":
        try:
            answer = await self._http.get("/health", timeout=HELLO_S)
            self._ahead_ms = int(answer.json()["now"]) - _ticks_ms()
        except httpx2.TransportError as error:
            await self._http.aclose()
            raise self._gone(error) from None
        except (ValueError, KeyError):
            pass  # it is there; whatever it lacks, the call itself will say
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        return await self._answered(method, path, body, headers | self._once(method))

    async def _answered(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        answer = await self._asked(method, path, body, headers)
        if answer.is_error:
            raise problem_from(answer.status_code, answer.content)
        told = answer.json() if answer.content else None
        if isinstance(told, dict):
            print_err(*told.get(NOT_RECORDED, ()))
        return told

    def _once(self, method: str) -> dict[str, str]:
        """What makes a write safe to send again: a key of its own, and a deadline by the server's clock."""
        if method == "GET":
            return {}
        deadline = _ticks_ms() + self._ahead_ms + DEADLINE_MS
        return {"Idempotency-Key": uuid.uuid4().hex, "Beforehand-Deadline": str(deadline)}

    async def _asked(self, method: str, path: str, body: Any, headers: dict[str, str]) -> httpx2.Response:
        """The answer; a connection that broke is tried once more, which is safe by the key."""
        for tried in range(1, TRIES + 1):
            try:
                return await self._http.request(method, path, json=body, headers=headers)
            except httpx2.TransportError as error:
                if tried == TRIES or isinstance(error, httpx2.TimeoutException):
                    raise self._gone(error) from None
        raise AssertionError("Every try returns or raises.")

    def _gone(self, error: Exception) -> UnavailableError:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            why = str(error).partition("failed: ")[2].partition(" (_ssl")[0]
            return UnavailableError(
                f"The certificate of the server at {self.url} is not believed: {why}.",
                code="server.certificate",
                hint="Name its authority in BEFOREHAND_TLS_CA, or on its own machine its certificate in "
                "BEFOREHAND_TLS_CERT.",
            )
        why = "it says nothing" if isinstance(error, httpx2.TimeoutException) else f"{type(error).__name__}: {error}"
        return UnavailableError(
            f"The server at {self.url} does not answer: {why}.",
            code="server.unreachable",
            hint="Check whether it still runs (`beforehand doctor`) and try again.",
        )

    async def take_plan(self, document: Any, *, scene: str | None, workspace: str) -> Document:
        body = {"plan": document, "workspace": workspace}
        from beforehand.app.documents import scene_in, scenes_in

        tools = {tool["name"] for tool in await self.call("GET", "/tools") if tool.get("sceneKind")}
        named = scene if scene is not None else scene_in(document, tools.__contains__)
        if named is not None:
            body["scene"] = await self.live_scene(named)
        for beside in scenes_in(document, tools.__contains__):
            with suppress(NotFoundError):  # the server tells of it with everything else
                await self.live_scene(beside)
        return dict(await self.call("POST", "/plans", body))

    async def live_scene(self, scene: str) -> str:
        """Have the server make a scene live, handing it over first where the server does not know it; its name."""
        known = {row["name"]: row for row in await self.call("GET", "/scenes")}
        name = scene
        if scene not in known:
            from beforehand.app.examples import find_document

            document = find_document(scene)
            name = str(document.get("name", scene)) if isinstance(document, dict) else scene
            await self.call("PUT", f"/scenes/{_part(name)}", document)
        if not known.get(scene, {}).get("active"):
            await self.call("POST", f"/scenes/{_part(name)}/activate")
        return name

    async def perform(self, local: Local, call: Call) -> Any:
        once = self._once(call.method) if call.keyed else {}
        return await self._answered(call.method, call.path, call.body, once)

    async def plan_from_template(self, name: str, parameters: Mapping[str, Any], *, workspace: str) -> Document:
        body = {"parameters": dict(parameters), "workspace": workspace}
        return dict(await self.call("POST", f"/templates/{_part(name)}/plans", body))

    async def template(self, name: str) -> Document:
        known = await self.call("GET", "/templates")
        found = next((item for item in known if item["name"] == name), None)
        if found is None:
            raise NotFoundError.unknown("template", name, [item["name"] for item in known])
        return dict(found)

    async def save_template(self, name: str, document: Any) -> Document:
        return dict(await self.call("PUT", f"/templates/{_part(name)}", document))

    async def start(self, plan_id: str, version: int) -> Document:
        return dict(await self.call("POST", f"/plans/{_part(plan_id)}/runs", {"version": version}))

    async def resume(self, run_id: str) -> Document:
        run = await self.run(run_id)
        if run["status"] == "paused":
            return dict(await self.call("POST", f"/runs/{_part(run_id)}/resume"))
        return run

    async def run(self, run_id: str) -> Document:
        return dict(await self.call("GET", f"/runs/{_part(run_id)}"))

    async def decision(self, decision_id: str) -> Document:
        for decision in await self.call("GET", "/inbox"):
            if decision["id"] == decision_id:
                return {"status": "open", **decision}
        return {"id": decision_id, "status": "answered"}

    async def answer(self, decision_id: str, verb: str, *, value: Any, note: str, carry_on: bool = True) -> Document:
        body = {"verb": verb, "note": note} | ({} if value is None else {"value": value})
        return dict(await self.call("POST", f"/inbox/{_part(decision_id)}", body))

    async def answer_and_run(self, decision_id: str, verb: str, *, value: Any, note: str) -> Document:
        answered = await self.answer(decision_id, verb, value=value, note=note)
        state = await self.call("GET", "/state")
        plan_id = answered["about"]["planId"]
        return next(dict(run) for run in state["runs"] if run["planId"] == plan_id)

    async def events(self, run_id: str) -> AsyncIterator[list[Document]]:
        """The run's events from its first on."""
        async for event in self.log(0, run=run_id):
            yield [event]

    async def log(self, after: int, **only: str) -> AsyncIterator[Document]:
        """Events after that number, filtered as `GET /events` does; a broken connection is taken up where it broke."""
        last, failures = after, 0
        while True:
            broke: Exception = EOFError("it closed the connection")
            try:
                async for data in self._stream(f"/events?{urlencode({**only, 'after': last})}"):
                    event = json.loads(data)
                    last, failures = event["seq"], 0
                    yield event
            except httpx2.ReadTimeout as error:
                raise self._gone(error) from None
            except httpx2.TransportError as error:
                broke = error
            failures += 1
            if failures > RECONNECTS:
                raise self._gone(broke)
            await asyncio.sleep(RECONNECT_S * failures)

    async def frames(self) -> AsyncIterator[Document]:
        try:
            async for data in self._stream("/telemetry"):
                yield json.loads(data)
        except httpx2.TransportError:
            return  # only pictures are lost

    async def _stream(self, path: str) -> AsyncIterator[str]:
        """The `data` of every server-sent event."""
        timeout = httpx2.Timeout(HELLO_S, read=SILENCE_S)
        async with self._http.stream("GET", path, timeout=timeout) as answer:
            if answer.is_error:
                raise problem_from(answer.status_code, await answer.aread())
            async for text in answer.aiter_lines():
                if text.startswith("data:"):
                    yield text[5:].lstrip()


def _part(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


def problem_from(status: int, body: bytes) -> BeforehandError:
    """The error a problem+json answer stands for."""
    try:
        shown = json.loads(body)
    except ValueError:
        shown = {}
    if not isinstance(shown, dict):
        shown = {}
    kind = _ERRORS.get(status, UnavailableError if status >= 500 else RefusedError)
    problems = [Problem.model_validate(item) for item in shown.get("problems", []) if isinstance(item, dict)]
    error = kind(
        str(shown.get("detail") or shown.get("title") or f"The server answered {status}."),
        code=shown.get("code"),
        hint=str(shown.get("hint") or ""),
        problems=problems,
        nearest=shown.get("nearest") or (),
        extra={key: value for key, value in shown.items() if key not in _STANDARD},
    )
    if status in (401, 403):
        error.hint = "Set BEFOREHAND_TOKEN to a token that may do this (`beforehand token add`)."
    return error
