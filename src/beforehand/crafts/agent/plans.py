"""From words to a plan of errands, one step for each wish; and whether such steps would work out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from beforehand.app.craft import Assessment, Done, Judge, PlanRequest, Wanted, WantedStep
from beforehand.app.scenes import no_scene_of, scene_names
from beforehand.crafts.agent.core.errand import tried
from beforehand.crafts.agent.core.goals import unread_names, wish_parts
from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.landmark import landmark
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.crafts.agent.homes import KIND
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.agent.tools import ERRAND_TOOL
from beforehand.model.errors import BadInputError, NotUnderstoodError
from beforehand.model.plan import Origin, Plan, Step
from beforehand.model.reason import Problem, name_list, nearest_names
from beforehand.ports.state_text import short

PLANNER = "errands"
EXAMPLES = "Say it like: bring cup1 to table1, or: open door1, then sit on bed1."


def make_errands(scene: HomeScene, request: PlanRequest) -> Plan:
    """A step for each wish, one after another; NotUnderstoodError rather than a guess."""
    parts = read_errands(scene, request)
    steps = [
        Step(
            id=f"errand{number}",
            tool=ERRAND_TOOL,
            args={"scene": scene.name, "goal": part},
            description=part,
            depends_on=(f"errand{number - 1}",) if number > 1 else (),
            order=number,
        )
        for number, part in enumerate(parts, start=1)
    ]
    origin = Origin(planner=PLANNER, text=request.text, intent=None if request.intent is None else dict(request.intent))
    name = request.text if request.text is not None else ", then ".join(parts)
    return Plan(name=name[:200], scene=scene.name, steps=tuple(steps), origin=origin)


def read_errands(scene: HomeScene, request: PlanRequest) -> list[str]:
    """The words of each errand; NotUnderstoodError rather than a guess, BadInputError for names nobody knows.

    An intent is `{steps: [{goal}, …]}`, or `{goal}` with all of them in one text.
    """
    parts = wish_parts(_words(request), scene)
    strange = [part for part, wish in parts if wish is None]
    if parts and not strange:
        return [part for part, _ in parts]
    found = [problem for part in strange for problem in _unread(part, scene)]
    if found and all(problem.code == "action.unknown_object" for problem in found):
        raise BadInputError(" ".join(problem.says for problem in found), code="agent.unknown_name", problems=found)
    says = " ".join(dict.fromkeys(problem.says for problem in found)) or "There is nothing to do."
    raise NotUnderstoodError(says, hint=EXAMPLES, extra={"notUnderstood": strange})


def _unread(part: str, scene: HomeScene) -> tuple[Problem, ...]:
    """Why a part of a goal is no errand: names that nobody knows or that mean several things, or all of it."""
    return unread_names(part, scene) or (_unreadable(part, scene),)


def _words(request: PlanRequest) -> str:
    if request.text is not None:
        return request.text
    intent = request.intent or {}
    steps = intent.get("steps")
    if not isinstance(steps, list):
        goals = {"goal": intent.get("goal", "")}
    else:
        goals = {
            f"steps[{at}].goal": step.get("goal") if isinstance(step, Mapping) else step
            for at, step in enumerate(steps)
        }
    problems = [
        Problem(code="agent.no_goal", about=path, path=path, says="This must be a text that says what to do.")
        for path, goal in goals.items()
        if not isinstance(goal, str)
    ]
    if problems:
        raise BadInputError(" ".join(problem.says for problem in problems), code="intent.invalid", problems=problems)
    return ", then ".join(map(str, goals.values()))


def read_wanted(scene: HomeScene, request: PlanRequest) -> Wanted:
    """The errands of a request before anything is planned."""
    parts = read_errands(scene, request)
    names = [thing.name for thing in scene.objects]
    goal = {"type": "string", "title": "Errand", "description": EXAMPLES, "examples": names}
    schema = {"title": "Errand", "type": "object", "properties": {"goal": goal}, "required": ["goal"]}
    steps = tuple(WantedStep(f"{part[:1].upper()}{part[1:]}") for part in parts)
    return Wanted({"steps": [{"goal": part} for part in parts]}, steps, schema)


@dataclass(frozen=True, slots=True)
class _Moment:
    step_id: str
    start_s: float
    end_s: float
    says: str


@dataclass(frozen=True, slots=True)
class ErrandJudging:
    sessions: Sessions

    async def assess(self, plan: Plan) -> Assessment:
        return await self.assess_rest(plan, frozenset())

    async def assess_rest(self, plan: Plan, done: Done) -> Assessment:
        """Every errand tried after the other, each home from its present world."""
        found: list[Problem] = []
        moments: list[_Moment] = []
        bodies: dict[str, HomeBody] = {}
        async for place, step, problem, moment in self._walk(plan, done, bodies):
            if problem is not None:
                found.append(_placed(problem, place, step.id))
            if moment is not None:
                moments.append(moment)
        ours = [step for step in plan.steps if step.tool == ERRAND_TOOL]
        if done or len(ours) != len(plan.steps) or len(bodies) != 1 or found:
            return Assessment(tuple(found))
        [body] = bodies.values()
        return Assessment((), sum(m.end_s - m.start_s for m in moments), _end(body), _ends(body))

    async def _walk(self, plan: Plan, done: Done, bodies: dict[str, HomeBody]) -> Any:
        at_s = 0.0
        for place, step in enumerate(plan.steps):
            name, goal = step.args.get("scene", plan.scene), step.args.get("goal")
            if step.tool != ERRAND_TOOL or step.id in done or not isinstance(goal, str):
                continue
            if any(isinstance(value, str) and value.startswith("$") for value in (name, goal)):
                continue  # known only when it runs: it is tried then
            if not isinstance(name, str) or name not in await scene_names(self.sessions.runtime, KIND):
                yield place, step, await self._no_home(name), None
                continue
            body = await self._body(name, goal, bodies.get(name))
            if body is None:
                continue
            if body.goal is None or not body.goal.wishes:
                for unread in self._unread(goal, body.world.scene):
                    yield place, step, unread, None
                continue
            result = tried(body)
            bodies[name] = result.body
            problem = None
            if result.why_not:
                says = f"{step.id}: “{goal}” cannot be carried out: {result.why_not}"
                problem = Problem(code="agent.not_possible", about=step.id, says=says, fixable_by="user")
            moment = _Moment(step.id, at_s, at_s + result.seconds, f"{goal}.")
            at_s = moment.end_s
            yield place, step, problem, moment

    def _unread(self, goal: str, scene: HomeScene) -> list[Problem]:
        parts = [part for part, wish in wish_parts(goal, scene, self.sessions.verbs) if wish is None]
        return [problem for part in parts or [goal] for problem in _unread(part, scene)]

    async def _body(self, name: str, goal: str, before: HomeBody | None) -> HomeBody | None:
        fresh = await self.sessions.body_of(name, goal)
        if not isinstance(fresh, HomeBody):
            return None
        return fresh if before is None else replace(fresh, going=replace(before.going, tick=0, actions=()))

    async def _no_home(self, name: Any) -> Problem:
        told = await no_scene_of(self.sessions.runtime, KIND, name)
        return Problem(code="agent.unknown_scene", about=str(name), says=told.says, nearest=told.nearest)

    async def preview(self, plan: Plan) -> dict[str, Any] | None:
        """Every errand in virtual time; where other tools take part, they are asked instead."""
        if any(step.tool != ERRAND_TOOL for step in plan.steps):
            return None
        bodies: dict[str, HomeBody] = {}
        problems, timeline = [], []
        async for place, step, problem, moment in self._walk(plan, frozenset(), bodies):
            if problem is not None:
                problems.append(_placed(problem, place, step.id).wire())
            if moment is not None:
                timeline.append(
                    {"stepId": moment.step_id, "startS": moment.start_s, "endS": moment.end_s, "says": moment.says}
                )
        body = next(iter(bodies.values()), None)
        return {
            "durationS": timeline[-1]["endS"] if timeline else 0.0,
            "moves": 0,
            "toolChanges": 0,
            "timeline": timeline,
            "end": _end(body) if body else {},
            "endSays": _ends(body) if body else "",
            "problems": problems,
        }

    async def ready(self, plan: Plan) -> None:
        for name in _scenes_in(plan):
            await self.sessions.homes.home(name)


def _scenes_in(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        name = step.args.get("scene", plan.scene)
        if step.tool == ERRAND_TOOL and isinstance(name, str) and not name.startswith("$"):
            yield name


def _placed(problem: Problem, place: int, step_id: str) -> Problem:
    return problem.model_copy(update={"path": f"steps[{place}].args.goal", "about": step_id})


def _end(body: HomeBody) -> dict[str, Any]:
    return {"state": body.state_text()}


def _ends(body: HomeBody) -> str:
    """The end in a sentence."""
    world = body.world
    held = [name for hand in ("right", "left") if (name := world.held(hand))]
    holding = f"holding {' and '.join(dict.fromkeys(held))}" if held else "with empty hands"
    return f"The body ends at {landmark(world)} ({short(world.at[0])}, {short(world.at[1])}), {holding}."


def _unreadable(goal: str, scene: HomeScene) -> Problem:
    names = [thing.name for thing in scene.objects]
    offer = f"{'There are' if len(names) <= 10 else 'Nearest names'}: {name_list(nearest_names(goal, names))}."
    says = f"“{goal[:80]}” is not an errand that can be understood here. {offer}"
    return Problem(code="agent.goal_unreadable", about=goal[:80], says=says, try_next=EXAMPLES, fixable_by="user")


def judge_of(sessions: Sessions) -> Judge:
    judging = ErrandJudging(sessions)
    return Judge(assess=judging.assess, assess_rest=judging.assess_rest, ready=judging.ready, preview=judging.preview)
