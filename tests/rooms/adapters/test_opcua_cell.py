"""A cell over OPC UA by what its controller answers, on a line that can be cut: sent once, and never guessed about."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.cell_rules import CellRules
from beforehand.adapters.opcua import client as client_module
from beforehand.adapters.opcua import sent as sent_module
from beforehand.adapters.opcua.client import ARRIVE_MS, OpcuaCell
from beforehand.adapters.opcua.link import LinkDownError
from beforehand.adapters.opcua.model import COMMAND_TYPES, PlcState, command_values, read_command
from beforehand.adapters.opcua.sent import Sent, SentCommands
from beforehand.adapters.opcua.trust import fingerprint, first_of_chain, refuse_stranger
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.errors import Fault, InDoubtError
from beforehand.ports.cell import OTHER_STATE, CellCommand, CellReport
from beforehand.ports.private_files import KeptFile

SCENE = read_cell({"kind": "cell", "name": "line", "positions": ["Home", "A"], "moves": [["Home", "A"]]})
MOVE = CellCommand("r1/a/1", "move", "A", seconds=2)
DOWN = LinkDownError("opc.tcp://cell", "The connection was cut.")
BUSY = PlcState("Home", "torch", True, MOVE.key, "running", "", 90.0, "m1", "")
ARRIVED = replace(BUSY, position="A", busy=False, result="done")


class Files:
    """Private files in memory."""

    are_shared = False

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    def read(self, name: str) -> bytes:
        return self.content.get(name, b"")

    def change(self, name: str, become: Callable[[bytes], bytes]) -> bytes:
        self.content[name] = become(self.read(name))
        return self.content[name]


class Line:
    """The line to a controller that does as it is scripted: `probes` are its answers, one after the other, the last
    one repeating; an error among them cuts the line for that question."""

    url = "opc.tcp://cell"

    def __init__(self) -> None:
        self.now = 10_000
        self.memory = "m1"
        self.closed = False
        self.can_hold = True
        self.holder = ""
        self.taken: Any = (True, "", "")
        self.probes: list[Any] = ["never"]
        self.reply: Any = (True, "", "")
        self.shown = PlcState("Home", "", False, "", "", "", 0.0, "m1", "")
        self.down: Exception | None = None
        self.told: list[tuple[Any, ...]] = []
        self.waited = 0
        self.later: list[PlcState] = []
        """What is shown after each wait for a change, one after the other."""

    async def state(self) -> PlcState:
        if self.down is not None:
            raise self.down
        return self.shown

    async def execute(self, client: str, command: dict[str, Any]) -> list[Any]:
        return await self.call("Execute", client, *command.values())

    async def call(self, method: str, *values: Any) -> list[Any]:
        if self.down is not None:
            raise self.down
        if method == "Probe":
            answer = self.probes.pop(0) if len(self.probes) > 1 else self.probes[0]
            if isinstance(answer, Exception):
                raise answer
            status, place, tool = answer if isinstance(answer, tuple) else (answer, "A", "torch")
            return [status, place, tool, f"It says {status}.", self.memory, self.now]
        self.told.append((method, *values))
        if method == "Heartbeat":
            return [not self.holder, self.holder, self.now, self.memory]
        if method == "Execute":
            if isinstance(self.taken, Exception):
                raise self.taken
            return list(self.taken)
        return list(self.reply) if method in ("Place", "GoOn") else []

    async def change(self, seconds: float) -> None:
        self.waited += 1
        assert self.waited < 100, "it asks for ever"
        self.shown = self.later.pop(0) if self.later else self.shown

    async def until_retry(self, at_most_s: float = 0) -> None:
        self.waited += 1
        if self.waited > 3:
            self.down = None
        await asyncio.sleep(0)

    async def close(self) -> None:
        self.closed = True

    def methods(self) -> list[str]:
        return [told[0] for told in self.told]


def cell(line: Line, files: Files | None = None, before_send: Callable[[], None] = lambda: None) -> OpcuaCell:
    kept = None if files is None else KeptFile(files, "sent")  # type: ignore[arg-type]
    return OpcuaCell(lambda beat: line, CellRules(SCENE), SentCommands(kept), before_send)  # type: ignore[arg-type,return-value]


async def test_a_command_is_sent_once_with_its_deadline_and_followed_to_its_end() -> None:
    line, seen = Line(), []
    line.probes = ["never", "running", "running", "running", "done"]
    line.shown = replace(line.shown, command_id=MOVE.key, progress=40.0)
    line.later = [line.shown] * 2 + [replace(line.shown, position="A", tool="torch", result="done")]
    report = await cell(line).do(MOVE, seen.append)
    assert (report.position, report.tool, report.says) == ("A", "torch", "")
    assert line.methods() == ["Heartbeat", "Execute"]
    sent, deadline = read_command(line.told[1][2:])
    assert (sent, deadline) == (MOVE, 10_000 + ARRIVE_MS)
    assert line.told[1][1] == line.told[0][1], "who has control is who commands"
    assert seen == [0, 40.0, 100]


async def test_progress_of_another_command_is_not_ours() -> None:
    line, seen = Line(), []
    line.probes = ["never", "running", "done"]
    line.shown = replace(line.shown, command_id="another", progress=40.0)
    line.later = [ARRIVED]
    await cell(line).do(MOVE, seen.append)
    assert seen == [0, 100]


async def test_a_command_that_is_done_already_is_not_sent_again() -> None:
    line, seen = Line(), []
    line.probes = ["done"]
    assert (await cell(line).do(MOVE, seen.append)).position == "Home", "it is where it is now"
    assert line.told == []
    assert seen == [100]


@pytest.mark.parametrize("status", ["running", "failed", "lost"])
async def test_a_command_that_was_begun_before_is_refused(status: str) -> None:
    line = Line()
    line.probes = [status]
    with pytest.raises(Fault, match="was begun before") as refused:
        await cell(line).do(MOVE, print)
    assert (refused.value.code, refused.value.untouched) == ("cell.busy", True)
    assert line.told == []


async def test_nothing_is_sent_to_a_cell_that_somebody_else_controls_or_that_is_busy_or_elsewhere() -> None:
    line = Line()
    for changed, code in (
        ({"holder": "the panel"}, "cell.control"),
        ({"shown": replace(line.shown, busy=True, command_id="x9")}, "cell.busy"),
        ({"shown": replace(line.shown, position="A")}, "cell.no_edge"),
        ({"shown": replace(line.shown, position="Mars")}, "cell.busy"),
    ):
        other = Line()
        for name, value in changed.items():
            setattr(other, name, value)
        with pytest.raises(Fault) as refused:
            await cell(other).do(MOVE, print)
        assert (refused.value.code, refused.value.untouched) == (code, True)
        assert "Execute" not in other.methods()


async def test_a_process_that_may_not_send_any_more_sends_nothing() -> None:
    def not_leading() -> None:
        raise Fault("Another server leads.", untouched=True)

    line = Line()
    with pytest.raises(Fault, match="Another server leads"):
        await cell(line, before_send=not_leading).do(MOVE, print)
    assert "Execute" not in line.methods()


async def test_a_refusal_is_told_and_the_command_may_come_again() -> None:
    line, files = Line(), Files()
    line.taken = (False, "cell.door", "The door is open.")
    with pytest.raises(Fault, match="The door is open") as refused:
        await cell(line, files).do(MOVE, print)
    assert (refused.value.code, refused.value.untouched) == ("cell.door", True)
    assert (await cell(line, files).did(MOVE.key)).state == "not_begun"
    line.taken = (False, "", "")
    with pytest.raises(Fault, match="does not say why") as refused:
        await cell(line, files).do(MOVE, print)
    assert refused.value.code == "cell.refused"


async def test_a_controller_that_knows_the_id_already_has_taken_it() -> None:
    line = Line()
    line.taken, line.probes = (False, "cell.known_id", "It was taken before."), ["never", "done"]
    line.later = [ARRIVED]
    assert (await cell(line).do(MOVE, lambda _: None)).position == "A"


@pytest.mark.parametrize(
    ("probes", "fault", "untouched"),
    [
        (["never", DOWN, "failed"], Fault, False),
        (["never", "lost"], InDoubtError, False),
        (["never", "running", Fault("It answers nonsense.")], InDoubtError, False),
    ],
)
async def test_what_became_of_it_is_asked_until_it_is_known(
    probes: list[Any], fault: type[Fault], untouched: bool
) -> None:
    line = Line()
    line.probes = probes
    with pytest.raises(fault) as ended:
        await cell(line).do(MOVE, lambda _: None)
    assert type(ended.value) is fault
    assert ended.value.untouched is untouched


async def test_an_answer_that_did_not_come_leaves_it_open_until_the_controller_says_so() -> None:
    line = Line()
    line.taken, line.probes = DOWN, ["never", DOWN, "running", "done"]
    line.later = [ARRIVED]
    assert (await cell(line).do(MOVE, lambda _: None)).position == "A"
    assert line.methods().count("Execute") == 1


async def test_a_command_that_came_too_late_was_not_begun() -> None:
    class Slow(Line):
        async def change(self, seconds: float) -> None:
            await super().change(seconds)
            self.now += 1_000

    line = Slow()
    line.taken = DOWN
    with pytest.raises(Fault) as ended:
        await cell(line).do(MOVE, lambda _: None)
    assert (ended.value.code, ended.value.untouched, ended.value.transient) == ("cell.late", True, True)
    assert line.now == 10_000 + ARRIVE_MS + 1_000, "as long as it may be on its way it is waited for"


async def test_a_controller_that_forgot_its_commands_is_not_believed_that_it_never_had_this_one() -> None:
    class Restarting(Line):
        async def call(self, method: str, *values: Any) -> list[Any]:
            self.memory = "m2" if method == "Execute" else self.memory
            return await super().call(method, *values)

    line, files = Restarting(), Files()
    line.taken = DOWN
    with pytest.raises(InDoubtError, match="forgotten"):
        await cell(line, files).do(MOVE, lambda _: None)
    assert (await cell(line, files).did(MOVE.key)).state == "unknown", "nor by the next process"
    assert (await cell(line, files).did("another")).state == "not_begun"


@pytest.mark.parametrize(
    ("probe", "state"),
    [("done", "happened"), ("running", "running"), ("failed", "failed"), ("lost", "unknown"), (DOWN, "running")],
)
async def test_what_became_of_a_command(probe: Any, state: str) -> None:
    line = Line()
    line.probes = [probe]
    line.shown = ARRIVED if probe == "done" else line.shown
    answer = await cell(line).did(MOVE.key)
    assert answer.state == state
    assert answer.says
    if state == "happened":
        assert answer.value == {"current_position": "A", "current_tool": "torch"}


@pytest.mark.parametrize(
    "before",
    [BUSY, replace(BUSY, position="A"), replace(ARRIVED, position=""), replace(ARRIVED, position="Home")],
    ids=["all of it", "busy", "between", "elsewhere"],
)
async def test_what_probe_calls_done_waits_for_the_state_to_show_it(before: PlcState) -> None:
    line = Line()
    line.probes, line.later = ["never", "running", "done"], [before, before, ARRIVED]
    assert (await cell(line).do(MOVE, lambda _: None)).position == "A"
    assert line.waited == 3


@pytest.mark.parametrize("shown", [BUSY, replace(BUSY, busy=False), replace(ARRIVED, result="failed")])
async def test_what_probe_calls_done_and_the_state_does_not_is_a_doubt(
    shown: PlcState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SETTLE_S", 0.0)
    line = Line()
    line.probes, line.taken = ["never", "done"], (True, "", "")
    controller = cell(line)
    begins = Line.call

    async def begin(method: str, *values: Any) -> list[Any]:
        line.shown = shown if method == "Execute" else line.shown
        return await begins(line, method, *values)

    monkeypatch.setattr(line, "call", begin)
    with pytest.raises(InDoubtError, match="Probe says done, and its State shows the command as") as doubt:
        await controller.do(MOVE, lambda _: None)
    difference = doubt.value.difference or {}
    assert difference["reported"] == {"current_position": "A", "current_tool": "torch", "status": "done"}
    assert difference["now"]["status"] == (shown.result if not shown.busy else "running")
    answer = await controller.did(MOVE.key)
    assert (answer.state, answer.difference) == ("unknown", difference)


@pytest.mark.parametrize("shown", [BUSY, ARRIVED, replace(ARRIVED, result="")])
async def test_what_probe_calls_never_begun_and_the_state_shows_is_a_doubt(shown: PlcState) -> None:
    line = Line()
    line.shown = shown
    answer = await cell(line).did(MOVE.key)
    assert answer.state == "unknown"
    assert (answer.difference or {})["reported"] == {"status": "never"}
    assert (answer.difference or {})["now"]["status"] == ("running" if shown.busy else shown.result or "taken")
    assert (await cell(line).did("another")).state == "not_begun"


async def test_a_place_that_never_comes_to_fit_is_told_as_both_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asked knows what the command leaves, and compares both with that."""
    monkeypatch.setattr(client_module, "SETTLE_S", 0.0)
    line = Line()
    line.probes, line.shown = ["done"], replace(ARRIVED, position="Home")
    controller = cell(line)
    answer = await controller.did(MOVE.key)
    assert (answer.state, answer.value["current_position"]) == ("happened", "A")
    assert (await controller.report()).position == "Home"


