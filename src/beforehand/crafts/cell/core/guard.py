"""The guard at both ends of a command: what a step needs before it is sent, and what it leaves when it has ended.

Plans are verified when they are kept and when they start; what can change after that (a skip, a retry, a person's
correction, another run, the map itself) is seen here, at the last moment. And what a controller says of a command is a
claim: it counts as done only where its answer and its state fit what the step leaves. All else is doubt, unless a move
or a change of tools visibly ended elsewhere. It reads the scene by itself and shares no code with the builder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from beforehand.model.cell import ATTACH, NO_TOOL, RELEASE, CellScene


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a robot stands and what it holds. None: nobody knows where it stands; it does not matter what it holds."""

    position: str | None
    tool: str | None

    def wire(self) -> dict[str, Any]:
        return {"current_position": self.position, "current_tool": self.tool}

    @property
    def says(self) -> str:
        where = "at a place nobody knows" if self.position is None else f"at {self.position}"
        return where if self.tool is None else f"{where} with {_shown(self.tool)}"


@dataclass(frozen=True, slots=True)
class Contract:
    """What one step needs and what it leaves, made once from the scene and from how it was begun."""

    target: str
    changes: Literal["position", "tool", "nothing"]
    needs: Situation
    leaves: Situation

    def fits(self, seen: Situation) -> bool:
        """Whether this is what the step leaves. A move says nothing of the tool."""
        return seen.position == self.leaves.position and self.leaves.tool in (None, seen.tool)

    def is_elsewhere(self, seen: Situation) -> bool:
        """Whether just what the step changes is known, and is not what it leaves."""
        if self.changes == "position":
            return seen.position not in (None, self.leaves.position)
        return self.changes == "tool" and seen.position is not None and seen.tool != self.leaves.tool


Claim = Literal["done", "failed", "unknown"]
"""What a controller says became of a command: `unknown` is its word that it does not know either."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a step, from what its controller says and shows. `difference` is given where these differ."""

    end: Literal["done", "failed", "doubt"]
    says: str = ""
    difference: dict[str, Any] | None = None


def contract_of(scene: CellScene, action: str, args: Mapping[str, Any], before: Situation) -> Contract:
    """The contract of a step that begins `before`, as it was seen or as it was planned."""
    target, place, named = str(args.get("target")), args.get("position"), args.get("tool")
    if action == "move":
        return Contract(target, "position", before, Situation(target, None))
    if target == ATTACH:
        return Contract(target, "tool", Situation(place, NO_TOOL), Situation(place, named))
    if target == RELEASE:
        return Contract(target, "tool", Situation(place, named), Situation(place, NO_TOOL))
    routine = next((routine for routine in scene.routines if routine.name == target), None)
    held = before.tool if routine is None or routine.tool_needed is None else routine.tool_needed
    return Contract(target, "nothing", Situation(place, held), Situation(place, held))


def verdict(contract: Contract, claim: Claim, says: str, reported: Situation | None, now: Situation | None) -> Verdict:
    """What a claim is worth: `reported` is the answer's own word, `now` the cell's state, None where it is silent."""
    seen = [one for one in (reported, now) if one is not None]
    amiss = [one for one in seen if not contract.fits(one)]
    if claim == "done" and seen and not amiss:
        return Verdict("done")
    told = claim == "failed" or reported is not None  # a state alone does not say what became of a command
    if claim != "unknown" and told and seen and _agree(contract, seen) and contract.is_elsewhere(seen[0]):
        return Verdict("failed", says if claim == "failed" else _elsewhere(contract, seen[0]))
    if claim == "done":
        return _contradicted(contract, reported, now)
    if claim == "unknown" or now is None or now.position is None:
        return Verdict("doubt", says)
    if contract.fits(now) == (contract.changes == "nothing"):
        return Verdict("doubt", says)
    says = f"{says} But its state shows the robot {now.says}.".strip()
    return Verdict("doubt", says, {"planned": contract.leaves.wire(), "now": now.wire(), "says": [says]})


