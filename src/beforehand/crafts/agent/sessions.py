"""The sessions of a runtime: homes made live, sessions started and found again in the log, what is asked of them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from beforehand.app.craft import Answering, Moving
from beforehand.app.decisions import answered
from beforehand.app.holds import everything_held, held
from beforehand.app.ids import new_id
from beforehand.app.leases import LOCK, refuse_held
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene, no_scene_of
from beforehand.crafts.agent.core.deciding import STARTED, SessionState, SteeredBy, folded, refusals, started
from beforehand.crafts.agent.core.inputs import Answered, Held, LetGo, WentWrong
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import CLOCKS, Clock, Session
from beforehand.crafts.agent.core.verbs import Verbs
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.crafts.agent.driver import SessionDriver, Steering
from beforehand.crafts.agent.plug_ins import load_verbs
from beforehand.crafts.agent.sentences import told
from beforehand.crafts.agent.worlds import open_world
from beforehand.loop.asked import preparing
from beforehand.loop.drivers import Driven
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, ConflictError, ModelError, NotFoundError, UnavailableError
from beforehand.model.event import Event, from_iso
from beforehand.model.reason import Reason
from beforehand.ports.body import TICKS_PER_S, Body
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter, Store
from beforehand.ports.tasks import stop

log = Log("beforehand.agent")
KIND = "home"
SESSION_ROW = "session"
WORLD_ROW = "homeWorld"
CHUNK = 1_000
OPTIONS = ("budget", "pictures")
FRAME_MS = 1000 // TICKS_PER_S
IDLE_LOOK_MS = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session is started with."""

    scene: str
    goal: str | None = None
    instruction: str | None = None
    model: str | None = None
    steered_by: SteeredBy = "person"
    clock: Clock = "virtual"
    max_steps: int | None = None
    by: str = ""
    key: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """For a model: its `budget`, and whether it sees `pictures`."""


def machine_of(scene: str) -> str:
    """The name under which a home's body is held."""
    return f"home:{scene}"


