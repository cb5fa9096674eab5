"""Editing a plan: a list of edits gives the next version, all or nothing, and two versions can be compared.

{op: edit, id, set: {…}}   {op: move, id, before|after: id}   {op: skip|unskip|remove, id}
{op: add, step: {…}, before|after?: id}
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from beforehand.engine.graph import dependencies
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import Names, check_document, invalid_plan
from beforehand.model.errors import BadInputError
from beforehand.model.plan import Plan, Step, StepStatus, step_wire
from beforehand.model.reason import Problem, name_list, unknown

_FIXED = {"id", "status", "result", "order"}
MAX_EDITS = 10_000


class Documents(list[dict[str, Any]]):
    """The steps' documents in their order, also found by id."""

    def __init__(self, documents: Iterable[dict[str, Any]]) -> None:
        super().__init__(documents)
        self.by_id = {document["id"]: document for document in self}
        self.names = Names(set(self.by_id))

    def named(self, name: Any) -> dict[str, Any]:
        """The document of a step; BadInputError with the names there are."""
        found = self.by_id.get(str(name))
        if found is None:
            self.names.names = set(self.by_id)
            told = self.names.unknown(name)
            raise BadInputError(told.says, code="edit.unknown_step", nearest=told.nearest)
        return found

    def place(self, name: Any) -> int:
        """Where a step stands, counted from 0; BadInputError for an unknown name."""
        document = self.named(name)
        return next(place for place, other in enumerate(self) if other is document)

    def take_out(self, name: Any) -> dict[str, Any]:
        """Remove a step and return its document; BadInputError for an unknown name."""
        document = self.pop(self.place(name))
        del self.by_id[document["id"]]
        return document

    def put_in(self, document: dict[str, Any], edit: Mapping[str, Any]) -> None:
        """Insert a document where the edit's `before` or `after` says, else at the end."""
        if "before" in edit:
            place = self.place(edit["before"])
        elif "after" in edit:
            place = self.place(edit["after"]) + 1
        else:
            place = len(self)
        self.insert(place, document)
        self.by_id[document["id"]] = document


def edited(plan: Plan, edits: Any, catalog: ToolCatalog, *, created_at: str) -> Plan:
    """The next version of the plan; BadInputError with every problem when the edits do not work out."""
    documents, moved = _applied(plan, edits)
    changed, found = check_document({"steps": documents}, catalog)
    gone = {step.id for step in plan.steps} - {document["id"] for document in documents}
    found = [_broken_by_removal(problem, gone) for problem in found] + _misplaced(changed, moved)
    if found:
        raise invalid_plan(found)
    return plan.model_copy(update={"version": plan.version + 1, "steps": changed.steps, "created_at": created_at})


def apply_edits(plan: Plan, edits: Any) -> Documents:
    """The step documents after the edits, whether or not they still make a plan."""
    return _applied(plan, edits)[0]


def _applied(plan: Plan, edits: Any) -> tuple[Documents, set[str]]:
    """The edited step documents, and which steps were moved."""
    if not isinstance(edits, Sequence) or isinstance(edits, str) or not edits:
        raise BadInputError("`edits` is a list with at least one edit.", code="edit.shape")
    if len(edits) > MAX_EDITS:
        raise BadInputError(f"{MAX_EDITS} edits at a time is the most.", code="edit.shape")
    documents = Documents(step_wire(step) for step in plan.steps)
    problems: list[Problem] = []
    moved: set[str] = set()
    for place, edit in enumerate(edits):
        problems += _apply(documents, edit, f"edits[{place}]", moved)
    for order, document in enumerate(documents, start=1):
        document["order"] = order
    if problems:
        raise invalid_edit(problems)
    return documents, moved


def invalid_edit(problems: Sequence[Problem]) -> BadInputError:
    """The error for edits that do not work out; it holds every problem."""
    return BadInputError(f"Nothing was changed: {problems[0].says}", code="edit.invalid", problems=problems)


def _apply(documents: Documents, edit: Any, path: str, moved: set[str]) -> list[Problem]:
    if not isinstance(edit, Mapping):
        return [Problem(code="edit.shape", about=path, path=path, says=f"{path} is not an edit: it needs an `op`.")]
    apply = _OPERATIONS.get(str(edit.get("op")))
    if apply is None:
        told = unknown("op", edit.get("op"), _OPERATIONS)
        says = f"{path}: {told.says}"
        return [Problem(code="edit.unknown_op", about=path, path=path, says=says, nearest=told.nearest)]
    try:
        moved |= apply(documents, edit)
    except BadInputError as error:
        return [Problem(code=error.code, about=path, path=path, says=f"{path}: {error.says}", nearest=error.nearest)]
    return []


