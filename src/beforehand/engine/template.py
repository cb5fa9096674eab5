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


def template_problems(template: Template) -> list[Problem]:
    """What is wrong with a template before it is filled: parameters that are used and not declared, bad defaults."""
    problems = []
    for reference in dict.fromkeys([*references_in(template.plan), *_references_in_conditions(template.plan)]):
        if reference.step == "params" and (not reference.parts or reference.parts[0] not in template.parameters):
            told = unknown("parameter", str(reference), template.parameters, plural="declared parameters")
            problems.append(
                Problem(code="template.unknown_parameter", about=str(reference), says=told.says, nearest=told.nearest)
            )
    for name, spec in template.parameters.items():
        if spec.default is not None and not _fits(spec.default, spec):
            says = f"The default of {name} is not of type {spec.type}."
            problems.append(Problem(code="template.bad_default", about=name, path=f"parameters.{name}", says=says))
    return problems


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
    if whole is not None and whole.step == "params":
        return taken(_look_up(whole, values))
    return rewrite(text, lambda ref: taken(as_text(_look_up(ref, values))) if ref.step == "params" else None)


def _fill_condition(text: str, values: Mapping[str, Any]) -> str:
    def literal(match: re.Match[str]) -> str:
        reference = parse_reference(match[0])
        return match[0] if reference is None else json.dumps(_look_up(reference, values), ensure_ascii=False)

    filled = rewrite(text, lambda ref: as_text(_look_up(ref, values)) if ref.step == "params" else None)
    return _IN_CONDITION.sub(literal, filled)


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
