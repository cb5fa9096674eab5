"""What a person asks of a fleet in words: transport from here to there, send a robot to park or to charge.

    move the pallet from PICK_01 to DROP_03, then send RB-02 to charge

Every word must be accounted for; what is not certain is refused with what was understood, never guessed. The same
requests can be given as an intent: `{steps: [{action: transport, from, to}, {action: charge, robotId}]}`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene
from beforehand.model.reason import Problem, unknown

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
_TO = ("to", "into", "onto")
_UNSURE = frozenset(
    ["or", "not", "no", "if", "unless", "any", "some", "all", "each", "every", "either", "except", "don't", "it", "?"]
)
_EXAMPLE = "Say it like: move the pallet from PICK_01 to DROP_01, or: send RB-01 to charge."
ACTIONS = ("transport", "park", "charge")
_TOKEN = re.compile(r"[\w'’-]+|[^\w\s]")
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

    @property
    def intent(self) -> dict[str, Any]:
        """The request as a step of an intent."""
        if self.action != "transport":
            return {"action": self.action, "robotId": self.robot_id}
        told: dict[str, Any] = {"action": self.action, "from": self.source_id, "to": self.target_id}
        return told | ({"priority": self.priority} if self.priority else {})


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
        return Reading(refused=True, says=f"The text is longer than {LONGEST_TEXT} characters.", try_next=_EXAMPLE)
    names = _Names(scene)
    requests: list[Request] = []
    odd: list[str] = []
    unknown_names: list[Problem] = []
    for words in _clauses(_TOKEN.findall(text)):
        clause = _Clause(names, words)
        request = clause.read()
        unknown_names += clause.unknown_names
        if request is not None:
            requests.append(request)
        elif not clause.unknown_names:
            odd += clause.left()
    if unknown_names and not odd:
        raise _invalid(unknown_names)
    if not odd and (problems := [problem for request in requests for problem in _misfits(scene, request, "")]):
        raise _invalid(problems)
    return Reading(tuple(requests)) if requests and not odd else _refused(requests, odd)


def _refused(requests: list[Request], odd: list[str]) -> Reading:
    says = "Nothing is asked for."
    if odd:
        says = f"{', '.join(map(repr, dict.fromkeys(odd)))} was not understood, so nothing was planned."
    if requests:
        says += f" Understood: {'; '.join(request.says for request in requests)}."
    return Reading(tuple(requests), refused=True, words=tuple(odd), says=says, try_next=_EXAMPLE)


def _clauses(tokens: list[str]) -> list[list[str]]:
    clauses: list[list[str]] = [[]]
    for token in tokens:
        if token.lower() in ("then", "and") or token in ",;.!":
            clauses.append([])
        elif token.lower() not in _SMALL_TALK:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]


class _Names:
    """The scene's names as people write them, `pick 1` for PICK_1; two that read alike are nobody's."""

    def __init__(self, scene: FleetScene) -> None:
        self.scene = scene
        self.sites = _spoken(site.worksite_id for site in scene.worksites)
        self.robots = _spoken(robot.robot_id for robot in scene.robots)


def _spoken(names: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    twice: set[str] = set()
    for name in names:
        key = _NAME.sub("", name).lower()
        twice |= {key} & found.keys()
        found[key] = name
    return {key: name for key, name in found.items() if key not in twice}


class _Clause:
    """One request, read from left to right; a name may be written in up to three words."""

    def __init__(self, names: _Names, tokens: list[str]) -> None:
        self.names, self.tokens, self.at = names, tokens, 0
        self.unknown_names: list[Problem] = []

    def read(self) -> Request | None:
        """The request; None where there is a word without use, or a name nobody has (then in `unknown_names`)."""
        word = self.peek()
        found: Request | None = None
        if word in _MOVE:
            found = self.transport()
        elif word in _SEND:
            found = self.sending()
        elif word in ("park", "charge", "recharge"):
            self.at += 1
            robot = self.name(self.names.robots, "robot", ())
            found = Request(_ERRANDS[word], robot_id=robot) if robot else None
        if self.at < len(self.tokens):
            self.unknown_names.clear()
            return None
        return None if self.unknown_names else found

    def left(self) -> list[str]:
        return self.tokens[min(self.at, len(self.tokens) - 1) :]

    def peek(self) -> str:
        return self.tokens[self.at].lower() if self.at < len(self.tokens) else ""

    def takes(self, *words: str) -> bool:
        if self.peek() in words:
            self.at += 1
            return True
        return False

    def name(self, known: Mapping[str, str], kind: str, until: tuple[str, ...]) -> str | None:
        """A known name; else what stands where a name belongs is unknown, unless it could mean something else."""
        for length in (3, 2, 1):
            parts = [_NAME.sub("", token).lower() for token in self.tokens[self.at : self.at + length]]
            joined = "".join(parts)
            if len(parts) == length and all(parts) and joined in known:
                self.at += length
                return known[joined]
        end = next((at for at in range(self.at, len(self.tokens)) if self.tokens[at].lower() in until), None)
        words = self.tokens[self.at : len(self.tokens) if end is None else end]
        if 0 < len(words) <= 2 and not _UNSURE & {word.lower() for word in words}:
            self.at += len(words)
            self.unknown_names.append(_unknown(kind, " ".join(words), list(known.values()), ""))
        return None

    def transport(self) -> Request | None:
        self.at += 1
        self.takes(*_LOAD)
        if not self.takes("from", "at", "on"):
            return None
        source = self.name(self.names.sites, "worksite", _TO)
        if not self.takes(*_TO):
            return None
        target = self.name(self.names.sites, "worksite", ())
        return Request("transport", source, target) if source and target else None

    def sending(self) -> Request | None:
        self.at += 1
        robot = self.name(self.names.robots, "robot", ("to", "go", *_ERRANDS))
        self.takes("to", "go")
        self.takes("to")
        kind = _ERRANDS.get(self.peek())
        if kind is None:
            return None
        self.at += 1
        self.takes("place", "station")
        return Request(kind, robot_id=robot) if robot else None


# -- intents ---------------------------------------------------------------------------------------------------------


def _read_intent(scene: FleetScene, intent: Any) -> Reading:
    steps = intent.get("steps") if isinstance(intent, Mapping) else None
    if not isinstance(steps, list) or not steps:
        raise BadInputError(
            "An intent is an object with a list of `steps`.",
            code="intent.shape",
            hint="Such as {steps: [{action: transport, from: PICK_01, to: DROP_01}]}.",
        )
    problems: list[Problem] = []
    requests = [_read_step(scene, step, f"steps[{place}]", problems) for place, step in enumerate(steps)]
    if problems:
        raise _invalid(problems)
    return Reading(tuple(request for request in requests if request is not None))


def _read_step(scene: FleetScene, step: Any, path: str, problems: list[Problem]) -> Request | None:
    action = step.get("action") if isinstance(step, Mapping) else None
    if action not in ACTIONS:
        says = unknown("action", action, ACTIONS, inside=path).says
        problems.append(_problem("intent.action", path, f"{path}.action", says))
        return None
    keys = ("action", "from", "to", "priority") if action == "transport" else ("action", "robotId", "robot_id")
    for key in step:
        if key not in keys:
            problems.append(_unknown("key", str(key), [one for one in keys if one != "robot_id"], f"{path}.{key}"))
    if action != "transport":
        robots = [robot.robot_id for robot in scene.robots]
        given = step.get("robotId", step.get("robot_id"))
        return Request(action, robot_id=_known(given, "robot", robots, f"{path}.robotId", problems))
    sites = [site.worksite_id for site in scene.worksites]
    source = _known(step.get("from"), "worksite", sites, f"{path}.from", problems)
    target = _known(step.get("to"), "worksite", sites, f"{path}.to", problems)
    request = Request(action, source, target, priority=_priority(step.get("priority"), path, problems))
    if source and target:
        problems += _misfits(scene, request, path)
    return request


def _priority(given: Any, path: str, problems: list[Problem]) -> float:
    if given is None:
        return 0.0
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < 1e9:
        problems.append(_problem("intent.priority", path, f"{path}.priority", "A priority is a number."))
        return 0.0
    return float(given)


def _known(value: Any, kind: str, names: list[str], path: str, problems: list[Problem]) -> str | None:
    if value in names:
        return str(value)
    if value is None:
        problems.append(_problem("intent.missing", path, path, f"A {kind} is missing."))
    else:
        problems.append(_unknown(kind, str(value), names, path))
    return None


# -- what is wrong ---------------------------------------------------------------------------------------------------


def _misfits(scene: FleetScene, request: Request, path: str) -> list[Problem]:
    """Requests that name real places and still make no sense."""
    if request.action != "transport":
        return []
    if request.source_id == request.target_id:
        says = f"A pallet cannot be moved from {request.source_id} to the same place."
        return [_problem("transport.same", str(request.source_id), path, says)]
    kinds = {site.worksite_id: site.worksite_type for site in scene.worksites}
    found = []
    for site in (str(request.source_id), str(request.target_id)):
        if kinds[site] in ("charger", "park"):
            says = f"{site} is a {kinds[site]} place and never holds a pallet."
            found.append(_problem("transport.no_pallets", site, path, says))
    return found


def _unknown(kind: str, name: str, names: list[str], path: str) -> Problem:
    says, nearest = unknown(kind, name, names)
    return Problem(
        code=f"fleet.unknown_{kind}", about=name[:80], path=path, says=says, nearest=nearest, fixable_by="user"
    )


def _problem(code: str, about: str, path: str, says: str) -> Problem:
    return Problem(code=code, about=about, path=path, says=says, fixable_by="user")


def _invalid(problems: list[Problem]) -> BadInputError:
    ordered = sorted(problems, key=lambda problem: ".unknown_" not in problem.code)
    says = ordered[0].says if len(ordered) == 1 else f"{len(ordered)} problems keep this plan from being made."
    return BadInputError(says, code="intent.invalid", problems=ordered, nearest=ordered[0].nearest)
