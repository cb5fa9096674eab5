"""`up`: lead a home, take up what was under way, and serve it until told to stop."""

import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing

from beforehand.app.runs import recover_runs
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import activate_scene, find_anywhere, recover_scenes, save_scene
from beforehand.app.settings import Settings
from beforehand.app.tokens import Tokens
from beforehand.model.errors import BadInputError
from beforehand.ports.log import Log
from beforehand.server.app import create_app
from beforehand.server.listening import Listener, bind, is_local, url_of

log = Log("beforehand.server")


async def serve(
    settings: Settings,
    *,
    scenes: Sequence[str] = (),
    open_browser: bool = False,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a home until SIGINT or SIGTERM; `ready` is called with the URL once it listens.

    NotLeadingError when another process leads the home; BadInputError when the address cannot be used.
    """
    async with open_runtime(settings, note="server") as runtime:
        with closing(bind(settings["host"], settings["port"])) as bound:
            if not is_local(bound):
                refuse_without_tokens(settings, settings["host"])
            await recover(runtime, scenes)
            url = url_of(bound)

            async def started() -> None:
                await runtime.store.announce(url, note="server")
                log.info("listening", url=url)
                if ready is not None:
                    ready(url)
                if open_browser and has_screen():
                    # Beside everything else: some browsers only come back when they are closed.
                    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

            def stopping() -> None:
                runtime.feed.close()
                runtime.telemetry.close()

            app = create_app(runtime, host=settings["host"], local=is_local(bound))
            await Listener(app, started=started, stopping=stopping).serve(sockets=[bound])
            await runtime.store.announce(None)


async def recover(runtime: Runtime, scenes: Sequence[str]) -> None:
    """Make the named scenes live, and everything that was live before, and go on with every open run."""
    named = [(await save_scene(runtime, None, await find_anywhere(runtime, scene)))["name"] for scene in scenes]
    await recover_scenes(runtime)
    live = {row["name"] for row in await runtime.store.rows("scene", open=True)}
    for name in named:
        if name not in live:
            await activate_scene(runtime, name)
    await recover_runs(runtime)


def has_screen() -> bool:
    """Whether a browser would open in a window, and not in the terminal somebody works in."""
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def refuse_without_tokens(settings: Settings, host: str) -> None:
    """BadInputError where no token is set: what other machines can reach lets nobody in without one."""
    if not Tokens(settings).any:
        raise BadInputError(
            f"Listening on {host} lets other machines call, and no token is set, so it does not start.",
            code="server.open_door",
            hint="Make one with `beforehand token add`, set BEFOREHAND_TOKEN, or listen on 127.0.0.1.",
        )
