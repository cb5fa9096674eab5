"""The sessions of a runtime: started, steered by one at a time, taken over, ended, and taken up again after a crash.

A command that steers keeps its session by a lease: it says again and again that it is there, or, where it leads the
home itself, it lives. What nobody drives any more is decided from the log, without a driver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import Answering, Moving
from beforehand.app.decisions import answered
from beforehand.app.holds import everything_held, held
from beforehand.app.ids import new_id
from beforehand.app.leases import LOCK, refuse_held
from beforehand.app.runtime import Runtime
from beforehand.crafts.agent.core.budget import STEPS, with_more
from beforehand.crafts.agent.core.inputs import (
    Answered,
    Held,
    LetGo,
    SessionInput,
    Steer,
    TakenUp,
    Unheard,
    WentWrong,
)
from beforehand.crafts.agent.core.replay import refusals
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import CLOCKS
from beforehand.crafts.agent.core.session_state import OF_THIS_PROCESS, SessionState, started
from beforehand.crafts.agent.core.verbs import Verbs
from beforehand.crafts.agent.driver import SessionDriver, Steering, stops
from beforehand.crafts.agent.homes import KIND, Homes, machine_of
from beforehand.crafts.agent.plug_ins import load_verbs
from beforehand.crafts.agent.session_documents import SESSION_ROW, session_told
from beforehand.crafts.agent.session_log import OPTIONS, Asked, at_tick, first_state, read_session
from beforehand.crafts.agent.undriven_sessions import settled
from beforehand.loop.fold import folding
from beforehand.loop.host import Host
from beforehand.model.decision import Decision
from beforehand.model.errors import (
    BadInputError,
    ConflictError,
    ModelError,
    NotFoundError,
    UnavailableError,
)
from beforehand.model.event import Event, Verdict
from beforehand.model.reason import Reason
from beforehand.ports.body import TICKS_PER_S, Body
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import TaskOwner, lasting, stop

if TYPE_CHECKING:
    from asyncio import Task

log = Log("beforehand.agent")
FRAME_MS = 1000 // TICKS_PER_S
IDLE_LOOK_MS = 1_000
HEART = TaskOwner("server:sessions", "The sessions")


@dataclass(slots=True)
class Sessions:
    runtime: Runtime
    verbs: Verbs = field(default_factory=load_verbs)
    homes: Homes = field(init=False)
    host: Host[SessionDriver] = field(init=False)
    beating: "Task[None] | None" = None

    def __post_init__(self) -> None:
        self.host = Host(self.runtime.nursery, owner_of_session, self._take_up)
        self.homes = Homes(self.runtime, self.verbs, lambda name: bool(self._in(name)))

    @property
    def live(self) -> Mapping[str, SessionDriver]:
        return self.host.live

    @property
    def pace(self) -> float:
        """How many simulated seconds pass in one."""
        return max(float(self.runtime.settings["speed"]), 1e-3)

    # -- homes -----------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """This process leads now, so a command that led before and steered has died: its session ends.

        One that is not virtual is in doubt, and a person is asked.
        """
        for row in await self.runtime.store.rows(SESSION_ROW, open=True):
            if row.get("leaseS") == OF_THIS_PROCESS and not row.get("waitsFor"):
                settling = self.settle(row, Unheard() if row["clock"] == "virtual" else TakenUp())
                await self.runtime.nursery.spare(owner_of_session(row["sessionId"]), settling)

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        scene = read_home(document)
        if self.homes.live.get(name) == scene:
            return
        self._refuse_session(name)
        self.homes.live[name] = scene
        if self.runtime.serves:
            rows = await self.runtime.store.rows(SESSION_ROW, open=True)
            await self.host.take_up_all([row["sessionId"] for row in rows if row["scene"] == name])

    async def deactivate(self, name: str) -> None:
        """The home rests; ConflictError while a session goes on in it."""
        self._refuse_session(name)
        self.homes.live.pop(name, None)

    async def close(self) -> None:
        await self.host.close()
        if self.beating is not None:
            await stop([self.beating])

    # -- holding everything ----------------------------------------------------------------------------------------

    def moving(self) -> list[Moving]:
        what = "Its body stands still where it is; the session takes no commands."
        here = {driver.state.scene for driver in self.live.values() if not driver.state.held}
        return [Moving(scene, KIND, what) for scene in sorted(here)]

    async def hold(self, name: str) -> None:
        for driver in self._in(name):
            given = Held(driver.tick_now() if driver.is_realtime else None)
            await driver.brake(given, f"The body in {name} stands still.")

    async def let_go(self, name: str) -> None:
        for driver in self._in(name):
            await driver.request(LetGo(), patient=False)

    def _in(self, name: str) -> list[SessionDriver]:
        return [driver for driver in self.live.values() if driver.state.scene == name and driver.state.is_open]

    async def body_of(self, name: str, goal: str | None = None) -> Body:
        """A body in the present world, for a preview: nobody else moves it."""
        here = [driver.state.body.wire() for driver in self.live.values() if driver.state.scene == name]
        return await self.homes.body(name, goal, here[0] if here else None)

    # -- starting and taking up ------------------------------------------------------------------------------------

    async def start(self, asked: Asked, *, correlation_id: str = "", also: Sequence[Event] = ()) -> SessionState:
        """Start a session; ConflictError `machine.held` while somebody else has the body.

        `also` becomes durable with its beginning.
        """
        if asked.clock not in CLOCKS:
            raise BadInputError.unknown("clock", asked.clock, CLOCKS, code="session.clock")
        scene = await self.homes.home(asked.scene)
        async with self.runtime.turns[LOCK]:
            if (everything := await held(self.runtime)) is not None:
                raise everything_held(everything)
            if asked.key is None:
                await refuse_held(self.runtime, [machine_of(asked.scene)])
            else:
                self._refuse_session(asked.scene)
            world, note = await self.homes.world_of(asked.scene, scene)
            state = first_state(new_id("session"), asked, scene, world, self.verbs, self.runtime.now(), note)
            steering = self._steering(state)
            began = started(state, scene.wire(), state.started_at, correlation_id)
            await self.runtime.store.append([began, *also])
        self._drive(state, steering)
        return state

    def _refuse_session(self, scene: str) -> None:
        """ConflictError while a session goes on in a home."""
        for driver in self._in(scene):
            raise ConflictError(
                f"The session {driver.state.session_id} goes on in {scene}, so the home stays as it is.",
                code="machine.held",
                hint=f"End it first: `beforehand agent end {driver.state.session_id}`.",
            )

    def _steering(self, state: SessionState) -> Steering | None:
        from beforehand.crafts.agent.steering import steering_for

        return steering_for(self.runtime, state, self.homes.live[state.scene])

    def _drive(self, state: SessionState, steering: Steering | None, *, taken_up: bool = False) -> SessionDriver:
        scene = state.scene
        driver = SessionDriver(
            state,
            self.runtime.store,
            self.runtime.clock,
            self.runtime.telemetry,
            steering=steering,
            pace=self.pace,
            taken_up=taken_up,
        )
        self.host.start(state.session_id, driver, driver.drive(), owner_of_session(state.session_id, scene))
        if self.beating is None or self.beating.done():
            self.beating = lasting(self._beat, "the heart of all sessions", HEART, may_end=True)
        return driver

    async def _beat(self) -> None:
        """One heart for all sessions: 20 times a second while one runs in real time, else once."""
        clock, telemetry = self.runtime.clock, self.runtime.telemetry
        while self.live:
            now = clock.now_ms()
            for driver in self.host:
                if driver.due_ms <= now:
                    driver.answer_for(driver.beat)
                if telemetry.listeners and telemetry.is_wanted(driver.state.scene):
                    self._show(driver)
            realtime = any(driver.is_realtime for driver in self.host)
            pause_ms = FRAME_MS if realtime else IDLE_LOOK_MS
            await clock.sleep_until(now + pause_ms)
            for driver in self.host:
                driver.answer_for(partial(driver.miss, pause_ms))

    def _show(self, driver: SessionDriver) -> None:
        try:
            driver.show()
        except Exception as error:  # a picture is no more than that
            owner = owner_of_session(driver.state.session_id, driver.state.scene)
            self.runtime.nursery.note(owner, "its picture", error)

    async def _take_up(self, session_id: str) -> None:
        state = await self.from_log(session_id)
        if not state.is_open:
            return
        try:
            steering = self._steering(state)
        except ModelError as error:  # nobody steers it here; a person is asked
            log.warning("the model of a session is not there", session=session_id, says=error.says)
            steering = None
        self._drive(state, steering, taken_up=True)

    async def from_log(
        self, session_id: str, *, until_tick: int | None = None, before: int | None = None
    ) -> SessionState:
        """A session as the log has it, as it was before an event, or at a tick: there is nothing beyond the present."""
        with folding(f"The session {session_id}"):
            state = await read_session(self.runtime.store, session_id, self.verbs, until_tick, before)
        if state is None:
            raise await self._unknown(session_id)
        if until_tick is None:
            return state
        driver = self.live.get(session_id)
        now = state.body.tick if driver is None else driver.tick_now()
        return at_tick(state, min(until_tick, now))

    async def settle(self, row: Mapping[str, Any], given: SessionInput) -> Verdict[Steer] | None:
        """Decide about a session that nobody drives; None where somebody does by now."""
        session_id = row["sessionId"]
        async with self.host.turn(session_id):
            if session_id in self.live:
                return None
            kept = await self.runtime.store.row(SESSION_ROW, session_id) or row
            verdict = await settled(self.runtime, self.verbs, kept, given)
            if verdict.events:
                await self.runtime.store.append(verdict.events)
            return verdict

    # -- asking and telling ----------------------------------------------------------------------------------------

    async def say(self, session_id: str, text: str, *, by: str = "", turn: int | None = None) -> dict[str, Any]:
        """One command; gives the session with the reply. ConflictError where it is not taken."""
        driver = await self.driver(session_id)
        if self.runtime.store.lead_left_s() <= 0 and not stops(text):
            raise self.runtime.outage.refusal()
        try:
            verdict = await driver.say(text, by=by, turn=turn)
        except UnavailableError:
            if not driver.state.is_open:  # it ended while this one waited
                raise session_over(session_id, driver.state.session.status) from None
            raise
        refuse_refused(verdict)
        driver.hear(turn)
        given = next(event for event in verdict.events if event.kind == "commandGiven")
        return {**given.data, "reasons": [reason.wire() for reason in verdict.reasons]}

    async def reply(self, event: Event) -> dict[str, Any]:
        """The reply to a command, from its event; why it was refused is decided once more."""
        reasons: tuple[Reason, ...] = ()
        if event.data["refused"]:
            before = await self.from_log(str(event.data["sessionId"]), before=event.seq)
            reasons = refusals(before, event)
        return {**event.data, "reasons": [reason.wire() for reason in reasons]}

    async def taken_up(self, row: Mapping[str, Any]) -> SessionDriver:
        """The driver of a session that has not ended; one that nobody drives is taken up, its home made live."""
        session_id = row["sessionId"]
        if session_id not in self.live:
            await self.homes.home(row["scene"])
            await self.host.take_up(session_id)
        return await self.driver(session_id)

    async def asked_of(self, driver: SessionDriver, given: SessionInput) -> Verdict[Steer]:
        try:
            return await driver.request(given, patient=False)
        except UnavailableError:
            if driver.state.is_open:
                raise
            raise session_over(driver.state.session_id, driver.state.session.status) from None

    async def stopped(self, driver: SessionDriver, given: SessionInput) -> Verdict[Steer]:
        """The same for what ends the session, also where that cannot be recorded yet."""
        try:
            return await driver.brake(given, f"The session {driver.state.session_id} is over, and its body stands.")
        except UnavailableError:
            raise session_over(driver.state.session_id, driver.state.session.status) from None

    async def open_row(self, session_id: str) -> dict[str, Any]:
        """A session that has not ended; ConflictError for one that is over."""
        row = await self.show(session_id)
        if row["status"] != "open":
            raise session_over(session_id, row["status"])
        return row

    async def disturb(self, session_id: str, fault: Mapping[str, Any]) -> dict[str, Any]:
        driver = await self.driver(session_id)
        tick = driver.tick_now() if driver.is_realtime else None
        verdict = await driver.request(WentWrong(fault, tick))
        if verdict.reasons:
            raise BadInputError(" ".join(reason.says for reason in verdict.reasons), code=verdict.reasons[0].code)
        return {"sessionId": session_id, "tick": driver.state.body.tick, **fault}

    async def driver(self, session_id: str) -> SessionDriver:
        """The driver of a session that goes on; ConflictError for one that is over."""
        if session_id in self.live:
            return self.live[session_id]
        row = await self.runtime.store.row(SESSION_ROW, session_id)
        if row is None:
            raise await self._unknown(session_id)
        if row["status"] != "open":
            raise session_over(session_id, row["status"])
        raise ConflictError(
            f"Nobody drives the session {session_id}: its home {row['scene']} is not live.",
            code="session.not_driven",
            hint=f"`beforehand agent take-over {session_id}`, or `beforehand agent end {session_id}`.",
        )

    async def _unknown(self, session_id: str) -> NotFoundError:
        rows = await self.runtime.store.rows(SESSION_ROW, limit=200)
        return NotFoundError.unknown("session", session_id, [row["sessionId"] for row in rows])

    async def show(self, session_id: str) -> dict[str, Any]:
        """A session as it is now."""
        if session_id in self.live:
            return await self.told(self.live[session_id].seen_now().head())
        row = await self.runtime.store.row(SESSION_ROW, session_id)
        if row is None:
            raise await self._unknown(session_id)
        return await self.told(row)

    async def told(self, head: Mapping[str, Any]) -> dict[str, Any]:
        return await session_told(self.runtime.store, head, self.runtime.now(), driven=head["sessionId"] in self.live)

    async def surroundings(self, session_id: str) -> dict[str, Any]:
        """What there is around the body, in words."""
        live = self.live.get(session_id)
        state = live.seen_now() if live is not None else await self.from_log(session_id)
        return {"sessionId": session_id, "surroundings": state.body.surroundings()}

    async def listed(self, scene: str | None = None, *, open: bool | None = None) -> list[dict[str, Any]]:
        """The sessions there were, newest first."""
        rows = await self.runtime.store.rows(SESSION_ROW, parent=scene, open=open)
        live = self.live
        heads = [live[row["sessionId"]].seen_now().head() if row["sessionId"] in live else row for row in rows]
        shown = [await self.told(head) for head in heads]
        return sorted(shown, key=lambda row: str(row["startedAt"]), reverse=True)

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """What is live in a home, for `GET /state`."""
        return {"sessions": await self.listed(name, open=True)}

    async def state_at(self, name: str, store: Store) -> dict[str, list[dict[str, Any]]]:
        """The same as it was where the store ends."""
        return {
            "sessions": [
                await session_told(store, row) for row in await store.rows(SESSION_ROW, parent=name, open=True)
            ]
        }

    async def answer(self, decision: Decision, given: Answering) -> None:
        """A person's answer to what a session asked."""
        session_id = decision.owner.partition(":")[2]
        given_to = Answered(decision, given.verb, given.note, given.by, given.value)
        if session_id in self.live:
            verdict: Verdict[Steer] | None = await self.live[session_id].request(given_to, patient=False)
        else:
            row = await self.show(session_id)
            if row["status"] != "open":
                closed = answered(self.runtime, decision, given)
                if given.verb == "again":
                    await self._again(row, given.by, given.value or {}, closed)
                else:
                    await self.runtime.store.append([closed])
                return
            verdict = await self.settle(row, given_to)
        if verdict is not None and verdict.reasons:
            raise ConflictError(verdict.reasons[0].says, code=verdict.reasons[0].code)

    async def _again(self, row: Mapping[str, Any], by: str, value: Mapping[str, Any], closed: Event) -> None:
        """Another session with what this one was asked, in one append with the answer that asks for it."""
        await self.start(
            Asked(
                row["scene"],
                row.get("goal"),
                row.get("instruction"),
                row.get("model"),
                row["steeredBy"],
                row["clock"],
                value.get(STEPS, row.get("maxSteps")),
                by,
                options=with_more({name: row[name] for name in OPTIONS if name in row}, value),
            ),
            also=[closed],
        )

    async def looked_after(self, session_id: str) -> dict[str, Any]:
        """A session as it is, after one that nobody drives any more was taken up."""
        row = await self.show(session_id)
        if row["status"] == "open" and session_id not in self.live:
            await self.homes.home(row["scene"])
            if session_id not in self.live:
                await self.host.take_up(session_id)
        driver = self.live.get(session_id)
        if driver is not None and driver.taken_up:
            return await self.until_over(session_id)
        return await self.show(session_id)

    async def until_over(self, session_id: str) -> dict[str, Any]:
        """Wait for a session's end and give it as it then is."""
        await self.host.wait(session_id)
        return await self.show(session_id)


def owner_of_session(session_id: str, scene: str | None = None) -> TaskOwner:
    """Who answers for the tasks of a session."""
    return TaskOwner(f"session:{session_id}", f"The session {session_id}", {"sessionId": session_id}, scene=scene)


def session_over(session_id: str, status: str) -> ConflictError:
    says = f"The session {session_id} is over: {status}."
    return ConflictError(says, code="session.over", hint="Start a new session.")


def refuse_refused(verdict: Verdict[Steer]) -> None:
    """ConflictError with everything that speaks against it where nothing was done."""
    if not verdict.events:
        raise ConflictError(
            " ".join(reason.says for reason in verdict.reasons),
            code=verdict.reasons[0].code if verdict.reasons else "session.refused",
            hint=" ".join(reason.try_next for reason in verdict.reasons),
        )
