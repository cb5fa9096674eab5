"""`beforehand inbox`: whatever waits for a person, listed, shown and answered."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import decision_ids
from beforehand.cli.options import DbOption, HomeOption, OutputOption, YesOption, hand_down, settings_from
from beforehand.cli.screen import Output, line, print_err, print_json, print_out, print_table

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.cli.backend import Backend, Document
    from beforehand.ports.store import Store

app = typer.Typer(help="What waits for a person: reviews, approvals, questions, failures, steps in doubt.")
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The decision's id.", autocompletion=decision_ids)]


@app.callback(invoke_without_command=True)
def inbox(
    context: typer.Context, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int | None:
    """What waits for a person: reviews, approvals, questions, failures, steps in doubt."""
    if context.invoked_subcommand is None:
        return list_open(output, home, db)
    hand_down(context)
    return None


@app.command("list")
def list_open(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """Everything that waits for a person."""
    from beforehand.cli.read_home import read_home

    decisions = read_home(settings_from(home=home, db=db), lambda store: store.rows("decision", open=True), [])
    if output is Output.JSON:
        print_json(decisions)
    else:
        rows = [
            (item["id"], item["kind"], line(item["title"]), ", ".join(item["verbs"]), item["openedAt"])
            for item in decisions
        ]
        print_table(("id", "kind", "what", "verbs", "since"), rows, nothing="Nothing waits for a person.")
    return DONE


@app.command()
def show(id: IdArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """What a decision covers, its evidence, and what each verb does."""
    from beforehand.cli.read_home import read_home
    from beforehand.cli.run import refuse_missing
    from beforehand.model.errors import NotFoundError

    settings = settings_from(home=home, db=db)
    refuse_missing(settings, f"so the decision {id!r} is unknown")

    async def shown(store: "Store") -> dict[str, Any]:
        found = await store.row("decision", id)
        if found is None:
            raise NotFoundError.unknown("decision", id, [row["id"] for row in await store.rows("decision", open=True)])
        return found

    decision = read_home(settings, shown, {})
    if output is Output.JSON:
        print_json(decision)
    else:
        _show(decision)
    return DONE


def _show(decision: dict[str, Any]) -> None:
    import sys

    from beforehand.cli.prompt import show_decision
    from beforehand.cli.screen import console

    show_decision(decision, console(sys.stdout))
    if decision["status"] == "open":
        value = " --value TEXT" if decision["verbs"][0] == "answer" else ""
        verb = "VERB" if decision.get("evidence", {}).get("inDoubt") else decision["verbs"][0]
        print_out(f"Answer with: beforehand inbox answer {decision['id']} {verb}{value}")
    else:
        given = decision.get("answer", {})
        print_out(
            f"It was answered with {given['verb']!r}." if given else f"It was withdrawn. {decision.get('why', '')}"
        )


@app.command()
def answer(
    id: IdArgument,
    verb: Annotated[str, typer.Argument(metavar="VERB", help="One of the decision's verbs; `inbox show` lists them.")],
    value: Annotated[
        str | None, typer.Option("--value", metavar="JSON|TEXT", help="What goes with the verb, such as an answer.")
    ] = None,
    note: Annotated[str, typer.Option("--note", help="A sentence that is kept with the answer.")] = "",
    yes: YesOption = False,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Answer a decision.

    If a server leads the home, it goes on at once. Otherwise the answer is written down for whoever takes the run up
    next; `start` and `adopt` run the plan here, as `beforehand run` does.
    """
    from beforehand.cli.prompt import value_from
    from beforehand.cli.run import refuse_missing

    settings = settings_from(home=home, db=db)
    refuse_missing(settings, f"so the decision {id!r} is unknown")
    given = None if value is None else value_from(value)
    if verb in ("start", "adopt"):
        return _run_here(settings, id, verb, given, note, yes=yes, output=output)
    decision, url = _write_down(settings, id, verb, given, note)
    if output is Output.JSON:
        print_json(decision)
    else:
        print_out(f"{line(decision['title'])}: {verb}.")
    run_id = decision["about"].get("runId")
    if url is None and run_id:
        from beforehand.cli.running import command

        print_err(f"The answer is saved. Continue with: {command(settings, 'run', '--resume', run_id)}")
    return DONE


def _write_down(
    settings: "Settings", decision_id: str, verb: str, value: Any, note: str
) -> tuple[dict[str, Any], str | None]:
    from beforehand.cli.backend import open_backend
    from beforehand.cli.run_async import run_async

    async def give() -> tuple[dict[str, Any], str | None]:
        # Steps that are put in are checked against every tool there is.
        async with open_backend(settings, note="beforehand inbox", with_servers=verb == "insert") as backend:
            answered = await backend.answer(decision_id, verb, value=value, note=note, carry_on=False)
            return answered, backend.url

    return run_async(give())


def _run_here(
    settings: "Settings", decision_id: str, verb: str, value: Any, note: str, *, yes: bool, output: Output
) -> int:
    from beforehand.cli.running import carry_out

    async def begin(backend: "Backend") -> "Document":
        return await backend.answer_and_run(decision_id, verb, value=value, note=note)

    return carry_out(settings, begin, output=output, yes=yes)
