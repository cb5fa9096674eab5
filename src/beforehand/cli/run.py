"""`beforehand run`: carry a plan out, or go on with a run."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.known_names import run_ids
from beforehand.cli.options import (
    DbOption,
    HomeOption,
    OutputOption,
    SceneOption,
    WorkspaceOption,
    YesOption,
    settings_from,
)
from beforehand.cli.screen import Output

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.cli.backend import Backend, Document
    from beforehand.cli.running import Begin


def run(
    plan: Annotated[str | None, typer.Argument(metavar="PLAN", help="A plan's file; - reads standard input.")] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="RUNID", help="Continue a run instead.", autocompletion=run_ids)
    ] = None,
    scene: SceneOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Carry a plan out.

    Running it approves this version of the plan. If a server runs on the home the plan is handed to it, else it runs
    in this process. Whatever waits for a person is asked here on a terminal; elsewhere the command ends with exit
    code 3 once the run waits, and goes on with `run --resume`.
    """
    from beforehand.app.documents import read_file
    from beforehand.cli.running import carry_out
    from beforehand.model.errors import BadInputError

    if (plan is None) == (resume is None):
        raise BadInputError("Name either a PLAN to run or a run to continue (--resume RUNID).", code="usage")
    if resume is not None and (scene is not None or workspace is not None):
        raise BadInputError("--scene and --workspace cannot be used with --resume.", code="usage")
    settings = settings_from(workspace=workspace, home=home, db=db)
    if resume is not None:
        return carry_out(settings, resumed(settings, resume), output=output, yes=yes)
    document = read_file(str(plan))

    async def begin(backend: "Backend") -> "Document":
        taken = await backend.take_plan(document, scene=scene, workspace=str(settings.workspace))
        return await started(backend, taken)

    return carry_out(settings, begin, output=output, yes=yes)


async def started(backend: "Backend", plan: "Document") -> "Document":
    """Start a plan that was taken in to be run; refused, it does not stay behind as a review nobody asked for."""
    from beforehand.model.errors import BeforehandError

    try:
        return await backend.start(plan["id"], plan["version"])
    except BeforehandError:
        with suppress(BeforehandError):
            await backend.answer(
                f"{plan['id']}-v{plan['version']}", "cancel", value=None, note="It could not be started."
            )
        raise


def resumed(settings: "Settings", run_id: str) -> "Begin":
    """What takes a run up; refused, without making a home, where there is none."""
    refuse_missing(settings, f"so the run {run_id!r} is unknown")

    async def begin(backend: "Backend") -> "Document":
        return await backend.resume(run_id)

    return begin


def refuse_missing(settings: "Settings", so: str) -> None:
    from beforehand.app.stores import store_exists, store_location
    from beforehand.model.errors import NotFoundError

    if not store_exists(settings.database):
        raise NotFoundError(
            f"There is no log at {store_location(settings.database)}, {so}.",
            code="store.missing",
            hint="Name the home with --home or BEFOREHAND_HOME.",
        )