def _edit(documents: Documents, edit: Mapping[str, Any]) -> set[str]:
    document = documents.named(edit.get("id"))
    changes = edit.get("set")
    if not isinstance(changes, Mapping) or not changes:
        raise BadInputError("an edit needs `set` with the fields to change.", code="edit.shape")
    if fixed := _FIXED & changes.keys():
        raise BadInputError(f"{name_list(sorted(fixed))} cannot be set by an edit.", code="edit.fixed_field")
    for key, value in ((str(key), value) for key, value in changes.items()):
        if key.startswith("args."):
            document["args"] = {**document.get("args", {}), key.removeprefix("args."): value}
        elif value is None and key != "args":
            document.pop(_spelled(document, key), None)
        else:
            document[_spelled(document, key)] = value
    return set()


def _spelled(document: Mapping[str, Any], key: str) -> str:
    """The field's name as documents write it, whichever spelling the edit used."""
    field = Step.model_fields.get(key)
    return field.alias if field is not None and field.alias else key


def _mark(status: StepStatus) -> Callable[[Documents, Mapping[str, Any]], set[str]]:
    def mark(documents: Documents, edit: Mapping[str, Any]) -> set[str]:
        documents.named(edit.get("id"))["status"] = status.value
        return set()

    return mark


def _remove(documents: Documents, edit: Mapping[str, Any]) -> set[str]:
    documents.take_out(edit.get("id"))
    return set()


def _move(documents: Documents, edit: Mapping[str, Any]) -> set[str]:
    if ("before" in edit) == ("after" in edit):
        raise BadInputError("a move needs either `before` or `after`.", code="edit.shape")
    if edit.get("id") in (edit.get("before"), edit.get("after")):
        raise BadInputError("a step is moved before or after another one, not itself.", code="edit.shape")
    document = documents.take_out(edit.get("id"))
    try:
        documents.put_in(document, edit)
    except BadInputError:
        documents.put_in(document, {})
        raise
    return {document["id"]}


def _add(documents: Documents, edit: Mapping[str, Any]) -> set[str]:
    step = edit.get("step")
    if not isinstance(step, Mapping):
        raise BadInputError("an add needs `step`, with at least `id` and `tool`.", code="edit.shape")
    if "before" in edit and "after" in edit:
        raise BadInputError("an add takes `before` or `after`, not both.", code="edit.shape")
    document = {key: value for key, value in step.items() if key not in ("status", "result", "order")}
    if "id" not in document or str(document["id"]) in documents.by_id:
        raise BadInputError(f"the new step needs an id of its own, not {document.get('id')!r}.", code="edit.shape")
    document["id"] = str(document["id"])
    documents.put_in(document, edit)
    return {document["id"]} if "before" in edit or "after" in edit else set()


_OPERATIONS: dict[str, Callable[[Documents, Mapping[str, Any]], set[str]]] = {
    "edit": _edit,
    "move": _move,
    "skip": _mark(StepStatus.SKIPPED),
    "unskip": _mark(StepStatus.PENDING),
    "remove": _remove,
    "add": _add,
}


def _broken_by_removal(problem: Problem, gone: set[str]) -> Problem:
    """An unknown dependency that was there before: say that the removal broke it."""
    if problem.code not in ("step.unknown_dependency", "step.unknown_reference"):
        return problem
    removed = next((name for name in sorted(gone) if f"'{name}'" in problem.says), None)
    if removed is None:
        return problem
    return problem.model_copy(
        update={
            "code": "edit.breaks_dependency",
            "says": f"{problem.about} depends on {removed}, which would be removed.",
            "try_next": f"Change {problem.about} first, or skip {removed} instead of removing it.",
        }
    )


def _misplaced(plan: Plan, moved: set[str]) -> list[Problem]:
    """A moved step must stay behind what it depends on and before what depends on it."""
    if not moved:
        return []
    place = {step.id: step.order for step in plan.steps}
    problems = []
    for step in plan.steps:
        for name in dependencies(step):
            if (step.id in moved or name in moved) and place[name] > place[step.id]:
                says = f"{step.id} cannot come before {name}, which it depends on."
                problems.append(Problem(code="edit.breaks_dependency", about=step.id, path="steps", says=says))
    return problems


def difference(before: Plan, after: Plan) -> list[dict[str, Any]]:
    """What changed between two versions: steps added, removed, changed (field by field) and moved."""
    old = {step.id: step_wire(step) for step in before.steps}
    new = {step.id: step_wire(step) for step in after.steps}
    changes: list[dict[str, Any]] = [
        {"change": "removed", "id": name, "step": old[name]} for name in old if name not in new
    ]
    was = {name: place for place, name in enumerate(name for name in old if name in new)}
    now = {name: place for place, name in enumerate(name for name in new if name in old)}
    for name, step in new.items():
        if name not in old:
            changes.append({"change": "added", "id": name, "step": step})
            continue
        fields = {
            key: {"from": old[name].get(key), "to": step.get(key)}
            for key in sorted(old[name].keys() | step.keys())
            if key != "order" and old[name].get(key) != step.get(key)
        }
        if fields:
            changes.append({"change": "changed", "id": name, "fields": fields})
        if was[name] != now[name]:
            changes.append({"change": "moved", "id": name, "from": old[name]["order"], "to": step["order"]})
    return changes