async def test_a_command_for_another_state_is_refused_before_it_is_sent_and_by_the_controller_itself() -> None:
    needs = replace(MOVE, needs_position="Home", needs_tool="none")
    for changed in ({"tool": "torch"}, {"position": "A"}):
        line = Line()
        line.shown = replace(line.shown, **changed)  # type: ignore[arg-type]
        with pytest.raises(Fault, match="was checked with") as refused:
            await cell(line).do(needs, print)
        assert (refused.value.code, refused.value.untouched) == (OTHER_STATE, True)
        assert "Execute" not in line.methods()
    line = Line()
    line.taken = (False, OTHER_STATE, "The robot was moved.")
    with pytest.raises(Fault, match="was moved") as refused:
        await cell(line).do(needs, print)
    assert (refused.value.code, refused.value.untouched) == (OTHER_STATE, True)
    sent, _ = read_command(line.told[-1][2:])
    assert sent == needs


async def test_an_answer_that_names_no_place_is_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """How things are is told as just that, once the state shows the command as done."""
    line = Line()
    line.probes, line.later = ["never", ("done", "", "")], [line.shown, BUSY, ARRIVED]
    report = await cell(line).do(MOVE, lambda _: None)
    assert (report, report.own) == (CellReport("A", "torch"), False)
    answer = await cell(line).did(MOVE.key)
    assert (answer.state, answer.value) == ("happened", None)
    monkeypatch.setattr(client_module, "SETTLE_S", 0.0)
    line.shown = replace(line.shown, command_id="another")
    assert (await cell(line).did(MOVE.key)).value is None, "a state that never comes to speak of it"


