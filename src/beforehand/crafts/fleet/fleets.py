"""The fleets of a runtime: scenes made live, their state rebuilt from the log, and what people ask of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from beforehand.app.craft import Answering, Moving
from beforehand.app.kept_files import LedFiles
from beforehand.app.not_live import refuse_not_live
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene, no_scene_of
from beforehand.crafts.fleet import shown
from beforehand.crafts.fleet.core.check import LINK_KINDS
from beforehand.crafts.fleet.core.hands import follow_hands
from beforehand.crafts.fleet.core.inputs import (
    AnswerDecision,
    FleetInput,
    FleetVerb,
    PatchStream,
    PatchWorksite,
    RobotVerb,
    TaskVerb,
)
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import Candidate
from beforehand.crafts.fleet.finding import ASKED, not_live, refuse_inactive, scene_of, why_shown
from beforehand.crafts.fleet.link_kinds import are_ours, with_known_links
from beforehand.crafts.fleet.not_live import held_for
from beforehand.crafts.fleet.sentences import effect_says
from beforehand.crafts.fleet.verbs import BRAKES
from beforehand.loop.asked import key_here
from beforehand.loop.host import Host
from beforehand.loop.log_outage import note_unrecorded
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, RefusedError
from beforehand.model.event import Verdict
from beforehand.model.fleet import FleetScene
from beforehand.model.machine import kind_of
from beforehand.model.reason import Reason
from beforehand.model.records import wire_of
from beforehand.model.words import counted
from beforehand.ports.foreign import guarded, made
from beforehand.ports.log import Log
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.store import EventFilter, Store
from beforehand.ports.tasks import TaskOwner

if TYPE_CHECKING:
    from beforehand.crafts.fleet.driver import FleetDriver, Ready
    from beforehand.crafts.fleet.multi_link import MultiLink

log = Log("beforehand.fleet")
KIND = "fleet"
CHUNK = 5_000


@dataclass(slots=True)
class LiveFleet:
    scene: FleetScene
    driver: "FleetDriver"
    link: "MultiLink"


def owner_of_fleet(name: str) -> TaskOwner:
    """Who answers for the tasks of a fleet."""
    return TaskOwner(f"{KIND}:{name}", f"The fleet {name}", scene=name)


@dataclass(slots=True)
class Fleets:
    runtime: Runtime
    host: Host[LiveFleet] = field(init=False)

    def __post_init__(self) -> None:
        """A fleet whose driver has stopped is shown as that left it."""
        self.host = Host(self.runtime.nursery, owner_of_fleet, self._take_up, keeps=True)

    @property
    def live(self) -> Mapping[str, LiveFleet]:
        return self.host.live

    # -- live and not --------------------------------------------------------------------------------------------

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        """Make a scene live. One that changed keeps what it knows of worksites and robots that stay."""
        from beforehand.crafts.fleet.driver import FleetDriver
        from beforehand.crafts.fleet.history import rebuilt
        from beforehand.crafts.fleet.links import open_links

        scene = read_fleet(document)
        running = self.live.get(name)
        if running is not None and running.scene == scene and self.host.works(name):
            return
        if running is not None:
            self._refuse_busy(running, "the changed scene waits until they have ended")
            await self.host.stop(name)
        state = await rebuilt(self.runtime, scene)
        state.log = self.runtime.identity
        if state.scene != scene:
            log.warning("the changed scene waits until the tasks under way have ended", scene=name)
            scene = with_known_links(state.scene, scene)
        settings = self.runtime.settings
        opening = partial(
            open_links,
            scene,
            clock=self.runtime.clock,
            speed=float(settings["speed"]),
            keep_in=settings.home,
            with_secrets=settings.with_secrets,
            setting=settings.__getitem__,
            files=_shared(self.runtime),
            identity=self.runtime.identity,
        )
        with guarded(f"Opening the robot links of {name}"):
            link = await made(opening, ours=are_ours(kind_of(robot.link) for robot in scene.robots))
        if not self.runtime.serves:  # a process that carries out one plan: only what it asks for is moved
            state.streams = {key: replace(stream, enabled=False) for key, stream in state.streams.items()}
        driver = FleetDriver(
            state,
            link,
            self.runtime.store,
            self.runtime.clock,
            self._frame_of(name),
            keeps_snapshots=self.runtime.serves,
        )
        self.host.start(name, LiveFleet(scene, driver, link), driver.drive())

    def _frame_of(self, name: str) -> Any:
        return lambda frame: self.runtime.telemetry.publish(frame, name)

    async def deactivate(self, name: str) -> None:
        if name in self.live:
            self._refuse_busy(self.live[name], "the scene stays active until they have ended")
            await self.host.stop(name)

    def _refuse_busy(self, fleet: LiveFleet, so: str) -> None:
        tasks = fleet.driver.state.open_tasks
        if tasks and self.host.works(fleet.scene.name):
            verb = "is" if len(tasks) == 1 else "are"
            raise ConflictError(
                f"{counted(len(tasks), 'task')} {verb} under way in {fleet.scene.name}; {so}.",
                code="fleet.busy",
                hint="Disable its streams, let the tasks end, then try again.",
            )

    def live_machines(self) -> dict[str, dict[str, str]]:
        """The robots of every live fleet by their addresses."""
        return {name: machines_of(fleet.scene) for name, fleet in self.live.items()}

    # -- asking and telling --------------------------------------------------------------------------------------

    @property
    def states(self) -> dict[str, FleetState]:
        return {name: fleet.driver.state for name, fleet in self.live.items()}

    async def shown_states(self, scene: str | None = None) -> dict[str, FleetState]:
        """The fleets that are live, and those that should be, with what is under way in them held for that reason."""
        told = await self._not_live()
        held = {name: await self._held(name, reason) for name, reason in told.items() if scene in (None, name)}
        return {**self.states, **{name: state for name, state in held.items() if state is not None}}

    async def _not_live(self) -> dict[str, Reason]:
        """Why fleets that should be live are not; where all are live nothing is read for it."""
        stopped = not all(self.host.works(name) for name in self.live)
        return await not_live(self.runtime.store) if stopped or self.runtime.not_live else {}

    async def _held(self, name: str, reason: Reason) -> FleetState | None:
        """A fleet that should be live, as its driver or the log left it; None where the log says nothing of it."""
        from beforehand.crafts.fleet.history import left_in_log

        if name in self.live:
            return held_for(self.live[name].driver.state, reason)
        found = await left_in_log(self.runtime.store, name, aside=True)
        return None if found is None else held_for(found[0], reason)

    async def _driven(self, kind: str, name: str, scene: str | None) -> LiveFleet:
        """The live fleet that has this; where it is in one that should be live, ConflictError with the reason."""
        try:
            fleet = self.find(kind, name, scene)
        except NotFoundError:
            where = scene_of(await self.shown_states(scene), (kind,), name, scene)
            await refuse_not_live(self.runtime.store, where)
            raise
        if not self.host.works(fleet.scene.name):
            await refuse_not_live(self.runtime.store, fleet.scene.name)
        return fleet

    def fleet(self, name: str) -> LiveFleet:
        refuse_inactive(self.states, name)
        return self.live[name]

    def find(self, kind: str, name: str, scene: str | None) -> LiveFleet:
        """The active fleet that has this robot, worksite, stream or task; ambiguous without a scene is a conflict."""
        return self.live[scene_of(self.states, (kind,), name, scene)]

    async def request(self, scene: Any, given: FleetInput) -> Verdict[Any]:
        """What a person or a plan's step asks of a fleet, decided and durable."""
        return await self.fleet(scene).driver.request(given)

    async def call_off(self, scene: Any, task_id: str) -> Verdict[Any]:
        """End a task before its pallet is on the fork; the robot is told so also where that cannot be recorded yet."""
        return (await self.fleet(scene).driver.brake(TaskVerb(task_id, "cancel"))).verdict

    def state_of(self, scene: Any) -> FleetState:
        return self.fleet(scene).driver.state

    async def until(self, scene: Any, ready: "Ready") -> None:
        await self.fleet(scene).driver.until(ready)

    async def task_of_request(self, scene: Any, key: str) -> str | None:
        """The task a request was answered with, found in the log by the request's key."""
        only = EventFilter(kinds=frozenset({"taskCreated"}), owner=f"fleet:{scene}")
        after = 0
        while events := await self.runtime.store.events(after=after, limit=CHUNK, only=only):
            for event in events:
                if event.correlation_id == key:
                    return str(event.data["taskId"])
            after = events[-1].seq
        return None

    async def ask(self, fleet: LiveFleet, given: FleetInput) -> None:
        """Hand in what a person asks for; a refusal is a ConflictError with its reasons."""
        from beforehand.app.runs import refuse_by_reasons

        verdict = await fleet.driver.request(given, patient=False)
        follow_hands(fleet.link, [given], verdict)
        refuse_by_reasons(verdict)

    async def do(self, fleet: LiveFleet, given: RobotVerb | TaskVerb | FleetVerb, about: str) -> None:
        """Hand in a person's verb; what stops something is done also where it cannot be recorded yet."""
        from beforehand.app.runs import refuse_by_reasons

        if given.verb in BRAKES:
            braked = await fleet.driver.brake(given)
            refuse_by_reasons(braked.verdict)
            if not braked.is_recorded:
                note_unrecorded(BRAKES[given.verb].format(about))
        else:
            await self.ask(fleet, given)

    async def patch_worksite(self, name: str, occupancy: Any, scene: str | None) -> dict[str, Any]:
        _refuse_occupancy(occupancy)
        fleet = await self._driven("worksites", name, scene)
        await self.ask(fleet, PatchWorksite(name, occupancy))
        return self.worksite(fleet, name)

    async def try_worksite(self, name: str, occupancy: Any, scene: str | None) -> dict[str, Any]:
        """Whom it would affect if this were said; refused as saying it would be. Nothing changes."""
        from beforehand.app.runs import refuse_by_reasons
        from beforehand.crafts.fleet.core.worksite_trial import try_worksite

        _refuse_occupancy(occupancy)
        fleet = await self._driven("worksites", name, scene)
        with guarded(f"Trying {name}"):
            trial = try_worksite(fleet.driver.state, PatchWorksite(name, occupancy), self.runtime.now())
        refuse_by_reasons(trial.verdict)
        where = {"scene": fleet.scene.name}
        return {
            "worksite": {**wire_of(trial.worksite), **where},
            "effects": [
                {"about": _known(event.about, fleet.driver.state), "says": effect_says(event)}
                for event in trial.effects
            ],
            "streams": list(trial.streams),
        }

    async def patch_stream(self, given: PatchStream, scene: str | None) -> dict[str, Any]:
        if given.enabled is None and given.priority is None:
            raise BadInputError("Give `enabled`, `priority`, or both.", code="stream.nothing_set")
        fleet = await self._driven("streams", given.stream_id, scene)
        await self.ask(fleet, given)
        return self.stream(fleet, given.stream_id)

    async def try_stream(self, as_if: PatchStream, scene: str | None) -> dict[str, Any]:
        """What a stream would do now, if it were as the patch says; nothing changes."""
        from beforehand.crafts.fleet.core.stream_trial import try_stream

        fleet = await self._driven("streams", as_if.stream_id, scene)
        with guarded(f"Trying {as_if.stream_id}"):
            trial = try_stream(fleet.driver.state, as_if, self.runtime.now())
        where = {"scene": fleet.scene.name}
        return {
            "stream": {**wire_of(trial.stream), **where},
            "candidates": [_candidate(one) for one in trial.candidates],
            "tasks": [shown.told_task(task, fleet.scene.name) for task in trial.tasks],
            "reasons": [reason.wire() for reason in trial.reasons],
        }

    async def robot_verb(self, name: str, verb: str, value: Any, scene: str | None) -> dict[str, Any]:
        fleet = await self._driven("robots", name, scene)
        await self.do(fleet, RobotVerb(name, verb, value), name)
        return self.robot(fleet, name)

    async def task_verb(self, name: str, verb: str, value: Any, scene: str | None) -> dict[str, Any]:
        fleet = await self._driven("tasks", name, scene)
        await self.do(fleet, TaskVerb(name, verb, value), name)
        return shown.told_task(wire_of(fleet.driver.state.tasks[name]), fleet.scene.name)

    async def fleet_verb(self, name: str, verb: str) -> dict[str, Any]:
        from beforehand.app.holds import everything_held, held

        fleet = self.live.get(name)
        if verb in BRAKES and fleet is not None and self.host.works(name):  # whether or not the log can be read
            await self.do(fleet, FleetVerb(verb), f"Every robot of {name}")
            return shown.held(fleet.driver.state)
        await refuse_not_live(self.runtime.store, name)
        fleet = self.fleet(name)
        if verb == "clear" and (everything := await held(self.runtime)) is not None:
            raise everything_held(everything)
        await self.ask(fleet, FleetVerb(verb))
        return shown.held(fleet.driver.state)

    def moving(self) -> list[Moving]:
        """The fleets that no person holds."""
        what = "Every robot stands, and no task is given out."
        return [Moving(name, KIND, what) for name, state in self.states.items() if not state.hold.person]

    async def hold(self, name: str) -> None:
        if name not in self.live:  # one that becomes live just now is held before anybody is told that it lives
            await refuse_not_live(self.runtime.store, name)
        await self.do(self.fleet(name), FleetVerb("hold"), f"Every robot of {name}")

    async def let_go(self, name: str) -> None:
        """The fleet goes on; one that rests meanwhile has nothing to let go."""
        if name in self.live:
            await self.ask(self.fleet(name), FleetVerb("let-go"))

    async def answer(self, decision: Decision, given: Answering) -> None:
        """A person's answer to what a fleet asked."""
        fleet = self.fleet(decision.owner.partition(":")[2])
        await self.ask(fleet, AnswerDecision(decision.id, given.verb, given.value, given.note, given.by))

    async def _take_up(self, name: str) -> None:
        await activate_scene(self.runtime, name)

    async def why(self, name: str | None, scene: str | None = None, kinds: tuple[str, ...] = ASKED) -> list[Reason]:
        """Why a robot, task or stream does what it does; without a name, everything that stands still.

        What belongs to a fleet that should be live and is not has one reason: that one.
        """
        states, told = await self.shown_states(scene), await self._not_live()
        return why_shown(states, told, name, scene, self.runtime.now(), kinds)

    async def scene(self, name: str) -> FleetScene:
        """A fleet's scene, live or only kept; BadInputError with the fleets there are."""
        if name in self.live:
            return self.live[name].scene
        row = await self.runtime.store.row("scene", name)
        if row is None or row["kind"] != KIND:
            told = await no_scene_of(self.runtime, KIND, name)
            raise BadInputError(told.says, code="scene.unknown", nearest=told.nearest)
        return read_fleet(row["document"])

    # -- what is live --------------------------------------------------------------------------------------------

    def robot(self, fleet: LiveFleet, name: str) -> dict[str, Any]:
        return shown.robot(fleet.driver.state, name)

    def worksite(self, fleet: LiveFleet, name: str) -> dict[str, Any]:
        return shown.worksite(fleet.driver.state, name)

    def stream(self, fleet: LiveFleet, name: str) -> dict[str, Any]:
        return shown.stream(fleet.driver.state, name)

    async def one(self, kind: str, name: str, scene: str | None) -> dict[str, Any]:
        """One robot, worksite or stream as it is now."""
        return shown.one(await self.shown_states(scene), kind, name, scene)

    async def last_states(self, scene: str | None) -> dict[str, FleetState]:
        """What is live, and a scene that rests as the log left it."""
        from beforehand.crafts.fleet.history import looked_up

        found = None if scene is None or scene in self.live else await looked_up(self.runtime.store, scene, aside=True)
        states = await self.shown_states(scene)
        return states if scene in states or found is None else {**states, str(scene): found[0]}

    async def last_one(self, kind: str, name: str, scene: str | None) -> dict[str, Any]:
        """One robot, worksite or stream, also of a scene that rests."""
        return shown.one(await self.last_states(scene), kind, name, scene)

    async def last_task(self, name: str, scene: str | None) -> dict[str, Any]:
        return await shown.task(self.runtime.store, await self.last_states(scene), name, scene)

    async def last_hold(self, scene: str) -> dict[str, Any]:
        states = await self.last_states(scene)
        refuse_inactive(states, scene)
        return shown.held(states[scene])

    async def link(self, name: str, scene: str | None) -> dict[str, Any]:
        """What leads to a robot, whether it answers, and who has control of it."""
        fleet = self.find("robots", name, scene)
        return shown.link(fleet.driver.state, name, await fleet.link.standing(name))

    async def listed(self, kind: str, scene: str | None) -> list[dict[str, Any]]:
        """All of a kind, in every active fleet or in one."""
        return shown.listed(await self.shown_states(scene), kind, scene)

    async def tasks(self, scene: str | None, *, open: bool | None, limit: int) -> list[dict[str, Any]]:
        """Tasks from the log, newest first: also those that ended long ago."""
        return await shown.tasks(self.runtime.store, await self.shown_states(scene), scene, open=open, limit=limit)

    async def task(self, name: str, scene: str | None) -> dict[str, Any]:
        """One task, ended or not."""
        return await shown.task(self.runtime.store, await self.shown_states(scene), name, scene)

    def inject(self, name: str, document: Mapping[str, Any], scene: str | None) -> dict[str, Any]:
        """Let something go wrong with a simulated robot."""
        strike, told = self.fault(name, document, scene)
        strike()
        return told

    def fault(
        self, name: str, document: Mapping[str, Any], scene: str | None
    ) -> tuple[Callable[[], None], dict[str, Any]]:
        """What lets a fault happen, and the fault as it is told."""
        from beforehand.adapters.sim.faults import read_faults

        fleet = self.find("robots", name, scene)
        part = fleet.link.simulated_part(name)
        if part is None:
            raise RefusedError(f"The robot {name} is not simulated, so it cannot be told to fail.", code="robot.real")
        fault = read_faults([{"atS": 0.0, **document, "robotId": name}], list(fleet.driver.state.robots))[0]
        return lambda: part.inject(fault, key_here()), {**fault.wire(), "scene": fleet.scene.name}

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        fleet = self.live.get(name)
        if fleet is None:
            return {}
        state = fleet.driver.state
        return {"robots": [self.robot(fleet, robot_id) for robot_id in state.robots], **shown.lists(state)}

    async def held_state(self, name: str, store: Store, reason: Reason) -> dict[str, list[dict[str, Any]]]:
        """A fleet that should be live and is not, as the log left it: what is under way in it is held."""
        from beforehand.crafts.fleet.history import left_in_log

        found = await left_in_log(store, name, aside=True)
        if found is None:
            return {}
        state = held_for(found[0], reason)
        return {"robots": [shown.robot_in_past(state, one) for one in state.robots], **shown.lists(state)}

    async def state_at(self, name: str, store: Store) -> dict[str, list[dict[str, Any]]]:
        """The same as it was where the store ends; where the robots were, and what they reported, is not in the log."""
        from beforehand.crafts.fleet.history import looked_up

        found = await looked_up(store, name, aside=True)
        if found is None:
            return {}
        state = found[0]
        robots = [shown.robot_in_past(state, one) for one in state.robots]
        return {"robots": robots, **shown.lists(state)}


