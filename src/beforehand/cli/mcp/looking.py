"""Tools that only look: scenes, what is live, plans, runs, decisions, events, tools and templates."""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.cli.asking import path_to
from beforehand.cli.mcp.arguments import LIMIT, SCENE, limit_of, text, whole
from beforehand.cli.mcp.home_access import HomeAccess
from beforehand.model.errors import NotFoundError
from beforehand.model.words import counted
from beforehand.ports.mcp import McpAnswer, McpTool

Given = Mapping[str, Any]
EVENT_FIELDS = ("seq", "ts", "kind", "scene", "about", "says")


def lines(head: str, items: Sequence[str], nothing: str = "") -> str:
    """A sentence and a list below it; `nothing` where the list is empty."""
    return "\n".join([head, *(f"- {item}" for item in items)]) if items else nothing or head


# -- scenes ------------------------------------------------------------------------------------------------------------


async def scene_rows(access: HomeAccess) -> list[dict[str, Any]]:
    """The scenes the home knows, and the examples it does not know yet."""
    from beforehand.app import scenes
    from beforehand.app.examples import example_files, kind_of_example

    known = await access.look("/scenes", scenes.list_scenes)
    shown = ("name", "kind", "active", "live", "reason")
    rows = [{**{name: row[name] for name in shown if name in row}, "from": "home"} for row in known]
    names = {row["name"] for row in rows}
    examples = [(name, path) for name, path in example_files().items() if name not in names]
    return rows + [
        {"name": name, "kind": kind_of_example(path), "active": False, "from": "examples"} for name, path in examples
    ]


async def scene_document(access: HomeAccess, name: str) -> Any:
    """A scene as the home has it, else as the example does; NotFoundError with the names there are."""
    from beforehand.app.examples import find_document
    from beforehand.app.scenes import get_scene

    found = {row["name"]: row for row in await scene_rows(access)}
    if name not in found:
        raise NotFoundError.unknown("scene", name, found)
    if found[name]["from"] == "examples":
        return find_document(name, files=False)
    return (await access.look(path_to("scenes", name), lambda runtime: get_scene(runtime, name)))["document"]


def _stands(row: Mapping[str, Any], otherwise: str) -> str:
    if not row["active"]:
        return otherwise
    return f"active and not live: {row['reason']['says']}" if "reason" in row else "live"


async def list_scenes(access: HomeAccess, given: Given) -> McpAnswer:
    rows = await scene_rows(access)
    told = [f"{row['name']} ({row['kind']}, {_stands(row, row['from'])})" for row in rows]
    return McpAnswer(lines(f"There are {counted(len(rows), 'scene')}.", told), {"scenes": rows})


async def show_scene(access: HomeAccess, given: Given) -> McpAnswer:
    document = await scene_document(access, given["scene"])
    parts = [
        f"{counted(len(items), 'item')} in `{name}`" for name, items in document.items() if isinstance(items, list)
    ]
    says = f"{given['scene']} is a scene of kind {document.get('kind')}: {', '.join(parts) or 'without lists'}."
    return McpAnswer(says, {"name": given["scene"], "document": document})