@dataclass(slots=True)
class Sessions:
    runtime: Runtime
    homes: dict[str, HomeScene] = field(default_factory=dict)
    live: dict[str, SessionDriver] = field(default_factory=dict)
    verbs: Verbs = field(default_factory=load_verbs)
    beating: asyncio.Task[None] | None = None

    @property
    def pace(self) -> float:
        """How many simulated seconds pass in one."""
        return max(float(self.runtime.settings["speed"]), 1e-3)

    # -- homes -----------------------------------------------------------------------------------------------------

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        scene = read_home(document)
        if self.homes.get(name) == scene:
            return
        self._refuse_session(name)
        self.homes[name] = scene
        if self.runtime.serves:
            for row in await self.runtime.store.rows(SESSION_ROW, open=True):
                if row["scene"] == name and row["sessionId"] not in self.live:
                    await self._take_up(row["sessionId"])

    async def deactivate(self, name: str) -> None:
        """The home rests; ConflictError while a session goes on in it."""
        self._refuse_session(name)
        self.homes.pop(name, None)

    async def close(self) -> None:
        for driver in list(self.live.values()):
            await self.runtime.drivers.stop(driver.state.owner)
        if self.beating is not None:
            await stop([self.beating])

    # -- holding everything ----------------------------------------------------------------------------------------

    def moving(self) -> list[Moving]:
        what = "Its body stands still where it is; the session takes no commands."
        here = {driver.state.scene for driver in self.live.values() if not driver.state.held}
        return [Moving(scene, KIND, what) for scene in sorted(here)]

    async def hold(self, name: str) -> None:
        for driver in self._in(name):
            await driver.request(Held(driver.tick_now() if driver.is_realtime else None))

    async def let_go(self, name: str) -> None:
        for driver in self._in(name):
            await driver.request(LetGo())

    def _in(self, name: str) -> list[SessionDriver]:
        return [driver for driver in self.live.values() if driver.state.scene == name and driver.state.is_open]

    async def scene(self, name: str) -> HomeScene:
        """A home as it is live, else as it was saved; NotFoundError with the homes there are."""
        if name in self.homes:
            return self.homes[name]
        row = await self.runtime.store.row("scene", name)
        if row is None or row["kind"] != KIND:
            told = await no_scene_of(self.runtime, KIND, name)
            raise NotFoundError(told.says, code="scene.unknown", nearest=told.nearest)
        return read_home(row["document"])

    async def home(self, name: str) -> HomeScene:
        """A home that is live, made so where it is not; NotFoundError with the homes there are."""
        await self.scene(name)
        if name not in self.homes:
            with preparing():
                await activate_scene(self.runtime, name)
        return self.homes[name]

    async def world_of(self, name: str, scene: HomeScene) -> Mapping[str, Any] | None:
        """The world as the last session left it; None where it is as its scene describes it.

        Worlds of other people begin anew with every session.
        """
        if scene.world is not None:
            return None
        row = await self.runtime.store.row(WORLD_ROW, name)
        return None if row is None else row["world"]

    async def body_of(self, name: str, goal: str | None = None) -> Body:
        """A body in the present world, for a preview: nobody else moves it."""
        scene = await self.scene(name)
        here = [driver.state for driver in self.live.values() if driver.state.scene == name]
        world = here[0].body.wire() if here else await self.world_of(name, scene)
        return open_world(scene, world=world, goal=goal, verbs=self.verbs)

    # -- starting and taking up ------------------------------------------------------------------------------------

    async def start(self, asked: Asked, *, correlation_id: str = "", also: Sequence[Event] = ()) -> SessionState:
        """Start a session; ConflictError `machine.held` while somebody else has the body.

        `also` becomes durable with its beginning.
        """
        if asked.clock not in CLOCKS:
            raise BadInputError.unknown("clock", asked.clock, CLOCKS, code="session.clock")
        scene = await self.home(asked.scene)
        async with self.runtime.turns[LOCK]:
            if (everything := await held(self.runtime)) is not None:
                raise everything_held(everything)
            if asked.key is None:
                await refuse_held(self.runtime, [machine_of(asked.scene)])
            else:
                self._refuse_session(asked.scene)
            state = self._state(new_id("session"), asked, scene, await self.world_of(asked.scene, scene))
            steering = self._steering(state)
            began = started(state, scene.wire(), self.runtime.now(), correlation_id)
            await self.runtime.store.append([began, *also])
        self._drive(state, steering)
        return state

    def _refuse_session(self, scene: str) -> None:
        """ConflictError while a session goes on in a home."""
        for driver in self._in(scene):
            raise ConflictError(
                f"The session {driver.state.session_id} goes on in {scene}.",
                code="machine.held",
                hint=f"End it first: POST /api/v1/sessions/{driver.state.session_id}/commands with end().",
            )

    def _state(self, session_id: str, asked: Asked, scene: HomeScene, world: Mapping[str, Any] | None) -> SessionState:
        now = self.runtime.now()
        body = open_world(scene, world=world, goal=asked.goal, verbs=self.verbs)
        session = Session(body, asked.clock, asked.steered_by == "person", asked.max_steps)
        return SessionState(
            session_id,
            asked.scene,
            session,
            asked.steered_by,
            asked.goal or body.goal_text,
            asked.instruction,
            asked.model,
            asked.by,
            asked.key,
            started_at=now,
            last_said=now,
            begins=body.state_text(),
            options=asked.options,
        )

    def _steering(self, state: SessionState) -> Steering | None:
        from beforehand.crafts.agent.steering import steering_for

        return steering_for(self.runtime, state, self.homes[state.scene])

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
        self.live[state.session_id] = driver
        if self.beating is None or self.beating.done():
            self.beating = asyncio.create_task(self._beat())
        driven = Driven(state.owner, f"The session {state.session_id}", {"sessionId": state.session_id}, scene=scene)
        self.runtime.drivers.start(driven, driver.drive(), ended=lambda: self._forget(state.session_id))
        return driver

    async def _beat(self) -> None:
        """One heart for all sessions: 20 times a second while one runs in real time, else once."""
        clock, telemetry = self.runtime.clock, self.runtime.telemetry
        while self.live:
            now = clock.now_ms()
            for driver in [driver for driver in self.live.values() if driver.due_ms <= now]:
                driver.beat()
            if telemetry.listeners:
                for driver in [driver for driver in self.live.values() if telemetry.is_wanted(driver.state.scene)]:
                    driver.show()
            realtime = any(driver.is_realtime for driver in self.live.values())
            await clock.sleep_until(now + (FRAME_MS if realtime else IDLE_LOOK_MS))

    def _forget(self, session_id: str) -> None:
        self.live.pop(session_id, None)

    async def _take_up(self, session_id: str) -> None:
        state = await self.from_log(session_id)
        try:
            steering = self._steering(state)
        except ModelError as error:  # nobody steers it here; a person is asked
            log.warning("the model of a session is not there", session=session_id, says=error.says)
            steering = None
        self._drive(state, steering, taken_up=True)

    async def restart(self, owner: str) -> None:
        """Take a session up again whose driver stopped on a bug."""
        await self._take_up(owner.partition(":")[2])

    async def from_log(
        self, session_id: str, *, until_tick: int | None = None, before: int | None = None
    ) -> SessionState:
        """A session as the log has it, or as it was at a tick, or before an event."""
        state: SessionState | None = None
        after, owner = 0, f"session:{session_id}"
        while events := await self.runtime.store.events(after=after, limit=CHUNK, only=EventFilter(owner=owner)):
            for event in events:
                if state is not None and event.seq == before:
                    return state
                if state is None and event.kind == STARTED:
                    state = self._first(event)
                elif state is not None:
                    if until_tick is not None and int(event.data.get("givenTick", 0)) > until_tick:
                        return _at(state, until_tick)
                    last, state = state, folded(state, event)
                    if until_tick is not None and state.body.tick > until_tick:
                        return _at(last, until_tick)
            after = events[-1].seq
        if state is None:
            raise await self._unknown(session_id)
        return state if until_tick is None else _at(state, min(until_tick, self._tick_now(state)))

    def _tick_now(self, state: SessionState) -> int:
        """As far as a session has come: there is nothing to look at beyond it."""
        driver = self.live.get(state.session_id)
        return state.body.tick if driver is None else driver.tick_now()

    def _first(self, event: Event) -> SessionState:
        data = event.data
        asked = Asked(
            data["scene"],
            data.get("goal"),
            data.get("instruction"),
            data.get("model"),
            data["steeredBy"],
            data["clock"],
            data.get("maxSteps"),
            data.get("by", ""),
            data.get("key"),
            {name: data[name] for name in OPTIONS if name in data},
        )
        state = self._state(data["sessionId"], asked, HomeScene.model_validate(data["document"]), data["world"])
        return replace(state, started_at=from_iso(data["startedAt"]), last_said=event.ts)

    # -- asking and telling ----------------------------------------------------------------------------------------

    async def say(self, session_id: str, text: str, *, by: str = "") -> dict[str, Any]:
        """One command; gives the session with the reply. ConflictError where it is not taken."""
        driver = await self.driver(session_id)
        try:
            verdict = await driver.say(text, by=by)
        except UnavailableError:
            if not driver.state.is_open:  # it ended while this one waited
                raise _over(session_id, driver.state.session.status) from None
            raise
        if not verdict.events:
            raise ConflictError(
                " ".join(reason.says for reason in verdict.reasons),
                code=verdict.reasons[0].code if verdict.reasons else "session.refused",
                hint=" ".join(reason.try_next for reason in verdict.reasons),
            )
        given = next(event for event in verdict.events if event.kind == "commandGiven")
        return {**given.data, "reasons": [reason.wire() for reason in verdict.reasons]}

    async def reply(self, event: Event) -> dict[str, Any]:
        """The reply to a command, from its event; why it was refused is decided once more."""
        reasons: tuple[Reason, ...] = ()
        if event.data["refused"]:
            before = await self.from_log(str(event.data["sessionId"]), before=event.seq)
            reasons = refusals(before, event)
        return {**event.data, "reasons": [reason.wire() for reason in reasons]}

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
        raise _over(session_id, row["status"])

    async def _unknown(self, session_id: str) -> NotFoundError:
        rows = await self.runtime.store.rows(SESSION_ROW, limit=200)
        return NotFoundError.unknown("session", session_id, [row["sessionId"] for row in rows])

    async def show(self, session_id: str) -> dict[str, Any]:
        """A session as it is now."""
        if session_id in self.live:
            return told(self.live[session_id].seen_now().head())
        row = await self.runtime.store.row(SESSION_ROW, session_id)
        if row is None:
            raise await self._unknown(session_id)
        return told(row)

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
        return sorted(map(told, heads), key=lambda row: str(row["startedAt"]), reverse=True)

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """What is live in a home, for `GET /state`."""
        return {"sessions": await self.listed(name, open=True)}

    async def state_at(self, name: str, store: Store) -> dict[str, list[dict[str, Any]]]:
        """The same as it was where the store ends."""
        return {"sessions": [told(row) for row in await store.rows(SESSION_ROW, parent=name, open=True)]}

    async def answer(self, decision: Decision, given: Answering) -> None:
        """A person's answer to what a session asked."""
        session_id = decision.owner.partition(":")[2]
        driver = self.live.get(session_id)
        if driver is not None:
            verdict = await driver.request(Answered(decision, given.verb, given.note, given.by))
            if verdict.reasons:
                raise ConflictError(verdict.reasons[0].says, code=verdict.reasons[0].code)
            return
        closed = answered(self.runtime, decision, given)
        if given.verb == "again":
            await self._again(session_id, given.by, closed)
        else:
            await self.runtime.store.append([closed])

    async def _again(self, session_id: str, by: str, closed: Event) -> None:
        row = await self.show(session_id)
        steered_by: SteeredBy = row["steeredBy"]
        await self.start(
            Asked(
                row["scene"],
                row.get("goal"),
                row.get("instruction"),
                row.get("model"),
                steered_by,
                row["clock"],
                row.get("maxSteps"),
                by,
                options={name: row[name] for name in OPTIONS if name in row},
            ),
            also=[closed],
        )

    async def looked_after(self, session_id: str) -> dict[str, Any]:
        """A session as it is, after one that nobody drives any more was taken up."""
        row = await self.show(session_id)
        if row["status"] == "open" and session_id not in self.live:
            await self.home(row["scene"])
            if session_id not in self.live:
                await self._take_up(session_id)
        driver = self.live.get(session_id)
        if driver is not None and driver.taken_up:
            return await self.until_over(session_id)
        return await self.show(session_id)

    async def until_over(self, session_id: str) -> dict[str, Any]:
        """Wait for a session's end and give it as it then is."""
        if session_id in self.live:
            task = self.runtime.drivers.work.get(f"session:{session_id}")
            if task is not None:
                await asyncio.wait([task])
        return await self.show(session_id)


def _over(session_id: str, status: str) -> ConflictError:
    says = f"The session {session_id} is over: {status}."
    return ConflictError(says, code="session.over", hint="Start a new session.")


def _at(state: SessionState, tick: int) -> SessionState:
    """A session as it was at a tick, after everything that was commanded up to then."""
    from beforehand.crafts.agent.core.session import advanced

    session, _ = advanced(state.session, tick)
    return replace(state, session=session)
