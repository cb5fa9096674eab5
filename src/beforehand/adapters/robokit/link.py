"""The Robokit robots of a scene behind the robot port: a conversation with each, and one stream of what all say."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from functools import partial

from beforehand.adapters.robokit.options import RobokitOptions
from beforehand.adapters.robokit.talk import IDLE_MS, Talk
from beforehand.model.errors import UnavailableError
from beforehand.model.machine import options_of
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkRequest, LinkStanding
from beforehand.ports.tasks import lasting, stop

log = Log("beforehand.robokit")


class RobokitLink:
    """Nothing is connected before it is used: listening, sending or reading."""

    def __init__(self, request: LinkRequest) -> None:
        self._request = request
        self._said: deque[Telemetry | Ack] = deque()
        self._news = asyncio.Event()
        self._following: list[asyncio.Task[None]] = []
        self._open = True
        idle_ms = min(IDLE_MS, round(request.scene.settings.offline_after_s * 250))
        self._talks = {
            robot.robot_id: Talk(
                robot.robot_id,
                RobokitOptions.of(options_of(robot.link)),
                request.clock,
                self._say,
                kept=(request.kept or {}).get(robot.robot_id),
                keep=partial(self._keep, robot.robot_id),
                idle_ms=idle_ms,
            )
            for robot in request.robots
        }

    async def send(self, command: RobotCommand) -> None:
        talk = self._talks.get(command.robot_id)
        if talk is None or not self._open:
            raise UnavailableError(f"No open link leads to {command.robot_id}.", code="robot.no_link")
        await talk.send(command)

    async def reports(self) -> AsyncIterator[Telemetry | Ack]:
        if self._open and not self._following:
            self._following = [
                lasting(talk.follow, f"the conversation with {talk.robot_id}") for talk in self._talks.values()
            ]
        while self._open:
            if self._said:
                yield self._said.popleft()
            else:
                self._news.clear()
                await self._news.wait()

    async def read(self, robot_id: str) -> Telemetry | None:
        talk = self._talks.get(robot_id)
        return None if talk is None or not self._open else await talk.read()

    async def standing(self, robot_id: str) -> LinkStanding:
        return await self._talks[robot_id].standing()

    async def close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._news.set()
        await stop(self._following)
        await asyncio.gather(*(talk.close() for talk in self._talks.values()), return_exceptions=True)

    def _say(self, report: Telemetry | Ack) -> None:
        self._said.append(report)
        self._news.set()

    def _keep(self, robot_id: str) -> None:
        self._request.keep({robot_id: self._talks[robot_id].kept()})


def open_robokit_link(request: LinkRequest) -> RobokitLink:
    """The link for those robots of a scene whose `link` is of kind robokit."""
    return RobokitLink(request)
