"""A run as a Temporal workflow: the same pure decisions, with what they call for as activities and timers.

It reads as the one loop does: inputs in, one decision at a time, made durable, and only then carried out. The log is
the truth. What is decided together is appended by the process that leads, inside the same workflow task; where the log
holds something else already, because that process died just behind its append, the state is read from the log anew.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from beforehand.adapters.temporal.endings import UNTAKEN, Attempt, stopped, what_became_of
    from beforehand.adapters.temporal.known import Known, read_known
    from beforehand.adapters.temporal.names import (
        APPEND,
        CALL,
        FETCH,
        HAND_IN,
        JUDGE,
        LEASE,
        LOOK,
        NOT_LEADING,
        PROBE,
        STOP,
        WORKFLOW,
    )
    from beforehand.adapters.temporal.wire import (
        answer_from,
        at,
        document_of,
        ended_from,
        input_from,
        judgement_from,
        write_events,
    )
    from beforehand.engine.calls import STOP_GRACE_MS
    from beforehand.engine.decide import decide
    from beforehand.engine.inputs import (
        JudgeStep,
        LeaseMachine,
        ProbeStep,
        Recover,
        RunCommand,
        SetTimer,
        StartStep,
        StepEnded,
        StepJudged,
        StepLost,
        StepProbed,
        StopStep,
        TimerFired,
        timeout_key,
    )
    from beforehand.engine.state import RunState
    from beforehand.model.event import Event

YEAR = timedelta(days=365)
ONCE = RetryPolicy(maximum_attempts=1)
PATIENT = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=1.0)
ASK_AGAIN_S = 1.0
FULL = 20_000
"""With so many entries in the history nothing more is handed out, until what is under way has ended."""

ENDS = (StepEnded, StepLost, StepProbed)


class Waiting(NamedTuple):
    """An input, the write that asked for it, and who waits for the verdict."""

    given: Any
    asked: dict[str, Any] | None = None
    reply: "asyncio.Future[dict[str, Any]] | None" = None


@workflow.defn(name=WORKFLOW)
class RunWorkflow:
    """`order` is `{runId, lostAfterS}`, and what an execution hands on to the next: `{count, keptBack}`."""

    @workflow.init
    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._run_id = str(order["runId"])
        self._patience = timedelta(seconds=float(order["lostAfterS"]))
        self._mailbox: deque[Waiting] = deque()
        self._calls: dict[Attempt, workflow.ActivityHandle[Any]] = {}
        self._taken_up: dict[Attempt, ProbeStep] = {}
        self._asked: set[str] = set()
        """Steps whose tools are being asked something."""
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._kept_back: list[StartStep] = []
        self._is_to_look = False
        self._bug: BaseException | None = None
        self._known: Known
        self._run: RunState
        self._count = 0
        self._done: set[str] = set()
        """The keys of the writes that events of this run carry."""

    @workflow.run
    async def run(self, order: dict[str, Any]) -> str:
        await self._load()
        self._is_to_look = False
        told = order.get("keptBack", ()) if order.get("count") == self._count else ()
        never_begun = frozenset((str(step_id), int(attempt)) for step_id, attempt in told)
        self._mailbox.appendleft(Waiting(Recover(0, never_begun=never_begun)))
        while True:
            await workflow.wait_condition(lambda: self._has_work)
            if self._bug is not None:
                raise self._bug
            if self._is_to_look:
                await self._look()
            elif self._mailbox:
                await self._turn()
            elif self._is_over:
                await workflow.wait_condition(workflow.all_handlers_finished)
                if not self._mailbox:
                    return self._run.status.value
            else:
                await workflow.wait_condition(workflow.all_handlers_finished)
                if not self._mailbox:
                    kept_back = [[command.step_id, command.attempt] for command in self._kept_back]
                    workflow.continue_as_new({**order, "count": self._count, "keptBack": kept_back})

    @workflow.update(name=HAND_IN)
    async def hand_in(self, given: dict[str, Any], asked: dict[str, Any] | None) -> dict[str, Any]:
        """Take an input; the answer is its verdict, once that is durable."""
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._mailbox.append(Waiting(given, asked, reply))
        return await reply

    @workflow.signal(name=LOOK)
    def look(self) -> None:
        """Somebody else may have written to the log."""
        self._is_to_look = True

    @property
    def _has_work(self) -> bool:
        return bool(self._mailbox or self._is_to_look or self._bug) or self._is_over or self._goes_on_anew

    @property
    def _is_over(self) -> bool:
        return self._run.status.is_final and not self._calls

    @property
    def _goes_on_anew(self) -> bool:
        """Whether the history is long enough and nothing is in the air that a fresh one could not know of."""
        info = workflow.info()
        is_long = bool(self._kept_back) or info.is_continue_as_new_suggested()
        return is_long and not (self._calls or self._asked or self._taken_up)

    # -- deciding ------------------------------------------------------------------------------------------------

    async def _turn(self) -> None:
        """Everything that has come in so far: decided one by one, made durable together, then carried out."""
        taken = [await self._read(waiting) for waiting in self._take()]
        while True:
            events, commands, replies = self._decided(taken)
            if not events or await self._append(events):
                break
            taken.insert(0, self._recover(taken))
        for command in commands:
            self._carry_out(command)
        for reply, told in replies:
            if not reply.done():
                reply.set_result(told)

    async def _look(self) -> None:
        self._is_to_look = False
        if not await self._append([]):
            self._mailbox.appendleft(self._recover(self._mailbox))

    def _recover(self, waiting: Iterable[Waiting]) -> Waiting:
        """The state was read from the log anew; what is under way here, or has ended since, goes on."""
        ended = {(one.given.step_id, one.given.attempt) for one in waiting if isinstance(one.given, ENDS)}
        under_way = frozenset({*self._calls, *self._taken_up, *ended})
        return Waiting(Recover(0, under_way, asked=frozenset(self._asked)))

    def _take(self) -> list[Waiting]:
        taken, self._mailbox = list(self._mailbox), deque()
        return taken

    async def _read(self, waiting: Waiting) -> Waiting:
        """What an update brought, as an input; a version of the plan is read from the log."""
        if not isinstance(waiting.given, dict):
            return waiting
        version = waiting.given.get("version")
        if version is None:
            return waiting._replace(given=input_from(waiting.given, None))
        await self._learn(int(version))
        return waiting._replace(given=input_from(waiting.given, self._known.plans[int(version)]))

    def _decided(
        self, taken: list[Waiting]
    ) -> tuple[list[Event], list[RunCommand], list[tuple["asyncio.Future[dict[str, Any]]", dict[str, Any]]]]:
        now = _now_ms()
        events: list[Event] = []
        commands: list[RunCommand] = []
        replies: list[tuple[asyncio.Future[dict[str, Any]], dict[str, Any]]] = []
        for given, asked, reply in taken:
            told: dict[str, Any] = {"reasons": [], "events": 0, "expired": None}
            if asked and not asked.get("again") and asked.get("requestId") in self._done | keys_in(events):
                told["done"] = True
            elif asked and asked.get("deadline") is not None and now > asked["deadline"]:
                told["expired"] = now
            else:
                verdict = decide(self._run, at(given, now), self._known.catalog)
                events += _marked(verdict.events, asked)
                commands += verdict.commands
                told["reasons"] = [reason.wire() for reason in verdict.reasons]
                told["events"] = len(verdict.events)
            if reply is not None:
                replies.append((reply, told))
        return events, commands, replies

    async def _append(self, events: list[Event]) -> bool:
        """Whether the events are in the log; where it holds others, the state is that of the log now."""
        done = await self._led(APPEND, self._run_id, self._count, write_events(events))
        if done:
            self._count += len(events)
            self._done |= keys_in(events)
        else:
            await self._load()
        return bool(done)

    # -- what is known -------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        self._known = await self._fetch(None)
        self._run = self._known.state(self._run_id)
        self._count = len(self._known.events)
        self._done = keys_in(self._known.events)

    async def _learn(self, version: int) -> None:
        """Know another version of the plan, and the tools that it names."""
        if version not in self._known.plans:
            more = await self._fetch(version)
            specs = {spec.name: spec for known in (self._known, more) for spec in known.catalog.specs()}
            self._known = replace(
                self._known,
                plans={**self._known.plans, **more.plans},
                catalog=type(more.catalog)(specs.values()),
                queues={**self._known.queues, **more.queues},
            )

    async def _fetch(self, version: int | None) -> Known:
        written, number, upto, more = b"", 0, 0, True
        while more:
            part: bytes = await self._led(FETCH, self._run_id, version, number, upto, result_type=bytes)
            head, _, body = part.partition(b"\n")
            upto, more = int(head[1:]), head[:1] == b"+"
            written += body
            number += 1
        return read_known(written)

    async def _led(self, name: str, *args: Any, result_type: type = bool) -> Any:
        """Ask the process that leads, which is this one; where it ends or loses the lead, the next one is asked."""
        while True:
            try:
                return await workflow.execute_local_activity(
                    name, args=args, result_type=result_type, start_to_close_timeout=YEAR, retry_policy=PATIENT
                )
            except ActivityError:
                pass
            except ApplicationError as error:
                if error.type != NOT_LEADING:
                    raise
            await asyncio.sleep(ASK_AGAIN_S)

    # -- doing ---------------------------------------------------------------------------------------------------

    def _put(self, given: Any) -> None:
        self._mailbox.append(Waiting(given))

    def _carry_out(self, command: RunCommand) -> None:
        match command:
            case StartStep():
                self._start(command)
            case StopStep():
                self._stop(command)
            case SetTimer():
                self._set_timer(command)
            case JudgeStep():
                self._asked.add(command.step_id)
                self._beside(self._judge(command))
            case ProbeStep():
                self._asked.add(command.step_id)
                self._taken_up[command.step_id, command.attempt] = command
                self._beside(self._probe(command))
            case LeaseMachine():
                self._asked.add(command.step_id)
                self._beside(self._lease(command))

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._bug = task.exception()

    def _activity(
        self,
        name: str,
        tool: str,
        order: dict[str, Any],
        *,
        retry: RetryPolicy = ONCE,
    ) -> "workflow.ActivityHandle[Any]":
        run = {
            "runId": self._run_id,
            "correlationId": self._run.correlation_id,
            "workspace": self._run.plan.workspace,
            "heartbeatS": self._patience.total_seconds(),
        }
        return workflow.start_activity(
            name,
            args=[run, order],
            task_queue=self._known.queues.get(tool),
            result_type=dict,
            start_to_close_timeout=YEAR,
            schedule_to_start_timeout=UNTAKEN,
            heartbeat_timeout=self._patience,
            retry_policy=retry,
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )

    def _start(self, command: StartStep) -> None:
        if workflow.info().get_current_history_length() > FULL:
            self._kept_back.append(command)  # the log has it as started: the next execution hands it over
            return
        attempt = (command.step_id, command.attempt)
        self._calls[attempt] = self._activity(CALL, command.tool, document_of(command))
        self._beside(self._call(attempt, command, self._calls[attempt]))

    async def _call(self, attempt: Attempt, command: StartStep, call: "workflow.ActivityHandle[Any]") -> None:
        try:
            given: Any = ended_from(await call)
        except ActivityError as error:
            spec = self._known.catalog.get(command.tool)
            given = what_became_of(command, error, is_physical=spec is None or spec.effect == "physical")
        if self._calls.pop(attempt, None) is None:
            return  # it was given up
        timer = self._timers.pop(timeout_key(*attempt), None)
        if timer is not None:
            timer.cancel()
        self._put(given)

    def _stop(self, command: StopStep) -> None:
        attempt = (command.step_id, command.attempt)
        call, begun = self._calls.get(attempt), self._taken_up.get(attempt)
        if call is not None:
            call.cancel()
        elif begun is not None:
            self._beside(self._tell_to_stop(begun))
        else:
            self._put(stopped(attempt))
            return
        self._beside(self._give_up_on(attempt))

    async def _tell_to_stop(self, begun: ProbeStep) -> None:
        """What a lost worker began has no call here: the machine is told, and the next probe says what became of it."""
        try:
            await self._activity(STOP, begun.tool, document_of(begun))
        except ActivityError:
            workflow.logger.warning("a tool could not be told to stop")

    async def _give_up_on(self, attempt: Attempt) -> None:
        """A tool that does not stop when told to is left behind after a while; the step ends all the same."""
        try:
            await workflow.wait_condition(lambda: not self._is_under_way(attempt), timeout=STOP_GRACE_MS / 1000)
        except TimeoutError:
            self._calls.pop(attempt, None)
            self._taken_up.pop(attempt, None)
            self._put(stopped(attempt))

    def _is_under_way(self, attempt: Attempt) -> bool:
        return attempt in self._calls or attempt in self._taken_up

    def _set_timer(self, command: SetTimer) -> None:
        if command.key not in self._timers:
            self._timers[command.key] = asyncio.create_task(self._wait(command))

    async def _wait(self, command: SetTimer) -> None:
        await asyncio.sleep(max(0, command.at - _now_ms()) / 1000)
        self._timers.pop(command.key, None)
        self._put(TimerFired(0, command.key))

    async def _judge(self, command: JudgeStep) -> None:
        shown = await self._ask(JUDGE, command)
        self._asked.discard(command.step_id)
        says = "What it would do could not be found out: no worker has answered."
        judgement = judgement_from(shown or {"destructive": True, "says": says})
        self._put(StepJudged(0, command.step_id, command.covers, judgement))

    async def _probe(self, command: ProbeStep) -> None:
        shown = await self._ask(PROBE, command)
        self._asked.discard(command.step_id)
        says = "The machine could not be asked: no worker has answered."
        answer = answer_from(shown or {"state": "unknown", "says": says})
        if answer.state != "running":
            self._taken_up.pop((command.step_id, command.attempt), None)
        self._put(StepProbed(0, command.step_id, command.attempt, answer))

    async def _ask(self, name: str, command: JudgeStep | ProbeStep) -> dict[str, Any] | None:
        """What a tool answers, on whichever worker has it; a worker that is lost meanwhile is replaced by another."""
        try:
            shown: dict[str, Any] = await self._activity(
                name, command.tool, document_of(command), retry=RetryPolicy(maximum_attempts=5)
            )
        except ActivityError:
            return None
        return shown

    async def _lease(self, command: LeaseMachine) -> None:
        """Whoever leads looks whether the machine is free, and hands that in, while nobody else can be told so."""
        await workflow.execute_activity(
            LEASE,
            args=[self._run_id, document_of(command)],
            start_to_close_timeout=YEAR,
            heartbeat_timeout=self._patience,
            retry_policy=PATIENT,
        )
        self._asked.discard(command.step_id)


def _now_ms() -> int:
    return int(workflow.time() * 1000)


def keys_in(events: Iterable[Event]) -> set[str]:
    """The keys of the writes that asked for these events."""
    return {event.about["requestId"] for event in events if "requestId" in event.about}


def _marked(events: tuple[Event, ...], asked: dict[str, Any] | None) -> list[Event]:
    """The events, with the key of the write that asked for them in the first."""
    if not events or not asked or not asked.get("requestId"):
        return list(events)
    about = {**events[0].about, "requestId": asked["requestId"], "requestHash": asked["requestHash"]}
    return [replace(events[0], about=about), *events[1:]]
