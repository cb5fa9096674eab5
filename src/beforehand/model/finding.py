"""How one thing stands that `beforehand doctor` has looked at."""

from typing import Any, Literal, NamedTuple


class Finding(NamedTuple):
    check: str
    state: Literal["ok", "missing", "broken"]
    """`broken` needs mending; `missing` is something only some parts need."""
    says: str
    try_next: str = ""

    def wire(self) -> dict[str, Any]:
        return {"check": self.check, "state": self.state, "says": self.says, "tryNext": self.try_next}