def _shared(runtime: Runtime) -> PrivateFiles | None:
    """Where several servers find what links keep; None where that is the home."""
    return LedFiles(runtime.files, runtime.store) if runtime.files.are_shared else None


def _known(about: Mapping[str, Any], state: FleetState) -> dict[str, Any]:
    """The ids of what there is already; a task or decision that would only be made has none yet."""
    there = {key: value for key, value in about.items() if key != "decisionId"}
    return {key: value for key, value in there.items() if key != "taskId" or value in state.tasks}


def _refuse_occupancy(occupancy: Any) -> None:
    if occupancy not in ("empty", "filled", "unknown"):
        raise BadInputError(f"`occupancy` is empty, filled or unknown, not {occupancy!r}.", code="worksite.occupancy")


def machines_of(scene: FleetScene) -> dict[str, str]:
    """The robots of a scene by what each is known by: its link's address, or for a simulated one scene and id."""
    return {LINK_KINDS.address(one.link, f"{scene.name}/{one.robot_id}"): one.robot_id for one in scene.robots}


def _candidate(one: Candidate) -> dict[str, Any]:
    shown: dict[str, Any] = {"sourceId": one.source_id, "targetId": one.target_id, "sinceTsMs": one.since_ms}
    more = [{"sourceId": source, "targetId": target} for source, target in one.more]
    return shown | ({"more": more} if more else {})
