"""A server that stands by answers from the log, and hands everything else on to the one that leads.

A call is handed on as it came, with the caller's own token, key and deadline, and the answer is given as it comes.
While one leader follows another it waits a few seconds. A call that may have reached a leader that is gone is only sent
again where that cannot do it twice: a question, or a write with a key.
"""

import asyncio
import json
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from beforehand.adapters.peers.client import Answer, Call, GoneError, Peers
from beforehand.app.runtime import Runtime
from beforehand.model.errors import BeforehandError, UnavailableError
from beforehand.ports.log import Log
from beforehand.ports.store import Leader
from beforehand.ports.tasks import part, stop
from beforehand.server.errors import problem
from beforehand.server.log_gate import Brakes
from beforehand.server.middleware import HEADER as CORRELATION
from beforehand.server.place import Place
from beforehand.server.requests import read_bytes
from beforehand.server.writes import KEY, Body

log = Log("beforehand.http")
HANDED_ON = "Beforehand-Handed-On"
"""Names the server that handed a call on: it is handed on once, and never round in a circle."""
PATIENCE_S = 8.0
BRAKE_PATIENCE_S = 3.0
"""Who wants something to stand has to know soon that this way leads nowhere."""
STATE_PATIENCE_S = 1.0
"""How long the state is asked of the leader, before it is read out of the log here."""
LOOK_S = 0.1
BASE = "/api/v1/"
STATE = f"{BASE}state"
MOST_KEPT = 1_000
RECORDED_S = 5.0
"""Whoever leads and has written for so long has written what was to follow."""
DEADLINE = b"beforehand-deadline"
OWN = ("login", "logout", "search")
"""Calls that every server answers for itself although they are sent like writes."""
READING = ("GET", "HEAD", "OPTIONS")
MOVED, NOT_LEADING = "lead.moved", "store.not_leading"
BRAKES = Brakes()
_HOP = (b"connection", b"keep-alive", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect", b"content-length")
_NOT_GIVEN = (*_HOP, b"date", b"server")
_OURS = (HANDED_ON.lower().encode(), CORRELATION.lower().encode(), b"accept-encoding")


class HandingOn:
    """`led` are the first words of the paths whose answers only the leader knows."""

    def __init__(self, app: ASGIApp, place: Place, peers: Peers, led: Collection[str], brakes: Brakes = BRAKES) -> None:
        self.app = app
        self.place = place
        self.peers = peers
        self.led = frozenset(led)
        self.brakes = brakes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.place.leads or not self._is_led(scope):
            await self.app(scope, receive, send)
            return
        try:
            handed_on_by = Headers(scope=scope).get(HANDED_ON)
            if handed_on_by is not None:
                raise _circle(self.place.leader) if handed_on_by == self.place.id else _moved()
            await self._hand_on(scope, receive, send)
        except BeforehandError as error:
            await problem(error)(scope, receive, send)

    def _is_led(self, scope: Scope) -> bool:
        path = str(scope["path"])
        if not path.startswith(BASE):
            return False
        noun = path.removeprefix(BASE).partition("/")[0]
        if scope["method"] in READING:
            return noun in self.led or _asks_state(scope)
        return noun not in OWN

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_bytes(Request(scope, receive))
        call = _call_of(scope, body, self.place.id)
        is_brake = self.brakes.has(scope["method"], scope["path"])
        patience_s = STATE_PATIENCE_S if _asks_state(scope) else BRAKE_PATIENCE_S if is_brake else PATIENCE_S
        answer = await self._answer(call, patience_s, is_brake)
        if answer is not None:
            given = Response(answer.body, answer.status)
            given.raw_headers = [(name, value) for name, value in answer.headers if name.lower() not in _NOT_GIVEN]
            given.raw_headers.append((b"content-length", str(len(answer.body)).encode()))
            await given(scope, receive, send)
        elif self.place.leads or _asks_state(scope):
            await self.app(scope, Body(body, receive), send)
        else:
            raise _nothing_stopped(self.place.leader) if is_brake else _nobody_leads(self.place.leader)

    async def _answer(self, call: Call, patience_s: float, is_brake: bool) -> Answer | None:
        """What the leader answers; None where this server has become it, or nobody has within the time.

        A brake may reach it twice, and is not waited for any longer.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + patience_s
        while not self.place.leads:
            leader = self.place.leader
            if leader is not None and leader.url is not None:
                try:
                    is_short = is_brake or call.method in READING
                    answer = await self._asked(leader, call, give_up if is_short else math.inf)
                    if not _is_refused(answer, call):
                        return answer
                except GoneError as gone:
                    if gone.heard and not is_brake and not _may_repeat(call):
                        raise _lost_on_the_way(leader) from None
            if loop.time() > give_up:
                return None
            await asyncio.sleep(LOOK_S)
        return None

    async def _asked(self, leader: Leader, call: Call, give_up: float) -> Answer:
        """The leader's answer, for as long as it leads: one that is frozen takes calls and says nothing."""
        loop = asyncio.get_running_loop()
        asking = part(self.peers.ask(str(leader.url), call))
        try:
            while not asking.done():
                await asyncio.wait([asking], timeout=LOOK_S)
                now = self.place.leader
                is_another = self.place.leads or (now is not None and now.epoch != leader.epoch)
                if not asking.done() and (is_another or loop.time() > give_up):
                    raise GoneError(heard=True)
            return asking.result()
        finally:
            await stop([asking])


@dataclass(slots=True)
class _Kept:
    runtime: Runtime
    call: Call
    well_since: float = math.inf


class UnrecordedBrakes:
    """Brakes that were carried out here and are not in the log yet.

    Where this server goes on to lead, their record follows by itself. Where its turn ends before that, whoever leads
    then is told to brake as well: it knows nothing of them.
    """

    def __init__(self, place: Place, peers: Peers) -> None:
        self._place = place
        self._peers = peers
        self._kept: list[_Kept] = []

    def keep(self, scope: Scope, body: bytes) -> None:
        call = _call_of(scope, body, self._place.id)
        in_time = [(name, value) for name, value in call.headers if name.lower() != DEADLINE]  # it was decided in time
        if len(self._kept) < MOST_KEPT:
            self._kept.append(_Kept(scope["app"].state.runtime, call._replace(headers=in_time)))

    async def follow(self, now: Callable[[], Runtime], own_url: Callable[[], str | None]) -> None:
        """Work until cancelled; `now` is the runtime of the turn that this server is in."""
        while True:
            await asyncio.sleep(LOOK_S)
            for kept in list(self._kept):
                is_over = self._is_recorded(kept) if kept.runtime is now() else await self._is_told(kept, own_url())
                if is_over:
                    self._kept.remove(kept)

    def _is_recorded(self, kept: _Kept) -> bool:
        now, outage = asyncio.get_running_loop().time(), kept.runtime.outage
        is_well = self._place.leads and outage.since_ms is None and not outage.is_on
        kept.well_since = min(kept.well_since, now) if is_well else math.inf
        return now - kept.well_since > RECORDED_S

    async def _is_told(self, kept: _Kept, own_url: str | None) -> bool:
        url = own_url if self._place.leads else self._place.leader_url
        if url is None:
            return False
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await self._peers.ask(url, kept.call)
        except (GoneError, TimeoutError):
            return False
        if answer.status != 503:
            log.warning("whoever leads now was told of a brake", target=kept.call.target, status=answer.status)
        return answer.status != 503


def _asks_state(scope: Scope) -> bool:
    """The state as it is now; as it was, it is in the log alone."""
    if scope["method"] not in READING or scope["path"] != STATE:
        return False
    return not any(part.startswith(b"at=") for part in scope.get("query_string", b"").split(b"&"))


def _call_of(scope: Scope, body: bytes, server_id: str) -> Call:
    query = scope.get("query_string", b"").decode("latin-1")
    target = scope.get("raw_path", str(scope["path"]).encode()).decode("latin-1")
    kept = [(name, value) for name, value in scope["headers"] if name not in _HOP and name not in _OURS]
    ours = {HANDED_ON: server_id, CORRELATION: scope["state"]["correlation_id"], "Accept-Encoding": "identity"}
    headers = [*kept, *((name.encode(), value.encode()) for name, value in ours.items())]
    method = "GET" if scope["method"] == "HEAD" else scope["method"]  # the answer's length is told as a GET's
    return Call(method, f"{target}?{query}" if query else target, headers, body)


def _may_repeat(call: Call) -> bool:
    return call.method in READING or any(name.lower() == KEY.lower().encode() for name, _ in call.headers)


def _is_refused(answer: Answer, call: Call) -> bool:
    """Whether the other server does not lead any more and has left the call alone, or it may be sent again."""
    if answer.status != 503:
        return False
    try:
        code = json.loads(answer.body).get("code")
    except (ValueError, AttributeError):
        return False
    return code == MOVED or (code == NOT_LEADING and _may_repeat(call))


def _moved() -> UnavailableError:
    return UnavailableError(
        "This server does not lead any more, so it left what was handed on to it alone.",
        code=MOVED,
        hint="Ask again in a moment.",
        extra={"retryAfterS": 1},
    )


def _circle(leader: Leader | None) -> UnavailableError:
    return UnavailableError(
        f"The server that leads says that it is at {leader.url if leader else 'an address'}, which leads back here.",
        code="lead.circle",
        hint="Start it with --advertise and the URL at which this machine reaches it.",
        extra={"retryAfterS": 30},
    )


def _nobody_leads(leader: Leader | None) -> UnavailableError:
    if leader is not None and leader.url is None and leader.note and leader.note != "server":
        says = f"Process {leader.pid} on {leader.host} ({leader.note}) leads this log until its own work has ended."
    else:
        says = "No server leads this installation now, so only what is in the log can be read."
    hint = "Try again in a few seconds; `beforehand doctor` says who leads and who stands by."
    return UnavailableError(says, code="lead.none", hint=hint, extra={"retryAfterS": 2})


def _nothing_stopped(leader: Leader | None) -> UnavailableError:
    where = "No server leads now"
    if leader is not None:
        where = f"Process {leader.pid} on {leader.host} leads ({leader.url or leader.note}) and does not answer"
    return UnavailableError(
        f"{where}, and this one has no link to the machines, so it cannot be said that anything was stopped.",
        code="brake.no_machine",
        hint="Stop the machines at the machines: their own buttons work without a server.",
        extra={"retryAfterS": 1},
    )


def _lost_on_the_way(leader: Leader) -> UnavailableError:
    return UnavailableError(
        f"The server that leads ({leader.url}) went away before it answered, so nobody knows whether this was done.",
        code="lead.lost_on_the_way",
        hint="Look at what it was about before asking again. With an Idempotency-Key it would have been asked again.",
        extra={"retryAfterS": 2},
    )
