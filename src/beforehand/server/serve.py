"""`up`: lead a home, take up what was under way, and serve it until told to stop."""

import asyncio
import os
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import Any

from beforehand.app.clock_steps import tell_steps
from beforehand.app.private_files import refuse_half_restored
from beforehand.app.retention import keep_to_daily, retention_of
from beforehand.app.runs import recover_runs
from beforehand.app.runtime import Runtime, make_ready, open_runtime
from beforehand.app.scenes import find_anywhere, lacks_something, recover_scenes, save_scene, should_be_live
from beforehand.app.settings import Settings
from beforehand.app.stores import mend_store
from beforehand.app.tls import ServerTls, server_tls
from beforehand.app.token_verbs import keep_recorded
from beforehand.app.tokens import Tokens
from beforehand.model.errors import BadInputError, ForeignError
from beforehand.ports.log import Log
from beforehand.ports.tasks import SERVER, lasting, stop
from beforehand.server.app import create_app
from beforehand.server.listening import Listener, bind, is_local, url_of

log = Log("beforehand.server")
PREPARE_AFTER_S = 1.0
"""A server that starts has better things to do first."""


async def serve(
    settings: Settings,
    *,
    scenes: Sequence[str] = (),
    open_browser: bool = False,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a home until cancelled; `ready` is called with the URL once it listens.

    Where several servers can share the store they take turns (`standing_by`). NotLeadingError when another process
    leads a home that they cannot; BadInputError when the address cannot be used.
    """
    from beforehand.server.standing_by import serve_among_others

    def listening(url: str) -> None:
        if ready is not None:
            ready(url)
        if open_browser and has_screen():
            # Beside everything else: some browsers only come back when they are closed.
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    tls = server_tls(settings)
    if not await serve_among_others(settings, scenes, tls, listening):
        await _serve_alone(settings, scenes, tls, listening)


async def _serve_alone(
    settings: Settings, scenes: Sequence[str], tls: ServerTls | None, listening: Callable[[str], None]
) -> None:
    refuse_half_restored(settings.home)
    await mend_store(settings.database)
    async with open_runtime(settings, note="server") as runtime:
        with closing(bind(settings["host"], settings["port"])) as bound:
            if not is_local(bound):
                refuse_without_tokens(settings, settings["host"])
            await recover(runtime, scenes)
            url = url_of(bound, "https" if tls else "http")

            async def started() -> None:
                await runtime.store.announce(url, note="server")
                log.info("listening", url=url)
                listening(url)

            def stopping() -> None:
                runtime.feed.close()
                runtime.telemetry.close()

            app = create_app(runtime, host=settings["host"], local=is_local(bound))
            recording = recording_tokens(runtime, app.state.tokens)
            beside = (preparing_for_questions(runtime), keeping_to_retention(runtime), telling_clock_steps(runtime))
            async with beside[0], beside[1], beside[2], recording, renewing(tls):
                listener = Listener(app, started=started, stopping=stopping, tls=tls.context if tls else None)
                try:
                    await listener.serve(sockets=[bound])
                finally:
                    await runtime.store.announce(None)


@asynccontextmanager
async def preparing_for_questions(runtime: Runtime) -> AsyncIterator[None]:
    """What is searched is kept up to date beside everything else, so that the first question need not wait for it."""

    async def keep_up() -> None:
        await asyncio.sleep(PREPARE_AFTER_S)
        await runtime.search.keep_up()

    task = lasting(keep_up, "preparing what is searched", SERVER, may_end=True)
    try:
        yield
    finally:
        await stop([task])


@asynccontextmanager
async def renewing(tls: ServerTls | None) -> AsyncIterator[None]:
    """A certificate that is renewed is shown without a restart."""
    tasks = [lasting(tls.keep_fresh, "the watch over the certificate", SERVER)] if tls else []
    try:
        yield
    finally:
        await stop(tasks)


@asynccontextmanager
async def keeping_to_retention(runtime: Runtime) -> AsyncIterator[None]:
    """Where the settings say how long the log is kept, it is seen to beside everything else."""
    retention = retention_of(runtime.settings)
    tasks = (
        []
        if retention is None
        else [lasting(partial(keep_to_daily, runtime, retention), "keeping to the retention", SERVER)]
    )
    try:
        yield
    finally:
        await stop(tasks)


@asynccontextmanager
async def telling_clock_steps(runtime: Runtime) -> AsyncIterator[None]:
    """Where the machine's clock is set, it is told."""
    task = lasting(partial(tell_steps, runtime), "the watch over the machine's clock", SERVER, may_end=True)
    try:
        yield
    finally:
        await stop([task])


@asynccontextmanager
async def recording_tokens(runtime: Runtime, tokens: Tokens) -> AsyncIterator[None]:
    """What is done to tokens beside this server stands in the log as well."""
    task = lasting(partial(keep_recorded, runtime, tokens), "the record of tokens", SERVER)
    try:
        yield
    finally:
        await stop([task])


async def recover(runtime: Runtime, scenes: Sequence[str], *, anew: bool = True) -> None:
    """Make the named scenes live, and everything that was live before, and go on with every open run.

    `anew` false leaves scenes that are known as they are: a server that takes over does not take edits back.
    """
    found = [await find_anywhere(runtime, scene) for scene in scenes]
    named = [await _named(runtime, document, anew) for document in found]
    await recover_scenes(runtime)
    live = {row["name"] for row in await runtime.store.rows("scene", open=True)}
    for name in named:
        if name not in live:
            await should_be_live(runtime, name)
    await recover_runs(runtime)
    await make_ready(runtime)


async def _named(runtime: Runtime, document: Any, anew: bool) -> str:
    name = document.get("name") if isinstance(document, dict) else None
    known = await runtime.store.row("scene", name) if isinstance(name, str) else None
    if known is not None and not anew:
        return str(name)
    try:
        return str((await save_scene(runtime, None, document))["name"])
    except (BadInputError, ForeignError):
        if known is None or not known.get("active") or not lacks_something(runtime, known):
            raise
        return str(name)  # it is not the file that is wrong: what was saved and live cannot be read here either


def has_screen() -> bool:
    """Whether a browser would open in a window, and not in the terminal somebody works in."""
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def refuse_without_tokens(settings: Settings, host: str, tokens: Tokens | None = None) -> None:
    """BadInputError where no token is set: what other machines can reach lets nobody in without one."""
    if not (tokens or Tokens(settings)).any:
        raise BadInputError(
            f"Listening on {host} lets other machines call, and no token is set, so it does not start.",
            code="server.open_door",
            hint="Make one with `beforehand token add`, set BEFOREHAND_TOKEN, or listen on 127.0.0.1.",
        )
