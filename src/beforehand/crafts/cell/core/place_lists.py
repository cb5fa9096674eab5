"""Places in a sentence: one, a list, a range, all of a kind.

A bare number is of the kind named last: `safe positions 1 and 3` are two safe positions. A list of bare numbers is of
one kind throughout, or it is not read.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from beforehand.crafts.cell.core.lexicon import (
    ARTICLES,
    ORDER,
    ORDINALS,
    WHOLE_KIND,
    Lexicon,
    Phrase,
    Token,
    is_number,
)
from beforehand.crafts.cell.core.sites import GENERIC, Site, Sites, Unclear, is_label, labels_between
from beforehand.model.cell import CellScene
from beforehand.model.reason import name_list

Meaning = TypeVar("Meaning", str, list[str])
LONGEST_RANGE = 1_000
BRIDGES = ("to", "through", "thru", "-", "–", "—", "till", "..")
"""What stands between the first and the last place of a range."""

CLEAR = ("-", "–", "—", "..")
"""Bridges that are a range behind "go to" as well."""


GOES_ON = ("and", "to", "then", "finally", "afterwards", "with", "using", "please")
"""Words behind which nothing is named by the `a` before them: it is a letter, not an article."""


class Mishap(Exception):  # noqa: N818  not an error of the program: a clause that is not one
    def __init__(self, at: int, says: str = "", *, unknown: str = "") -> None:
        super().__init__(says)
        self.at = at
        self.says = says
        self.unknown = unknown
        """A position that was asked for and that the cell does not have."""


class PlaceReader:
    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon, scene: CellScene) -> None:
        self.tokens = tokens
        self.words: Phrase = tuple(token.word for token in tokens)
        self.lexicon = lexicon
        self.sites = Sites(lexicon.sites)
        self.by_name = {site.name: site for site in lexicon.sites}
        self.supports = {one.name: [place.position for place in one.supported_at] for one in scene.routines}
        self.family: Phrase = ()
        """The kind of the place named last, if it was named by its kind."""

    def longest(self, table: Mapping[Phrase, Meaning], at: int) -> tuple[Meaning | None, int]:
        """What the most words from here on stand for, and where they end."""
        for many in range(min(self.lexicon.longest, len(self.words) - at), 0, -1):
            found = table.get(self.words[at : at + many])
            if found is not None:
                return found, at + many
        return None, at

    def word(self, at: int) -> str:
        return self.words[at] if at < len(self.words) else ""

    def skip(self, at: int, words: Sequence[str]) -> int:
        while at < len(self.words) and self.words[at] in words:
            at += 1
        return at

    def opens_clause(self, at: int) -> bool:
        if self.longest(self.lexicon.routines, at)[0] is not None:
            return True
        verb, end = self.longest(self.lexicon.verbs, at)
        place, place_end = self.longest(self.lexicon.places, at)
        return self.order_word(at) or (verb is not None and (place is None or place_end < end))

    def opens(self, at: int) -> bool:
        """Whether a verb or a routine stands here."""
        routine, verb = self.longest(self.lexicon.routines, at)[0], self.longest(self.lexicon.verbs, at)[0]
        return routine is not None or verb is not None

    def item_number(self, at: int) -> int:
        """How many words number an item of a list of clauses: `2.` or `2)` before a verb."""
        signed = self.word(at + 1) in (".", ")", ":")
        return 2 if is_number(self.word(at)) and signed and self.opens(at + 2) else 0

    def order_word(self, at: int) -> bool:
        """A word of order, and not the number it can also be: `first` in "the first station"."""
        counts = self.ordinal_number(at) or self.word(at) in ("last", "next")
        end = self._kind(at + 1)
        named = end > at + 1 and not is_label(self._label_at(end))
        if counts and (named or self.tokens[at + 1 : at + 2] == [Token("one", "1")]):
            return False
        return any(self.words[at : at + len(one)] == one for phrases in ORDER.values() for one in phrases)

    def is_place(self, at: int, routine: str) -> bool:
        try:
            self.places(at, routine, ranges=True)
        except Mishap as mishap:
            if mishap.says:
                raise
            return False
        return True

    # -- all of a kind -------------------------------------------------------------------------------------------

    def whole_kind(self, at: int, routine: str | None) -> tuple[int, list[str]] | None:
        """`everywhere`, `all positions`, `every bench`, `both stations`; None where nothing of that kind is said."""
        at = self.skip(at, ("at", "in", "on"))
        word = self.word(at)
        if word == "everywhere" and routine:
            return at + 1, list(self.supports[routine])
        if word not in WHOLE_KIND:
            return None
        start = self.skip(at + 1, ("of", "the"))
        count = self.word(start) if is_number(self.word(start)) else ""
        start = start + 1 if count else start
        end = self._kind(start)
        if end == start or is_label(self._label_at(end)):
            return None
        places = self._all_of(at, self.words[start:end], routine)
        wanted = 2 if word == "both" else int(count) if count else len(places)
        if len(places) != wanted:
            raise Mishap(at, f"'{word}' asks for {wanted}, and there are {len(places)}: {name_list(places)}.")
        return end, places

    def _all_of(self, at: int, kind: Phrase, routine: str | None) -> list[str]:
        sites = self.sites.of(kind)
        told = any(word not in GENERIC for word in kind)
        if routine and not told:
            runs = self.supports[routine]
            named_so = {site.name for site in sites}
            if sites and set(runs) - named_so and set(runs) & named_so:
                raise Mishap(at, f"It is not clear which of these are meant: {name_list(sorted(runs))}.")
            return list(runs)
        if not told and any(site.family[-1:] == ("pos",) and len(site.family) > 1 for site in self.sites.all):
            raise Mishap(at, "It is not clear which positions are meant: name them.")
        if not sites and not told:
            raise Mishap(at, "It is not clear which positions are meant: name them.")
        if not sites:
            asked = " ".join(kind)
            raise Mishap(at, f"There is no {asked} in this cell.", unknown=asked)
        return [site.name for site in sites]

    # -- lists and ranges ----------------------------------------------------------------------------------------

    def places(
        self, at: int, routine: str | None, *, ranges: bool | None, goes_on: bool = False
    ) -> tuple[int, list[str]]:
        """A list of places; it ends where what follows is no place.

        `ranges` is None where only what cannot be anything else is one; `goes_on` keeps the kind named before.
        """
        kind = self.family if goes_on else ()
        both = self.word(self.skip(at, ("at",))) == "both"
        at = self.skip(at, ("at",)) + 1 if both else at
        end, found, kind = self._span(at, routine, ranges, kind)
        if goes_on:
            self._refuse_way_points(at, found, routine)
        bare = not kind
        while (following := self._next_in_list(end, kind, found[-1].label)) is not None:
            try:
                end, more, kind = self._span(following, routine, ranges, kind)
            except Mishap as mishap:
                if mishap.says:
                    raise
                break
            self._refuse_way_points(following, more, routine)
            found += more
            bare = bare and not kind
        if both and len(found) != 2:
            raise Mishap(at - 1, f"'both' goes with two positions, not {len(found)}.")
        if bare:
            self._refuse_mixed(at, found)
        self.family = kind
        return end, [site.name for site in found]

    def _refuse_way_points(self, at: int, found: list[Site], routine: str | None) -> None:
        """`weld 1, home`: behind a routine's places, a place by name may be one to go to."""
        for site in found if routine else ():
            if not site.label and (site.name == self.lexicon.home or site.name not in self.supports[str(routine)]):
                says = f"It is not clear whether {routine} is to run at {site.name}, or the robot to go there."
                raise Mishap(at, says)

    def _next_in_list(self, end: int, kind: Phrase, label: str) -> int | None:
        """Where the next place of a list begins: behind a comma or `and`, or straight away if it is of the kind."""
        following = self.skip(end, (",", "and", "&", "+"))
        if self.item_number(0) and self.item_number(following):
            return None
        if following > end:
            return None if self.opens_clause(following) else following
        if end < len(self.tokens) and self.tokens[end].glued:
            return None
        lettered = is_label(self.word(end)) and self.word(end) in self.sites.labels
        if is_number(self.word(end)) or (lettered and (kind or label.isalpha())):
            return end
        named, _ = self.longest(self.lexicon.places, end)
        alike = named is not None and kind and self.by_name[named[0]].label and self.by_name[named[0]].family == kind
        return end if alike and not self.opens_clause(end) else None

    def _refuse_mixed(self, at: int, found: list[Site]) -> None:
        """Numbers alone that would be of several kinds, although each could be of more than one."""
        doubtful = [site for site in found if sum(site.label == other.label for other in self.sites.all) > 1]
        if doubtful and len({site.family for site in found if site.label}) > 1:
            names = name_list(site.name for site in found)
            raise Mishap(at, f"The numbers would be of several kinds ({names}): use the full names.")

    def _span(self, at: int, routine: str | None, ranges: bool | None, kind: Phrase) -> tuple[int, list[Site], Phrase]:
        """One place, or all from one to another of its kind; and the kind."""
        at = self.skip(at, ("at", "in", "on"))
        opened = bool(ranges) and self.word(at) == "from"
        at += opened
        plural = self._plural(at)
        end, first, kind = self._place(at, routine, kind)
        bridge, beyond = self._bridge(end)
        if not bridge or (bridge == ".." and not is_number(self.word(beyond))):
            if opened:
                raise Mishap(at - 1)
            return end, [first], kind
        if ranges is False or not first.label or not (ranges or plural or bridge in CLEAR):
            raise Mishap(end)
        last_end, last, last_kind = self._place(beyond, routine, kind)
        labels = labels_between(first.label, last.label) if last.label else []
        if not 0 < len(labels) <= LONGEST_RANGE:
            raise Mishap(end)
        if first.family != last.family:
            says = f"{first.name} and {last.name} are not of one kind, so nothing lies from one to the other."
            raise Mishap(end, says)
        inner = [self._meant(end, first.family, label, None) for label in labels]
        return last_end, inner, kind or last_kind

    def _bridge(self, at: int) -> tuple[str, int]:
        """What leads from the first to the last of a range, and where the last begins."""
        two = self.words[at : at + 2]
        if two in (("up", "to"), ("down", "to")):
            return "to", at + 2
        return (self.word(at), at + 1) if self.word(at) in BRIDGES else ("", at)

    def _plural(self, at: int) -> bool:
        """`positions 1 to 3` is a range even behind "go to"."""
        said = self.tokens[at : self._kind(self.skip(at, ARTICLES))]
        return any(token.text.lower().endswith("s") and token.text.lower() != token.word for token in said)

    # -- one place -----------------------------------------------------------------------------------------------

    def _place(self, at: int, routine: str | None, kind: Phrase) -> tuple[int, Site, Phrase]:
        """A place by name, by kind and label, by kind alone, by ordinal, or by label; and its kind."""
        for start in range(at, self.skip(at, ARTICLES) + 1):
            named, end = self.longest(self.lexicon.places, start)
            if named is not None:
                if len(named) > 1:
                    raise Mishap(start, f"Several positions are called that: {name_list(sorted(named))}.")
                site = self.by_name[named[0]]
                if site.label:
                    return end, site, site.family
                noun = self.word(end) in GENERIC and not is_label(self._label_at(end + 1))
                return end + noun, site, ()
        if kind and not is_number(self.word(at)) and self.word(at) in self.sites.labels:
            return at + 1, self._meant(at, kind, self.word(at), routine), kind
        at = self.skip(at, (*ARTICLES, "number")) if not self._lettered(at) else at
        end = self._kind(at)
        if end > at:
            return self._of_kind(at, end, routine)
        word = self.word(at)
        if is_number(word) or self._lettered(at):
            return at + 1, self._meant(at, kind, word, routine), kind
        return self._ordinal(at, routine)

    def _lettered(self, at: int) -> bool:
        """A letter alone that some position's name ends in: `weld a and b`."""
        word, following = self.word(at), self.word(at + 1)
        known = len(word) == 1 and word.isalpha() and word in self.sites.labels
        joined = following in (*GOES_ON, *self.sites.labels)
        return known and not (word == "a" and following.isalpha() and not joined)

    def _kind(self, at: int) -> int:
        """Where the kind words from here on end."""
        return self.skip(at, tuple(self.lexicon.kinds))

    def _label_at(self, at: int) -> str:
        return self.word(self.skip(at, ("number",)))

    def _of_kind(self, at: int, end: int, routine: str | None) -> tuple[int, Site, Phrase]:
        kind = self.words[at:end]
        label = self._label_at(end)
        if is_label(label) and (is_number(label) or label in self.sites.labels):
            site = self._meant(at, kind, label, routine)
            return self.skip(end, ("number",)) + 1, site, site.family
        if all(word in GENERIC for word in kind):
            raise Mishap(end - 1)
        try:
            return end, self.sites.only(kind), ()
        except Unclear as unclear:
            raise Mishap(at, unclear.says, unknown=unclear.unknown) from unclear

    def _ordinal(self, at: int, routine: str | None) -> tuple[int, Site, Phrase]:
        """`the first station`, `the first, second and third position`, `the third one`."""
        number, beyond = self.ordinal_number(at), at + 1
        while number and beyond < len(self.words) and self._goes_on_counting(beyond):
            beyond += 1
        noun_end = self._kind(beyond)
        one = self.tokens[beyond : beyond + 1] == [Token("one", "1")]
        if not number or (noun_end == beyond and not one):
            raise Mishap(min(at, len(self.words) - 1))
        kind = self.words[beyond:noun_end]
        if is_label(self._label_at(noun_end)) and not one:
            raise Mishap(at)
        site = self._meant(at, kind, str(number), routine)
        if not self.sites.count_from_one(site):
            raise Mishap(at, f"It is not clear which comes as number {number}: use the name, such as {site.name}.")
        end = (noun_end + one) if beyond == at + 1 else at + 1
        return end, site, site.family if kind else ()

    def _goes_on_counting(self, at: int) -> bool:
        """`, second and third` between an ordinal and the noun they share."""
        return self.word(at) in (",", "and", "&", "the") or bool(self.ordinal_number(at))

    def ordinal_number(self, at: int) -> int:
        word = self.word(at)
        if word in ORDINALS:
            return ORDINALS.index(word)
        return int(word[1:]) if word.startswith("#") and is_number(word[1:]) else 0

    def _meant(self, at: int, kind: Phrase, label: str, routine: str | None) -> Site:
        usual = self.lexicon.places.get((*self.family, label), [""])[0] if self.family and not kind else ""
        fitting = self.supports[routine] if routine else None
        try:
            return self.sites.meant(kind, label, fitting, usual=usual)
        except Unclear as unclear:
            raise Mishap(at, unclear.says, unknown=unclear.unknown) from unclear
