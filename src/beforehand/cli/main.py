"""The command `beforehand`: its commands, and the one place where errors become exit codes.

Heavy imports happen inside commands, so that `--help` answers at once.
"""

import os
import sys
from typing import Annotated, Any

import typer
from typer.exceptions import Abort, TyperException

from beforehand import __version__
from beforehand.cli import config, doctor, inbox, plan, plans, plugins, run, scene, template, token, up
from beforehand.cli.exits import BAD_INPUT, DONE, FAILED, INTERRUPTED, Stopped, code_for, explain, report_bug
from beforehand.cli.logs import is_debug, set_debug
from beforehand.cli.screen import prepare_streams, print_err, print_out
from beforehand.crafts.cell import commands as cell
from beforehand.crafts.cell import graph_commands as graph
from beforehand.crafts.fleet import commands as fleet

app = typer.Typer(
    name="beforehand",
    help="Plans you can see, check and change before anything moves, and then carry out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        version()
        raise typer.Exit


@app.callback()
def beforehand(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a bug; anywhere in the line.")] = False,
    shown: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Plans you can see, check and change before anything moves, and then carry out."""


@app.command()
def version() -> int:
    """Show the version."""
    print_out(f"beforehand {__version__}")
    return DONE


app.command()(up.up)
app.command()(plan.plan)
app.command()(plans.check)
app.command()(plans.preview)
app.command()(run.run)
app.add_typer(template.app, name="template")
app.add_typer(inbox.app, name="inbox")
app.add_typer(scene.app, name="scene")
app.add_typer(cell.app, name="cell")
app.add_typer(fleet.app, name="fleet")
app.add_typer(graph.app, name="graph")
app.command()(doctor.doctor)
app.add_typer(config.app, name="config")
app.command()(plugins.plugins)
app.add_typer(token.app, name="token")


def main() -> None:
    """The entry point of the installed command."""
    sys.exit(call(sys.argv[1:]))


def call(arguments: list[str]) -> int:
    """Run one command line and give its exit code."""
    prepare_streams()
    arguments = _take_debug(arguments)
    try:
        result: Any = typer.main.get_command(app).main(arguments, prog_name="beforehand", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else DONE
    except BrokenPipeError:
        # Whoever read our output has gone; nothing more can be said, and nothing went wrong here.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return _code_of(error)
    except KeyboardInterrupt:
        print_err("Stopped.")
        return INTERRUPTED


def _take_debug(arguments: list[str]) -> list[str]:
    """`--debug` counts anywhere before a bare `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    set_debug("--debug" in arguments[:end])
    return [word for place, word in enumerate(arguments) if word != "--debug" or place >= end]


def _code_of(error: Exception) -> int:
    from beforehand.cli.usage import usage_sentences
    from beforehand.model.errors import BeforehandError

    match error:
        case Stopped():
            print_err(*error.says)
            return error.code
        case TyperException():
            print_err(*usage_sentences(error))
            return BAD_INPUT
        case Abort():
            print_err("Stopped.")
            return INTERRUPTED
        case BeforehandError():
            if is_debug():
                report_bug(error, debug=True)
            explain(error)
            return code_for(error)
        case RecursionError() | MemoryError():
            print_err("The input is too deep or too large to work on.")
            return BAD_INPUT
        case OSError():
            print_err(f"The system refused: {error}.", "Mend that and try again.")
            return FAILED
    report_bug(error, debug=is_debug())
    return FAILED
