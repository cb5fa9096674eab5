"""Live frames at a server that stands by: while somebody here looks, they are taken from the one that leads."""

import asyncio
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from beforehand.adapters.peers.client import Peers
from beforehand.loop.telemetry import Telemetry
from beforehand.ports.tasks import SERVER, lasting, stop
from beforehand.server.place import Place

LOOK_S = 0.25
PATH = "/api/v1/telemetry"


async def relay_frames(
    place: Place, telemetry: Callable[[], Telemetry], peers: Peers, token: Callable[[], str]
) -> None:
    """Work until cancelled; `telemetry` is what is followed here now, `token` what servers show each other."""
    streams: dict[tuple[str, str | None], asyncio.Task[None]] = {}

    async def one(url: str, scene: str | None) -> None:
        target = PATH if scene is None else f"{PATH}?scene={quote(scene, safe='')}"
        async for frame in peers.frames(url, target, {"Authorization": f"Bearer {token()}"}):
            telemetry().pass_on(frame, scene)

    try:
        while True:
            url = None if place.leads else place.leader_url
            wanted = {(url, scene) for scene in telemetry().wanted()} if url is not None else set()
            await stop([streams.pop(key) for key in list(streams) if key not in wanted or streams[key].done()])
            for key in wanted - streams.keys():
                streams[key] = lasting(
                    partial(one, *key), "live frames from the server that leads", SERVER, may_end=True
                )
            await asyncio.sleep(LOOK_S)
    finally:
        await stop(list(streams.values()))
