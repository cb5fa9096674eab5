"""The commands of `beforehand`, and the one place where errors become exit codes.

A command's module is imported when it is called, a craft's too, so that `--help` answers at once.
"""

import atexit
import gc
import os
import sys
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.exceptions import Abort, TyperException

from beforehand import __version__
from beforehand.cli.exits import BAD_INPUT, DONE, FAILED, INTERRUPTED, Stopped, code_for, explain, report_bug
from beforehand.cli.lazy import Entry, LazyGroup
from beforehand.cli.logs import is_debug, set_debug
from beforehand.cli.screen import prepare_streams, print_err, print_out

_NATIVE_THREADS = "temporalio.bridge.temporal_sdk_bridge"


def _entry(module: str, attribute: str, says: str) -> Entry:
    return Entry(f"beforehand.cli.{module}", attribute, says)


COMMANDS = {
    "up": _entry("up", "up", "Start the server; it continues every run the home knows."),
    "plan": _entry("plan", "plan", "Make a plan from words or an intent."),
    "check": _entry("plans", "check", "Is this plan, or this list of steps, valid? Every problem at once."),
    "preview": _entry("plans", "preview", "Simulate a plan: what it would do, in which order, and how long it takes."),
    "run": _entry("run", "run", "Carry a plan out."),
    "submit": _entry("runs", "submit", "Hand a plan in for review."),
    "runs": _entry("runs", "app", "Runs: what is under way, what has ended, and steering them."),
    "template": _entry("template", "app", "Plans kept for reuse, with typed parameters."),
    "audit": _entry(
        "audit", "app", "What was decided and done, for the record, and whether record and log are what was written."
    ),
    "inbox": _entry("inbox", "app", "What waits for a person: reviews, approvals, questions, failures, doubts."),
    "mcp": _entry("mcp.command", "mcp", "Serve MCP clients: they look, plan and hand in; a person approves."),
    "worker": _entry("worker", "worker", "Call tools for runs on Temporal, on the machine that has them."),
    "scene": _entry("scene", "app", "Scenes: what plans work in."),
    "doctor": _entry("doctor", "doctor", "Check that everything is installed and works."),
    "config": _entry("config", "app", "Settings: what is set, and where each comes from."),
    "db": _entry("db", "app", "The store: its tables, its archive, backups, and copying it into another."),
    "plugins": _entry("plugins", "plugins", "What is installed and what it brings."),
    "token": _entry("token", "app", "Access tokens for servers that others can reach."),
    "completion": _entry("completion", "app", "Scripts for shells: have them complete commands, options and names."),
    "version": _entry("commands", "version", "Show the version."),
}


class Commands(LazyGroup):
    """The commands here and those of every craft that is installed."""

    def __init__(self, **settings: Any) -> None:
        from beforehand.app.craft_commands import listed_commands

        brought = {
            one.name: Entry(one.modules[0], one.name.replace("-", "_"), one.help, one.modules[1:])
            for one in listed_commands()
        }
        self.entries = {**COMMANDS, **{name: entry for name, entry in brought.items() if name not in COMMANDS}}
        super().__init__(**settings)


app = typer.Typer(
    name="beforehand",
    cls=Commands,
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
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of a bug; works anywhere in the line.")
    ] = False,
    shown: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Plans you can see, check and change before anything moves, and then carry out."""


def version() -> int:
    """Show the version."""
    print_out(f"beforehand {__version__}")
    return DONE


def run_command_line() -> NoReturn:
    """Carry out the command line of this process, and end it."""
    gc.set_threshold(20_000, 20, 20)  # loading makes many objects and no rubbish: a tenth of the time went into looking
    code = call(sys.argv[1:])
    if _NATIVE_THREADS in sys.modules:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End without taking the interpreter down: native threads would still call into it, and crash."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # whoever read it may have gone
            stream.flush()
    os._exit(code)


def call(arguments: list[str]) -> int:
    """Run one command line and give its exit code."""
    prepare_streams()
    arguments = _take_debug(arguments)
    try:
        result: Any = typer.main.get_command(app).main(arguments, prog_name="beforehand", standalone_mode=False)
        sys.stdout.flush()
        if result == INTERRUPTED:  # what newer versions of the library make of Ctrl-C, without a word
            print_err("Stopped.")
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
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # the library's way to say that the reader has gone
            return FAILED
        print_err(  # nothing of ours does that: a plug-in must not end a command without a word
            f"A plug-in or a craft tried to end the whole process (SystemExit: {ended}), so this was not done.",
            "`beforehand plugins` lists what is installed. Correct it or uninstall it, then try again.",
        )
        return FAILED


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
            print_err(f"The system refused: {error}.", "Correct that and try again.")
            return FAILED
        case _:
            report_bug(error, debug=is_debug())
            return FAILED
