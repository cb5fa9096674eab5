"""Tools that plan, check, preview and hand in. A plan that is handed in waits for a person; nothing here starts one.

Plans are made and looked at in a dry run, as by `beforehand plan`, `check` and `preview`. Scenes are known by name
only: no file of this machine is opened because a client names it, and no scene becomes live.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.app.intake import NO_DOCUMENT, PlanInput
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import named_scene
from beforehand.cli.asking import path_to
from beforehand.cli.mcp.arguments import INTENT, PLAN, SCENE, START, TEXT, plan_of, text
from beforehand.cli.mcp.home_access import HomeAccess
from beforehand.cli.mcp.looking import lines, problem_line, step_lines
from beforehand.model.errors import BadInputError
from beforehand.model.words import counted
from beforehand.ports.mcp import McpAnswer, McpTool

Given = Mapping[str, Any]


def _input(given: Given) -> PlanInput:
    from beforehand.app.documents import plain

    options = {name: given[name] for name in START if name in given}
    document = plan_of(given) if "plan" in given else NO_DOCUMENT
    intent = plain(given["intent"], "The intent") if "intent" in given else None
    return PlanInput(document, given.get("scene"), given.get("text"), intent, options)


async def plan(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app.dry_run import draft_plan

    if ("text" in given) == ("intent" in given):
        raise BadInputError("Say what is wanted: give either `text` or `intent`.", code="plan.request")
    access.require_operator("planning")
    made, _ = await draft_plan(access.settings, _input(given), scene_of=named_scene)
    if not made.steps:
        return McpAnswer(
            f"There is nothing to do in {made.scene}. {' '.join(made.notes)}".strip(), {"plan": made.wire()}
        )
    took = "" if made.estimated_duration is None else f", about {made.estimated_duration:.1f} s"
    head = f"{counted(len(made.steps), 'step')}{took}. Nothing was kept and nothing has moved. {' '.join(made.notes)}"
    shown = {name: value for name, value in made.wire().items() if value != ""}
    told = step_lines([step.wire() for step in made.steps])
    return McpAnswer(f"{lines(head.strip(), told)}\nHand it in with submit_plan.", {"plan": shown})


async def check_plan(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app import dry_run

    found = await dry_run.check_plan(access.settings, _input(given), scene_of=named_scene)
    problems = [problem.wire() for problem in found.problems]
    told: dict[str, Any] = {"valid": not problems, "steps": found.steps, "problems": problems}
    if not problems:
        says = f"The plan is valid: {counted(found.steps, 'step')}. {found.says}".rstrip()
        return McpAnswer(says, told if found.end is None else {**told, "end": dict(found.end)})
    head = f"The plan has {counted(len(problems), 'problem')}."
    return McpAnswer(lines(head, [problem_line(problem) for problem in problems]), told)


async def preview_plan(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app.dry_run import preview_input

    access.require_operator("a preview, which reads the workspace,")
    shown, _ = await preview_input(access.settings, _input(given), scene_of=named_scene)
    told = [
        f"{row['startS']:.1f} to {row['endS']:.1f} s, {row['stepId']}: {row.get('says') or row.get('name', '')}"
        + (" (needs approval)" if row.get("needsApproval") else "")
        for row in shown["timeline"]
    ]
    wrong = [f"it would not work: {problem_line(problem)}" for problem in shown["problems"]]
    head = f"It would take about {shown['durationS']:.1f} s. Nothing has moved. {shown.get('endSays', '')}".rstrip()
    return McpAnswer(lines(head, told + wrong), shown)


# -- handing in ----------------------------------------------------------------------------------------------------


async def submit_plan(access: HomeAccess, given: Given) -> McpAnswer:
    ways = [name for name in ("plan", "text", "intent", "template") if name in given]
    if len(ways) != 1:
        raise BadInputError("Give one of `plan`, `text`, `intent` and `template`.", code="plan.request")
    access.require_operator("handing a plan in")
    taken = await (_from_template(access, given) if ways == ["template"] else _handed_in(access, given))
    review = f"{taken['id']}-v{taken['version']}"
    says = (
        f"Handed in as {taken['id']}, {counted(len(taken['steps']), 'step')}. Nothing runs before a person starts it."
    )
    where = await _where(access, review)
    told = {"planId": taken["id"], "version": taken["version"], "decisionId": review, "approveAt": where}
    return McpAnswer(f"{says} {where['says']} Then follow it with follow_plan.", told)


async def _handed_in(access: HomeAccess, given: Given) -> Any:
    asked = _input(given)
    workspace = str(access.settings.workspace)

    async def keep(runtime: Runtime) -> Any:
        from beforehand.app.plans import create_plan, plan_answer

        return plan_answer(*await create_plan(runtime, asked, scene_of=named_scene, workspace=workspace, by=access.by))

    document = {} if asked.document is NO_DOCUMENT else {"plan": asked.document}
    words = {name: value for name in ("scene", "text", "intent") if (value := getattr(asked, name)) is not None}
    body = {**document, **words, **asked.options, "workspace": workspace}
    try:
        return await access.perform(keep, "POST", "/plans", body)
    except BadInputError as error:
        if error.code != "scene.unknown" or not await _save_example(access, asked):
            raise
    return await access.perform(keep, "POST", "/plans", body)


async def _save_example(access: HomeAccess, asked: PlanInput) -> bool:
    """Have the server keep the example that is meant, as it comes with the package; it does not become live."""
    from beforehand.app.documents import scene_in
    from beforehand.app.examples import example_files, find_document
    from beforehand.app.scenes import saved_scene

    name = asked.scene or scene_in(asked.document, lambda tool: True)
    if name not in example_files():
        return False
    document = find_document(str(name), files=False)
    await access.perform(lambda runtime: saved_scene(runtime, str(name)), "PUT", path_to("scenes", str(name)), document)
    return True


async def _from_template(access: HomeAccess, given: Given) -> Any:
    from beforehand.app.documents import plain

    name, parameters = given["template"], plain(given.get("parameters", {}), "The parameters")
    workspace = str(access.settings.workspace)

    async def keep(runtime: Runtime) -> Any:
        from beforehand.app.plans import plan_answer
        from beforehand.app.templates import plan_from_template

        return plan_answer(*await plan_from_template(runtime, name, parameters, workspace=workspace, by=access.by))

    body = {"parameters": parameters, "workspace": workspace}
    return await access.perform(keep, "POST", path_to("templates", name, "plans"), body)


async def _where(access: HomeAccess, review: str) -> dict[str, Any]:
    """Where a person finds the review: the server's page, and the command line."""
    from beforehand.cli.running import command

    leader = await access.server()
    show = command(access.settings, "inbox", "show", review)
    answer = command(access.settings, "inbox", "answer", review, "start")
    if leader is None:
        up = command(access.settings, "up")
        says = f"A person looks at it with `{show}`, or starts the server with `{up}` and opens its page."
        return {"says": says, "show": show, "answer": answer, "startServer": up}
    says = f"A person reviews it at {leader.url}, or with `{show}`."
    return {"says": says, "page": leader.url, "show": show, "answer": answer}