@pytest.mark.parametrize("probes", [["done"], ["never", ("done", "", "")]], ids=["known before", "just sent"])
async def test_a_done_command_after_which_nothing_can_be_seen_is_not_told_as_untouched(probes: list[Any]) -> None:
    """What was done must not be tried again because the line broke right then."""
    line = Line()
    line.probes, line.shown = probes, replace(line.shown, command_id="")
    line.later = [replace(ARRIVED, command_id=MOVE.key)]
    controller = cell(line)

    async def gone() -> CellReport:
        raise DOWN

    controller.report = gone  # type: ignore[method-assign]
    with pytest.raises(InDoubtError, match="is done, and how things are since is not known") as ended:
        await controller.do(MOVE, lambda _: None)
    assert not ended.value.untouched


async def test_a_line_that_is_closed_while_a_command_is_under_way_leaves_a_doubt() -> None:
    line = Line()
    line.probes = ["never", DOWN]
    line.closed = True
    with pytest.raises(InDoubtError):
        await cell(line).do(MOVE, lambda _: None)


async def test_the_report_says_where_it_stands_and_what_is_wrong() -> None:
    line = Line()
    assert await cell(line).report() == CellReport("Home", "none", "")
    line.shown = replace(line.shown, position="", error="It was pushed.", tool="torch")
    assert await cell(line).report() == CellReport(None, "torch", "It was pushed.")
    line.shown = replace(line.shown, error="")
    assert "between positions" in (await cell(line).report()).says
    line.shown = replace(line.shown, position="Mars")
    report = await cell(line).report()
    assert report.position is None
    assert "'Mars', which is not in the scene" in report.says


