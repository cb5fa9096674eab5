"""The language of `when`: comparisons of references and literals, joined by `and`, `or`, `not`.

    $check.status == "ok" and not ($count.n > 10)

A missing part is null; an order between things that have none is false. Parsed once into closures over a look-up.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from beforehand.engine.references import MissingPartError, Reference, parse_reference
from beforehand.ports.tool import Unknown

LookUp = Callable[[Reference], Any]
Term = Callable[[LookUp], Any]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<ref>\$\{[^}]*\}|\$\w[\w-]*(?:\.\w[\w-]*|\[\d{1,9}\])*)
    | (?P<num>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<str>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<op>==|!=|<=|>=|<|>|\(|\))
    | (?P<word>[A-Za-z_]\w*)
    )""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_MAX_DEPTH = 50
_MAX_DIGITS = 300


class ConditionError(ValueError):
    """The condition cannot be read; the message says where and what was expected."""


class _CannotTellError(Exception):
    """It hangs on a value that only the real run will give."""


@dataclass(frozen=True, slots=True)
class Condition:
    text: str
    references: tuple[Reference, ...]
    _term: Term

    def holds(self, look_up: LookUp) -> bool:
        """Whether it is true, given the value of each referenced step; parts that are missing count as null.

        In a preview a value may be unknown; then the step is shown as if it applied.
        """

        def lenient(reference: Reference) -> Any:
            try:
                value = look_up(reference)
            except MissingPartError:
                return None
            if isinstance(value, Unknown):
                raise _CannotTellError
            return value

        try:
            return bool(self._term(lenient))
        except _CannotTellError:
            return True


@lru_cache(maxsize=4096)
def parse_condition(text: str) -> Condition:
    """Read a `when`; ConditionError when it is not one."""
    reader = _Reader(text)
    term = reader.disjunction(0)
    if reader.kind != "end":
        raise ConditionError(f"{reader.where()}: expected an operator, found {reader.text!r}")
    return Condition(text, tuple(reader.references), term)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.start = 0
        self.kind = self.text = ""
        self.references: list[Reference] = []
        self.advance()

    def where(self) -> str:
        return f"at character {self.start + 1}"

    def advance(self) -> None:
        rest = self.source[self.at :]
        if not rest.strip():
            self.kind, self.text, self.start = "end", "the end", len(self.source)
            return
        match = _TOKEN.match(self.source, self.at)
        if match is None or match.lastgroup is None:
            self.start = self.at + len(rest) - len(rest.lstrip())
            raise ConditionError(f"{self.where()}: {rest.strip()[:1]!r} does not belong here")
        self.kind, self.text, self.start = match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)
        self.at = match.end()

    def takes(self, kind: str, text: str) -> bool:
        if self.kind == kind and self.text.lower() == text:
            self.advance()
            return True
        return False

    def disjunction(self, depth: int) -> Term:
        terms = [self.conjunction(depth)]
        while self.takes("word", "or"):
            terms.append(self.conjunction(depth))
        return terms[0] if len(terms) == 1 else lambda look_up: any(term(look_up) for term in terms)

    def conjunction(self, depth: int) -> Term:
        terms = [self.negation(depth)]
        while self.takes("word", "and"):
            terms.append(self.negation(depth))
        return terms[0] if len(terms) == 1 else lambda look_up: all(term(look_up) for term in terms)

    def negation(self, depth: int) -> Term:
        if depth > _MAX_DEPTH:
            raise ConditionError("it is nested too deeply")
        if self.takes("word", "not"):
            inner = self.negation(depth + 1)
            return lambda look_up: not inner(look_up)
        return self.comparison(depth)

    def comparison(self, depth: int) -> Term:
        left = self.operand(depth)
        if self.kind == "op" and self.text in _COMPARE:
            compare = _COMPARE[self.text]
            self.advance()
            right = self.operand(depth)
            return lambda look_up: compare(left(look_up), right(look_up))
        return left

    def operand(self, depth: int) -> Term:
        if self.takes("op", "("):
            inner = self.disjunction(depth + 1)
            if not self.takes("op", ")"):
                raise ConditionError(f"{self.where()}: a closing parenthesis is missing")
            return inner
        if self.kind == "ref":
            return self._reference()
        return self._literal()

    def _reference(self) -> Term:
        reference = parse_reference(self.text)
        if reference is None:
            raise ConditionError(f"{self.where()}: {self.text!r} is not a reference such as $step_1.part")
        self.references.append(reference)
        self.advance()
        return lambda look_up: look_up(reference)

    def _literal(self) -> Term:
        value: Any
        if self.kind == "num":
            if len(self.text) > _MAX_DIGITS:
                raise ConditionError(f"{self.where()}: a number has at most {_MAX_DIGITS} digits")
            value = float(self.text) if any(c in self.text for c in ".eE") else int(self.text)
        elif self.kind == "str":
            value = _unquote(self.text)
        elif self.kind == "word" and self.text.lower() in _WORDS:
            value = _WORDS[self.text.lower()]
        else:
            hint = ' (put text in quotes: "…")' if self.kind == "word" else ""
            raise ConditionError(f"{self.where()}: expected a reference or a literal, found {self.text!r}{hint}")
        self.advance()
        return lambda look_up: value


def _unquote(text: str) -> str:
    inner = text[1:-1]
    if text[0] == "'":
        return re.sub(r"\\(.)", r"\1", inner)
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        return re.sub(r"\\(.)", r"\1", inner)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right)


def _order(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        if isinstance(left, bool) or isinstance(right, bool):
            return False
        both_numbers = isinstance(left, int | float) and isinstance(right, int | float)
        both_text = isinstance(left, str) and isinstance(right, str)
        return test(left, right) if both_numbers or both_text else False

    return compare


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _order(lambda left, right: left < right),
    "<=": _order(lambda left, right: left <= right),
    ">": _order(lambda left, right: left > right),
    ">=": _order(lambda left, right: left >= right),
}
