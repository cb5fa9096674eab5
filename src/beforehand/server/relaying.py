"""What a server that stands by takes from the one that leads: live frames, while somebody here looks, and the time.

Callers tell deadlines in the time that a server shows them, and the leader keeps to its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import quote

from beforehand.adapters.peers.client import Call, GoneError, Peers
from beforehand.app.clock import WallClock
from beforehand.loop.telemetry import Telemetry
from beforehand.ports.clock import Clock
from beforehand.ports.tasks import SERVER, lasting, stop
from beforehand.server.place import Place

LOOK_S = 0.25
PATH = "/api/v1/telemetry"
TIME_S = 5.0
HEALTH = "/api/v1/health"


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


@asynccontextmanager
async def following_time(place: Place, clock: Callable[[], Clock], peers: Peers) -> AsyncIterator[None]:
    """As long as this server stands by, its clock is not behind the leader's, whatever their machines' clocks say."""
    task = lasting(partial(_follow_time, place, clock, peers), "the time of the server that leads", SERVER)
    try:
        yield
    finally:
        await stop([task])


async def _follow_time(place: Place, clock: Callable[[], Clock], peers: Peers) -> None:
    while True:
        url, ours = None if place.leads else place.leader_url, clock()
        if url is not None and isinstance(ours, WallClock):
            told = await _time_at(peers, url)
            if told is not None and not place.leads:
                ours.not_before(told)
        await asyncio.sleep(TIME_S)


async def _time_at(peers: Peers, url: str) -> int | None:
    """What its clock showed when it answered; None where it does not say."""
    try:
        told = json.loads((await peers.ask(url, Call("GET", HEALTH, (), b""))).body)["now"]
    except (GoneError, ValueError, KeyError, TypeError):
        return None
    return told if isinstance(told, int) else None
