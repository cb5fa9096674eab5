"""A distance in words, before or after a place: `three meters away`, `2.5 m`, `half a metre from it`."""

import re
from dataclasses import dataclass

from beforehand.crafts.agent.core.names import NotRead, problem

LONGEST_M = 1_000.0
_COUNTED = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
NUMBERS = {word: float(number) for number, word in enumerate(_COUNTED)} | {
    "a": 1.0,
    "an": 1.0,
    "half a": 0.5,
    "half": 0.5,
    "a couple of": 2.0,
}
UNITS = {"m": 1.0, "meter": 1.0, "metre": 1.0, "cm": 0.01, "centimeter": 0.01, "centimetre": 0.01} | {
    "ft": 0.3048,
    "feet": 0.3048,
    "foot": 0.3048,
}
_WORDS = "|".join(sorted(map(re.escape, NUMBERS), key=len, reverse=True))
_AMOUNT = (
    rf"(?P<minus>minus\s+|[-−])?(?<![\w.,/])(?P<number>{_WORDS}|\d+(?:[.,]\d+)?)(?P<half>\s+and\s+a\s+half)?"
    rf"\s*(?P<unit>{'|'.join(sorted(UNITS, key=len, reverse=True))})s?\b"
)
_AFTER = re.compile(rf"[\s,]*(?:\b(?:at|from) (?:a )?distance of |\bfrom )?{_AMOUNT}(?:\s+away)?(?:\s+from\s+it)?$")
_BEFORE = re.compile(rf"^(?:at (?:a )?distance of )?{_AMOUNT}(?:\s+away)?(?:\s+(?:from|off)\b)?,?\s+")


@dataclass(frozen=True, slots=True)
class Measured:
    """What is left of a text when the distance is taken out, and the distance."""

    rest: str
    distance_m: float | None = None


def measured(text: str) -> Measured:
    if found := _AFTER.search(text):
        return Measured(text[: found.start()].strip(), _metres(found))
    if found := _BEFORE.match(text):
        return Measured(text[found.end() :].strip(), _metres(found))
    return Measured(text)


def _metres(found: re.Match[str]) -> float:
    number = NUMBERS.get(found["number"])
    count = float(found["number"].replace(",", ".")) if number is None else number
    metres = (count + (0.5 if found["half"] else 0.0)) * UNITS[found["unit"]]
    if found["minus"] or not metres <= LONGEST_M:
        says = f"A distance lies between 0 and {LONGEST_M:g} m, and {found[0].strip()[:40]!r} does not."
        raise NotRead([problem("action.distance", found[0].strip(), says)])
    return metres
