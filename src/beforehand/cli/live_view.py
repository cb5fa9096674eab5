"""What a person sees while a run goes on: a live table on a terminal, one line a change elsewhere, or nothing."""

import sys
from collections import Counter
from typing import Any, Protocol

from beforehand.app.evidence import call_shown
from beforehand.cli.backend import Document
from beforehand.cli.screen import STATUS_STYLES, Output, console, line, print_err, status_in_words
from beforehand.model.words import counted

_ENDED = ("completed", "skipped", "failed", "blocked", "denied", "cancelled")
_NOT_DONE = ("failed", "denied", "inDoubt", "blocked", "cancelled")
"""What has ended, or stands, without having been done; each is told apart."""
ARGUMENT = 30
"""How much of an argument a table shows; `inbox show` and `-o json` show more."""
_SIGNS = {
    "completed": "✓",
    "failed": "✗",
    "blocked": "✗",
    "skipped": "–",
    "cancelled": "–",
    "denied": "⊘",
    "running": "▶",
    "inDoubt": "?",
    "ready": "…",
}
_ROWS_KEPT_FREE = 6


class View(Protocol):
    def begin(self, run: Document) -> None: ...
    def take(self, event: Document) -> None: ...
    def progress(self, step_id: str, percent: float) -> None: ...
    def pause(self) -> None: ...
    def go_on(self) -> None: ...
    def end(self) -> None: ...


def view_for(output: Output) -> View:
    if sys.stderr.isatty():
        return LiveView()
    return LineView() if output is Output.TABLE else SilentView()


class SilentView:
    def begin(self, run: Document) -> None: ...
    def take(self, event: Document) -> None: ...
    def progress(self, step_id: str, percent: float) -> None: ...
    def pause(self) -> None: ...
    def go_on(self) -> None: ...
    def end(self) -> None: ...


class LineView(SilentView):
    """A line for every step that ends or waits, for logs of other programs."""

    def begin(self, run: Document) -> None:
        print_err(f"Run {run['runId']} of plan {run['planId']}, version {run['version']}.")

    def take(self, event: Document) -> None:
        data = event["data"]
        if event["kind"] == "stepUpdated" and data["status"] in (*_ENDED, "inDoubt"):
            print_err(
                f"{_SIGNS.get(data['status'], ' ')} {data['stepId']} {status_in_words(data['status'])}{_why(data)}"
            )


class LiveView:
    """A table that follows the run: every step with its status, its progress and why it waits."""

    def __init__(self) -> None:
        from rich.live import Live

        self._run: Document = {}
        self._steps: dict[str, Document] = {}
        self._percent: dict[str, float] = {}
        self._console = console(sys.stderr)
        self._live = Live(console=self._console, get_renderable=self._table, refresh_per_second=8, transient=True)
        self._begun = False

    def begin(self, run: Document) -> None:
        self._run = {key: value for key, value in run.items() if key != "steps"}
        self._steps = {step["id"]: {**step} for step in run["steps"]}
        self._begun = True
        self._live.start()

    def take(self, event: Document) -> None:
        data = event["data"]
        if event["kind"] == "stepUpdated":
            known = self._steps.setdefault(data["stepId"], {"id": data["stepId"], "description": ""})
            known.pop("reason", None)
            known.update({key: data[key] for key in ("status", "result", "reason") if key in data})
            if data["status"] != "running":
                self._percent.pop(data["stepId"], None)
        elif event["kind"].startswith("run"):
            self._run.update(data)

    def progress(self, step_id: str, percent: float) -> None:
        self._percent[step_id] = percent

    def pause(self) -> None:
        self._live.stop()

    def go_on(self) -> None:
        if self._begun:
            self._live.start()

    def end(self) -> None:
        self._begun = False
        self._live.stop()

    def _table(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, show_header=False)
        for step in self._shown():
            status = str(step.get("status", "pending"))
            style = STATUS_STYLES.get(status, "")
            call = line(call_shown(step["tool"], step.get("args", {}), ARGUMENT)) if "tool" in step else ""
            table.add_row(
                Text(_SIGNS.get(status, " "), style=style),
                Text(line(step["id"])),
                Text(call[:80]),
                Text(line(step.get("description", ""))[:40], style="dim"),
                Text(status_in_words(status), style=style),
                self._bar(step["id"], status),
                Text(_why(step).removeprefix(": ")[:80], style="yellow"),
            )
        return Group(table, Text(self._summary(), style="bold"))

    def _shown(self) -> list[Document]:
        """As many steps as the window holds: what is under way first, then what comes, in the plan's order."""
        room = max(4, self._console.size.height - _ROWS_KEPT_FREE)
        if len(self._steps) <= room:
            return list(self._steps.values())
        steps = [step for step in self._steps.values() if step.get("status") not in ("completed", "skipped")]
        steps.sort(key=lambda step: step.get("status", "pending") == "pending")
        return steps[:room]

    def _bar(self, step_id: str, status: str) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        if status == "running" and step_id in self._percent:
            return ProgressBar(total=100, completed=self._percent[step_id], width=20)
        return Text("")

    def _summary(self) -> str:
        return f"{self._run.get('runId', '')}: {self._run.get('status', '')}, {tally(list(self._steps.values()))}"


def tally(steps: list[Document]) -> str:
    """How far a run has come: `5 of 8 steps done, 1 denied, 2 blocked`."""
    counts = Counter(step.get("status") for step in steps)
    done = counts["completed"] + counts["skipped"]
    apart = [f"{counts[status]} {status_in_words(status)}" for status in _NOT_DONE if counts[status]]
    return ", ".join([f"{done} of {counted(len(steps), 'step')} done", *apart])


def _why(step: Document) -> str:
    """The error or the reason a step gives, after a colon."""
    result = step.get("result") or {}
    says = result.get("error") if result and not result.get("ok") else (step.get("reason") or {}).get("says")
    return f": {line(says)}" if says else ""
