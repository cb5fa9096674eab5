"""Exit codes, and what is said with them.

0 done; 1 the work itself failed; 2 bad input or usage; 3 refused, or waiting for a person. With 1 to 3 standard error
says in whole sentences what is wrong, where, which names there are and what to do; every problem, unknown names first.
"""

import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from beforehand.cli.screen import print_err

if TYPE_CHECKING:
    from beforehand.model.errors import BeforehandError

DONE = 0
FAILED = 1
BAD_INPUT = 2
REFUSED = 3
INTERRUPTED = 130

_WRONG_HOME = (
    "store.encoding",
    "store.forbidden",
    "store.foreign",
    "store.lost",
    "store.missing",
    "store.read_only",
    "store.refused",
    "store.too_new",
    "store.too_old",
    "store.unopenable",
    "store.unreadable",
)


class Stopped(Exception):  # noqa: N818  not an error: somebody ended the command
    """The command was told to end; `says` is what to do next."""

    def __init__(self, code: int, *says: str) -> None:
        super().__init__(*says)
        self.code = code
        self.says = says


def code_for(error: "BeforehandError") -> int:
    """The exit code an error of the tree stands for."""
    from beforehand.model import errors

    match error:
        case errors.BadInputError() | errors.NotFoundError() | errors.ModelNameError():
            return BAD_INPUT
        case errors.UnavailableError():
            return BAD_INPUT if error.code in _WRONG_HOME else FAILED
        case errors.Fault():
            return FAILED
        case (
            errors.ConflictError()
            | errors.RefusedError()
            | errors.NotLeadingError()
            | errors.UnauthorisedError()
            | errors.ForbiddenError()
            | errors.ModelNotConfiguredError()
            | errors.ModelBudgetError()
        ):
            return REFUSED
        case _:
            return FAILED


def explain(error: "BeforehandError") -> None:
    """The error on standard error: its sentence, every problem, the names there are, and what to do."""
    problems = [problem.wire() for problem in error.problems]
    if problems:
        print_problems(problems, head=_head(len(problems)) if len(problems) > 1 else "")
    else:
        print_err(error.says)
        unsaid = [name for name in error.nearest if name not in error.says]
        if unsaid:
            print_err(f"Valid names: {', '.join(error.nearest)}.")
    if error.hint:
        print_err(error.hint)


def _head(count: int) -> str:
    return f"There are {count} problems:"


def print_problems(problems: Iterable[Mapping[str, Any]], *, head: str = "") -> None:
    """Every problem, unknown names first, each with its place, the names there are and what to try."""
    if head:
        print_err(head)
    for problem in sorted(problems, key=lambda item: "unknown" not in str(item.get("code", ""))):
        print_err(problem_sentence(problem))


def problem_sentence(problem: Mapping[str, Any]) -> str:
    says = str(problem.get("says", ""))
    path = problem.get("path")
    parts = [f"{path}: {says}" if path and not says.startswith(f"{path}:") else says]
    unsaid = [name for name in problem.get("nearest", ()) if name not in says]
    if unsaid:
        parts.append(f"Nearest names: {', '.join(problem['nearest'])}.")
    if problem.get("tryNext"):
        parts.append(str(problem["tryNext"]))
    return " ".join(parts)


def report_bug(error: BaseException, *, debug: bool) -> None:
    """An error nobody expected: a sentence, and the traceback for who asks for it."""
    if debug:
        traceback.print_exception(error)
    says = f"Beforehand itself made an error: {type(error).__name__}: {error}."
    print_err(says, "" if debug else "Run the command again with --debug to see where, and report it.")


def leave_at_once(code: int) -> NoReturn:
    """End the process without taking the interpreter down, once everything is closed and said.

    Threads of Temporal's library may still be in it, and one that comes back to an interpreter that ends aborts it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
