"""Where this server stands: it leads, or stands by, or is about to lead. A server of its own home always leads."""

from dataclasses import dataclass
from typing import Literal

from beforehand.ports.store import Leader, Standby

Role = Literal["leads", "takesOver", "standsBy"]


@dataclass(slots=True)
class Place:
    id: str = ""
    standby: Standby | None = None
    """The place among several servers; None where there is only this one."""
    is_ready: bool = True
    """Whether everything that was under way has been taken up; before that a leader takes no writes."""

    @property
    def role(self) -> Role:
        if self.standby is None:
            return "leads"
        if not self.standby.leads:
            return "standsBy"
        return "leads" if self.is_ready else "takesOver"

    @property
    def leads(self) -> bool:
        return self.role == "leads"

    @property
    def leader(self) -> Leader | None:
        """Who leads, as it was seen last; None where nobody does, or it is not known."""
        leader = None if self.standby is None else self.standby.leader
        return leader if leader is not None and leader.alive else None

    @property
    def leader_url(self) -> str | None:
        return None if self.leader is None else self.leader.url
