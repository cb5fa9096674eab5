"""Templates: plans kept for reuse, with typed parameters."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runtime import Runtime
from beforehand.engine.template import fill_template, template_problems
from beforehand.engine.validate import check_document, invalid_plan
from beforehand.model.decision import Decision
from beforehand.model.errors import BadInputError, NotFoundError
from beforehand.model.plan import Plan, Template


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
    problems = template_problems(template)
    if not problems and not template.parameters:
        _, problems = check_document(template.plan, runtime.catalog)
    if problems:
        raise invalid_plan(problems)
    await runtime.log("templateSaved", template.wire(), owner=f"template:{name}", template=name)
    return template


def read_template(name: str, document: Any) -> Template:
    """A template from `{plan, parameters}`, or from a plan with `parameters` beside its steps. Raises BadInputError."""
    if not isinstance(document, Mapping):
        raise BadInputError("A template is an object with `plan` and `parameters`.", code="template.shape")
    plan = document.get("plan", document)
    if not isinstance(plan, Mapping) or not isinstance(plan.get("steps"), list):
        raise BadInputError("A template needs a plan with `steps`.", code="template.shape")
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
        first = error.errors()[0]
        if first["loc"] == ("name",):
            raise BadInputError(
                f"A template cannot be called {name!r}: a name has up to 100 letters, digits, `_`, `-` and `.`.",
                code="template.name",
                hint="Give it another name.",
            ) from error
        where = ".".join(map(str, first["loc"]))
        raise BadInputError(f"The template's {where} is wrong: {first['msg']}.", code="template.shape") from error


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
