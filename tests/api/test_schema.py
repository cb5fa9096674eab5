"""The committed schema is the one the code makes, and it is fit for a generated client."""

import json
from pathlib import Path
from typing import Any

import pytest

from beforehand.server.schema import schema_text

BODIES = ("post", "put", "patch")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(schema_text())
    return shown


def operations(schema: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, told) for path, methods in schema["paths"].items() for method, told in methods.items()]


def test_the_committed_schema_is_the_present_one(repository: Path) -> None:
    committed = (repository / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "Write it anew: python -m beforehand.server.schema > docs/openapi.json"


def test_it_is_openapi_3_1_and_names_every_operation_once(schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1.")
    names = [told["operationId"] for _, _, told in operations(schema)]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)


def test_every_reference_leads_somewhere(schema: dict[str, Any]) -> None:
    text = json.dumps(schema)
    wanted = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert wanted <= schema["components"]["schemas"].keys()


def test_refusals_have_the_one_shape_everywhere(schema: dict[str, Any]) -> None:
    for path, method, told in operations(schema):
        refusal = list(told["responses"]["default"]["content"])
        if path.startswith("/api/v1/search"):  # its clients read the errors of the servers they were written for
            refusal.remove("application/json")
        assert refusal == ["application/problem+json"], (path, method)
        assert "422" not in told["responses"]


def test_every_call_of_the_contract_is_there(schema: dict[str, Any]) -> None:
    wanted = {
        "get /state", "get /events", "get /telemetry", "post /plans", "get /plans/{}", "get /plans/{}/versions",
        "patch /plans/{}", "post /plans/{}/regenerate", "post /plans/{}/preview", "post /plans/{}/runs",
        "get /runs/{}", "post /runs/{}/pause", "post /runs/{}/resume", "post /runs/{}/cancel",
        "post /runs/{}/steps/{}/retry", "post /runs/{}/steps/{}/skip", "post /runs/{}/adopt", "get /templates",
        "put /templates/{}", "post /templates/{}/plans", "get /inbox", "post /inbox/{}", "get /scenes",
        "put /scenes/{}", "post /scenes/{}/activate", "post /login", "get /health", "get /metrics",
    }  # fmt: skip
    import re

    found = {
        f"{method} {re.sub('{[^}]*}', '{}', path.removeprefix('/api/v1'))}" for path, method, _ in operations(schema)
    }
    assert wanted <= found


async def test_it_is_served_with_the_calls_of_every_craft_that_is_installed(
    server: Any, schema: dict[str, Any]
) -> None:
    served = await server.call("GET", "/openapi.json")
    assert schema["paths"].items() <= served["paths"].items()
    assert served["components"]["schemas"].keys() >= schema["components"]["schemas"].keys()
    assert "/api/v1/greenhouses/{scene}" in served["paths"]