TOOLS = (
    McpTool(
        "plan",
        "Plan",
        "Make a plan for a scene from words or an intent. It is deterministic, and what could mean two things is "
        "refused with the reason, never guessed. Nothing is kept and nothing moves; hand the plan in with submit_plan.",
        plan,
        {"scene": SCENE, "text": TEXT, "intent": INTENT, **START},
        ("scene",),
    ),
    McpTool(
        "check_plan",
        "Check a plan",
        "Is this plan valid? Every problem at once, each with its place, the nearest valid names and what to try.",
        check_plan,
        {"plan": PLAN, "scene": SCENE, "position": START["position"], "tool": START["tool"]},
        ("plan",),
    ),
    McpTool(
        "preview_plan",
        "Preview a plan",
        "Simulate a plan: what each step would do and when, the diff of every write, problems, and the end state. "
        "Nothing moves and no file changes.",
        preview_plan,
        {"plan": PLAN, "scene": SCENE, "position": START["position"], "tool": START["tool"]},
        ("plan",),
    ),
    McpTool(
        "submit_plan",
        "Hand a plan in for review",
        "Hand a plan in: a document, words or an intent for a scene, or a template with its parameters. It waits in "
        "the inbox until a person approves it; the answer says where. Nothing runs before that.",
        submit_plan,
        {
            "plan": PLAN,
            "scene": SCENE,
            "text": TEXT,
            "intent": INTENT,
            **START,
            "template": text("A template's name, as list_templates gives it, instead of a plan."),
            "parameters": {"type": "object", "description": "The template's parameters by name."},
        },
        writes=True,
    ),
)
