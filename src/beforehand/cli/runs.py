"""`beforehand runs` and `beforehand submit`: runs listed, shown and steered, and plans handed in for review."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import run_ids
from beforehand.cli.options import (
    DbOption,
    HomeOption,
    OutputOption,
    PlanArgument,
    SceneOption,
    WorkspaceOption,
    hand_down,
    settings_from,
)
from beforehand.cli.screen import Output, line, print_json, print_out, print_table
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.ports.store import Store

app = typer.Typer(help="Runs: what is under way, what has ended, and steering them.")
RunArgument = Annotated[str, typer.Argument(metavar="RUNID", help="The run's id.", autocompletion=run_ids)]
VERBS = {
    "pause": "Start nothing new in a run; what is in flight goes on.",
    "resume": "Let a paused run go on; without a server use `beforehand run --resume`, which carries it out.",
    "cancel": "Stop what runs and start nothing more; this works without a server too.",
    "release": "Have a run at rest give its machines back; this works without a server too.",
}
"""What can be said to a run as a whole, and what that does."""


@app.callback(invoke_without_command=True)
def runs(
    context: typer.Context, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int | None:
    """Runs: what is under way, what has ended, and steering them."""
    if context.invoked_subcommand is None:
        return list_runs(output, home, db)
    hand_down(context)
    return None


@app.command("list")
def list_runs(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """The newest runs, those under way among them."""
    from beforehand.cli.read_home import read_home

    settings = settings_from(home=home, db=db)
    found = read_home(settings, lambda store: store.rows("run", limit=200, newest_first=True), [])
    if output is Output.JSON:
        print_json(found)
    else:
        rows = [(run["runId"], run["status"], line(run.get("name", "")), run["startedAt"]) for run in found]
        print_table(("run", "status", "plan", "since"), rows, nothing="There are no runs yet.")
    return DONE


@app.command()
def show(run_id: RunArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """One run with every step where it stands."""
    from beforehand.cli.read_home import read_home
    from beforehand.cli.run import refuse_missing

    settings = settings_from(home=home, db=db)
    refuse_missing(settings, f"so there is no run {run_id!r}")

    async def found(store: "Store") -> dict[str, Any]:
        from beforehand.app.run_documents import run_document_in

        return await run_document_in(store, run_id)

    run = read_home(settings, found, {})
    if output is Output.JSON:
        print_json(run)
    else:
        from beforehand.cli.running import show_run

        show_run(run)
    return DONE


def _printed(run: Mapping[str, Any], output: Output) -> int:
    if output is Output.JSON:
        print_json(run)
    else:
        print_out(f"Run {run['runId']}: {run['status']}.")
    return DONE


def _steered(run_id: str, verb: str, output: Output, home: str | None, db: str | None) -> int:
    from beforehand.app import runs as verbs
    from beforehand.cli.backend import Call, open_backend
    from beforehand.cli.local_backend import BY
    from beforehand.cli.run import refuse_missing
    from beforehand.cli.run_async import run_async

    local: dict[str, Callable[..., Awaitable[Any]]] = {
        "pause": verbs.pause_run,
        "resume": verbs.resume_run,
        "cancel": verbs.cancel_run,
        "release": verbs.release_run,
    }
    settings = settings_from(home=home, db=db)
    refuse_missing(settings, f"so there is no run {run_id!r}")

    async def here(runtime: "Runtime") -> Any:
        return await local[verb](runtime, run_id, by=BY)

    async def do() -> dict[str, Any]:
        async with open_backend(settings, note="beforehand runs", with_servers=False) as backend:
            call = Call("POST", f"/runs/{quote(run_id, safe='')}/{verb}")
            return dict(await backend.perform(here, call))

    return _printed(run_async(do()), output)


def _add_verb(verb: str, says: str) -> None:
    def steer(
        run_id: RunArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
    ) -> int:
        return _steered(run_id, verb, output, home, db)

    app.command(verb, help=says)(steer)


for _verb, _says in VERBS.items():
    _add_verb(_verb, _says)

StepArgument = Annotated[str, typer.Argument(metavar="STEP", help="The step's id.")]


def _at_server(run_id: str, step: str, verb: str, body: Any, output: Output, home: str | None, db: str | None) -> int:
    from beforehand.cli.asking import path_to, tell

    path = path_to("runs", run_id, "steps", step, verb)
    unknown, driven = f"there is no run {run_id!r}", "nobody would carry the step out"
    run = tell(settings_from(home=home, db=db), "POST", path, body, unknown=unknown, driven=driven)
    return _printed(run, output)


@app.command()
def retry(
    run_id: RunArgument,
    step: StepArgument,
    value: Annotated[
        str | None, typer.Option("--value", metavar="JSON", help="Other arguments for the step, all of them.")
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Do a step again that has failed, was denied or cancelled, at the server."""
    from beforehand.cli.prompt import value_from

    body = None if value is None else {"args": value_from(value)}
    return _at_server(run_id, step, "retry", body, output, home, db)


@app.command()
def skip(
    run_id: RunArgument,
    step: StepArgument,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Leave a step out, at the server; what needs it goes on without it."""
    return _at_server(run_id, step, "skip", None, output, home, db)


def submit(
    plan: PlanArgument,
    scene: SceneOption = None,
    workspace: WorkspaceOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Hand a plan in for review; the server, or the next `beforehand up`, shows it."""
    from beforehand.app.documents import read_file
    from beforehand.cli.backend import open_backend
    from beforehand.cli.run_async import run_async

    settings = settings_from(workspace=workspace, home=home, db=db)
    document = read_file(plan)

    async def hand_in() -> dict[str, Any]:
        async with open_backend(settings, note="beforehand submit") as backend:
            return dict(await backend.take_plan(document, scene=scene, workspace=str(settings.workspace)))

    taken = run_async(hand_in())
    if output is Output.JSON:
        print_json(taken)
    else:
        review = f"{taken['id']}-v{taken['version']}"
        print_out(f"Handed in as {taken['id']}, {counted(len(taken['steps']), 'step')}. It waits for review: {review}")
        print_out(f"Look at it with: beforehand inbox show {review}")
    return DONE
