"""Which position is meant: by a kind of place and a number or letter, by a kind alone, or by a number alone.

A kind word ("station", "bench", "safe") means a position of that name or role; "position", "place", "spot" mean the
position called Pos with that number, where there is one. If several fit, none is chosen: they are listed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from beforehand.model.reason import name_list

GENERIC = ("pos", "spot", "place", "point", "location")
"""Kind words that fit any position."""

BESIDE = ("safe", "stand", "home")
"""Roles of positions nobody means by a number alone."""


class Unclear(Exception):  # noqa: N818  not an error of the program: words that fit no position, or several
    def __init__(self, says: str, *, unknown: str = "") -> None:
        super().__init__(says)
        self.says = says
        self.unknown = unknown
        """What was asked for, where no position fits at all."""


@dataclass(frozen=True, slots=True)
class Site:
    name: str
    phrase: tuple[str, ...]
    role: str = ""

    @property
    def label(self) -> str:
        """The number or the single letter the name ends in."""
        last = self.phrase[-1] if len(self.phrase) > 1 else ""
        return last if is_label(last) else ""

    @property
    def family(self) -> tuple[str, ...]:
        return self.phrase[:-1] if self.label else self.phrase

    def is_a(self, kind: Sequence[str]) -> bool:
        """Whether these words, beside those that fit any position, are words of its name or its role."""
        told = {word for word in kind if word not in GENERIC}
        return bool(told) and told <= {*self.family, self.role}


def is_label(word: str) -> bool:
    return word.isascii() and (word.isdigit() or (len(word) == 1 and word.isalpha()))


def labels_between(first: str, last: str) -> list[str]:
    """From one number or letter to another, both included; none where they are not of one sort."""
    if first.isdigit() != last.isdigit():
        return []
    a, b = (int(first), int(last)) if first.isdigit() else (ord(first), ord(last))
    steps = range(a, b + 1) if a <= b else range(a, b - 1, -1)
    return [str(each) if first.isdigit() else chr(each) for each in steps]


class Sites:
    def __init__(self, sites: Sequence[Site]) -> None:
        self.all = sites
        self.labels = frozenset(site.label for site in sites if site.label)

    def meant(self, kind: tuple[str, ...], label: str, fitting: Collection[str] | None, *, usual: str = "") -> Site:
        """The position of a kind and a label; `fitting` are those where the routine runs, for a label alone."""
        exact = [site for site in self.all if site.phrase == (*kind, label)]
        if kind and len(exact) == 1:
            return exact[0]
        told = any(word not in GENERIC for word in kind)
        labelled = [site for site in self.all if site.label == label and (not told or site.is_a(kind))]
        if not labelled:
            asked = f"{' '.join(kind)} {label}" if told else label
            raise Unclear(f"There is no position {asked} in this cell.", unknown=asked)
        plain = [site for site in labelled if site.phrase == ("pos", label)]
        if kind and not told and plain:
            return plain[0]
        fit = [site for site in labelled if fitting is not None and site.name in fitting]
        pool = labelled if told or not fit else fit
        if usual and not kind:
            pool = pool + [site for site in labelled if site.name == usual and site not in pool]
        return self._one(pool, plain, f"{' '.join(kind) or 'position'} {label}")

    def _one(self, pool: list[Site], plain: list[Site], asked: str) -> Site:
        """The only one; or the one called Pos, when the others only stand by it (safe places, stands)."""
        if len(pool) == 1:
            return pool[0]
        others = [site for site in pool if site not in plain]
        if len(others) < len(pool) and all(site.family[-1:] == ("pos",) or site.role in BESIDE for site in others):
            return plain[0]
        raise Unclear(f"{_opened(asked)} can be {_names(pool)}: use the full name.")

    def only(self, kind: tuple[str, ...]) -> Site:
        """The only position of a kind."""
        found = self.of(kind)
        if len(found) == 1:
            return found[0]
        if not found:
            raise Unclear(f"There is no {' '.join(kind)} in this cell.", unknown=" ".join(kind))
        raise Unclear(f"{_opened(' '.join(kind))} can be {_names(found)}: use the full name.")

    def of(self, kind: tuple[str, ...]) -> list[Site]:
        """All positions of a kind; of the generic kind those called Pos."""
        if all(word in GENERIC for word in kind):
            found = [site for site in self.all if site.family == ("pos",) and site.label]
        else:
            found = [site for site in self.all if site.is_a(kind)]
        return sorted(found, key=lambda site: (len(site.label), site.label, site.name))

    def count_from_one(self, site: Site) -> bool:
        """Whether "the second station" and "station 2" are the same: the family is numbered 1, 2, 3 up to it."""
        labels = {other.label for other in self.all if other.family == site.family}
        return site.label.isdigit() and "0" not in labels and set(labels_between("1", site.label)) <= labels


def _names(sites: Sequence[Site]) -> str:
    return name_list(sorted(site.name for site in sites))


def _opened(text: str) -> str:
    return text[:1].upper() + text[1:]