async def check_scene(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app.documents import plain
    from beforehand.app.dry_run import check_scene_document

    document = given["document"]
    document = document if isinstance(document, str) else plain(document, "The scene")
    found = await check_scene_document(access.settings, document)
    odd = [f"worth a look: {one['says']}" for one in found["warnings"]]
    if found["ok"]:
        return McpAnswer(lines(f"The scene {found.get('name')} is valid.", odd), found)
    wrong = [problem_line(one) for one in found["problems"]]
    return McpAnswer(lines(f"The scene has {counted(len(wrong), 'problem')}.", wrong + odd), found)


def problem_line(problem: Mapping[str, Any]) -> str:
    path, says = problem.get("path"), str(problem["says"])
    return f"{path}: {says}" if path and not says.startswith(str(path)) else says


async def show_state(access: HomeAccess, given: Given) -> McpAnswer:
    scene = given.get("scene")

    async def left(runtime: Runtime) -> Any:
        from beforehand.app.state import state_at, state_view

        last = await runtime.store.last_seq()
        return await (state_at(runtime, last, scene) if last else state_view(runtime, scene))

    shown = await access.look(path_to("state", scene=scene), left)
    served = await access.server() is not None
    counts = [f"{len(items)} in `{name}`" for name, items in shown.items() if isinstance(items, list) and items]
    head = "The server runs." if served else "No server runs on this home; this is what its log says."
    held = ["Everything is held by a person."] if shown.get("hold") else []
    told = [*held, *(f"{row['name']} is {_stands(row, 'resting')}" for row in shown["scenes"])]
    return McpAnswer(lines(f"{head} There is {', '.join(counts) or 'nothing'}.", told), {"served": served, **shown})


# -- plans, runs, decisions ----------------------------------------------------------------------------------------


async def list_plans(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app.plans import plan_heads

    limit = limit_of(given)
    found = await access.look(path_to("plans", limit=str(limit)), lambda runtime: plan_heads(runtime, limit))
    told = [f"{head['id']}, version {head['version']}: {head.get('name') or 'a plan'}" for head in found]
    return McpAnswer(lines("The newest plans:", told, "There are no plans yet."), {"plans": found})


async def show_plan(access: HomeAccess, given: Given) -> McpAnswer:
    plan_id, version = given["planId"], given.get("version")

    async def kept(runtime: Runtime) -> Any:
        from beforehand.app.plans import get_plan

        return (await get_plan(runtime, plan_id, version)).wire()

    plan = await access.look(path_to("plans", plan_id, version=str(version or "")), kept)
    return McpAnswer(lines(f"{plan_id}, version {plan['version']}:", step_lines(plan["steps"])), {"plan": plan})


def step_lines(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{step['id']}: {step.get('description') or step.get('tool')}"
        + (f" [{step['status']}]" if step.get("status", "pending") != "pending" else "")
        for step in steps
    ]


async def list_runs(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app import runs

    limit, still_open = limit_of(given), given.get("open") or None
    path = path_to("runs", limit=str(limit), open="true" if still_open else "")
    found = await access.look(path, lambda runtime: runs.list_runs(runtime, open=still_open, limit=limit))
    told = [f"{run['runId']}: {run['status']}, {run.get('name') or 'a plan'}, {run['startedAt']}" for run in found]
    return McpAnswer(lines("The newest runs:", told, "There are no runs."), {"runs": found})


async def run_now(access: HomeAccess, run_id: str) -> Any:
    from beforehand.app.run_documents import run_document_in

    return await access.look(path_to("runs", run_id), lambda runtime: run_document_in(runtime.store, run_id))


async def show_run(access: HomeAccess, given: Given) -> McpAnswer:
    run = await run_now(access, given["runId"])
    waits = [f"waits for a person: {decision['title']} ({decision['id']})" for decision in run["decisions"]]
    head = f"Run {run['runId']} of {run['planId']}, version {run['version']}: {run['status']}."
    return McpAnswer(lines(head, [*waits, *step_lines(run["steps"])]), {"run": run})


async def list_decisions(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app import inbox

    found = await access.look("/inbox", inbox.list_decisions)
    told = [f"{one['id']}: {one['title']} (a person may {', '.join(one['verbs'])})" for one in found]
    head = "These wait for a person, who alone can answer them:"
    return McpAnswer(lines(head, told, "Nothing waits for a person."), {"decisions": found})


async def decision_now(access: HomeAccess, decision_id: str) -> Any:
    from beforehand.app.inbox import show_decision

    return await access.look(path_to("inbox", decision_id), lambda runtime: show_decision(runtime, decision_id))


async def show_decision(access: HomeAccess, given: Given) -> McpAnswer:
    one = await decision_now(access, given["decisionId"])
    effects = [f"{verb}: {says}" for verb, says in (one.get("effects") or {}).items()]
    return McpAnswer(lines(f"{one['title']} It is {one['status']}.", effects), {"decision": one})


# -- events, tools, templates --------------------------------------------------------------------------------------


async def recent_events(access: HomeAccess, given: Given) -> McpAnswer:
    limit, only = limit_of(given), {name: given.get(name) for name in ("run", "scene")}
    before, kinds = given.get("before"), given.get("kinds") or []

    async def from_log(runtime: Runtime) -> Any:
        from pydantic_core import from_json

        from beforehand.ports.store import EventFilter

        wanted = EventFilter(kinds=frozenset(kinds), **only)
        records = await runtime.store.last_records(before=before, limit=limit, only=wanted)
        return [from_json(runtime.sentences.added_to(record.line)) for record in records]

    asked = {"limit": str(limit), "before": str(before or ""), "kinds": ",".join(kinds), **only}
    found = await access.look(path_to("events", **asked), from_log)
    shown = [{name: event[name] for name in EVENT_FIELDS if event.get(name) is not None} for event in found]
    told = [f"{event['seq']}: {event['says']}" for event in shown]
    return McpAnswer(
        lines("What happened, the newest last:", told, "Nothing of that kind happened."), {"events": shown}
    )


async def list_tools(access: HomeAccess, given: Given) -> McpAnswer:
    async def here(runtime: Runtime) -> Any:
        from beforehand.app.tools import tool_documents

        return tool_documents(runtime)

    found = await access.look("/tools", here, with_servers=True)
    told = [f"{tool['name']} ({tool['effect']}): {tool['description']}" for tool in found]
    return McpAnswer(lines("A plan's step may call:", told), {"tools": found})


async def list_templates(access: HomeAccess, given: Given) -> McpAnswer:
    from beforehand.app import templates

    found = await access.look("/templates", templates.list_templates)
    told = [f"{one['name']}({', '.join(one['parameters'])}): {one['description']}" for one in found]
    return McpAnswer(lines("Plans kept for reuse:", told, "There are no templates."), {"templates": found})


TOOLS = (
    McpTool("list_scenes", "Scenes", "The scenes there are, with their kind and whether they are live.", list_scenes),
    McpTool(
        "show_scene",
        "A scene",
        "A scene's whole document: its places, machines and allowed moves.",
        show_scene,
        {"scene": SCENE},
        ("scene",),
    ),
    McpTool(
        "check_scene",
        "Check a scene",
        "Everything that is wrong with a scene's document, each problem with its place, and what is odd about it. "
        "Nothing is kept.",
        check_scene,
        {"document": {"type": ["object", "string"], "description": "The scene: an object, or YAML or JSON text."}},
        ("document",),
    ),
    McpTool(
        "show_state",
        "What is live",
        "Everything live at this moment: scenes and what is in them, recent runs, open decisions, and the "
        "number `seq` of the last event.",
        show_state,
        {"scene": SCENE},
    ),
    McpTool("list_plans", "Plans", "The plans handed in, newest first, without steps.", list_plans, {"limit": LIMIT}),
    McpTool(
        "show_plan",
        "A plan",
        "A plan that was handed in, with its steps, in its latest version or another.",
        show_plan,
        {"planId": text("The plan's id."), "version": whole("Which version; the latest when left out.", 1, 10**9)},
        ("planId",),
    ),
    McpTool(
        "list_runs",
        "Runs",
        "The runs of plans, newest first, without steps.",
        list_runs,
        {"limit": LIMIT, "open": {"type": "boolean", "description": "Only those that have not ended."}},
    ),
    McpTool(
        "show_run",
        "A run",
        "One run with every step where it stands, and what of it waits for a person.",
        show_run,
        {"runId": text("The run's id.")},
        ("runId",),
    ),
    McpTool(
        "list_decisions",
        "The inbox",
        "What waits for a person: reviews, approvals, questions, failures, doubts. They cannot be answered from here.",
        list_decisions,
    ),
    McpTool(
        "show_decision",
        "A decision",
        "One decision, open or answered: what it is about, what each answer would do, what was answered.",
        show_decision,
        {"decisionId": text("The decision's id.")},
        ("decisionId",),
    ),
    McpTool(
        "recent_events",
        "What happened",
        "The last events of the log in words, the newest last; `before` pages back.",
        recent_events,
        {
            "limit": LIMIT,
            "before": whole("Only events with a number below this one.", 1, 2**62),
            "run": text("Only of this run."),
            "scene": text("Only of this scene."),
            "kinds": {
                "type": "array",
                "maxItems": 50,
                "items": {"type": "string", "pattern": "^[A-Za-z]{1,80}$"},
                "description": "Only these kinds, such as runFinished.",
            },
        },
    ),
    McpTool(
        "list_tools",
        "Tools of steps",
        "The tools a plan's step can call, with the JSON schema of their arguments and whether they are physical.",
        list_tools,
    ),
    McpTool("list_templates", "Templates", "Plans kept for reuse, with their typed parameters.", list_templates),
)
