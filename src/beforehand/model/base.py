"""The base of every document: frozen, strict about unknown keys, and read in both spellings.

The plan and fleet specs write camelCase, the sequence and rounds specs snake_case; each keeps its own on the wire.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """A frozen document whose wire names are camelCase."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    def wire(self) -> dict[str, Any]:
        """The document as JSON-ready data, in the spelling of the specs, absent values left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class SnakeWireModel(BaseModel):
    """A frozen document whose wire names are snake_case, for the specs that write them so."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=False,
    )

    def wire(self) -> dict[str, Any]:
        """The document as JSON-ready data, in the spelling of the specs, absent values left out."""
        return self.model_dump(mode="json", by_alias=False, exclude_none=True)
