"""`beforehand fleet`: a shift in virtual time, and why things stand still."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, REFUSED
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, counted, line, print_err, print_json, print_out, print_table

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.ports.store import Store

    Document = dict[str, Any]

COMMANDS = {"fleet": "Fleets of forklifts."}
fleet = typer.Typer(help=COMMANDS["fleet"], no_args_is_help=True)


@fleet.command()
def simulate(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="The fleet's scene: its name, or a file.")],
    until: Annotated[
        str | None, typer.Option("--until", metavar="idle", help="Until nothing is left to do; this is the default.")
    ] = None,
    for_s: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", help="For this many virtual seconds.")
    ] = None,
    faults: Annotated[
        str | None,
        typer.Option("--faults", metavar="FILE", help="What goes wrong, with which robot and when."),
    ] = None,
    events: Annotated[
        str | None, typer.Option("--events", metavar="OUT", help="Write the log there, as JSON lines.")
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Run a fleet in virtual time with simulated robots. The same scene gives the same log, byte for byte.

    It ends with 3 when the fleet is frozen or waits for a person, who is not there.
    """
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import scene_document
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.fleet.shift_bar import shift_bar
    from beforehand.crafts.fleet.simulation import events_file, play, refuse_bad_time
    from beforehand.model.errors import BadInputError

    refuse_bad_time(until, for_s)
    if events == "-" and output is Output.JSON:
        raise BadInputError("Events and the result cannot both go to standard output; name a file.", code="usage")
    if scene == "-" and faults == "-":
        raise BadInputError("The scene and the faults cannot both come from standard input.", code="usage")
    document = run_async(scene_document(settings_from(home=home, db=db), scene))
    script = None if faults is None else read_file(faults)
    with events_file(events) as lines, shift_bar(for_s) as watch:
        result = play(document, script, for_s, lines, watch)
    if output is Output.JSON:
        print_json(result)
    elif events != "-":
        _show(result)
    for asked in result.get("decisions", ()):
        print_err(f"It waits for a person: {asked['title']}", f"A person could answer: {', '.join(asked['verbs'])}.")
    for violation in result["invariantViolations"]:
        print_err(f"A rule of the fleet was broken: {violation}")
    if result["invariantViolations"]:
        return FAILED
    return REFUSED if result.get("decisions") else DONE


def _show(result: "Document") -> None:
    print_table(
        ("robot", "phase", "at", "battery", "load", "task"),
        [
            (
                robot["robotId"],
                robot["phase"],
                robot.get("nodeId", ""),
                f"{robot['battery']:.0%}" if "battery" in robot else "",
                robot["loadState"],
                robot.get("taskId", ""),
            )
            for robot in result["robots"]
        ],
        nothing="The scene has no robots.",
    )
    rows = [(s["streamId"], s["kind"], s["tasksCreated"], s["tasksCompleted"]) for s in result["streams"]]
    if rows:
        print_table(("stream", "kind", "tasks begun", "completed"), rows)
    counts: dict[str, int] = {}
    for site in result["worksites"]:
        counts[site["occupancy"]] = counts.get(site["occupancy"], 0) + 1
    shown = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
    print_out(f"Worksites: {shown or 'none'}.")
    print_out(
        f"{counted(result['tasksCompleted'], 'task')} completed and {result['tasksFailed']} failed "
        f"in {result['simSeconds']:g} virtual seconds ({counted(result['ticks'], 'tick')})."
    )


@fleet.command()
def why(
    name: Annotated[str | None, typer.Argument(metavar="ROBOT|TASK|STREAM", help="What is asked about.")] = None,
    scene: Annotated[
        str | None, typer.Option("--scene", metavar="S", help="The scene, where a name is in several of them.")
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Why a robot, task or stream stands still; without a name, everything that does."""
    from beforehand.cli.run import refuse_missing

    settings = settings_from(home=home, db=db)
    refuse_missing(settings, "so no fleet is known")
    reasons = _asked(settings, name, scene)
    if output is Output.JSON:
        print_json(reasons)
    else:
        rows = [(item["about"], line(item["says"]), line(item.get("tryNext", ""))) for item in reasons]
        print_table(("about", "why", "what to try"), rows, nothing="Nothing stands still.")
    return DONE


def _asked(settings: "Settings", name: str | None, scene: str | None) -> "list[Document]":
    from beforehand.app.stores import read_leader
    from beforehand.cli.read_home import read_home
    from beforehand.cli.run_async import run_async

    leader = read_leader(settings.database)
    if leader is not None and leader.alive and leader.url:
        return run_async(_at_server(leader.url, settings["token"], name, scene))
    print_err("No server runs on this home, so this is how its log was left.")
    found: list[Document] = read_home(settings, lambda store: _in_log(store, name, scene), [])
    return found


async def _at_server(url: str, token: str | None, name: str | None, scene: str | None) -> "list[Document]":
    from urllib.parse import urlencode

    from beforehand.cli.remote_backend import RemoteBackend

    asked = {key: value for key, value in (("name", name), ("scene", scene)) if value}
    async with RemoteBackend(url, token) as server:
        return list(await server.call("GET", f"/fleet/why?{urlencode(asked)}"))


async def _in_log(store: "Store", name: str | None, scene: str | None) -> "list[Document]":
    from beforehand.crafts.fleet.finding import states_in_log, why_all, why_one

    states, now = await states_in_log(store)
    reasons = why_all(states, scene, now) if name is None else why_one(states, name, scene, now)
    return [reason.wire() for reason in reasons]
