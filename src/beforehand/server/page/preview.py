"""What a plan would do, as a reviewer sees it: the order, the times, the diffs and what would go wrong."""

from typing import Any

from beforehand.model.words import counted
from beforehand.server.page.html import Html, Part, el
from beforehand.server.page.parts import diff, seconds

SHOWN = 100


def preview_part(preview: dict[str, Any]) -> Html:
    timeline = preview["timeline"]
    told = f"About {seconds(preview['durationS'] * 1000)}, {counted(len(timeline), 'step')}"
    if preview.get("moves"):
        told += f", {counted(preview['moves'], 'move')}, {counted(preview.get('toolChanges', 0), 'tool change')}"
    asked = preview.get("approvals") or []
    if asked:
        told += f", asking for approval of {', '.join(asked)}"
    return el(
        "div",
        {"class": "preview-card"},
        el("p", {"class": "lead"}, f"{told}. Nothing has been done."),
        el("p", {"class": "fine"}, preview["endSays"]) if preview.get("endSays") else None,
        _problems(preview.get("problems") or []),
        el("ol", {"class": "timeline"}, [_line(line) for line in timeline[:SHOWN]]),
        el("p", {"class": "fine"}, f"… and {len(timeline) - SHOWN} more steps.") if len(timeline) > SHOWN else None,
    )


def _problems(problems: list[dict[str, Any]]) -> Part:
    if not problems:
        return None
    told = [el("li", {}, f"{one.get('about', '')}: {one.get('says', '')}") for one in problems]
    return el("ul", {"class": "problems"}, told)


def _line(line: dict[str, Any]) -> Html:
    text = line.get("diff")
    return el(
        "li",
        {},
        el("span", {"class": "at"}, f"{line['startS']:.2f} s"),
        el(
            "span",
            {"class": "told"},
            line.get("says") or line["stepId"],
            el("span", {"class": "needs"}, "asks first") if line.get("needsApproval") else None,
            el("span", {"class": "fine"}, f" {line['stepId']}"),
            diff(text) if text else None,
        ),
    )
