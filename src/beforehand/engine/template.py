"""Plan templates: a plan's document with typed parameters, `$params.name`, filled in to give a plan."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beforehand.engine.references import (
    MissingPartError,
    Reference,
    as_text,
    parse_reference,
    part_of,
    references_in,
    rewrite,
)
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import PARAMETERS, check_document
from beforehand.model.errors import BadInputError
from beforehand.model.plan import ParameterSpec, Template
from beforehand.model.reason import Problem, unknown

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_FILLED_AT_RUN = ("args", "forEach", "for_each")
_IN_CONDITION = re.compile(r"\$params(?:\.\w[\w-]*|\[\d{1,9}\])+")
_PARTS_OF_CONDITION = re.compile(
    r"""(?P<quote>["'])(?:\\.|(?!(?P=quote))[^\\])*(?P=quote)|\$\{params\b[^}]*\}|"""  # text, or a parameter
    + _IN_CONDITION.pattern
)
_WAITS = ("dependsOn", "depends_on")
_FIELD = re.compile(r"(?P<step>steps\[\d+\])(?:\.\w+)?|\w+")


def template_problems(template: Template) -> list[Problem]:
    """What is wrong with a template before it is filled: parameters that are used and not declared, bad defaults."""
    problems = []
    for reference in dict.fromkeys([*references_in(template.plan), *_references_in_conditions(template.plan)]):
        if reference.step == PARAMETERS and (not reference.parts or reference.parts[0] not in template.parameters):
            told = unknown("parameter", str(reference), template.parameters, plural="declared parameters")
            problems.append(
                Problem(code="template.unknown_parameter", about=str(reference), says=told.says, nearest=told.nearest)
            )
    for name, spec in template.parameters.items():
        if spec.default is not None and not _fits(spec.default, spec):
            says = f"The default of {name} is not of type {spec.type}."
            problems.append(Problem(code="template.bad_default", about=name, path=f"parameters.{name}", says=says))
    return problems


def plan_problems(template: Template, catalog: ToolCatalog) -> list[Problem]:
    """What is wrong with a template's plan whatever its parameters hold; what they decide is left for its use."""
    steps = [_without_open_waits(step) for step in template.plan["steps"]]
    _, problems = check_document({**template.plan, "steps": steps}, catalog)
    places = _open_places({**template.plan, "steps": steps})
    left_open = {"plan.template"}
    if steps != template.plan["steps"] or any(place.endswith((*_WAITS, ".status")) for place in places):
        left_open.add("step.same_path")
    if any(place.endswith((".id", "]")) for place in places):
        left_open |= {"step.same_path", "step.unknown_dependency", "step.unknown_reference"}
    return [
        problem
        for problem in problems
        if problem.code not in left_open and (problem.code == "plan.unknown_key" or not _lies_in(problem.path, places))
    ]


def _without_open_waits(step: Any) -> Any:
    """A step that waits for what is there, without the names that a parameter gives."""
    if not isinstance(step, Mapping):
        return step
    return {
        key: [name for name in value if not _is_open(name)] if key in _WAITS and isinstance(value, list) else value
        for key, value in step.items()
    }


def _open_places(plan: Mapping[str, Any]) -> set[str]:
    """Where a parameter decides what a field is; in arguments, conditions and lists it is a reference like others."""
    places = {key for key, value in plan.items() if key != "steps" and _is_open(value)}
    for at, step in enumerate(plan["steps"]):
        if isinstance(step, Mapping):
            places |= {f"steps[{at}].{key}" for key, value in step.items() if key != "when" and _is_open(value)}
        elif _is_open(step):
            places.add(f"steps[{at}]")
    return places


def _is_open(value: Any) -> bool:
    return isinstance(value, str) and any(reference.step == PARAMETERS for reference in references_in(value))


def _lies_in(path: str, places: set[str]) -> bool:
    """Whether a problem's path leads into one of these fields, or into a step that is one of them."""
    found = _FIELD.match(path)
    return found is not None and (found[0] in places or found["step"] in places)


def fill_template(template: Template, given: Mapping[str, Any]) -> dict[str, Any]:
    """The plan document with every parameter in its place, types kept; BadInputError names all that is wrong."""
    problems: list[Problem] = []
    for name in given:
        if name not in template.parameters:
            says, nearest = unknown("parameter", name, template.parameters, inside=template.name)
            problems.append(Problem(code="template.unknown_parameter", about=name, says=says, nearest=nearest))
    values: dict[str, Any] = {}
    for name, spec in template.parameters.items():
        if name in given and given[name] is not None:
            values[name] = given[name]
            if not _fits(given[name], spec):
                says = f"{name} must be of type {spec.type}."
                problems.append(Problem(code="template.bad_parameter", about=name, says=says))
        elif spec.is_required:
            says = f"{template.name} needs the parameter {name} ({spec.type})."
            problems.append(Problem(code="template.missing_parameter", about=name, says=says))
        else:
            values[name] = spec.default
    if problems:
        raise BadInputError(problems[0].says, code="template.parameters", problems=problems)
    filled = _put_in(template.plan, values)
    if not isinstance(filled, dict):
        raise BadInputError(f"The template {template.name} holds no plan.", code="template.shape")
    return filled


def parameter_from_text(text: str, spec: ParameterSpec) -> Any:
    """A `key=value` of the command line as the parameter's type; text that does not fit is left for the check."""
    if spec.type == "string":
        return text
    try:
        return json.loads(text.lower() if spec.type == "boolean" else text)
    except json.JSONDecodeError:
        return text


def _fits(value: Any, spec: ParameterSpec) -> bool:
    if isinstance(value, bool):
        return spec.type == "boolean"
    return isinstance(value, _TYPES[spec.type])


def _conditions(plan: Any) -> Iterator[str]:
    """The `when` of every step, where a parameter may stand as a literal: `$count.n > $params.limit`."""
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, Mapping) and isinstance(step.get("when"), str):
            yield step["when"]


