"""What events of questions say."""

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]


def _asked(data: Data) -> str:
    return f"Somebody asks: {data['text'][:200]}"


def _sub_goal(data: Data) -> str:
    ends = {"success": "has delivered", "failed": "has failed", "running": "is at work", "pending": "waits"}
    why = f": {data['error']}" if data.get("error") else "."
    return f"{data['worker']} {ends.get(data['status'], 'waits for a person')}{why}"


def _decided(data: Data) -> str:
    decision = data["decision"]
    what = {"continue": "goes on", "done": "has what it needs", "failed": "gives up"}[decision["action"]]
    return f"Round {data['round']}: the planner {what}. {decision.get('reasoning', '')}".strip()


def _finished(data: Data) -> str:
    if data["status"] == "done":
        return f"Answered: {data['text'][:200]}"
    return f"Not answered: {data['text'][:200]} {data.get('reason', '')}".strip()


SENTENCES = {
    "questionAsked": _asked,
    "plannerCalled": lambda data: f"Round {data['round']}: the planner is asked.",
    "plannerDecided": _decided,
    "subGoalUpdated": _sub_goal,
    "questionFinished": _finished,
}
