"""Prints the API's schema: `python -m beforehand.server.schema > docs/openapi.json`."""

import json
import sys

from beforehand.app.crafts import load_crafts
from beforehand.server.app import create_app


def schema_text() -> str:
    """The OpenAPI 3.1 document of the built-in crafts, in an order that does not change by itself."""
    return (
        json.dumps(create_app(None, crafts=load_crafts(built_in_only=True)).openapi(), indent=1, ensure_ascii=False)
        + "\n"
    )


if __name__ == "__main__":
    sys.stdout.write(schema_text())
