"""XML from anywhere, read into plain elements: no document type, no entities, bounded in size and depth.

Without a document type there is nothing that could grow or point elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from beforehand.model.errors import BadInputError, TooLargeError

MOST_ELEMENTS = 1_000_000
DEEPEST = 64


@dataclass(slots=True)
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[tuple[int, "Element"]]:
        """The children of this tag, with their place among them."""
        return enumerate(child for child in self.children if child.tag == tag)


def read_xml(text: str, name: str) -> Element:
    """The root element; BadInputError with the line where it is no XML, or has what is refused."""
    reader = _Reader(name)
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        says = f"{name} is not well-formed XML: {why}, line {error.lineno}."
        raise BadInputError(says, code="document.syntax") from None
    except UnicodeEncodeError:
        raise BadInputError(f"{name} holds text that is not UTF-8.", code="document.encoding") from None
    assert reader.root is not None
    return reader.root


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise TooLargeError(f"{self.name} holds more than {MOST_ELEMENTS} elements.")
        if len(self.open) >= DEEPEST:
            says = f"{self.name} is nested more than {DEEPEST} levels deep."
            raise BadInputError(says, code="document.depth")
        element = Element(tag.rpartition(":")[2], attributes)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def refuse_doctype(self, *about: Any) -> None:
        says = f"{self.name} declares a document type (<!DOCTYPE …>), which is not read."
        raise BadInputError(says, code="document.doctype", hint="Take it out; a plant model needs none.")
