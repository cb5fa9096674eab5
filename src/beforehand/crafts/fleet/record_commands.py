"""`beforehand tasks`, `robots`, `streams` and `worksites`: the HTTP calls by the same names.

Every group lists, shows and explains; what else a group can do is read off the table of verbs.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, hand_down, settings_from
from beforehand.cli.screen import Output, line, print_json, print_out, print_table
from beforehand.crafts.fleet.asking import look, path_to, tell
from beforehand.crafts.fleet.record_names import active_fleets, record_ids
from beforehand.crafts.fleet.record_tables import ROBOTS, STREAMS, TASKS, WORKSITES, Records, link_rows
from beforehand.crafts.fleet.verbs import ROBOT_VERBS, STREAM_VERBS, TASK_VALUES, TASK_VERBS

if TYPE_CHECKING:
    from beforehand.ports.store import Store

SceneOption = Annotated[
    str | None,
    typer.Option(
        "--scene", metavar="S", help="The scene, where a name is in several of them.", autocompletion=active_fleets
    ),
]
OpenOption = Annotated[bool, typer.Option("--open", help="Only tasks that have not ended.")]
IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Which one; `list` shows their ids.", autocompletion=record_ids)
]
OCCUPANCIES = ("filled", "empty", "unknown")
LOADS = ("empty", "loaded")


def _printed(records: Records, found: Mapping[str, Any], output: Output) -> int:
    if output is Output.JSON:
        print_json(found)
    else:
        print_out(line(records.says(found)))
    return DONE


def print_reasons(reasons: list[dict[str, Any]], output: Output) -> int:
    """Why something stands still, as a table or as JSON."""
    if output is Output.JSON:
        print_json(reasons)
    else:
        rows = [(item["about"], line(item["says"]), line(item.get("tryNext", ""))) for item in reasons]
        print_table(("about", "why", "what to try"), rows, nothing="Nothing stands still.")
    return DONE


async def _all_in_log(store: "Store", kind: str, scene: str | None, open: bool) -> Any:
    from beforehand.crafts.fleet import shown
    from beforehand.crafts.fleet.finding import states_in_log

    states, _ = await states_in_log(store)
    if kind == "tasks":
        return await shown.tasks(store, states, scene, open=open or None)
    return shown.listed(states, kind, scene)


async def _one_in_log(store: "Store", kind: str, name: str, scene: str | None) -> Any:
    from beforehand.crafts.fleet import shown
    from beforehand.crafts.fleet.finding import states_in_log

    states, _ = await states_in_log(store)
    return await shown.task(store, states, name, scene) if kind == "tasks" else shown.one(states, kind, name, scene)


async def _why_in_log(store: "Store", kind: str, name: str, scene: str | None) -> Any:
    from beforehand.crafts.fleet.finding import states_in_log, why_one

    states, now = await states_in_log(store)
    return [reason.wire() for reason in why_one(states, name, scene, now, (kind,))]


def _group(records: Records, says: str) -> typer.Typer:
    """A group that lists, as it also does when nothing more is said, and shows."""
    group = typer.Typer(help=says)
    kind = records.plural

    def listed(scene: str | None, output: Output, home: str | None, db: str | None, open: bool = False) -> int:
        path = path_to(kind, scene=scene, open="true" if open else None)
        settings = settings_from(home=home, db=db)
        found = look(settings, path, lambda store: _all_in_log(store, kind, scene, open))
        print_json(found) if output is Output.JSON else records.print_all(found)
        return DONE

    def bare(
        context: typer.Context,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int | None:
        if context.invoked_subcommand is None:
            return listed(scene, output, home, db)
        hand_down(context)
        return None

    def list_all(
        scene: SceneOption = None, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
    ) -> int:
        return listed(scene, output, home, db)

    def list_tasks(
        open: OpenOption = False,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        return listed(scene, output, home, db, open)

    def show(
        id: IdArgument,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        settings = settings_from(home=home, db=db)
        found = look(settings, path_to(kind, id, scene=scene), lambda store: _one_in_log(store, kind, id, scene))
        print_json(found) if output is Output.JSON else records.print_all([found])
        return DONE

    group.callback(invoke_without_command=True, help=says)(bare)
    if kind == "tasks":
        group.command("list", help="The newest tasks, those under way among them.")(list_tasks)
    else:
        group.command("list", help=f"The {kind} of all active fleets, or of one.")(list_all)
    group.command("show", help=f"One {records.noun} as it is now.")(show)
    return group


def _add_why(group: typer.Typer, records: Records) -> None:
    def why(
        id: IdArgument,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        kind = records.plural
        path = path_to(kind, id, "why", scene=scene)
        settings = settings_from(home=home, db=db)
        return print_reasons(look(settings, path, lambda store: _why_in_log(store, kind, id, scene)), output)

    group.command("why", help=f"Why the {records.noun} does what it does, or nothing.")(why)


def _add_verb(
    group: typer.Typer, records: Records, verb: str, says: str, patch: Mapping[str, Any] | None = None
) -> None:
    """A verb that has a call of its own, or that is a `patch` of the record."""

    def call(
        id: IdArgument,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        method, parts = ("POST", (id, verb)) if patch is None else ("PATCH", (id,))
        path = path_to(records.plural, *parts, scene=scene)
        return _printed(records, tell(settings_from(home=home, db=db), method, path, patch), output)

    group.command(verb, help=says)(call)


def _add_verb_with_value(group: typer.Typer, records: Records, verb: str, says: str, takes: str) -> None:
    def call(
        id: IdArgument,
        value: Annotated[str | None, typer.Option("--value", metavar=takes, help="What goes with the verb.")] = None,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        path = path_to(records.plural, id, verb, scene=scene)
        if value is not None and "|" in takes:
            _one_of(value, tuple(takes.split("|")), "step")
        body = None if value is None else {"value": value}
        return _printed(records, tell(settings_from(home=home, db=db), "POST", path, body), output)

    group.command(verb, help=says.replace("`value`", "`--value`"))(call)


def _one_of(given: str, known: tuple[str, ...], what: str) -> str:
    from beforehand.model.errors import BadInputError

    if given not in known:
        raise BadInputError.unknown(what, given, known, code="usage", plural=f"words for the {what}")
    return given


def robot_commands(says: str) -> typer.Typer:
    robots = _group(ROBOTS, says)
    _add_why(robots, ROBOTS)
    for verb, effect in ROBOT_VERBS.items():
        _add_verb(robots, ROBOTS, verb, effect)

    @robots.command()
    def link(
        id: IdArgument,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        """What leads to the robot, whether it answers and since when, and who has control of it."""
        found = tell(settings_from(home=home, db=db), "GET", path_to("robots", id, "link", scene=scene))
        print_json(found) if output is Output.JSON else print_table(("", "link"), link_rows(found))
        return DONE

    @robots.command("set-load")
    def set_load(
        id: IdArgument,
        load: Annotated[str, typer.Argument(metavar="empty|loaded", help="What is on its fork.")],
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        """Say what is on the fork, where no sensor does."""
        body = {"loadState": _one_of(load, LOADS, "load")}
        path = path_to("robots", id, "set-load", scene=scene)
        return _printed(ROBOTS, tell(settings_from(home=home, db=db), "POST", path, body), output)

    return robots


def task_commands(says: str) -> typer.Typer:
    tasks = _group(TASKS, says)
    _add_why(tasks, TASKS)
    for verb, effect in TASK_VERBS.items():
        if verb in TASK_VALUES:
            _add_verb_with_value(tasks, TASKS, verb, effect, TASK_VALUES[verb])
        else:
            _add_verb(tasks, TASKS, verb, effect)
    return tasks


def stream_commands(says: str) -> typer.Typer:
    streams = _group(STREAMS, says)
    _add_why(streams, STREAMS)
    for verb, effect in STREAM_VERBS.items():
        _add_verb(streams, STREAMS, verb, effect, {"enabled": verb == "enable"})

    @streams.command()
    def priority(
        id: IdArgument,
        number: Annotated[float, typer.Argument(metavar="N", help="Higher goes first; 0 is usual.")],
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        """Set a stream before or behind others."""
        path = path_to("streams", id, scene=scene)
        return _printed(STREAMS, tell(settings_from(home=home, db=db), "PATCH", path, {"priority": number}), output)

    @streams.command("dry-run")
    def dry_run(
        id: IdArgument,
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        """What the stream would do now; nothing changes."""
        tried = tell(settings_from(home=home, db=db), "POST", path_to("streams", id, "dry-run", scene=scene), {})
        if output is Output.JSON:
            print_json(tried)
            return DONE
        for task in tried["tasks"]:
            robot = f" by {task['robotId']}" if task.get("robotId") else ""
            print_out(f"It would bring a pallet from {task['sourceId']} to {task['targetId']}{robot}.")
        for reason in tried["reasons"]:
            print_out(f"{reason['says']} {reason.get('tryNext', '')}".strip())
        if not tried["tasks"] and not tried["reasons"]:
            print_out("It would start no task now.")
        return DONE

    return streams


def worksite_commands(says: str) -> typer.Typer:
    worksites = _group(WORKSITES, says)

    @worksites.command("set")
    def set_worksite(
        id: IdArgument,
        occupancy: Annotated[str, typer.Argument(metavar="filled|empty|unknown", help="What lies there.")],
        scene: SceneOption = None,
        output: OutputOption = Output.TABLE,
        home: HomeOption = None,
        db: DbOption = None,
    ) -> int:
        """Say what lies there; under a reservation it corrects what the reservation covers."""
        body = {"occupancy": _one_of(occupancy, OCCUPANCIES, "occupancy")}
        path = path_to("worksites", id, scene=scene)
        return _printed(WORKSITES, tell(settings_from(home=home, db=db), "PATCH", path, body), output)

    return worksites
