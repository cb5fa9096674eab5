"""Which crafts there are: found by entry point, loaded once, a broken one reported and spared."""

from dataclasses import dataclass
from functools import cache

from beforehand.app.craft import Craft
from beforehand.app.craft_commands import OURS, craft_entries
from beforehand.loop.rows import projection
from beforehand.loop.searchable import SEARCHABLE
from beforehand.model.reason import Reason
from beforehand.model.versions import Upcasters
from beforehand.ports.foreign import loaded, why
from beforehand.ports.search import Searchable
from beforehand.ports.store import Projection


@dataclass(frozen=True, slots=True)
class Crafts:
    """The crafts that could be loaded, by name, and why the others could not."""

    by_name: dict[str, Craft]
    missing: tuple[Reason, ...] = ()

    def for_plans(self) -> "Crafts":
        """Those that have a part in plans."""
        return Crafts({name: craft for name, craft in self.by_name.items() if craft.plans}, self.missing)

    def projection(self) -> Projection:
        """The rows of every event, those of the crafts among them."""
        return projection(*(craft.rows for craft in self.by_name.values()))

    def upcasters(self) -> Upcasters:
        """What brings the crafts' events from older versions up to date, by kind of event."""
        return {kind: way for craft in self.by_name.values() for kind, way in craft.upcasters.items()}

    def ends(self) -> frozenset[str]:
        """Kinds of the crafts' rows that are over for good once they are closed."""
        return frozenset(kind for craft in self.by_name.values() for kind in craft.ends)

    def searchables(self) -> tuple[Searchable, ...]:
        """What can be searched: Beforehand's own, and what the crafts bring."""
        return (SEARCHABLE, *(craft.searchable for craft in self.by_name.values()))


@cache
def load_crafts(*, built_in_only: bool = False) -> Crafts:
    """Every craft that is installed; with `built_in_only` those of this package.

    One that cannot be loaded is left out and reported.
    """
    found: dict[str, Craft] = {}
    missing: list[Reason] = []
    for entry in craft_entries():
        if built_in_only and not entry.value.startswith(OURS):
            continue
        try:
            craft = loaded(entry.load, ours=entry.value.startswith(OURS))
            if not isinstance(craft, Craft):
                raise TypeError(f"{entry.value} is a {type(craft).__name__}, not a Craft")
            if craft.name in found:
                raise ValueError(f"another craft is called {craft.name} already")
            found[craft.name] = craft
        except Exception as error:  # somebody else's code: it may fail in any way, and the rest works on
            missing.append(unavailable(entry.name, "loaded", error))
    return Crafts(found, tuple(missing))


def unavailable(name: str, how: str, error: Exception) -> Reason:
    """Why a craft is not there: it could not be loaded, or not be opened."""
    says = f"The craft {name} could not be {how}: {why(error)}"
    return Reason(code="craft.unavailable", about=name, says=says, try_next="Correct it or uninstall it, then start.")