async def test_a_controller_that_was_just_cut_off_is_given_a_moment_once() -> None:
    line = Line()
    line.down = DOWN
    assert (await cell(line).report()).position == "Home"
    assert line.waited == 4


async def test_control_is_kept_while_it_is_held_and_given_back_at_the_end() -> None:
    line, beats = Line(), []

    def with_beat(beat: Any) -> Line:
        beats.append(beat)
        return line

    controller = OpcuaCell(with_beat, CellRules(SCENE), SentCommands(None), lambda: None)  # type: ignore[arg-type]
    await beats[0]()
    assert line.told == [], "it is only looked at before control was ever taken"
    await controller.place("A", "torch")
    await beats[0]()
    assert line.methods() == ["Heartbeat", "Place", "Heartbeat"]
    assert line.told[1][2:] == ("A", "torch")
    await controller.close()
    assert line.methods()[-1] == "Release"
    assert line.closed
    await controller.close()
    assert line.methods().count("Release") == 1


async def test_a_hold_that_could_not_be_said_is_owed_and_a_go_on_takes_it_back() -> None:
    line, beats = Line(), []

    def with_beat(beat: Any) -> Line:
        beats.append(beat)
        return line

    controller = OpcuaCell(with_beat, CellRules(SCENE), SentCommands(None), lambda: None)  # type: ignore[arg-type]
    assert controller.can_hold
    line.down = DOWN
    with pytest.raises(LinkDownError):
        await controller.hold()
    line.down = None
    await beats[0]()
    await beats[0]()
    assert line.methods() == ["Hold"]
    await controller.go_on()
    assert line.methods()[1:] == ["Heartbeat", "GoOn"]
    line.reply = (False, "", "Not now.")
    with pytest.raises(Fault, match="Not now") as refused:
        await controller.go_on()
    assert (refused.value.code, refused.value.untouched) == ("cell.refused", True)
    line.can_hold, line.told = False, []
    await controller.hold()
    await controller.go_on()
    assert line.told == []


