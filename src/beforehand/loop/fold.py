"""Folding the events of one thing back into its state: where that fails, the thing is named, and others go on."""

from collections.abc import Iterator
from contextlib import contextmanager

from beforehand.model.errors import BeforehandError, UnreadableError


@contextmanager
def folding(title: str) -> Iterator[None]:
    """UnreadableError where events, or documents made of them, do not come to a state; `title` names what."""
    try:
        yield
    except BeforehandError:
        raise
    except Exception as error:  # damaged or foreign data: it may fail in any way
        raise UnreadableError(
            f"{title} cannot be read from the log ({type(error).__name__}: {error}).",
            code="log.unfoldable",
            hint="`beforehand doctor` and `beforehand audit verify` say whether the log is damaged.",
        ) from error
