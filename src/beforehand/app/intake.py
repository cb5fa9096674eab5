"""The one way in: a document, a text or an intent becomes a plan, with everything that is wrong with it.

The command line, HTTP, previews, templates and regenerated plans all come through here. Whoever made the plan, a
person or a planner, it is checked by the engine and by every craft's judge before anybody is asked to review it.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from beforehand.app.craft import Assessment, Documents, Done, Judge, Planner, PlanRequest, Start, Wanted
from beforehand.app.documents import scene_in, scenes_in
from beforehand.app.off_loop import off_loop
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import known_scene, scene_row
from beforehand.engine.reading import PlanReading
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import check_document, find_problems
from beforehand.model.errors import BadInputError, ForeignError, NotFoundError, RefusedError
from beforehand.model.plan import Origin, Plan, Step
from beforehand.model.reason import Problem, name_list
from beforehand.ports.foreign import contained, guarded, is_ours, started, why
from beforehand.ports.log import Log

log = Log("beforehand.plans")
SceneFinder = Callable[[Runtime, str], Awaitable[str]]
"""Makes sure that a scene is there and gives its name: `known_scene`, `saved_scene` or `live_scene`."""
START_OPTIONS = ("position", "tool")
"""What the command line calls the parts of a start."""


MODEL = "model"
"""The option that names a model to read words."""
NONE_DONE: Done = frozenset()
NO_DOCUMENT: Any = object()
"""What stands in place of a document that was not handed in; `null` is one that was."""


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What somebody hands in: a plan's document, or what they want of a scene, in words or as an intent."""

    document: Any = NO_DOCUMENT
    scene: str | None = None
    text: str | None = None
    intent: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def start(self) -> Start:
        """Where the planner begins: the position, the tool and the order that were given."""
        return {name: self.options[name] for name in START_OPTIONS if self.options.get(name) is not None}


class Taken(NamedTuple):
    """A plan and every problem it has; it is whole only when it has none."""

    plan: Plan
    problems: list[Problem]
    end: Mapping[str, Any] | None = None
    """The state it ends in, where a craft can tell."""
    end_says: str = ""


async def take_in(
    runtime: Runtime, given: PlanInput, *, scene_of: SceneFinder = known_scene, correlation_id: str = ""
) -> Taken:
    """The plan that comes of an input. Raises BadInputError for an input that is none, or names unknown things."""
    if given.options.get(MODEL) is not None and given.text is None:
        raise BadInputError("`model` is for words: give `text` with it, or leave it out.", code="plan.model")
    if given.document is not NO_DOCUMENT:
        if given.text is not None or given.intent is not None:
            raise BadInputError("Give either a `plan`, or a `scene` with `text` or `intent`.", code="plan.request")
        return await _read(runtime, given, scene_of)
    return await _made(runtime, given, scene_of, correlation_id)


# -- from words or an intent -------------------------------------------------------------------------------------------


async def _made(runtime: Runtime, given: PlanInput, scene_of: SceneFinder, correlation_id: str) -> Taken:
    request = await _request(runtime, given, scene_of)
    plan = (await planner_for(runtime, request.scene)).plan
    assert plan is not None
    return await judged(runtime, await plan(request, correlation_id))


async def read_wanted(runtime: Runtime, given: PlanInput, *, scene_of: SceneFinder = known_scene) -> Wanted:
    """What a text or an intent would have planned, without planning it.

    Raises as planning does; RefusedError where the scene's planner cannot read without planning.
    """
    request = await _request(runtime, given, scene_of)
    read = (await planner_for(runtime, request.scene)).read
    if read is None:
        says = f"The planner of {request.scene} does not say what it understood before it plans."
        raise RefusedError(says, code="scene.no_reading")
    return await read(request)


async def _request(runtime: Runtime, given: PlanInput, scene_of: SceneFinder) -> PlanRequest:
    if not given.scene:
        raise BadInputError("Planning needs a `scene`, and `text` or `intent`.", code="plan.request")
    if (given.text is None) == (given.intent is None):
        raise BadInputError("Give either `text` or `intent`.", code="plan.request")
    if given.intent is not None and not isinstance(given.intent, Mapping):
        raise BadInputError("`intent` is an object with `goal` and `steps`.", code="plan.request")
    scene = await scene_of(runtime, given.scene)
    planner = await planner_for(runtime, scene)
    if given.options.get(MODEL) is not None and not planner.asks_model:
        raise BadInputError(
            f"The planner {planner.name!r}, which plans for {scene}, asks no model, so `model` would do nothing.",
            code="plan.model",
            hint="Leave it out. To have a model write a plan with any tools, POST /drafts, or: beforehand draft TEXT",
        )
    await _refuse_start(runtime, scene, given.start)
    return PlanRequest(scene, given.text, given.intent, given.note, dict(given.options))


