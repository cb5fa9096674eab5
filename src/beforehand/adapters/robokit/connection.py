"""One connection to one port of a robot: one question at a time, each with its own answer.

Who asks while another waits stands in line. An answer counts only with the sequence and the number of the question
that waits for it, so what comes twice, late or out of order is nobody's. A connection that is lost, or whose answer
does not come in time, is made anew for the next question; robots that cannot be reached are tried less and less often.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from beforehand.adapters.robokit.answers import refusal
from beforehand.adapters.robokit.frame import Frame, FrameParser, encode
from beforehand.adapters.robokit.numbers import ANSWER, ANSWER_LIMIT_S, BAD_VERSION, FRAME_FAULTS
from beforehand.model.errors import UnavailableError

CONNECT_LIMIT_S = 2.0
FIRST_REST_S = 0.1
LONGEST_REST_S = 2.0

Heard = Callable[[Frame], None]


class NotReachedError(UnavailableError):
    """The robot did not get it: there was no connection to send it over."""

    code = "robot.not_reached"


class NoAnswerError(UnavailableError):
    """It was sent and no answer came: the robot may have got it."""

    code = "robot.no_answer"


class Dialect:
    """The version of the header that a robot understands; its connections share it."""

    def __init__(self) -> None:
        self.version = 1
        self.heard: int | None = None
        """The version of what the robot last sent."""

    def other(self) -> None:
        self.version = 3 - self.version


class Connection:
    """Made when it is first needed. `on_other` is given the frames that answer no question."""

    def __init__(self, host: str, port: int, dialect: Dialect | None = None, on_other: Heard | None = None) -> None:
        self.host = host
        self.port = port
        self._dialect = dialect or Dialect()
        self._on_other = on_other
        self._turn = asyncio.Lock()
        self._wire: _Wire | None = None
        self._sequence = 0
        self._waits: tuple[int, int, asyncio.Future[Frame]] | None = None
        self._rest_s = 0.0
        self._not_before = 0.0

    async def ask(self, number: int, body: Mapping[str, Any] | None = None, limit_s: float = ANSWER_LIMIT_S) -> Frame:
        """Ask and wait for the answer, whatever it says. Raises NotReachedError or NoAnswerError."""
        async with self._turn:
            answer = await self._ask(number, body or {}, limit_s)
            refused = refusal(answer)
            if refused is not None and refused.number == BAD_VERSION:
                self._dialect.other()
                self.drop()  # some robots say so and then close the door
                answer = await self._ask(number, body or {}, limit_s)
            return answer

    async def lost(self) -> None:
        """Return once the present connection is gone; at once where there is none."""
        if self._wire is not None:
            await asyncio.shield(self._wire.gone)

    def drop(self) -> None:
        """Let go of the connection; the next question makes a new one."""
        if self._wire is not None:
            self._wire.abort()
            self._wire = None

    async def _ask(self, number: int, body: Mapping[str, Any], limit_s: float) -> Frame:
        wire = await self._connected()
        self._sequence = self._sequence % 0xFFFF + 1
        answer: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self._waits = (self._sequence, number + ANSWER, answer)
        wire.send(encode(Frame(number, self._sequence, body, self._dialect.version)))
        try:
            async with asyncio.timeout(limit_s):
                await asyncio.wait((answer, wire.gone), return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            self.drop()
            raise NoAnswerError(f"{self._where} did not answer {number} within {limit_s:g} s.") from None
        except asyncio.CancelledError:
            self.drop()  # its answer would be nobody's
            raise
        finally:
            self._waits = None
        if answer.done():
            return answer.result()
        self.drop()
        raise NoAnswerError(f"{self._where} closed the connection before it answered {number}.")

    async def _connected(self) -> "_Wire":
        if self._wire is not None and not self._wire.gone.done():
            return self._wire
        self.drop()
        loop = asyncio.get_running_loop()
        if (early_s := self._not_before - loop.time()) > 0:
            await asyncio.sleep(early_s)
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                _, self._wire = await loop.create_connection(lambda: _Wire(self._hear), self.host, self.port)
        except (OSError, UnicodeError, ValueError) as error:
            self._rest()
            why = "it did not answer in time" if isinstance(error, TimeoutError) else _plainly(error)
            raise NotReachedError(f"{self._where} cannot be reached: {why}.") from None
        self._rest_s = 0.0
        return self._wire

    def _rest(self) -> None:
        self._rest_s = min(max(FIRST_REST_S, 2 * self._rest_s), LONGEST_REST_S)
        self._not_before = asyncio.get_running_loop().time() + self._rest_s

    def _hear(self, frame: Frame) -> None:
        self._dialect.heard = frame.version
        if self._waits is not None:
            sequence, number, answer = self._waits
            fits = frame.sequence == sequence and (frame.number == number or frame.number in FRAME_FAULTS)
            if fits:
                if not answer.done():
                    answer.set_result(frame)
                return
        if self._on_other is not None:
            self._on_other(frame)

    @property
    def _where(self) -> str:
        return f"{self.host}:{self.port}"


def _plainly(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens on this port"
    known = isinstance(error, OSError) and error.errno is not None and error.errno > 0
    text = os.strerror(error.errno) if known else str(error)  # type: ignore[attr-defined]
    return text.rstrip(".").lower() or type(error).__name__


class _Wire(asyncio.Protocol):
    """The bytes of one connection."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._parser = FrameParser()
        self._transport: asyncio.Transport | None = None
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._parser.feed(data):
            self._heard(frame)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(None)

    def send(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
