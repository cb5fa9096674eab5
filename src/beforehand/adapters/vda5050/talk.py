"""The conversation with one vehicle: what it says in, what it is told out. It does no I/O and reads no clock.

A vehicle takes a new order only when it has none, so an old one is called off first, and charging is ended. An order
counts as taken once the vehicle shows it; until then it is said again, which changes nothing for one that has it. A
vehicle that had an order and now names none has forgotten it: that counts as a restart.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import hypot
from typing import Any

from beforehand.adapters.vda5050 import orders, patience
from beforehand.adapters.vda5050.freshness import moved
from beforehand.adapters.vda5050.hall import Hall
from beforehand.adapters.vda5050.messages import Connection, Factsheet, State, Visualization, decoded
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.adapters.vda5050.orders import DEVIATION_M, PlannedOrder
from beforehand.adapters.vda5050.outgoing import Outgoing
from beforehand.adapters.vda5050.presence import ONLINE, Presence
from beforehand.adapters.vda5050.reading import (
    CANCELLED,
    DONE,
    FAILED,
    NONE,
    RUNNING,
    WAITING,
    Reading,
    error_says,
    has_failed,
    is_active,
    read_state,
    refusal,
    report_of,
)
from beforehand.model.errors import UnavailableError
from beforehand.model.robot import (
    Ack,
    CancelTarget,
    DriveOn,
    GoTarget,
    PauseRobot,
    ResumeRobot,
    RobotCommand,
    Telemetry,
)
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkStanding

log = Log("beforehand.vda5050")
_LOAD_AFTER = {"pick": "loaded", "drop": "empty"}


@dataclass(slots=True)
class Talk:
    robot_id: str
    options: VdaOptions
    hall: Hall
    keep: Callable[[], None] = lambda: None
    boot: int = 1
    order: PlannedOrder | None = None
    """The order it was last given."""
    shown: bool = False
    """Whether it has shown that it has it."""
    began: bool = False
    over: int | None = None
    """How the order ended; what is said of it later changes nothing."""
    told: list[Telemetry | Ack] = field(default_factory=list)
    state: State | None = None
    _actions: tuple[str, ...] = ()
    """The types of actions that its factsheet names."""
    _waiting: GoTarget | None = None
    """An order that goes out as soon as the vehicle has let go of the one before."""
    _announced: str | None = None
    """The key of an order that was said to be under way while it waited so."""
    _cancelling: bool = False
    _cancelled_key: str | None = None
    """An order that was called off before it went out."""
    _paused_by_us: bool = False
    _seq: int = 0
    _sent_ms: int = 0
    _clings_until: int = -(10**9)
    """Until when a refusal of the order is not believed, as it was sent while the one before was not quite let go."""
    _repeats: bool = True
    """Whether an order that it does not show is said again: not after its line was down, when it may have had it."""
    _waiting_ms: int = 0
    _let_go_ms: int = -(10**9)
    _stops: int = 0
    _asked_ms: int = -(10**9)
    _asked: list[str] = field(default_factory=list)
    _answers_requests: bool = False
    _said_ms: int = -(10**9)
    _done_ms: int | None = None
    _errors_before: frozenset[str] = frozenset()
    _actions_before: frozenset[str] = frozenset()
    _answers: dict[str, Ack] = field(default_factory=dict)
    _to: Outgoing = field(init=False)
    _presence: Presence = field(init=False)

    def __post_init__(self) -> None:
        self._presence = Presence(self.robot_id)
        self._to = Outgoing(self.robot_id, self.hall.log.key(self.hall.scene), self.options)

    @property
    def out(self) -> list[tuple[str, dict[str, Any]]]:
        """Messages to be sent: the name of the topic, and the document."""
        return self._to.messages

    # -- commands

    def command(self, command: RobotCommand, now: int) -> None:
        """Tell the vehicle. UnavailableError where it has not been heard and so cannot be told."""
        known = self._answers.get(command.key)
        if known is not None:
            self.told.append(replace(known, ts=now))
            return
        if self.state is None or self._presence.is_away:
            connection = self._presence.connection
            said = f"it said {connection}" if connection else "it has not reported yet"
            raise UnavailableError(f"{self.robot_id} cannot be reached: {said}.", code="robot.offline")
        match command:
            case GoTarget():
                self._go(command, self.state, now)
            case DriveOn():
                self._drive_on(command, now)
            case PauseRobot():
                self._paused_by_us = True
                self._to.act("startPause", now, command.key)
            case ResumeRobot():
                self._resume(command, self.state, now)
            case CancelTarget():
                self._cancel(command, self.state, now)

    def _go(self, command: GoTarget, state: State, now: int) -> None:
        if self.order is not None and self.order.key == command.key and self.over is None:
            self._send_order(now)
            return
        foreign = is_active(state) and not self._is_ours(state.order_id)
        if foreign:
            says = f"{self.robot_id} carries out the order {state.order_id[:100]} of somebody else."
            self._answer(command.key, now, "robot.busy", says)
        elif command.payload.get("id") not in self.hall.roads:
            says = f"{self.robot_id} is sent to a node that is not in the scene: {command.payload.get('id')!r}."
            self._answer(command.key, now, "target.unknown", says)
        else:
            self._waiting, self._waiting_ms, self._stops, self._let_go_ms = command, now, 0, -(10**9)
            if state.paused and self._paused_by_us:
                self._paused_by_us = False
                self._to.act("stopPause", now)
            self._try_start(state, now)

    def _drive_on(self, command: DriveOn, now: int) -> None:
        """More of the way: the base grows, and the rest of the order is what is meant to follow."""
        waiting, order = self._waiting, self.order
        if waiting is not None and waiting.key == command.order_key and waiting.way is not None:
            way = (*waiting.way, *command.unknown_to(len(waiting.way)))
            self._waiting = replace(waiting, way=way, horizon=command.horizon)
            self._answer(command.key, now)
        elif order is None or order.key != command.order_key or order.bases is None or self.over is not None:
            says = f"{self.robot_id} does not have the order {command.order_key}."
            self._answer(command.key, now, "order.unknown", says)
        else:
            more = command.unknown_to(order.released)
            if more:
                base = (*(stop.node_id for stop in order.stops[: order.released]), *more)
                self.order = orders.driven_on(order, self.hall.along((*base, *command.horizon)), len(base))
                self.keep()
            if self.shown:  # else with the first state that shows it, as it may never have come
                self._send_order(now, again=not more)
            self._answer(command.key, now)

    def _is_ours(self, order_id: str) -> bool:
        return self.hall.gave(order_id) or (self.order is not None and self.order.key == order_id)

    def _resume(self, command: ResumeRobot, state: State, now: int) -> None:
        if state.paused or self._paused_by_us:
            self._paused_by_us = False
            self._to.act("stopPause", now, command.key)
        else:
            self._answer(command.key, now, says="Nothing was paused.")

    def _cancel(self, command: CancelTarget, state: State, now: int) -> None:
        if self._waiting is not None:
            self._cancelled_key, self._waiting = self._waiting.key, None
        unshown = self.order is not None and self.over is None and not self.shown
        if unshown or (is_active(state) and self._is_ours(state.order_id)):
            self._cancelling = True
            self._to.act("cancelOrder", now, command.key)
        else:
            self._answer(command.key, now, says="Nothing was running.")

    # -- orders

    def _try_start(self, state: State, now: int) -> None:
        """Give out the waiting order, if nothing stands in its way; else clear that away first."""
        command = self._waiting
        if command is None:
            return
        if now - self._waiting_ms > patience.LET_GO_PATIENCE_MS:
            self._waiting = None
            says = f"{self.robot_id} does not let go of its order {state.order_id[:100]}."
            self._answer(command.key, now, "robot.busy", says)
        elif is_active(state) and self._is_ours(state.order_id):
            if now - self._let_go_ms >= patience.AGAIN_MS:
                self._cancelling, self._let_go_ms = True, now
                self._to.act("cancelOrder", now)
        elif (
            state.battery_state is not None
            and state.battery_state.charging
            and self._stops < patience.STOP_CHARGING_TRIES
        ):
            if now - self._let_go_ms >= patience.AGAIN_MS:
                self._stops, self._let_go_ms = self._stops + 1, now
                self._to.act("stopCharging", now)
        else:
            self._start(command, state, now)

    def _start(self, command: GoTarget, state: State, now: int) -> None:
        self._waiting = None
        reading = read_state(state, None, self.hall.roads.at)
        target = str(command.payload["id"])
        if command.way is not None and command.way[0] != reading.node_id:
            says = f"{self.robot_id} is not where its way begins, at {command.way[0]}."
            self._answer(command.key, now, "robot.busy", says)
            return
        stops = None if reading.node_id is None else self.hall.way_of(command, reading.node_id)
        if stops is None:
            where = f"from {reading.node_id}" if reading.node_id else "as it does not say where it is"
            self._answer(command.key, now, "route.none", f"There is no way {where} to {target} for {self.robot_id}.")
            return
        order = orders.planned(command.key, command.payload, stops, self.hall.stations.get(target), command.commit_m)
        if command.way is not None:
            order = orders.granted(order, len(command.way))
        if order.action is None and target in self.hall.chargers and self._can("startCharging"):
            order = orders.charging(order)
        position = state.agv_position
        off_m = hypot(position.x - stops[0].x, position.y - stops[0].y) if position else 0.0
        map_id = (position.map_id if position else "") or self.hall.scene
        self.order = replace(order, map_id=map_id, slack_m=max(DEVIATION_M, round(off_m + DEVIATION_M, 2)))
        self.shown = self.began = self._cancelling = False
        self._repeats = True
        self._clings_until = now + patience.CLING_PATIENCE_MS if state.order_id and state.node_states else now
        self.over = self._done_ms = self._cancelled_key = None
        self._errors_before = frozenset(error_says(one) for one in state.errors)
        self._actions_before = frozenset(one.action_id for one in state.action_states)
        self._send_order(now)
        self.keep()

    def _can(self, action: str) -> bool:
        """Whether it knows an action, as far as it has said what it knows."""
        return not self._actions or action in self._actions

    def _send_order(self, now: int, again: bool = False) -> None:
        assert self.order is not None
        self._sent_ms = now
        order = self.order if self.shown else orders.as_begun(self.order)
        if again and self.shown and self.state is not None and self.state.order_update_id is not None:
            order = orders.said_again(order, self.state.order_update_id)
        self._to.say("order", orders.order_document(order), now)

    # -- what the vehicle says

    def hear(self, topic: str, payload: object, now: int) -> None:
        """One message of the vehicle's; what cannot be read is told once and passed over."""
        match topic:
            case "state":
                state = decoded(State, payload)
                if isinstance(state, State):
                    self._hear_state(state, now)
                else:
                    self._presence.complain(topic, state, now)
            case "connection":
                connection = decoded(Connection, payload)
                if isinstance(connection, Connection):
                    self._hear_connection(connection.connection_state, now)
                else:
                    self._presence.complain(topic, connection, now)
            case "factsheet":
                factsheet = decoded(Factsheet, payload)
                if isinstance(factsheet, Factsheet):
                    self._actions = tuple(factsheet.actions)
            case "visualization":
                seen = decoded(Visualization, payload)
                if isinstance(seen, Visualization):
                    self._see(seen, now)
            case _:
                pass

    def _see(self, seen: Visualization, now: int) -> None:
        """Where it is between two states; what else it said lately stays so."""
        state = self.state
        late = now - self._presence.heard_ms > patience.STATE_AGE_MS or now - self._said_ms < patience.SEEN_EVERY_MS
        if state is None or late or self._presence.connection != ONLINE or (news := moved(state, seen)) is None:
            return
        self.state = news
        if self.order is not None and self.over is None and news.order_id == self.order.key:
            self._release(self.order, news, now)
        self._report(news, now)

    def _hear_connection(self, said: str, now: int) -> None:
        if not self._presence.connects(said, now):
            return
        if said != ONLINE:
            self._repeats = False
        else:
            self._answers_requests = False
            self.ask(now)
            self._to.act("factsheetRequest", now)

    def ask(self, now: int) -> None:
        """Ask for its state."""
        self._asked_ms = now
        self._asked = [*self._asked[-4:], self._to.act("stateRequest", now)]

    def _hear_state(self, state: State, now: int) -> None:
        if not self._presence.hears(state, now):
            return
        self.state = state
        if any(one.action_id in self._asked for one in state.action_states):
            self._answers_requests = True
        for key, refused in self._to.answered(state):
            self._answer(key, now, "robot.refused" if refused else "", refused)
        self._follow_order(state, now)
        self._try_start(state, now)
        self._report(state, now)

    def _follow_order(self, state: State, now: int) -> None:
        order = self.order
        if order is None or self.over is not None:
            return
        if state.order_id == order.key:
            if not self.shown:
                self.shown = True
                self._answer(order.key, now)
                self.keep()
                if order.bases is not None and (state.order_update_id or 0) < order.update_id:
                    self._send_order(now, again=True)
            self._release(order, state, now)
        elif not self.shown:
            self._look_for_refusal(order, state, now)
        elif not state.order_id:
            log.warning("a robot has forgotten its order", robot=self.robot_id, order=order.key)
            self.boot, self.order, self.shown = self.boot + 1, None, False
            self.keep()

    def _look_for_refusal(self, order: PlannedOrder, state: State, now: int) -> None:
        error = refusal(state, order, self._errors_before)
        if error is not None and now < self._clings_until:
            return  # it is said again meanwhile
        if error is not None and order.action is not None and order.action.action_type == "startCharging":
            self.order, self._actions = replace(order, action=None), (*self._actions, "none known")
            self._errors_before = frozenset(error_says(one) for one in state.errors)
            self._send_order(now)
        elif error is not None:
            self.order = None
            says = f"{self.robot_id} refused the order: {error_says(error)}."
            self._answer(order.key, now, f"vda5050.{error.error_type or 'orderError'}"[:100], says)
        elif self._cancelling and not self._to.cancels:
            self.order, self._cancelled_key = None, order.key

    def _release(self, order: PlannedOrder, state: State, now: int) -> None:
        if self._cancelling or order.all_released:
            return
        reading = read_state(state, order, self.hall.roads.at)
        if orders.is_due(
            order, self.hall.left_m(reading, order.target), state.last_node_id, bool(state.new_base_request)
        ):
            self.order = orders.updated(order)
            self._send_order(now)
            self.keep()

    # -- what we say of it

    def _report(self, state: State, now: int) -> None:
        reading = read_state(state, self.order, self.hall.roads.at, self._cancelling, self._actions_before)
        status, task_id = self._status(reading, state, now)
        self._seq += 1
        self._said_ms = now
        told = report_of(self.robot_id, reading, now, self._seq, self.boot, status, task_id)
        self.told.append(told._replace(names_newest=self._waiting is None and task_id == state.order_id))

    def _status(self, reading: Reading, state: State, now: int) -> tuple[int, str | None]:
        if self._waiting is not None:
            self._announced = self._waiting.key
            return RUNNING, self._waiting.key
        if self._cancelled_key is not None and not is_active(state):
            return CANCELLED, self._cancelled_key
        order = self.order
        if order is not None and order.key == self._announced and not (self.shown or self._cancelling):
            return RUNNING, order.key  # it has just gone out, and what is shown is still the one before
        if order is None or state.order_id != order.key:
            return reading.status, reading.task_id
        if self.over is not None:
            return self.over, order.key
        status = self._settled(reading, state, order, now)
        if status in (RUNNING, 3):
            self.began = True
        if status in (DONE, FAILED, CANCELLED):
            self.over = status
        return status, reading.task_id if status != WAITING else order.key

    def _settled(self, reading: Reading, state: State, order: PlannedOrder, now: int) -> int:
        if reading.status == CANCELLED and not (self.began or self._cancelling or has_failed(state, order.key)):
            return WAITING
        if reading.status == NONE:
            return self._of_silent(order, reading, now)
        if reading.status != DONE or order.action is None:
            return reading.status
        wanted = _LOAD_AFTER.get(order.action.action_type)
        if wanted is None or reading.load in (None, wanted):
            return DONE
        self._done_ms = now if self._done_ms is None else self._done_ms
        return DONE if now - self._done_ms >= patience.LOAD_PATIENCE_MS else RUNNING

    def _of_silent(self, order: PlannedOrder, reading: Reading, now: int) -> int:
        """It is at the place of its work and says nothing of that: it may be at it, until its load tells or for long
        enough."""
        self._done_ms = now if self._done_ms is None else self._done_ms
        wanted = None if order.action is None else _LOAD_AFTER.get(order.action.action_type)
        tells = reading.load is not None and reading.load == wanted
        return NONE if tells or now - self._done_ms >= patience.SILENT_WORK_MS else RUNNING

    # -- time passes

    def tick(self, now: int) -> None:
        """What is due by itself: asking a silent vehicle, and saying again what was not answered."""
        if self._presence.is_away:
            return
        silent_ms = now - self._presence.heard_ms
        hurried = self._done_ms is not None and self.over is None
        if silent_ms >= (500 if hurried else self.hall.poll_ms) and now - self._asked_ms >= self.hall.poll_ms / 2:
            self.ask(now)
        if self.state is None:
            return
        self._repeat(self.state, now)
        if silent_ms <= patience.STATE_AGE_MS and self._waiting is not None:
            self._try_start(self.state, now)
        order = self.order
        if order is None or self.over is not None or self._cancelling or now - self._sent_ms < patience.AGAIN_MS:
            return
        lost_update = self.shown and (self.state.order_update_id or 0) < order.update_id
        if (not self.shown and self._repeats) or (lost_update and self.state.order_id == order.key):
            self._send_order(now, again=True)

    def _repeat(self, state: State, now: int) -> None:
        """A vehicle that never answers requests and is known to be online is as it was when it last reported."""
        there = self._presence
        recent = there.connection == ONLINE and now - there.heard_ms <= patience.STATE_AGE_MS
        believed = recent and not self._answers_requests
        if believed and now - self._said_ms >= self.hall.poll_ms:
            self._report(state, now)

    def lost_line(self, now: int, says: str) -> None:
        """The line to the broker is gone."""
        self._presence.lost_line(now, says)

    def standing(self) -> LinkStanding:
        return self._presence.standing(f"{self.options.manufacturer}, serial number {self.options.serial}")

    # -- small things

    def _answer(self, key: str, now: int, code: str = "", says: str = "") -> None:
        ack = Ack(key, self.robot_id, now, not code, code, says)
        if says:
            self._presence.trouble = says, now
        self._answers[key] = ack
        if len(self._answers) > patience.ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]
        self.told.append(ack)

    def kept(self) -> dict[str, Any]:
        """What the next process needs."""
        order = self.order.wire() if self.order and self.over is None else None
        return {"boot": self.boot, "order": order, "shown": self.shown}

    def take_up(self, kept: Mapping[str, Any]) -> None:
        """What an earlier process kept."""
        self.boot = int(kept["boot"])
        if kept.get("order"):
            self.order, self.shown, self.began = PlannedOrder.kept(kept["order"]), bool(kept["shown"]), True
            self._repeats = False