async def _refuse_start(runtime: Runtime, scene: str, start: Start) -> None:
    """A state to start from means something only to a craft that binds plans to one."""
    kind = (await scene_row(runtime, scene))["kind"]
    if start and _binds(runtime, kind) is None:
        says = f"Plans for {scene} begin at its present state, so {name_list(start)} would do nothing."
        raise BadInputError(says, code="plan.start", hint="Leave it out.")


def _binds(runtime: Runtime, kind: str) -> Callable[[Plan, Start], Awaitable[Plan]] | None:
    parts = runtime.parts_for(kind)
    return None if parts is None or parts.judge is None else parts.judge.bind


async def planner_for(runtime: Runtime, scene: str) -> Planner:
    """The planner for a scene, which plans at once; RefusedError where its craft has none."""
    kind = (await scene_row(runtime, scene))["kind"]
    parts = runtime.parts_for(kind)
    if parts is None or parts.planner is None or parts.planner.plan is None:
        raise RefusedError(f"Scenes of kind {kind!r} have no planner.", code="scene.no_planner")
    return parts.planner


def planner_named(runtime: Runtime, name: str) -> Planner | None:
    """The planner that a plan says it was made by; None where it was a person or nobody who is here now."""
    planners = (parts.planner for parts in runtime.crafts.values() if parts.planner is not None)
    return next((planner for planner in planners if planner.name == name), None)


# -- from a document ---------------------------------------------------------------------------------------------------


async def _read(runtime: Runtime, given: PlanInput, scene_of: SceneFinder) -> Taken:
    document = given.document
    form = _form_of(runtime, document)
    named = given.scene
    for beside in scenes_in(document, lambda tool: works_in_scene(runtime.catalog, tool)):
        with suppress(BadInputError, NotFoundError):  # the judges tell of a scene that is not there
            await scene_of(runtime, beside)
    if named is None:
        named = scene_in(document, lambda tool: works_in_scene(runtime.catalog, tool))
    if named is None and form is not None:
        raise BadInputError(
            f"This is {form.recognise(document)}; say which scene it is for (--scene, or `scene`).", code="scene.needed"
        )
    found: list[Problem] = []
    if named is not None:
        scene = await scene_of(runtime, named)
        await _refuse_start(runtime, scene, given.start)
        if form is not None:
            document, found = await form.read(document, scene, given.start)
            if document is None:
                return Taken(Plan(steps=()), found)
        document = {**document, "scene": scene} if isinstance(document, Mapping) else document
    plan, problems = await off_loop(document, check_document, document, runtime.catalog)
    if problems:
        return Taken(plan, [*found, *problems])
    taken = await judged(runtime, _with_claims(runtime, plan, document), given.start)
    return taken._replace(problems=found or taken.problems)


def _form_of(runtime: Runtime, document: Any) -> Documents | None:
    forms = (parts.documents for parts in runtime.crafts.values() if parts.documents is not None)
    return next((form for form in forms if _recognised(form, document)), None)


def _recognised(form: Documents, document: Any) -> bool:
    try:
        with contained():
            return form.recognise(document) is not None
    except Exception as error:  # a form of somebody else's that breaks is none
        if is_ours(form.recognise):
            raise
        log.error("a craft could not say whether a document is its own", says=why(error))
        return False


def works_in_scene(catalog: ToolCatalog, tool: Any, kind: str | None = None) -> bool:
    """Whether a tool works in a scene (of that kind), which its argument `scene` names."""
    spec = catalog.get(tool) if isinstance(tool, str) else None
    return spec is not None and spec.scene_kind is not None and kind in (None, spec.scene_kind)


