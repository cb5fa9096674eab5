"""What differs between the versions of VDA 5050, in one place: everything else speaks of one model.

A version has a name that goes into every message, and its first number stands in every topic. A version whose messages
have other names for things would translate them here, on the way in and on the way out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Dialect:
    version: str
    major: str
    """The level of the topics that names the version."""

    def topic(self, interface: str, manufacturer: str, serial: str, name: str) -> str:
        return f"{interface}/{self.major}/{manufacturer}/{serial}/{name}"

    def outgoing(self, name: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """A message as vehicles read it. The two public ones read `instantActions` where the schema says `actions`,
        and one reads `allowedDeviationXy` where it says `allowedDeviationXY`: both are sent."""
        if name == "instantActions":
            return {**document, "instantActions": document["actions"]}
        if name == "order":
            return {**document, "nodes": [_both_spellings(node) for node in document["nodes"]]}
        return dict(document)


def _both_spellings(node: Mapping[str, Any]) -> dict[str, Any]:
    position = node.get("nodePosition")
    if not position or "allowedDeviationXY" not in position:
        return dict(node)
    return {**node, "nodePosition": {**position, "allowedDeviationXy": position["allowedDeviationXY"]}}


DIALECTS = {version: Dialect(version, "v2") for version in ("2.0.0", "2.1.0")}
DEFAULT = "2.0.0"
