"""`beforehand fleet`: a shift in virtual time, and why things stand still."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, REFUSED
from beforehand.cli.known_names import scenes_of
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_err, print_json, print_out, print_table
from beforehand.crafts.fleet.asking import look, path_to, tell
from beforehand.crafts.fleet.record_commands import (
    SceneOption,
    print_reasons,
    robot_commands,
    stream_commands,
    task_commands,
    worksite_commands,
)
from beforehand.crafts.fleet.record_names import active_fleets, record_ids
from beforehand.crafts.fleet.vda5050_commands import vda5050
from beforehand.crafts.fleet.verbs import FLEET_VERBS
from beforehand.crafts.fleet.wire_commands import wire_commands
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.ports.store import Store

    Document = dict[str, Any]

COMMANDS = {
    "fleet": "Fleets of forklifts: a shift in virtual time, why things stand still, hold and clear.",
    "tasks": "Transports of the fleets: what is under way, what is held, and steering them.",
    "robots": "Robots of the fleets: where they are, why they stand still, and steering them.",
    "robot": "Robots on the wire: simulated ones that speak a robot's protocol, and a look at a real one.",
    "streams": "Streams of pallets: which are on, why they are silent, and switching them.",
    "worksites": "Worksites of the fleets: what lies there, and correcting it.",
}
fleet = typer.Typer(help=COMMANDS["fleet"], no_args_is_help=True)
tasks = task_commands(COMMANDS["tasks"])
robots = robot_commands(COMMANDS["robots"])
robot = wire_commands(COMMANDS["robot"])
robot.command("vda5050")(vda5050)
streams = stream_commands(COMMANDS["streams"])
worksites = worksite_commands(COMMANDS["worksites"])


@fleet.command()
def simulate(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE", help="The fleet's scene: its name, or a file.", autocompletion=scenes_of("fleet")
        ),
    ],
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
    name: Annotated[
        str | None, typer.Argument(metavar="ROBOT|TASK|STREAM", help="What is asked about.", autocompletion=record_ids)
    ] = None,
    scene: SceneOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Why a robot, task or stream stands still; without a name, everything that does."""
    path = path_to("fleet", "why", name=name, scene=scene)
    settings = settings_from(home=home, db=db)
    return print_reasons(look(settings, path, lambda store: _in_log(store, name, scene)), output)


def _add_verb(verb: str, says: str) -> None:
    def call(
        scene: Annotated[str, typer.Argument(metavar="SCENE", help="The fleet's scene.", autocompletion=active_fleets)],
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        found = tell(settings_from(home=home, db=db), "POST", path_to("fleet", scene, verb))
        if output is Output.JSON:
            print_json(found)
        else:
            print_out(f"{scene} {'is held' if found['held'] else 'goes on'}.")
        return DONE

    fleet.command(verb, help=says)(call)


for _verb, _says in FLEET_VERBS.items():
    _add_verb(_verb, _says)


async def _in_log(store: "Store", name: str | None, scene: str | None) -> "list[Document]":
    from beforehand.crafts.fleet.finding import ASKED, not_live, states_in_log, why_shown

    states, now = await states_in_log(store)
    return [reason.wire() for reason in why_shown(states, await not_live(store), name, scene, now, ASKED)]