def _with_claims(runtime: Runtime, plan: Plan, document: Any) -> Plan:
    """What a document says of the world it was made from and of how it came about, where a planner here made it."""
    if not isinstance(document, Mapping):
        return plan
    world, origin = document.get("world"), document.get("origin")
    if plan.scene is not None and isinstance(world, Mapping):
        plan = plan.model_copy(update={"world": dict(world)})
    if isinstance(origin, Mapping) and planner_named(runtime, str(origin.get("planner"))):
        try:
            claimed = Origin.model_validate(dict(origin))
        except ValueError:
            return plan
        # Who wrote it is a fact only where it was written here; from a document it is what the document says.
        said = (f"The document says that {claimed.model[:200]} wrote it.",) if claimed.model else ()
        update = {"origin": claimed.model_copy(update={"model": None}), "notes": (*plan.notes, *said)}
        plan = plan.model_copy(update=update)
    return plan


# -- whoever made it ---------------------------------------------------------------------------------------------------


async def judged(runtime: Runtime, plan: Plan, start: Start | None = None, done: Done = NONE_DONE) -> Taken:
    """A plan bound to its scene, with every problem the engine and the crafts' judges find.

    `done` names the steps that have begun in a run of it: the rest is judged from the present state.
    """
    plan = await bound(runtime, plan, start or {})
    found = await _assessed(runtime, plan, done)
    return found._replace(problems=await off_loop(plan, _engine_problems, runtime, plan) + found.problems)


async def bound(runtime: Runtime, plan: Plan, start: Start | None = None) -> Plan:
    """A plan for a scene: its steps get their scene, and its craft binds it to the state it starts from."""
    if plan.scene is None:
        return plan
    kind = (await scene_row(runtime, plan.scene))["kind"]
    steps = tuple(_in_scene(step, runtime.catalog, kind, plan.scene) for step in plan.steps)
    plan = plan.model_copy(update={"steps": steps})
    bind = _binds(runtime, kind)
    return plan if bind is None else await bind(plan, start or {})


def _in_scene(step: Step, catalog: ToolCatalog, kind: str, scene: str) -> Step:
    if "scene" in step.args or not works_in_scene(catalog, step.tool, kind):
        return step
    return step.model_copy(update={"args": {"scene": scene, **step.args}})


def _engine_problems(runtime: Runtime, plan: Plan) -> list[Problem]:
    paths = [f"steps[{place}]" for place in range(len(plan.steps))]
    return find_problems(PlanReading(plan, paths=paths), runtime.catalog)


async def _assessed(runtime: Runtime, plan: Plan, done: Done) -> Taken:
    """What every judge finds, and the plan with the duration that one of them worked out."""
    taken = Taken(plan, [])
    duration = plan.estimated_duration
    expects = {name: state for name, state in (plan.expects or {}).items() if name in done}
    for name, parts in runtime.crafts.items():
        if parts.judge is not None:
            assessment = await _told_by(name, parts.judge, plan, done)
            taken.problems.extend(assessment.problems)
            expects |= {name: dict(state) for name, state in assessment.expects.items()}
            if assessment.duration_s is not None:
                duration = assessment.duration_s
                taken = taken._replace(end=assessment.end, end_says=assessment.says)
    if duration is None:
        specs = (runtime.catalog.get(step.tool) for step in plan.steps)
        duration = round(sum(spec.estimate_s for spec in specs if spec is not None), 1)
    return taken._replace(plan=plan.model_copy(update={"estimated_duration": duration, "expects": expects or None}))


async def _told_by(craft: str, judge: Judge, plan: Plan, done: Done) -> Assessment:
    """What a judge finds; somebody else's that fails has found that nobody knows whether the plan would work out."""
    ours = is_ours(judge.assess)
    try:
        with guarded(f"Judging it by the craft {craft}"):
            return await started(_assessment(judge, plan, done), ours=ours)
    except ForeignError as error:
        if ours:
            raise
        return Assessment((Problem(code=error.code, about=craft, says=error.says, try_next=error.hint),))


async def _assessment(judge: Judge, plan: Plan, done: Done) -> Assessment:
    if done and judge.assess_rest is not None:
        return await judge.assess_rest(plan, done)
    return await judge.assess(plan)


async def problems_of(runtime: Runtime, plan: Plan, done: Done = NONE_DONE) -> list[Problem]:
    """Every problem a kept plan has now: tools may have gone, the scene may have changed."""
    found = await off_loop(plan, _engine_problems, runtime, plan)
    return found + (await _assessed(runtime, plan, done)).problems