async def test_a_place_that_the_controller_does_not_take_is_told() -> None:
    line = Line()
    line.reply = (False, "cell.unknown_position", "There is no such position.")
    with pytest.raises(Fault, match="no such position") as refused:
        await cell(line).place("A", "none")
    assert refused.value.code == "cell.unknown_position"


async def test_stopping_names_the_command() -> None:
    line = Line()
    await cell(line).stop(MOVE.key)
    assert line.told == [("Stop", MOVE.key)]


def test_what_was_sent_is_found_again_by_the_next_process_and_does_not_grow_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sent_module, "KEPT", 5)
    kept = KeptFile(Files(), "sent")  # type: ignore[arg-type]
    first = SentCommands(kept)
    name = first.client
    assert name.startswith("Beforehand ")
    for number in range(7):
        first.add(f"k{number}", Sent(number, "m1"))
    first.forget("k3")
    again = SentCommands(kept)
    assert again.client == name
    assert [number for number in range(7) if again.get(f"k{number}")] == [2, 4, 5, 6]
    assert again.get("k6") == Sent(6, "m1")
    assert SentCommands(None).client != name


@pytest.mark.parametrize(
    "command",
    [
        CellCommand("k", "move", "A"),
        CellCommand("k", "routine", "weld", "A", "torch", 0.0, "seam", 3.5, "A", "torch"),
        CellCommand("k", "routine", "weld", "A", stabilize=1.5),
    ],
)
def test_a_command_is_read_by_the_controller_as_it_was_meant(command: CellCommand) -> None:
    values = list(command_values(command, 77).values())
    assert read_command(values) == (command, 77)
    without = replace(command, needs_position=None, needs_tool=None)
    assert read_command(values[: len(COMMAND_TYPES)]) == (without, 77), "what version 1 is told"


@pytest.mark.parametrize("at", [0, 2, 3])
def test_a_command_without_an_id_a_kind_or_a_target_is_refused(at: int) -> None:
    values = list(command_values(MOVE, 77).values())
    values[at] = ""
    with pytest.raises(Fault) as refused:
        read_command(values)
    assert (refused.value.code, refused.value.untouched) == ("cell.command", True)


def test_only_the_certificate_that_was_given_is_believed(tmp_path: Path) -> None:
    shown = b"\x30\x82\x00\x04abcd"
    assert first_of_chain(shown + b"\x30\x82\x00\x04efgh") == shown
    assert first_of_chain(b"\x30\x04abcd") == b"\x30\x04abcd"
    given = fingerprint(shown)
    for spelled in (given, given.upper(), "sha256:" + ":".join(given[7:][at : at + 2] for at in range(0, 64, 2))):
        refuse_stranger("opc.tcp://cell", shown, spelled)
    with pytest.raises(Fault, match="another certificate") as refused:
        refuse_stranger("opc.tcp://cell", shown + b"x", given)
    assert (refused.value.code, refused.value.untouched) == ("cell.certificate", True)
    assert fingerprint(shown + b"x") in refused.value.says
    with pytest.raises(Fault, match="cannot be read"):
        refuse_stranger("opc.tcp://cell", shown, str(tmp_path / "none.pem"))
    (tmp_path / "some.pem").write_bytes(b"nothing of the kind")
    with pytest.raises(Fault, match="holds no certificate"):
        refuse_stranger("opc.tcp://cell", shown, str(tmp_path / "some.pem"))
