"""The VDA 5050 robots of a scene behind the robot port: one line to the broker, a conversation with each robot.

A line that is lost is made again, waiting longer each time; nothing that was to be said meanwhile is said later, since
a command that waits must not move a robot when nobody expects it any more. What one robot says concerns that robot.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import Any

from beforehand.adapters.sim.roads import Roads
from beforehand.adapters.vda5050.hall import Hall
from beforehand.adapters.vda5050.lines import CANCEL_AGAIN_S, broker_of, client_of, is_no_line, why_no_line
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.adapters.vda5050.talk import Talk
from beforehand.model.broker import Broker
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.fleet import FleetScene
from beforehand.model.log_identity import LogIdentity
from beforehand.model.machine import options_of
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkRequest, LinkStanding
from beforehand.ports.tasks import lasting, note, part, stop

log = Log("beforehand.vda5050")
TOPICS = ("state", "connection", "factsheet", "visualization")
TICK_S = 0.25
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
READ_PATIENCE_S = 3.0


class VdaLink:
    def __init__(self, request: LinkRequest) -> None:
        self._request = request
        hall = _hall(request.scene, request.log)
        self._talks = {
            robot.robot_id: Talk(
                robot.robot_id, VdaOptions.of(options_of(robot.link)), hall, partial(self._keep, robot.robot_id)
            )
            for robot in request.robots
        }
        self._take_up()
        self._by_topic = {talk.options.topic(name): (talk, name) for talk in self._talks.values() for name in TOPICS}
        self._said: deque[Telemetry | Ack] = deque()
        self._news = asyncio.Event()
        self._connected = asyncio.Event()
        self._outgoing: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self._reads: dict[str, list[asyncio.Future[Telemetry]]] = {}
        self._work: list[asyncio.Task[None]] = []
        self._open = True
        self._down = ""
        """Why the last attempt to have a line came to nothing."""

    # -- the port

    async def send(self, command: RobotCommand) -> None:
        self._begin()
        talk = self._talks.get(command.robot_id)
        if talk is None or not self._open:
            raise UnavailableError(f"No open link leads to {command.robot_id}.", code="robot.no_link")
        if talk.state is None:
            await self._ask(talk, READ_PATIENCE_S)
        if not self._connected.is_set():
            why = self._down or "The line to the broker is down."
            raise UnavailableError(why, code="robot.offline")
        talk.command(command, self._now())
        self._pass_on(talk)

    async def reports(self) -> AsyncIterator[Telemetry | Ack]:
        self._begin()
        while self._open:
            if self._said:
                yield self._said.popleft()
            else:
                self._news.clear()
                await self._news.wait()

    async def read(self, robot_id: str) -> Telemetry | None:
        self._begin()
        talk = self._talks.get(robot_id)
        return None if talk is None or not self._open else await self._ask(talk, READ_PATIENCE_S)

    async def standing(self, robot_id: str) -> LinkStanding:
        return self._talks[robot_id].standing()

    async def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._news.set()
        await stop(self._work, again_s=CANCEL_AGAIN_S)

    # -- asking

    async def _ask(self, talk: Talk, patience_s: float) -> Telemetry | None:
        """What it answers when it is asked for its state; None where it does not."""
        answer: asyncio.Future[Telemetry] = asyncio.get_running_loop().create_future()
        self._reads.setdefault(talk.robot_id, []).append(answer)
        try:
            async with asyncio.timeout(patience_s):
                await self._connected.wait()
                talk.ask(self._now())
                self._pass_on(talk)
                return await answer
        except TimeoutError:
            return None
        finally:
            with suppress(ValueError):
                self._reads[talk.robot_id].remove(answer)

    # -- the line

    def _begin(self) -> None:
        if self._open and not self._work:
            self._work = [
                lasting(self._stay_connected, "the line to the broker"),
                lasting(self._tick, "the watch over what its vehicles owe"),
            ]

    async def _stay_connected(self) -> None:
        wait_s = FIRST_WAIT_S
        broker: Broker | None = None
        while True:
            says = "The line to the broker has ended."
            try:
                broker = self._broker()
                await self._connection(broker)
            except asyncio.CancelledError:
                raise
            except Exception as error:
                if self._connected.is_set():
                    wait_s = FIRST_WAIT_S
                says = self._down = str(error)[:200] if broker is None else why_no_line(error, broker)
                if not is_no_line(error):
                    self._lose(says)
                    raise
                log.warning("the line to the broker is down", scene=self._request.scene.name, says=says)
            self._lose(says)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    async def _connection(self, broker: Broker) -> None:
        async with client_of(broker) as client:
            await client.subscribe([(topic, 1 if topic.endswith("/connection") else 0) for topic in self._by_topic])
            self._connected.set()
            sending, hearing = part(self._send_out(client)), part(self._hear_all(client))
            try:
                for talk in self._talks.values():
                    talk.ask(self._now())
                    self._pass_on(talk)
                done, _ = await asyncio.wait({sending, hearing}, return_when=asyncio.FIRST_COMPLETED)
                for ended in done:  # one without the other is no line
                    ended.result()
            finally:
                await stop([sending, hearing], again_s=CANCEL_AGAIN_S)

    async def _hear_all(self, client: Any) -> None:
        async for message in client.messages:
            self._hear(str(message.topic), message.payload)

    def _broker(self) -> Broker:
        request = self._request
        broker = broker_of(request.scene.settings.broker or "", request.with_secrets, request.setting)
        if broker is None:
            raise BadInputError("The scene names no broker.", code="scene.broker")
        return broker

    async def _send_out(self, client: Any) -> None:
        while True:
            topic, payload = await self._outgoing.get()
            await client.publish(topic, payload, qos=0)

    def _lose(self, says: str) -> None:
        self._connected.clear()
        while not self._outgoing.empty():
            self._outgoing.get_nowait()
        for talk in self._talks.values():
            talk.lost_line(self._now(), says)

    def _hear(self, topic: str, payload: object) -> None:
        talk, name = self._by_topic.get(topic, (None, ""))
        if talk is None:
            return
        try:
            talk.hear(name, payload, self._now())
        except Exception as error:  # whatever one robot says, the others are heard
            note(f"what {talk.robot_id} said on {name}", error)
        self._pass_on(talk)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            if self._connected.is_set():
                for talk in self._talks.values():
                    talk.tick(self._now())
                    self._pass_on(talk)

    def _pass_on(self, talk: Talk) -> None:
        """What the conversation has come to: messages to the robot, reports to whoever listens."""
        for name, document in talk.out:
            self._outgoing.put_nowait((talk.options.topic(name), json.dumps(document).encode()))
        talk.out.clear()
        for report in talk.told:
            self._said.append(report)
            if isinstance(report, Telemetry):
                for waiting in self._reads.get(talk.robot_id, ()):
                    if not waiting.done():
                        waiting.set_result(report)
        if talk.told:
            talk.told.clear()
            self._news.set()

    # -- what is kept

    def _now(self) -> int:
        return self._request.clock.now_ms()

    def _keep(self, robot_id: str) -> None:
        self._request.keep({robot_id: self._talks[robot_id].kept()})

    def _take_up(self) -> None:
        for robot_id, kept in (self._request.kept or {}).items():
            if robot_id in self._talks:
                try:
                    self._talks[robot_id].take_up(kept)
                except (KeyError, TypeError, ValueError):
                    log.warning("what was kept of a robot cannot be read", robot=robot_id)


def _hall(scene: FleetScene, identity: LogIdentity) -> Hall:
    work = [site for site in scene.worksites if site.worksite_type not in ("charger", "park")]
    return Hall(
        scene.name,
        Roads(scene),
        {site.node_id: site.worksite_id for site in work},
        frozenset(site.node_id for site in scene.worksites if site.worksite_type == "charger"),
        poll_ms=round(min(2_000, scene.settings.offline_after_s * 400)),
        log=identity,
    )


def open_vda5050_link(request: LinkRequest) -> VdaLink:
    """The link for those robots of a scene whose `link` is of kind vda5050."""
    return VdaLink(request)
