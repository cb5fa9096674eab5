"""Reading an intent: from any document to goals, with every problem of its shape at once.

A goal that cannot be read stays a gap, so that the goals round it are still checked against the scene.
"""

from typing import Any

from beforehand.model.cell import Goal, Intent
from beforehand.model.reason import Problem, name_list, unknown

ACTIONS = ("attach_tool", "move", "release_tool", "routine")
TAKES = {
    "move": ("position",),
    "routine": ("routine", "position", "tool"),
    "attach_tool": ("tool",),
    "release_tool": ("tool",),
}
KEYS = ("action", "after", "position", "routine", "tool")
TOO_MANY = 100_000


def parse_intent(document: Any) -> tuple[list[Goal | None], list[Problem]]:
    """Goals in order, None where one cannot be read, and what is wrong with the document's shape."""
    if isinstance(document, Intent):
        return list(document.steps), _empty(len(document.steps)) + _after_problems(list(document.steps))
    problems: list[Problem] = []
    steps = document
    if isinstance(document, dict):
        for key in document:
            if key not in ("goal", "steps"):
                problems.append(_unknown_key(key, "", ("goal", "steps")))
        if not isinstance(document.get("goal", "sequence"), str):
            problems.append(_bad("goal", "The intent's goal is a word such as sequence."))
        steps = document.get("steps")
    if not isinstance(steps, list | tuple):
        says = 'An intent is {"goal": "sequence", "steps": [...]} with a list of steps.'
        return [], [*problems, _bad("steps", says)]
    if len(steps) > TOO_MANY:
        return [], [*problems, _bad("steps", f"An intent has at most {TOO_MANY} steps; this one has {len(steps)}.")]
    goals = [_read_goal(step, f"steps[{at}]", problems) for at, step in enumerate(steps)]
    problems += _empty(len(steps)) + _after_problems(goals)
    return goals, problems


def _empty(count: int) -> list[Problem]:
    if count:
        return []
    says = "The intent has no steps, so there is nothing to plan."
    return [_bad("steps", says, code="cell.empty_intent", try_next="Name at least one move, routine or tool.")]


def _read_goal(step: Any, path: str, problems: list[Problem]) -> Goal | None:
    if isinstance(step, Goal):
        return step
    if not isinstance(step, dict):
        problems.append(_bad(path, "A step of an intent is a mapping with an action.", nearest=ACTIONS))
        return None
    count = len(problems)
    action = step.get("action")
    if not isinstance(action, str) or action not in TAKES:
        says = f"{path} has no action. Known actions: {name_list(sorted(ACTIONS))}."
        if isinstance(action, str):
            says = unknown("action", action, ACTIONS, inside=path).says
        problems.append(_bad(f"{path}.action", says, code="cell.unknown_action", nearest=ACTIONS))
    for key in step:
        if key not in KEYS:
            problems.append(_unknown_key(key, path, KEYS))
    takes = TAKES.get(action, KEYS) if isinstance(action, str) else KEYS
    for key in ("position", "routine", "tool"):
        _check_name(step, key, path, takes, str(action), problems)
    after = _read_after(step.get("after"), path, problems)
    if len(problems) > count:
        return None
    names = {key: step.get(key) for key in ("routine", "position", "tool")}
    return Goal(action=step["action"], after=after, **names)


def _check_name(
    step: dict[Any, Any], key: str, path: str, takes: tuple[str, ...], action: str, problems: list[Problem]
) -> None:
    value = step.get(key)
    if value is None:
        return
    if key not in takes:
        says = f"A step with the action {action} takes no {key}."
        problems.append(_bad(f"{path}.{key}", says, try_next=f"Remove {key}."))
    elif not isinstance(value, str):
        problems.append(_bad(f"{path}.{key}", f"The {key} of {path} must be a name in text."))


def _read_after(value: Any, path: str, problems: list[Problem]) -> tuple[int, ...]:
    if value is None:
        return ()
    listed = value if isinstance(value, list | tuple) else [value]
    if all(isinstance(number, int) and not isinstance(number, bool) for number in listed):
        return tuple(sorted(set(listed)))
    problems.append(_bad(f"{path}.after", f"The after of {path} is a list of step numbers, counted from 1."))
    return ()


def _after_problems(goals: list[Goal | None]) -> list[Problem]:
    problems = []
    for at, goal in enumerate(goals, 1):
        for number in goal.after if goal else ():
            if not 1 <= number <= len(goals) or number == at:
                says = f"Step {at} cannot come after step {number}; steps are numbered 1 to {len(goals)}."
                problems.append(_bad(f"steps[{at - 1}].after", says))
    circle = _circle(goals)
    if circle and not problems:
        chain = ", ".join(f"{a} after {b}" for a, b in zip(circle, [*circle[1:], circle[0]], strict=True))
        problems.append(_bad(f"steps[{circle[0] - 1}].after", f"These steps wait for each other: {chain}."))
    return problems


def _circle(goals: list[Goal | None]) -> list[int]:
    """The numbers of steps that wait for each other, or none."""
    waits = {at: set(goal.after if goal else ()) for at, goal in enumerate(goals, 1)}
    while free := [at for at, needs in waits.items() if not needs & waits.keys()]:
        for at in free:
            del waits[at]
    if not waits:
        return []
    chain = [min(waits)]
    while True:
        following = min(waits[chain[-1]] & waits.keys())
        if following in chain:
            return chain[chain.index(following) :]
        chain.append(following)


def _unknown_key(key: Any, path: str, known: tuple[str, ...]) -> Problem:
    told = unknown("key", str(key)[:60], known, inside=path or "the intent")
    full = f"{path}.{str(key)[:60]}" if path else str(key)[:60]
    return _bad(full, told.says, code="input.unknown_key", nearest=told.nearest)


def _bad(
    path: str, says: str, *, code: str = "cell.bad_intent", nearest: tuple[str, ...] = (), try_next: str = ""
) -> Problem:
    return Problem(code=code, about=path, says=says, path=path, nearest=nearest, fixable_by="user", try_next=try_next)
