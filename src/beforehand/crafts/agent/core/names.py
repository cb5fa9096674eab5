"""Which thing a name in a text means: as it is called, or its kind where the scene has one of that kind only.

Case, spacing, articles, quotes and a trailing dot make no difference. A name that means nothing is told with the
nearest ones, a name that means several with all of them; nothing is guessed.
"""

import re
from collections.abc import Callable, Iterable

from beforehand.crafts.agent.core.words import HomeScene, folded
from beforehand.model.reason import Problem, name_list, unknown

_ARTICLES = re.compile(r"\b(?:the|a|an|my|your|its)\s+(?=\S)", re.IGNORECASE)
_QUOTES = str.maketrans("", "", "\"'`“”‘’„«»")


def without_articles(text: str) -> str:
    return _ARTICLES.sub("", text).strip()


class NotRead(Exception):  # noqa: N818 - a refusal on its way, not an error
    """The text is no action; `problems` says why, everything that applies."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(problem.says for problem in self.problems))


def problem(code: str, about: str, says: str, nearest: tuple[str, ...] = ()) -> Problem:
    return Problem(code=code, about=about[:80], says=says, nearest=nearest)


class Names:
    """The things and rooms of a scene, by every way to call them."""

    def __init__(self, scene: HomeScene) -> None:
        self.all = tuple(thing.name for thing in scene.objects)
        self.rooms = {_key(room.name): room.name for room in scene.rooms}
        self.words = {word for name in self.all for word in name.lower().split()}
        """Every word that is part of a name, and so not a manner of doing something."""
        self._affords = {thing.name: thing.affords for thing in scene.objects}
        self._exact = _by(_key, self.all)
        self._kinds = _by(_kind, self.all)

    def is_exact(self, text: str) -> bool:
        return len(self._exact.get(_key(text), ())) == 1

    def made_for(self, use: str | None) -> str:
        """What to choose from for a use, as a sentence has it; all things where none is made for it, or any will do."""
        fitting = [name for name in self.all if use in self._affords[name]] or list(self.all)
        return name_list(fitting if len(fitting) <= 10 else fitting[:3])

    def room(self, text: str) -> str | None:
        return self.rooms.get(_key(text))

    def meant(self, text: str) -> tuple[str, ...]:
        """Every thing that a text may mean."""
        key = _key(text)
        return tuple(self._exact.get(key) or self._kinds.get(key) or ()) if key else ()

    def problems(self, text: str, *, or_room: bool = False) -> tuple[Problem, ...]:
        """Why a text does not name one thing; nothing where it does. `or_room`: where it might have named a room."""
        meant = self.meant(text)
        if len(meant) == 1:
            return ()
        if meant:
            says = f"{text[:80]!r} is not one thing here: {', '.join(meant)}. Say which."
            return (problem("action.ambiguous", text, says, meant),)
        rooms = self.rooms.values() if or_room else ()
        told = unknown("object", text, (*self.all, *rooms), plural="objects and rooms" if rooms else "")
        return (problem("action.unknown_object", text, told.says, told.nearest),)

    def one(self, text: str) -> str:
        """The thing a text means; NotRead where it means none or several."""
        problems = self.problems(text)
        if problems:
            raise NotRead(problems)
        return self.meant(text)[0]


def _key(text: str) -> str:
    return folded(without_articles(text.translate(_QUOTES)))


def _kind(name: str) -> str:
    return _key(name).rstrip("0123456789")


def _by(key: Callable[[str], str], names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return found
