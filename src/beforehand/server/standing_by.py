"""Several servers on one database: one leads, the others answer from the log, hand writes on, and take over.

A server is in one *turn* after another. A turn begins with reading; when the lead is free the same turn goes on
leading, so that whoever follows the log here notices nothing. When the lead is lost, another server leads already: the
turn is over as a whole, its drivers are stopped, and the next one begins with reading.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from beforehand.adapters.peers.client import Peers
from beforehand.app.clock import WallClock
from beforehand.app.crafts import load_crafts
from beforehand.app.high_water import follow_mark
from beforehand.app.ids import new_id
from beforehand.app.kept_files import bring_along, files_of
from beforehand.app.runtime import Runtime, begin_leading, keep_mark, open_runtime
from beforehand.app.settings import Settings
from beforehand.app.stores import stand_by
from beforehand.app.tls import ServerTls, client_context
from beforehand.app.tokens import Tokens
from beforehand.model.errors import BadInputError, NotLeadingError, UnavailableError
from beforehand.ports.log import Log
from beforehand.ports.store import Standby
from beforehand.ports.tasks import SERVER, lasting, part, stop
from beforehand.server.app import Among, create_app
from beforehand.server.listening import Listener, bind, is_local, url_from_elsewhere, url_of
from beforehand.server.place import Place
from beforehand.server.relaying import following_time, relay_frames
from beforehand.server.serve import (
    keeping_to_retention,
    preparing_for_questions,
    recording_tokens,
    recover,
    refuse_without_tokens,
    renewing,
    telling_clock_steps,
)

if TYPE_CHECKING:
    from fastapi import FastAPI

log = Log("beforehand.server")
NOTE = "server"
STOP_WITHIN_S = 2
"""What is still being answered when a server is told to stop has so long; others wait for its lead."""
AGAIN_S = 0.5


@dataclass(slots=True)
class Turn:
    """One store, read at first, and what works on it."""

    standby: Standby
    runtime: Runtime
    stack: AsyncExitStack


class Turns:
    """The turns of one server, one after another; `place` says what it is in now."""

    def __init__(self, settings: Settings, scenes: Sequence[str]) -> None:
        self.settings = settings
        self.crafts = load_crafts()
        self.place = Place(new_id("server"))
        self.url: str | None = None
        self.app: FastAPI | None = None
        self.tokens: Tokens | None = None
        self._scenes = scenes
        self._now: Turn | None = None

    @property
    def now(self) -> Turn:
        assert self._now is not None, "begun before"
        return self._now

    async def begin(self) -> bool:
        """Begin a turn: it reads, or leads already where the lead was free. False where servers take no turns."""
        standby = await stand_by(
            self.settings.database,
            server_id=self.place.id,
            project=self.crafts.projection(),
            upcasters=self.crafts.upcasters(),
            now_ms=WallClock().now_ms,
        )
        if standby is None:
            return False
        standby.url = self.url
        async with AsyncExitStack() as stack:
            stack.push_async_callback(standby.close)
            opening = open_runtime(self.settings, store=standby.store, runs_plans=False, crafts=self.crafts)
            runtime = await stack.enter_async_context(opening)
            runtime.stands_by = True
            runtime.mark = await follow_mark(runtime.store, self.settings.home)
            keep_mark(runtime)
            await stack.enter_async_context(preparing_for_questions(runtime))
            self._show(Turn(standby, runtime, stack.pop_all()))
        return True

    def _show(self, turn: Turn) -> None:
        """Have the application answer from this turn."""
        self._now = turn
        self.place.standby, self.place.is_ready = turn.standby, False
        if self.app is not None:
            self.app.state.runtime = turn.runtime

    async def lead(self, *, anew: bool) -> None:
        """Take up everything that was under way, machines asked first."""
        runtime = self.now.runtime
        await begin_leading(runtime)
        await recover(runtime, self._scenes, anew=anew)
        await self.now.stack.enter_async_context(keeping_to_retention(runtime))
        await self.now.stack.enter_async_context(telling_clock_steps(runtime))
        if self.tokens is not None:
            await self.now.stack.enter_async_context(recording_tokens(runtime, self.tokens))
        runtime.stands_by = False
        self.place.is_ready = True

    async def say_where(self) -> None:
        """Tell the others, and the log, where the server is that leads."""
        await self.now.runtime.store.announce(self.url, note=NOTE)
        log.info("this server leads", server=self.url)

    async def go_on(self) -> None:
        """Read, lead and read again, for ever."""
        while True:
            turn = self.now
            try:
                if not self.place.leads:
                    await self._take_over(turn.standby)
                await turn.standby.until_lost()
            except (NotLeadingError, UnavailableError) as error:
                log.warning("leading came to an end", says=error.says)
            await self._begin_anew(turn)

    async def _take_over(self, standby: Standby) -> None:
        if not standby.leads:
            log.info("this server stands by", server=self.url)
        while not standby.leads:
            await standby.until_free()
            try:
                await standby.take_over()
            except (NotLeadingError, UnavailableError) as error:
                log.info("the lead could not be taken", says=error.says)
                await asyncio.sleep(AGAIN_S)
        log.warning("this server takes over", server=self.url)
        await self.lead(anew=False)
        await self.say_where()

    async def _begin_anew(self, old: Turn) -> None:
        """The lead is lost: the old turn sends and writes nothing any more, and the next one begins with reading."""
        log.error("this server does not lead any more and stands by", server=self.url)
        self.place.is_ready = False
        ending = part(old.stack.aclose())
        while True:
            try:
                await self.begin()
                break
            except UnavailableError as error:
                log.error("the log cannot be read", says=error.says)
                await asyncio.sleep(AGAIN_S)
        try:
            await ending
        except Exception:  # whatever it was, this server goes on reading
            log.exception("what led until now could not be ended cleanly")

    async def close(self) -> None:
        """End the turn; a lead is given back, so that another server need not wait."""
        if self._now is not None:
            self.place.is_ready = False
            await self._now.stack.aclose()


async def serve_among_others(
    settings: Settings, scenes: Sequence[str], tls: ServerTls | None, listening: Callable[[str], None]
) -> bool:
    """Serve until cancelled; False, with nothing done, where only one server can use the store."""
    turns = Turns(settings, scenes)
    if not await turns.begin():
        return False
    try:
        with closing(bind(settings["host"], settings["port"])) as bound:
            await _serve(turns, bound, tls, listening)
    finally:
        await turns.close()
    return True


async def _serve(turns: Turns, bound: socket.socket, tls: ServerTls | None, listening: Callable[[str], None]) -> None:
    settings, files = turns.settings, files_of(turns.settings)
    peers = Peers(lambda url: client_context(settings, url))
    tokens = turns.tokens = Tokens(settings, files)
    try:
        await asyncio.to_thread(bring_along, settings.home, files)
        await asyncio.to_thread(files.keep_up)
        await asyncio.to_thread(lambda: tokens.any)  # known from now on, also while the database is away
        if not is_local(bound):
            refuse_without_tokens(settings, settings["host"], tokens)
        turns.url = turns.now.standby.url = _advertised(settings) or url_from_elsewhere(
            bound, "https" if tls else "http"
        )
        if turns.now.standby.leads:
            await turns.lead(anew=True)
        turns.app = create_app(
            turns.now.runtime,
            host=settings["host"],
            local=is_local(bound),
            crafts=turns.crafts,
            among=Among(turns.place, peers, tokens),
        )
        url = url_of(bound, "https" if tls else "http")
        relaying = relay_frames(turns.place, lambda: turns.now.runtime.telemetry, peers, tokens.peer_token)
        async with renewing(tls), following_time(turns.place, lambda: turns.now.runtime.clock, peers):
            await _until_stopped(turns, bound, tls, relaying, lambda: listening(url))
    finally:
        files.close()
        await peers.close()


async def _until_stopped(
    turns: Turns,
    bound: socket.socket,
    tls: ServerTls | None,
    relaying: Coroutine[Any, Any, None],
    listening: Callable[[], None],
) -> None:
    """Listen until told to stop; what goes wrong for good beside that ends it too."""

    async def started() -> None:
        if turns.place.leads:
            await turns.say_where()
        log.info("listening", server=turns.url, role=turns.place.role)
        listening()

    def stopping() -> None:
        turns.now.runtime.feed.close()
        turns.now.runtime.telemetry.close()

    context = tls.context if tls else None
    listener = Listener(turns.app, started=started, stopping=stopping, tls=context, within_s=STOP_WITHIN_S)
    beside = [part(turns.go_on()), part(relaying)]
    serving = part(listener.serve(sockets=[bound]))
    assert turns.app is not None, "made before"
    follow = partial(turns.app.state.unrecorded.follow, lambda: turns.now.runtime, lambda: turns.url)
    telling = lasting(follow, "telling whoever leads of brakes", SERVER)
    try:
        await asyncio.wait([serving, *beside], return_when=asyncio.FIRST_COMPLETED)
        for task in beside:
            if task.done():
                task.result()
    finally:
        try:
            listener.should_exit = True
            await serving
        finally:
            await stop([*beside, telling])


def _advertised(settings: Settings) -> str | None:
    url = settings["advertise"]
    if url is not None and not str(url).startswith(("http://", "https://")):
        raise BadInputError(
            f"--advertise takes the http or https URL of this server, not {str(url)[:100]!r}.",
            code="settings.advertise",
        )
    return None if url is None else str(url).rstrip("/")
