"""Carrying a plan out from the command line: start or resume, follow, show, and end with the right code."""

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from beforehand.app.evidence import call_shown
from beforehand.cli.backend import Backend, Document, open_backend
from beforehand.cli.exits import DONE, FAILED, REFUSED, Stopped
from beforehand.cli.follow import Following
from beforehand.cli.live_view import ARGUMENT, tally, view_for
from beforehand.cli.prompt import can_ask
from beforehand.cli.run_async import run_async
from beforehand.cli.screen import Output, line, print_err, print_json, print_out, print_table, status_in_words
from beforehand.model.errors import UnavailableError
from beforehand.model.words import in_words

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

Begin = Callable[[Backend], Awaitable[Document]]
"""Starts a run, or resumes one, at the backend; the answer is the run."""

_ENDS = {"failed": "failed", "cancelled": "was cancelled", "partial": "ended, but for what was denied"}


@dataclass(slots=True)
class CommandRun:
    """One run carried out for one command."""

    settings: "Settings"
    begin: Begin
    output: Output
    yes: bool = False
    run_id: str = ""
    url: str | None = None
    ended: bool = field(default=False)

    async def go(self) -> Document:
        async with open_backend(self.settings, note="beforehand run") as backend:
            self.url = backend.url
            if backend.url is not None:
                print_err(f"The server at {backend.url} leads this home and carries it out.")
            run = await self.begin(backend)
            self.run_id = str(run["runId"])
            following = Following(backend, self.run_id, view_for(self.output), yes=self.yes, asks=can_ask())
            try:
                return await following.to_the_end()
            except UnavailableError as error:
                error.hint = " ".join([error.hint, *self.how_to_go_on()]).strip()
                raise

    def how_to_go_on(self) -> list[str]:
        again = command(self.settings, "run", "--resume", self.run_id)
        if self.url is not None:
            return [f"The run {self.run_id} goes on at {self.url}; look at it again with: {again}"]
        return [f"The run {self.run_id} can be continued with: {again}"]


def carry_out(settings: "Settings", begin: Begin, *, output: Output, yes: bool) -> int:
    """Do it, show how it came out, and give the exit code."""
    ours = CommandRun(settings, begin, output, yes)
    try:
        run = run_async(ours.go())
    except Stopped as stopped:
        if ours.run_id:
            raise Stopped(stopped.code, *stopped.says, *ours.how_to_go_on()) from None
        raise Stopped(stopped.code, *stopped.says, "Nothing had been started.") from None
    return conclude(ours, run)


def conclude(ours: CommandRun, run: Document) -> int:
    if ours.output is Output.JSON:
        print_json(run)
    else:
        show_run(run)
    status = run["status"]
    if status == "completed":
        return DONE
    if status == "waiting":
        print_waiting(ours, run)
        return REFUSED
    print_failures(ours, run)
    return FAILED


def show_run(run: Document) -> None:
    steps = run["steps"]
    described = any(step.get("description") for step in steps)
    columns = ("step", "call", *(("its author says",) if described else ()), "status", "ms", "")
    print_table(columns, [_row(step, described) for step in steps], nothing="The plan has no steps.")
    took = f" after {run['durationMs'] / 1000:.3g} s" if "durationMs" in run else ""
    how = run["status"] if run["status"] == "completed" else f"{run['status']}, {tally(run['steps'])}"
    print_out(f"Run {run['runId']} of plan {run['planId']}, version {run['version']}: {how}{took}.")


def _row(step: Document, described: bool) -> tuple[object, ...]:
    """A step: the call itself, beside what its author says of it and never instead."""
    call = line(call_shown(step["tool"], step.get("args", {}), ARGUMENT))
    prose = (line(step.get("description", "")),) if described else ()
    return step["id"], call, *prose, status_in_words(step["status"]), _took(step), _outcome(step)


def _took(step: Document) -> object:
    return step.get("result", {}).get("duration", "")


def _outcome(step: Document) -> str:
    result = step.get("result")
    if result and not result["ok"]:
        return line(result["error"])
    if step.get("reason"):
        return line(step["reason"]["says"])
    value = "" if not result or result.get("value") is None else line(in_words(result["value"]))
    return value if len(value) <= 60 else value[:59] + "…"


def print_waiting(ours: CommandRun, run: Document) -> None:
    """Name every decision and the command that answers it."""
    print_err(f"The run {run['runId']} waits for a person:")
    for decision in run.get("decisions", []):
        print_err(f"  {decision['id']}: {line(decision['title'])}")
        reason = decision.get("evidence", {}).get("says")
        if reason:
            print_err(f"    {line(reason)}")
        first, *others = decision["verbs"]
        value = ["--value", "TEXT"] if first == "answer" else []
        answer = command(ours.settings, "inbox", "answer", decision["id"], first, *value)
        print_err(f"    Answer with: {answer}" + (f" (or {', '.join(others)})" if others else ""))
    if ours.url is not None:
        print_err(f"The server at {ours.url} continues as soon as it is answered.")
    else:
        print_err(f"Then continue with: {command(ours.settings, 'run', '--resume', run['runId'])}")


def print_failures(ours: CommandRun, run: Document) -> None:
    print_err(f"The run {run['runId']} {_ENDS.get(run['status'], 'stands still')}.")
    for step in run["steps"]:
        if step["status"] in ("failed", "blocked", "denied", "inDoubt") or not step.get("result", {"ok": True})["ok"]:
            print_err(f"  {step['id']} {status_in_words(step['status'])}: {_outcome(step)}")
    if run["status"] == "failed":
        print_err("Correct what is named and run the plan again.")
    for decision in run.get("decisions", []):
        if decision["kind"] == "bug":
            print_err(f"  {line(decision['title'])}: {line(decision['evidence'].get('error', ''))}")
            print_err(f"Report it. To try again: {command(ours.settings, 'run', '--resume', run['runId'])}")


def command(settings: "Settings", *words: str) -> str:
    """A command as it must be typed here: with the home and store that were named by flag."""
    flags = [
        word
        for name in ("home", "db")
        if settings.sources.get(name) == "flag"
        for word in (f"--{name}", settings[name])
    ]
    return shlex.join(["beforehand", *words, *flags])
