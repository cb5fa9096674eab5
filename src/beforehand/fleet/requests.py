"""What a person asks of a fleet in words: transport from here to there, send a robot to park or to charge.

    move the pallet from PICK_01 to DROP_03, then send RB-02 to charge

Every word must be accounted for; what is not certain is refused with what was understood, never guessed. The same
requests can be given as an intent: `{steps: [{action: transport, from, to}, {action: charge, robotId}]}`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene
from beforehand.model.reason import Problem, name_list, nearest_names

LONGEST_TEXT = 4_000
_SMALL_TALK = frozenset(["please", "now", "afterwards", "finally", "also", "kindly", "the", "a", "an", "one"])
_MOVE = frozenset(["move", "bring", "take", "carry", "transport", "fetch", "deliver", "transfer"])
_LOAD = frozenset(["pallet", "load", "goods", "box", "it"])
_SEND = frozenset(["send", "let"])
_ERRANDS = {
    "charge": "charge",
    "charging": "charge",
    "charger": "charge",
    "recharge": "charge",
    "park": "park",
    "parking": "park",
}
_TOKEN = re.compile(r"[\w-]+|[,;.!?]")
_NAME = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Request:
    action: str
    source_id: str | None = None
    target_id: str | None = None
    robot_id: str | None = None
    priority: float = 0.0

    @property
    def says(self) -> str:
        if self.action == "transport":
            return f"Move the pallet from {self.source_id} to {self.target_id}"
        return f"Send {self.robot_id} to {self.action}"


@dataclass(frozen=True, slots=True)
class Reading:
    requests: tuple[Request, ...] = ()
    refused: bool = False
    words: tuple[str, ...] = ()
    says: str = ""
    try_next: str = ""

    @property
    def understood(self) -> tuple[str, ...]:
        return tuple(request.says for request in self.requests)


def read_request(scene: FleetScene, asked: Any) -> Reading:
    """Read words or an intent; unknown names are an error, words that could mean several things a refusal."""
    return _read_text(scene, asked) if isinstance(asked, str) else _read_intent(scene, asked)


def request_steps(scene: FleetScene, reading: Reading) -> list[dict[str, Any]]:
    """The requests as steps of an ordinary plan, one after the other."""
    steps: list[dict[str, Any]] = []
    for number, request in enumerate(reading.requests, start=1):
        args: dict[str, Any] = {"scene": scene.name}
        if request.action == "transport":
            args |= {"from": request.source_id, "to": request.target_id}
            if request.priority:
                args["priority"] = request.priority
        else:
            args["robotId"] = request.robot_id
        steps.append(
            {
                "id": f"step_{number}",
                "description": request.says,
                "tool": f"fleet.{request.action}",
                "args": args,
                "dependsOn": [f"step_{number - 1}"] if number > 1 else [],
            }
        )
    return steps


# -- words -----------------------------------------------------------------------------------------------------------


def _read_text(scene: FleetScene, text: str) -> Reading:
    if len(text) > LONGEST_TEXT:
        return Reading(refused=True, says=f"The text is longer than {LONGEST_TEXT} characters.")
    names = _Names(scene)
    requests: list[Request] = []
    odd: list[str] = []
    for clause in _clauses(_TOKEN.findall(text)):
        request = _Clause(names, clause).read()
        if isinstance(request, Request):
            requests.append(request)
        else:
            odd += request
    if requests and not odd:
        return Reading(tuple(requests))
    lost = (
        f"{', '.join(map(repr, odd))} was not understood, so nothing was planned." if odd else "Nothing is asked for."
    )
    known = "; ".join(request.says for request in requests)
    return Reading(
        tuple(requests),
        refused=True,
        words=tuple(odd),
        says=f"{lost} Understood: {known}." if known else lost,
        try_next="Say it like: move the pallet from PICK_01 to DROP_01, or: send RB-01 to charge.",
    )


def _clauses(tokens: list[str]) -> list[list[str]]:
    clauses: list[list[str]] = [[]]
    for token in tokens:
        if token.lower() in ("then", "and") or token in ",;.!":
            clauses.append([])
        elif token.lower() not in _SMALL_TALK:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


class _Names:
    def __init__(self, scene: FleetScene) -> None:
        self.sites = {_NAME.sub("", site.worksite_id).lower(): site.worksite_id for site in scene.worksites}
        self.robots = {_NAME.sub("", robot.robot_id).lower(): robot.robot_id for robot in scene.robots}


class _Clause:
    """One request, read from left to right; a name may be written in up to three words."""

    def __init__(self, names: _Names, tokens: list[str]) -> None:
        self.names, self.tokens, self.at = names, tokens, 0

    def read(self) -> Request | list[str]:
        word = self.peek()
        if word in _MOVE:
            found = self.transport()
        elif word in _SEND:
            found = self.sending()
        elif word in ("park", "charge", "recharge"):
            self.at += 1
            robot = self.name(self.names.robots)
            found = Request(_ERRANDS[word], robot_id=robot) if robot else None
        else:
            found = None
        return (
            found
            if found is not None and self.at == len(self.tokens)
            else self.tokens[min(self.at, len(self.tokens) - 1) :]
        )

    def peek(self) -> str:
        return self.tokens[self.at].lower() if self.at < len(self.tokens) else ""

    def takes(self, *words: str) -> bool:
        if self.peek() in words:
            self.at += 1
            return True
        return False

    def name(self, known: Mapping[str, str]) -> str | None:
        for length in (3, 2, 1):
            joined = _NAME.sub("", "".join(self.tokens[self.at : self.at + length])).lower()
            if self.at + length <= len(self.tokens) and joined in known:
                self.at += length
                return known[joined]
        return None

    def transport(self) -> Request | None:
        self.at += 1
        self.takes(*_LOAD)
        if not self.takes("from", "at", "on"):
            return None
        source = self.name(self.names.sites)
        if source is None or not self.takes("to", "into", "onto"):
            return None
        target = self.name(self.names.sites)
        return Request("transport", source, target) if target else None

    def sending(self) -> Request | None:
        self.at += 1
        robot = self.name(self.names.robots)
        self.takes("to", "go")
        self.takes("to")
        kind = _ERRANDS.get(self.peek())
        if robot is None or kind is None:
            return None
        self.at += 1
        self.takes("place", "station")
        return Request(kind, robot_id=robot)


# -- intents ---------------------------------------------------------------------------------------------------------


def _read_intent(scene: FleetScene, intent: Any) -> Reading:
    steps = intent.get("steps") if isinstance(intent, Mapping) else None
    if not isinstance(steps, list) or not steps:
        raise BadInputError("An intent is an object with a list of `steps`.", code="intent.shape")
    problems: list[Problem] = []
    requests = [_read_step(scene, step, f"steps[{place}]", problems) for place, step in enumerate(steps)]
    if problems:
        raise BadInputError(problems[0].says, code="intent.invalid", problems=problems, nearest=problems[0].nearest)
    return Reading(tuple(request for request in requests if request is not None))


def _read_step(scene: FleetScene, step: Any, path: str, problems: list[Problem]) -> Request | None:
    action = step.get("action") if isinstance(step, Mapping) else None
    if action not in ("transport", "park", "charge"):
        says = f"{path}: the action is transport, park or charge, not {action!r}."
        problems.append(Problem(code="intent.action", about=path, path=path, says=says, fixable_by="user"))
        return None
    if action != "transport":
        robots = [robot.robot_id for robot in scene.robots]
        return Request(action, robot_id=_known(step, "robotId", robots, path, problems))
    sites = [site.worksite_id for site in scene.worksites]
    source, target = _known(step, "from", sites, path, problems), _known(step, "to", sites, path, problems)
    return Request(action, source, target, priority=float(step.get("priority") or 0))


def _known(step: Mapping[str, Any], key: str, names: list[str], path: str, problems: list[Problem]) -> str | None:
    value = step.get(key)
    if value in names:
        return str(value)
    nearest = nearest_names(str(value), names)
    says = f"{path}.{key}: {scene_has_no(value)}; nearest: {name_list(nearest)}."
    problems.append(
        Problem(
            code="fleet.unknown_name", about=path, path=f"{path}.{key}", says=says, nearest=nearest, fixable_by="user"
        )
    )
    return None


def scene_has_no(value: Any) -> str:
    return "a name is missing" if value is None else f"the scene has no {value!r}"
