"""What runs: every run with its steps, each state a colour, a shape and a word."""

from collections import Counter
from typing import Any

from beforehand.model.plan import RunStatus
from beforehand.model.words import counted
from beforehand.server.page.html import Html, Part, el
from beforehand.server.page.icons import STATES, badge, tone_of
from beforehand.server.page.parts import card, moment, seconds, value

STEPS_SHOWN = 60
_DONE = ("completed", "skipped")
_URGENT = ("running", "inDoubt", "failed", "ready", "blocked", "pending")


def runs_list(runs: list[dict[str, Any]], work: list[str], *, may_write: bool) -> list[Html]:
    """Every run, and in a line each what else is under way; `work` is sentences."""
    others = [card("other-work", "other-work", *(el("p", {}, told) for told in work))] if work else []
    if not runs and not others:
        return [_nothing()]
    return [*others, *(run_card(run, may_write=may_write) for run in runs)]


def _nothing() -> Html:
    return card(
        "no-runs",
        "empty",
        el("p", {"class": "lead"}, "Nothing runs."),
        el("p", {}, "Start a plan that waits above; its steps appear here as they happen."),
    )


def run_card(run: dict[str, Any], *, may_write: bool) -> Html:
    ended = RunStatus(run["status"]).is_final
    took = [" · ", seconds(run["durationMs"])] if run.get("durationMs") is not None else None
    steps = _steps(run)
    inside = el("details", {}, el("summary", {}, "Steps"), steps) if ended else steps
    return card(
        f"run-{run['runId']}",
        f"run {tone_of(run['status'])}",
        el("header", {}, badge(run["status"]), el("span", {"class": "when"}, moment(run["startedAt"]), took)),
        el("h3", {}, run.get("name") or f"Run {run['runId']}"),
        _progress(run["steps"]),
        inside,
        el(
            "footer",
            {},
            el("a", {"href": f"/api/v1/runs/{run['runId']}"}, run["runId"]),
            None if ended else _controls(run, may_write),
        ),
        el("p", {"class": "said", "role": "alert"}),
    )


def _controls(run: dict[str, Any], may_write: bool) -> Html:
    verbs = ["resume" if run["status"] == "paused" or run.get("paused") else "pause", "cancel"]
    return el(
        "span",
        {"class": "controls"},
        [
            el(
                "button",
                {
                    "type": "button",
                    "class": "ghost small",
                    "data-run": run["runId"],
                    "data-verb": verb,
                    "disabled": not may_write,
                },
                verb.capitalize(),
            )
            for verb in verbs
        ],
    )


def _progress(steps: list[dict[str, Any]]) -> Html:
    counts = Counter(step["status"] for step in steps)
    done = sum(counts[status] for status in _DONE)
    told = ", ".join(f"{counts[status]} {STATES[status][2].lower()}" for status in STATES if counts[status])
    return el(
        "div",
        {"class": "progress"},
        el(
            "progress",
            {"max": max(1, len(steps)), "value": done, "aria-label": f"{done} of {counted(len(steps), 'step')} done"},
        ),
        el("span", {"class": "fine"}, f"{done} of {len(steps)} done: {told}" if steps else "No steps"),
    )


def _steps(run: dict[str, Any]) -> Html:
    steps = run["steps"]
    waiting = {decision["about"].get("stepId") for decision in run["decisions"]}
    shown = steps
    if len(steps) > STEPS_SHOWN:
        rank = {status: place for place, status in enumerate(_URGENT)}
        shown = sorted(steps, key=lambda step: rank.get(step["status"], len(rank)))[:STEPS_SHOWN]
    rows = [_step(step, waits=step["id"] in waiting) for step in shown]
    if len(steps) > len(shown):
        rows.append(el("li", {"class": "fine"}, f"… and {counted(len(steps) - len(shown), 'more step')}"))
    return el("ol", {"class": "steps"}, rows)


def _step(step: dict[str, Any], *, waits: bool) -> Html:
    status = "waiting" if waits and step["status"] not in ("failed", "inDoubt") else step["status"]
    told = step.get("description") or step["tool"]
    item = [" ", value(step["item"])] if "item" in step else None
    return el(
        "li",
        {"class": f"step {tone_of(status)}"},
        badge(status),
        el(
            "span",
            {"class": "told"},
            told,
            item,
            el("span", {"class": "fine"}, f" {step['id']} · {step['tool']}"),
            _why(step),
        ),
        el("span", {"class": "took"}, _took(step)),
    )


def _took(step: dict[str, Any]) -> str:
    result = step.get("result")
    return seconds(result["duration"]) if result else ""


def _why(step: dict[str, Any]) -> Part:
    result = step.get("result") or {}
    says = (step.get("reason") or {}).get("says") or result.get("error")
    return el("span", {"class": "why"}, says) if says and step["status"] != "completed" else None
