"""The driver of one session: commands in, decided one at a time and made durable, replies out.

It stands on the one loop and decides nothing. Virtual time passes only by commands; with the real-time clock the driver
says which tick it is, and what happens by itself is decided when its tick has come. Whoever steers, model or policy,
is a task beside the decisions that says one command after another.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from beforehand.crafts.agent.core.command_text import Command, read_command
from beforehand.crafts.agent.core.deciding import decide
from beforehand.crafts.agent.core.inputs import (
    CalledOff,
    Said,
    SessionInput,
    Steer,
    SteeringFailed,
    TakenUp,
    TimePassed,
    Unheard,
)
from beforehand.crafts.agent.core.session import advanced
from beforehand.crafts.agent.core.session_state import IDLE_MS, SessionState
from beforehand.crafts.agent.core.steering_rights import refusal
from beforehand.crafts.agent.core.world import ticks
from beforehand.loop.asked import asked_here, preparing
from beforehand.loop.log_outage import note_unrecorded
from beforehand.loop.loop import Loop
from beforehand.loop.telemetry import Telemetry
from beforehand.model.errors import BeforehandError, UnavailableError
from beforehand.model.event import Verdict
from beforehand.model.usage import Usage
from beforehand.ports.body import TICKS_PER_S
from beforehand.ports.clock import Clock
from beforehand.ports.foreign import contain
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop

log = Log("beforehand.agent")
NEVER = 1 << 62
BRAKES = ("stop", "end")
"""Commands that bring something to rest and begin nothing."""


def stops(text: str) -> bool:
    """Whether a command brings something to rest and begins nothing."""
    command = read_command(text)
    return isinstance(command, Command) and command.verb in BRAKES


class Steering(Protocol):
    """Whoever steers a session that nobody types into."""

    @property
    def used(self) -> Usage | None:
        """What asking has used so far, in earlier processes too; None where nothing is used."""

    async def next_command(self, state: SessionState) -> str:
        """The next command, from the present state; a BeforehandError where they cannot say."""

    async def close(self) -> None:
        """The session is over, or another one steers it."""


class SessionDriver:
    def __init__(
        self,
        state: SessionState,
        store: Store,
        clock: Clock,
        frames: Telemetry,
        *,
        steering: Steering | None = None,
        pace: float = 1.0,
        taken_up: bool = False,
    ) -> None:
        self.state = state
        self._clock = clock
        self._frames = frames
        self._steering = steering
        self._pace = pace
        self.taken_up = taken_up
        self._began_ms, self._began_tick = clock.now_ms(), state.body.tick
        self.due_ms = NEVER
        self._silent_ms = 0
        """For how long the command that steers has not been heard, counted while this process works."""
        self.on_change: Callable[[SessionState], None] = lambda state: None
        """Called after every decision, by whoever follows the session closely."""
        self._steerer: asyncio.Task[None] | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        """Skips in real time, told of everything that happens."""
        self._loop: Loop[SessionInput, Steer] = Loop(
            state.owner,
            store,
            clock,
            decide=self._decide,
            carry_out=self._steer,
            gone=self._gone,
            refused=lambda verdict: not verdict.events,  # a refused command is logged, and answered as one
        )
        self._set_due()

    # -- from outside ----------------------------------------------------------------------------------------------

    @property
    def is_realtime(self) -> bool:
        return self.state.session.clock == "realtime"

    def tick_now(self) -> int:
        """The tick of now, with the real-time clock; else the one at which the world stands still."""
        if not self.is_realtime or self.state.stands:
            return self.state.body.tick
        passed_ms = (self._clock.now_ms() - self._began_ms) * self._pace
        return max(self.state.body.tick, self._began_tick + int(passed_ms * TICKS_PER_S / 1000))

    def seen_now(self) -> SessionState:
        """The session as it is at the tick of now; what happens by itself until then is shown before it is decided."""
        session, _ = advanced(self.state.session, self.tick_now())
        return replace(self.state, session=session)

    def hear(self, turn: int | None) -> bool:
        """The command that steers, at this turn, is there; False where it steers no more."""
        if turn != self.state.turn:
            return False
        self._silent_ms = 0
        return True

    def miss(self, ms: int) -> None:
        """Nothing was heard for so long while this process worked; a command that stays silent has died."""
        if not self.state.lease_s or not self.state.is_open or self._loop.is_held_up:
            return
        self._silent_ms += ms
        if self._silent_ms >= self.state.lease_s * 1000:
            self._silent_ms = 0
            self._loop.put(Unheard(self.tick_if_real()))

    async def say(self, text: str, *, by: str = "", turn: int | None = None) -> Verdict[Steer]:
        """One command, decided and durable. In real time a skip is answered when it has been waited for.

        One that stops something is done also where that cannot be recorded yet.
        """
        said = Said(text, by, turn=turn)
        if stops(text):
            return await self.brake(replace(said, tick=self.tick_if_real()), f"{text.strip()[:100]} was done.")
        return await self._say(said)

    async def _say(self, said: Said) -> Verdict[Steer]:
        if not self.is_realtime:
            return await self.request(said, patient=said.own)
        command = read_command(said.text)
        if isinstance(command, Command) and command.verb == "skip" and not self.state.stands:
            if (not_theirs := refusal(self.state, said)) is not None:
                return Verdict(reasons=(not_theirs,))
            return await self._skip(said, command)
        return await self.request(replace(said, tick=self.tick_now()), patient=said.own)

    async def _skip(self, said: Said, command: Command) -> Verdict[Steer]:
        if (asked := asked_here()) is not None:  # it is decided now, and not when it is over
            asked.decide(self._clock.now_ms())
        since = self.tick_now()
        until = since + ticks(command.seconds)
        waiting = _Woken(self.state, command.wake_on)
        while self.tick_now() < until and self.state.is_open and not self.state.stands:
            if waiting.is_over(self.state):
                break
            at = self.state.body.next_instant()
            await self._wait_for(min(until, NEVER if at is None else at))
            if self.state.is_open:
                with preparing():  # the skip itself is what is said when it is over
                    await self.request(TimePassed(min(until, self.tick_now())))
        now = min(until, self.tick_now())
        return await self.request(replace(said, tick=now, waited=now - since))

    async def _wait_for(self, tick: int) -> None:
        """Wait until a tick has come, or something has happened: what another one says may end or change the wait."""
        ms = (tick - self._began_tick) * 1000 / TICKS_PER_S / self._pace
        asleep = part(self._clock.sleep_until(self._began_ms + int(ms) + 1))
        happened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(happened)
        try:
            await asyncio.wait([asleep, happened], return_when=asyncio.FIRST_COMPLETED)
        finally:
            asleep.cancel()
            self._waiting.discard(happened)

    async def request(self, given: SessionInput, *, patient: bool = True) -> Verdict[Steer]:
        return await self._loop.request(given, patient=patient)

    async def brake(self, given: SessionInput, what: str) -> Verdict[Steer]:
        """What stops the body, done now; `what` says so, where it cannot be recorded yet."""
        braked = await self._loop.brake(given)
        if not braked.is_recorded:
            note_unrecorded(what)
        return braked.verdict

    async def until_over(self) -> None:
        await self._loop.wait_until(lambda: not self.state.is_open)

    # -- working ---------------------------------------------------------------------------------------------------

    async def drive(self) -> None:
        """Work until the session is over, or until cancelled."""
        try:
            if self.taken_up:
                self._loop.put(TakenUp())
            elif self._steering is not None:
                self._steer(Steer())
            await self._loop.run(lambda: not self.state.is_open)
        finally:
            if self._steerer is not None:
                await stop([self._steerer])
            if self._steering is not None:
                await self._steering.close()
            await self._loop.close()

    def _decide(self, given: SessionInput) -> Verdict[Steer]:
        stood = self.state.stands
        self.state, verdict = decide(self.state, given, self._clock.now_ms())
        if stood and not self.state.stands:  # the time a person took does not count
            self._began_ms, self._began_tick = self._clock.now_ms(), self.state.body.tick
        if (self.state.stands and not stood) or self.state.steered_by == "person":
            self._let_steerer_go()
        self._set_due()
        if verdict.events:
            self._tell_waiting()
        self.on_change(self.state)
        if self._frames.is_wanted(self.state.scene):
            self._show(self.state.body.tick)
        return verdict

    def _tell_waiting(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def answer_for(self, act: Callable[[], None]) -> None:
        """Do something for this session alone: a bug in it ends this session's driver, and no other's."""
        try:
            act()
        except Exception as error:
            self._loop.fail(error)

    def beat(self) -> None:
        """Called when `due_ms` has come: what happens by itself is decided; a session that everybody has left ends."""
        if not self.state.is_open:
            self.due_ms = NEVER
        elif self.state.steered_by == "person" and self._clock.now_ms() >= self.state.last_said + IDLE_MS:
            self.due_ms = NEVER
            self._loop.put(CalledOff("Nobody has said anything for 30 minutes.", tick=self.tick_if_real()))
        elif self.is_realtime and not self.state.stands:
            self.due_ms = NEVER
            self._loop.put(TimePassed(self.tick_now()))

    def _set_due(self) -> None:
        """When something is to be decided that nobody asks for, in ms since 1970."""
        self.due_ms = self.state.last_said + IDLE_MS if self.state.steered_by == "person" else NEVER
        at = self.state.body.next_instant()
        if self.is_realtime and not self.state.stands and at is not None:
            ms = (at - self._began_tick) * 1000 / TICKS_PER_S / self._pace
            self.due_ms = min(self.due_ms, self._began_ms + math.ceil(ms))

    def show(self) -> None:
        """A frame as of now, for whoever looks."""
        if self.is_realtime and self.state.is_open and not self.state.stands:
            self._show(self.tick_now())

    def _show(self, tick: int) -> None:
        """A frame for whoever looks; what is not decided yet is only shown."""
        state = self.state
        body = state.body if tick <= state.body.tick else state.body.passed(tick)[0]
        frame = {"kind": "agent", "scene": state.scene, "sessionId": state.session_id, "tick": body.tick}
        self._frames.publish({**frame, "status": state.session.status, **body.frame()}, state.scene)

    def tick_if_real(self) -> int | None:
        """The tick of now with the real-time clock; with others, time passes by commands only."""
        return self.tick_now() if self.is_realtime else None

    # -- steering --------------------------------------------------------------------------------------------------

    def _steer(self, _: Steer) -> None:
        if self._steering is None:
            says = "The model that steered it is not there."
            self._loop.put(SteeringFailed(f"{says} `beforehand doctor` says what is missing.", self.tick_if_real()))
        else:
            self._let_steerer_go()
            self._steerer = part(self._steered(self._steering))
            self._loop.answer_for(self._steerer)

    def _let_steerer_go(self) -> None:
        """Nobody is asked any more, nor waited for."""
        if self._steerer is not None:
            self._steerer.cancel()

    async def _steered(self, steering: Steering) -> None:
        asked_ms = self._clock.now_ms()
        try:
            while self.state.is_open and not self.state.stands and self.state.steered_by != "person":
                asked_ms = self._clock.now_ms()
                text = await contain(steering.next_command(self.state))
                tick = self._tick_after(asked_ms)
                await self._say(Said(text, self.state.steered_by, tick, own=True, used=steering.used))
        except asyncio.CancelledError:
            raise
        except BeforehandError as error:
            await self._steering_failed(error.says, asked_ms, steering)
        except Exception as error:  # whoever steers is not the session: it is stopped, and a person is asked
            log.exception("steering failed", session=self.state.session_id)
            await self._steering_failed(f"{type(error).__name__}: {error}", asked_ms, steering)

    def _tick_after(self, asked_ms: int) -> int | None:
        """The tick by which whoever steers has thought, where that costs time: an answer that never came does, too."""
        if self.state.session.clock != "charged":
            return self.tick_if_real()
        return self.state.body.tick + ticks((self._clock.now_ms() - asked_ms) / 1000)

    async def _steering_failed(self, says: str, asked_ms: int, steering: Steering) -> None:
        if self.state.is_open:
            await self.request(SteeringFailed(says, self._tick_after(asked_ms), steering.used))

    def _gone(self) -> UnavailableError:
        return UnavailableError(
            f"The session {self.state.session_id} is over.", code="session.over", hint="Start a new session."
        )


class _Woken:
    """Whether what a skip waits for has happened since it began."""

    def __init__(self, state: SessionState, wake_on: str | None) -> None:
        self._wake_on = wake_on
        self._before = self._stages(state)

    def _stages(self, state: SessionState) -> dict[str, str]:
        return {action.text: "stuck" if action.stuck_s else action.stage for action in state.body.actions}

    def is_over(self, state: SessionState) -> bool:
        if self._wake_on is None:
            return False
        now = self._stages(state)
        changed = {stage for text, stage in now.items() if self._before.get(text) != stage}
        return bool(changed) if self._wake_on == "change" else self._wake_on in changed
