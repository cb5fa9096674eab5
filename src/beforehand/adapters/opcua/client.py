"""A cell controller over OPC UA: a command goes out once, with an id and a deadline, and is asked about by its id.

Nothing is taken for granted. Before it is sent, what can be seen to be wrong is refused. When the answer does not come,
the controller is asked what became of it as soon as it answers again: done, running, never begun, or forgotten, which
leaves it to a person. A command is never sent twice. What Probe calls done counts once State shows it too.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from beforehand.adapters.cell_rules import CellRules
from beforehand.adapters.opcua.link import Link, LinkDownError
from beforehand.adapters.opcua.model import (
    CONTROL,
    DONE,
    FAILED,
    KNOWN_ID,
    LOST,
    NEVER,
    RUNNING,
    Beat,
    PlcState,
    Probed,
    command_values,
    read_beat,
    read_probed,
    read_reply,
    tool_name,
)
from beforehand.adapters.opcua.options import KEYS, Access
from beforehand.adapters.opcua.sent import KEPT, Sent, SentCommands
from beforehand.model.errors import Fault, InDoubtError
from beforehand.model.machine import options_of, spelled
from beforehand.ports.cell import CellCommand, CellReport, ControllerRequest
from beforehand.ports.tool import ProbeAnswer

ARRIVE_MS = 3000
"""How long a command may be on its way; the controller refuses one that comes later."""
PATIENCE_S = 5.0
"""How long looks at the cell wait for a controller that does not answer any more."""
LOOK_S = 1.0
"""How often the controller is asked where no notification comes."""
SETTLE_S = 2.0
"""How long State may lag behind Probe, which calls a command done: some controllers write one after the other."""


class OpcuaCell:
    """One cell. It connects when it is first asked something."""

    def __init__(
        self,
        link: Callable[[Callable[[], Any]], Link],
        rules: CellRules,
        sent: SentCommands,
        before_send: Callable[[], None],
    ) -> None:
        self._link = link(self._keep_alive)
        self._before_send = before_send
        self._rules = rules
        self._sent = sent
        self._in_control = False
        self._away_since: float | None = None
        """Since when looks at the cell have found nobody."""
        self._owes_hold = False
        """Everything is held, and the controller could not be told yet."""
        self._unsettled: dict[str, float] = {}
        """Commands of which Probe and State say different things, and since when."""

    # -- what it is asked ----------------------------------------------------------------------------------------

    async def report(self) -> CellReport:
        """A controller that has just been cut off is given a moment to come back; once, not with every look."""
        while True:
            try:
                state = await self._link.state()
            except LinkDownError:
                now = asyncio.get_running_loop().time()
                self._away_since = now if self._away_since is None else self._away_since
                left_s = self._away_since + PATIENCE_S - now
                if left_s <= 0:
                    raise
                await self._link.until_retry(left_s)
            else:
                self._away_since = None
                return self._report(state)

    def _report(self, state: PlcState) -> CellReport:
        tool = tool_name(state.tool)
        if not state.position:
            return CellReport(None, tool, state.error or "The controller says that the robot is between positions.")
        if state.position not in self._rules.positions:
            return CellReport(None, tool, f"The controller says {state.position[:60]!r}, which is not in the scene.")
        return CellReport(state.position, tool)

    async def did(self, key: str) -> ProbeAnswer:
        try:
            return (await self._asked(key))[0]
        except LinkDownError as down:  # it will say so itself when it answers again
            return ProbeAnswer("running", says=f"{down.says} It is asked again.")

    async def _asked(self, key: str) -> tuple[ProbeAnswer, PlcState | None]:
        """What became of a command by Probe, and the State that was read with it where that matters."""
        probed = await self._probe(key)
        if probed.status in (FAILED, LOST):
            return ProbeAnswer("failed" if probed.status == FAILED else "unknown", says=probed.says), None
        state = await self._link.state()
        if probed.status == NEVER:
            return self._never(key, probed, state), state
        if probed.status == DONE:
            return self._finished(key, probed, state), state
        return ProbeAnswer("running", says="The controller is still working on it."), state

    def _finished(self, key: str, probed: Probed, state: PlcState) -> ProbeAnswer:
        """Probe calls it done. As long as State shows it as anything else, that is believed of neither."""
        now = _shown(state.position, state.tool)
        shown = _shown(probed.position, probed.tool) if probed.position else None  # it may name no place
        is_about_it = state.command_id == key
        status = (RUNNING if state.busy else state.result or DONE) if is_about_it else DONE
        shows_it = shown == now or (shown is None and is_about_it)
        if status == DONE and ((state.position and shows_it) or self._sent.is_before(key, state.command_id)):
            self._unsettled.pop(key, None)
        elif not self._has_settled(key):
            return ProbeAnswer("running", says="Its Probe says that it is done; its State does not show that yet.")
        if status == DONE:
            return ProbeAnswer("happened", shown, "The controller finished it.")
        return _at_odds({**(shown or {}), "status": DONE}, {**now, "status": status})

    def _has_settled(self, key: str) -> bool:
        """Whether Probe and State have had the time to say the same."""
        now = asyncio.get_running_loop().time()
        self._unsettled = dict(list(self._unsettled.items())[-KEPT:])
        return now - self._unsettled.setdefault(key, now) >= SETTLE_S

    def _never(self, key: str, probed: Probed, state: PlcState) -> ProbeAnswer:
        """The controller does not know the command: it never came, it is still on its way, or it was forgotten."""
        sent = self._sent.get(key)
        if state.command_id == key:  # and yet it shows it
            status = RUNNING if state.busy else state.result or "taken"
            return _at_odds({"status": NEVER}, {**_shown(state.position, state.tool), "status": status})
        if sent is None:
            return ProbeAnswer("not_begun", says="The controller never started it.")
        if sent.memory != probed.memory:
            says = "The controller has forgotten its commands since this one was sent; nobody knows how far it came."
            return ProbeAnswer("unknown", says=says)
        if probed.now <= sent.deadline:
            return ProbeAnswer("running", says="It may still be on its way to the controller.")
        return ProbeAnswer("not_begun", says="It did not reach the controller in time, and is not begun any more.")

    async def _probe(self, key: str) -> Probed:
        return read_probed(await self._link.call("Probe", key), self._link.url)

    # -- what it is told -----------------------------------------------------------------------------------------

    async def do(self, command: CellCommand, progress: Callable[[float], None]) -> CellReport:
        known = await self._probe(command.key)
        if known.status == DONE:
            progress(100)
            return await self._after(command.key)
        if known.status != NEVER:
            raise Fault(f"{command.key} was begun before: {known.says}", code="cell.busy", untouched=True)
        beat = await self._take_control()
        self._refuse(command, await self._link.state())
        wrong = await self._execute(command, beat)
        return await self._followed(command.key, wrong, _Rising(progress))

    def _refuse(self, command: CellCommand, state: PlcState) -> None:
        if state.busy:
            raise Fault(f"The robot is at {state.command_id or 'something'} now.", code="cell.busy", untouched=True)
        self._rules.refuse(command, self._report(state).position, tool_name(state.tool))

    async def _execute(self, command: CellCommand, beat: Beat) -> Fault | None:
        """Send it, once. What goes wrong on the way leaves open whether it was taken; a refusal is raised."""
        deadline = beat.now + ARRIVE_MS
        await asyncio.to_thread(self._sent.add, command.key, Sent(deadline, beat.memory))
        self._before_send()
        try:
            answer = await self._link.execute(self._sent.client, command_values(command, deadline))
            reply = read_reply("Execute", answer, self._link.url)
        except Fault as fault:
            return fault
        if not reply.taken and reply.code != KNOWN_ID:
            await asyncio.to_thread(self._sent.forget, command.key)
            raise Fault(reply.says, code=reply.code or "cell.refused", untouched=True)
        return None

    async def _followed(self, key: str, wrong: Fault | None, shown: "_Rising") -> CellReport:
        """What became of a command that was sent, however long the controller does not answer."""
        while True:
            try:
                answer, state = await self._asked(key)
            except LinkDownError as down:
                if self._link.closed:
                    raise InDoubtError(down.says) from None
                await self._link.until_retry()
                continue
            except Fault as fault:
                raise InDoubtError(fault.says) from fault
            if answer.state != "running":
                _refuse_unfinished(answer, wrong)
                shown(100)
                return await self._after(key, answer)
            if state is not None and state.command_id == key:
                shown(state.progress)
            await self._link.change(LOOK_S)

    async def _after(self, key: str, answer: ProbeAnswer | None = None) -> CellReport:
        """How things were right after a command that is done; how they are now, where no answer names a place."""
        if answer is not None and answer.value is not None:
            return CellReport(answer.value["current_position"], answer.value["current_tool"])
        try:
            return replace(await self.report(), own=False)
        except Fault as fault:  # it was done, so this must not pass for a command that was never begun
            raise InDoubtError(f"{key} is done, and how things are since is not known: {fault.says}") from fault

    async def stop(self, key: str) -> None:
        await self._link.call("Stop", key)

    async def change(self, seconds: float) -> None:
        await self._link.change(seconds)

    # -- held with everything ------------------------------------------------------------------------------------

    @property
    def can_hold(self) -> bool:
        return self._link.can_hold

    async def hold(self) -> None:
        """Said again when the line is back, where it could not be said now."""
        self._owes_hold = True
        await self._link.state()  # connected, it is known whether the controller can
        await self._say_hold()

    async def _say_hold(self) -> None:
        if self._link.can_hold:
            await self._link.call("Hold")
        self._owes_hold = False

    async def go_on(self) -> None:
        """Not said later, where it cannot be said now: nobody would expect the robot to move then."""
        self._owes_hold = False
        await self._link.state()
        if self._link.can_hold:
            await self._take_control()
            reply = read_reply("GoOn", await self._link.call("GoOn", self._sent.client), self._link.url)
            if not reply.taken:
                raise Fault(reply.says, code=reply.code or "cell.refused", untouched=True)

    async def place(self, position: str, tool: str) -> None:
        await self._take_control()
        answer = await self._link.call("Place", self._sent.client, position, tool)
        reply = read_reply("Place", answer, self._link.url)
        if not reply.taken:
            raise Fault(reply.says, code=reply.code or "cell.refused", untouched=True)

    # -- control -------------------------------------------------------------------------------------------------

    async def _take_control(self) -> Beat:
        beat = read_beat(await self._link.call("Heartbeat", self._sent.client), self._link.url)
        self._in_control = beat.granted
        if not beat.granted:
            raise Fault(
                f"The controller at {self._link.url} is controlled by {beat.controlled_by or 'somebody else'} now.",
                code=CONTROL,
                transient=True,
                untouched=True,
                hint="Have it give control back there; it also lapses when that one is silent.",
            )
        return beat

    async def _keep_alive(self) -> None:
        """Every second: keep control once it was taken, else only see that the controller is there."""
        if self._owes_hold:
            await self._say_hold()
        if self._in_control:
            await self._link.call("Heartbeat", self._sent.client)
        else:
            await self._link.state()

    async def close(self) -> None:
        if self._in_control:
            self._in_control = False
            with suppress(Fault):  # it lapses by itself
                await self._link.call("Release", self._sent.client)
        await self._link.close()


class _Rising:
    """Progress that never falls, whatever the controller says."""

    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self._highest = 0.0
        progress(0)

    def __call__(self, percent: float) -> None:
        if self._highest < percent <= 100:
            self._highest = percent
            self._progress(percent)


def _shown(position: str, tool: str) -> dict[str, Any]:
    return {"current_position": position or None, "current_tool": tool_name(tool)}


def _at_odds(reported: dict[str, Any], now: dict[str, Any]) -> ProbeAnswer:
    """Probe and State say different things of one command, so neither is believed."""
    says = f"The controller's Probe says {reported['status']}, and its State shows the command as {now['status']}."
    return ProbeAnswer("unknown", says=says, difference={"reported": reported, "now": now, "says": [says]})


def _refuse_unfinished(answer: ProbeAnswer, wrong: Fault | None) -> None:
    """A Fault for every end of a command but that it is done."""
    if answer.state == "not_begun":
        says = wrong.says if wrong is not None else answer.says
        raise Fault(says, code="cell.late", transient=isinstance(wrong, LinkDownError), untouched=True)
    if answer.state == "failed":
        raise Fault(answer.says, code="cell.failed")
    if answer.state != "happened":
        raise InDoubtError(answer.says or "The controller does not know how far it came.", answer.difference)


def open_opcua_cell(request: ControllerRequest) -> OpcuaCell:
    """The controller that a checked scene names. Nothing is connected yet, and no secret is looked up."""
    options = spelled(options_of(request.scene.controller), KEYS)
    url = str(options["url"]).strip()

    def access() -> Access:
        return Access(**{**request.with_secrets(options), "url": url})

    def link(beat: Callable[[], Any]) -> Link:
        return Link(access, url, beat)

    return OpcuaCell(link, CellRules(request.scene), SentCommands(request.kept), request.before_send)