def _references_in_conditions(plan: Any) -> Iterator[Reference]:
    for text in _conditions(plan):
        for found in _IN_CONDITION.findall(text):
            reference = parse_reference(found)
            if reference is not None:
                yield reference


def _put_in(value: Any, values: Mapping[str, Any], key: str = "", inside: bool = False) -> Any:
    """The document with parameters in place. `inside` arguments they are literals: their dollars mean nothing."""
    if isinstance(value, dict):
        return {name: _put_in(item, values, name, inside or name in _FILLED_AT_RUN) for name, item in value.items()}
    if isinstance(value, list):
        return [_put_in(item, values, key, inside) for item in value]
    if not isinstance(value, str) or "params" not in value:
        return value
    if key == "when" and not inside:
        return _fill_condition(value, values)
    return _fill_parameters(value, values, _literal if inside else lambda put: put)


def _fill_parameters(text: str, values: Mapping[str, Any], taken: Callable[[Any], Any]) -> Any:
    """Only `params` is filled here; references to steps stay for the run."""
    whole = parse_reference(text)
    if whole is not None and whole.step == PARAMETERS:
        return taken(_look_up(whole, values))
    return rewrite(text, lambda ref: taken(as_text(_look_up(ref, values))) if ref.step == PARAMETERS else None)


def _fill_condition(text: str, values: Mapping[str, Any]) -> str:
    """A parameter is a literal of the condition, whatever it holds; inside quotes it is a part of that text."""

    def put_in(match: re.Match[str]) -> str:
        if quote := match["quote"]:
            return rewrite(match[0], lambda ref: _quoted(ref, values, quote) if ref.step == PARAMETERS else None)
        reference = parse_reference(match[0])
        if reference is None or reference.step != PARAMETERS:
            return match[0]
        return json.dumps(_look_up(reference, values), ensure_ascii=False)

    return _PARTS_OF_CONDITION.sub(put_in, text)


def _quoted(reference: Reference, values: Mapping[str, Any], quote: str) -> str:
    text = as_text(_look_up(reference, values))
    return json.dumps(text, ensure_ascii=False)[1:-1] if quote == '"' else re.sub(r"([\\'])", r"\\\1", text)


def _literal(value: Any) -> Any:
    """A value whose dollars are just dollars when the arguments are filled in at the run."""
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, dict):
        return {key: _literal(item) for key, item in value.items()}
    return [_literal(item) for item in value] if isinstance(value, list) else value


def _look_up(reference: Reference, values: Mapping[str, Any]) -> Any:
    try:
        return part_of(dict(values), reference)
    except MissingPartError as error:
        raise BadInputError(error.says, code="template.parameters") from error