def _agree(contract: Contract, seen: Sequence[Situation]) -> bool:
    return len({one.position if contract.changes == "position" else (one.position, one.tool) for one in seen}) == 1


def _elsewhere(contract: Contract, seen: Situation) -> str:
    if contract.changes == "position":
        return (
            f"The controller says that the move to {contract.target} is done, but the robot stands at {seen.position}."
        )
    return f"The controller says that {contract.target} is done, but the robot holds {_shown(str(seen.tool))}."


def _contradicted(contract: Contract, reported: Situation | None, now: Situation | None) -> Verdict:
    """It is called done, and an answer or a state says otherwise: all three are the evidence."""
    told = {name: one for name, one in (("reported", reported), ("now", now)) if one is not None}
    if not told:
        return Verdict(
            "doubt", f"The controller says that {contract.target} is done, and does not show how things are."
        )
    words = {"reported": "its answer has it", "now": "its state shows it"}
    found = [f"{words[name]} {one.says}" for name, one in told.items() if not contract.fits(one)]
    if reported == now and reported is not None:
        found = [f"its answer and its state have it {reported.says}"]
    says = f"It should leave the robot {contract.leaves.says}, but {' and '.join(found)}."
    shown = {name: one.wire() for name, one in told.items()}
    difference = {"planned": contract.leaves.wire(), **shown, "says": [says]}
    return Verdict("doubt", f"The controller says that {contract.target} is done. {says}", difference)


def differences(
    scene: CellScene, action: str, args: Mapping[str, Any], position: str | None, tool: str, expects: Mapping[str, Any]
) -> list[str]:
    """Everything that does not hold for one step, a sentence each; nothing where it may be sent.

    `expects` is the state before the step as the plan was verified: a move needs the robot where it was planned to be,
    a routine needs its position and its tool.
    """
    if position is None:
        return ["Nobody knows where the robot stands."]
    target = str(args.get("target"))
    if action == "move":
        return _move(scene, target, position, expects.get("current_position"))
    there = args.get("position") == position
    found = [] if there else [f"The robot must be at {args.get('position')}; it is at {position}."]
    if target in (ATTACH, RELEASE):
        return found + _tool_change(scene, target, args.get("tool"), position, tool)
    return found + _routine(scene, target, position, tool)


def _move(scene: CellScene, target: str, position: str, planned: Any) -> list[str]:
    found = []
    if planned is not None and planned != position:
        found.append(f"The robot must be at {planned}; it is at {position}.")
    pairs = {(move.source, move.target) for move in scene.moves}
    pairs |= {(move.target, move.source) for move in scene.moves if not move.one_way}
    if (position, target) not in pairs:
        found.append(f"No move from {position} to {target} is allowed.")
    return found


def _tool_change(scene: CellScene, target: str, named: Any, position: str, held: str) -> list[str]:
    stand = next((stand.stand for stand in scene.tools if stand.name == named), None)
    found = [] if stand == position else [f"{named} hangs at {stand or 'no known stand'}; the robot is at {position}."]
    if target == ATTACH and held != NO_TOOL:
        found.append(f"The robot must hold no tool; it holds {held}.")
    if target == RELEASE and held != named:
        found.append(f"The robot must hold {named}; it holds {_shown(held)}.")
    return found


def _routine(scene: CellScene, target: str, position: str, held: str) -> list[str]:
    routine = next((routine for routine in scene.routines if routine.name == target), None)
    if routine is None:
        return [f"The cell has no routine {target!r}."]
    found = []
    if position not in {support.position for support in routine.supported_at}:
        found.append(f"{target} is not supported at {position}.")
    if routine.tool_needed is not None and routine.tool_needed != held:
        found.append(f"{target} needs {routine.tool_needed}; the robot holds {_shown(held)}.")
    return found


def _shown(tool: str) -> str:
    return "no tool" if tool == NO_TOOL else tool
