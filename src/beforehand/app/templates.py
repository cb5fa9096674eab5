"""Templates: plans kept for reuse, with typed parameters."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from beforehand.app.intake import PlanInput
from beforehand.app.off_loop import off_loop
from beforehand.app.plans import create_plan
from beforehand.app.runtime import Runtime
from beforehand.engine.reading import shape_problems
from beforehand.engine.template import fill_template, plan_problems, template_problems
from beforehand.engine.validate import invalid_plan
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, NotFoundError
from beforehand.model.plan import ParameterSpec, Plan, Template
from beforehand.model.reason import Problem, unknown


async def list_templates(runtime: Runtime) -> list[dict[str, Any]]:
    """All templates, as they are shown."""
    return await runtime.store.rows("template")


async def get_template(runtime: Runtime, name: str) -> Template:
    """A template by its name; NotFoundError with the names there are."""
    row = await runtime.store.row("template", name)
    if row is None:
        raise NotFoundError.unknown("template", name, [found["name"] for found in await list_templates(runtime)])
    return Template.model_validate(row)


async def save_template(runtime: Runtime, name: str, document: Any) -> Template:
    """Keep a plan's document under a name; `parameters` beside its steps are typed and used as `$params.name`.

    Raises BadInputError with every problem.
    """
    template = read_template(name, document)
    problems = template_problems(template) + await off_loop(template.plan, plan_problems, template, runtime.catalog)
    if problems:
        raise invalid_plan(sorted(problems, key=lambda problem: "unknown" not in problem.code))
    await runtime.log("templateSaved", template.wire(), owner=f"template:{name}", template=name)
    return template


def read_template(name: str, document: Any) -> Template:
    """A template from `{plan, parameters}`, or from a plan with `parameters` beside its steps. Raises BadInputError."""
    if not isinstance(document, Mapping):
        raise BadInputError("A template is an object with `plan` and `parameters`.", code="template.shape")
    plan = document.get("plan", document)
    if not isinstance(plan, Mapping) or not isinstance(plan.get("steps"), list):
        raise BadInputError("A template needs a plan with `steps`.", code="template.shape")
    if plan is not document:
        _refuse_unknown_keys(document)
    parameters = document.get("parameters", plan.get("parameters", {}))
    kept = {key: value for key, value in plan.items() if key not in ("parameters", "id", "version", "createdAt")}
    if isinstance(parameters, Mapping):
        parameters = {key: _spec(value) for key, value in parameters.items()}
    try:
        return Template(
            name=name,
            description=str(document.get("description") or plan.get("description") or ""),
            parameters=parameters,
            plan=kept,
        )
    except ValidationError as error:
        if any(item["loc"] == ("name",) for item in error.errors()):
            raise BadInputError(
                f"A template cannot be called {name!r}: a name has up to 100 letters, digits, `_`, `-` and `.`.",
                code="template.name",
                hint="Give it another name.",
            ) from error
        raise _misshapen(shape_problems(error, "template", "", keys=ParameterSpec.model_fields)) from error


def _misshapen(problems: list[Problem]) -> BadInputError:
    says = " ".join(problem.says for problem in problems[:10])
    return BadInputError(says, code="template.shape", problems=problems[:100])


def _refuse_unknown_keys(document: Mapping[str, Any]) -> None:
    """Beside its plan a template has few fields, and one that is misspelt would be missed only when it is used."""
    keys = Template.model_fields
    problems = [
        Problem(code="template.unknown_key", about=str(key), path=str(key), says=told.says, nearest=told.nearest)
        for key in document
        if key not in keys and (told := unknown("field", str(key), keys, inside="a template"))
    ]
    if problems:
        raise _misshapen(problems)


def _spec(value: Any) -> Any:
    """`{version: string}` says just the type; `{retries: 3}` a default, its type with it."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str) and value in ("string", "number", "integer", "boolean", "array", "object"):
        return {"type": value}
    kinds = {bool: "boolean", int: "integer", float: "number", list: "array"}
    return {"type": kinds.get(type(value), "string"), "default": value}


async def plan_from_template(
    runtime: Runtime,
    name: str,
    parameters: Any,
    *,
    workspace: str | None = None,
    correlation_id: str = "",
    by: str = "",
) -> tuple[Plan, Decision]:
    """Fill in a template and take in its plan for review; NotFoundError, or BadInputError with every problem."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise BadInputError("`parameters` is an object of names and values.", code="template.parameters")
    template = await get_template(runtime, name)
    document = fill_template(template, dict(parameters or {}))
    document.setdefault("name", name)
    return await create_plan(runtime, PlanInput(document), workspace=workspace, correlation_id=correlation_id, by=by)
