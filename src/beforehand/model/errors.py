"""Errors as one tree: each has a code, a sentence and a hint.

A refusal that belongs to the work itself is a Reason, not an exception; these are for calls that cannot be answered.
Only `server/` maps them to HTTP statuses and only `cli/` to exit codes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from beforehand.model.reason import Problem, unknown
from beforehand.model.usage import NOTHING, Usage


class BeforehandError(Exception):
    """The root of the tree; `says` is a whole sentence a person can act on."""

    code = "error"

    def __init__(
        self,
        says: str,
        *,
        code: str | None = None,
        hint: str = "",
        problems: Sequence[Problem] = (),
        nearest: Sequence[str] = (),
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(says)
        self.says = says
        self.code = code or type(self).code
        self.hint = hint
        self.problems = tuple(problems)
        self.nearest = tuple(nearest)
        self.extra = dict(extra or {})

    @classmethod
    def unknown(
        cls,
        kind: str,
        name: object,
        known: Iterable[str],
        *,
        code: str | None = None,
        inside: str = "",
        plural: str = "",
        hint: str = "",
    ) -> Self:
        """The error for a name nobody knows; the code is `<kind>.unknown` unless another is given."""
        told = unknown(kind, name, known, inside=inside, plural=plural)
        return cls(told.says, code=code or f"{kind}.unknown", nearest=told.nearest, hint=hint)


class BadInputError(BeforehandError):
    """The document or the call itself is wrong; nothing was changed."""

    code = "input.invalid"


class TooLargeError(BadInputError):
    code = "input.too_large"


class TooSlowError(BadInputError):
    code = "input.too_slow"


class NotFoundError(BeforehandError):
    code = "not_found"


class ConflictError(BeforehandError):
    """The thing has moved on since the caller looked; `extra` holds the difference."""

    code = "conflict"


class ExpiredError(ConflictError):
    """What was asked for came to be decided after the time by which it was wanted; it is never done."""

    code = "command.expired"


class ForeignError(ConflictError):
    """Code that is not ours, such as a plug-in, went wrong in a way that it does not tell itself."""

    code = "foreign.failed"


class RefusedError(BeforehandError):
    """The call is understood and not allowed in the present state."""

    code = "refused"


class NotUnderstoodError(RefusedError):
    """Words that could mean several things; nobody guesses. `extra` holds what was understood."""

    code = "intent.not_understood"


class UnauthorisedError(BeforehandError):
    code = "auth.missing"


class ForbiddenError(BeforehandError):
    code = "auth.forbidden"


class TooManyError(BeforehandError):
    """Too many tries in a short time; `extra` says when to try again."""

    code = "auth.too_many"


class UnavailableError(BeforehandError):
    """Something outside (a server, a disk, a store) does not answer; trying again later may help."""

    code = "unavailable"


class UnreadableError(UnavailableError):
    """What was written once cannot be read any more: a part of the log is damaged, and trying again does not help."""

    code = "store.unreadable"


class BugError(BeforehandError):
    """An error in Beforehand itself, or in a plug-in, kept whatever was asked for from being decided."""

    code = "bug"


class NotLeadingError(BeforehandError):
    """Another process leads this home; `extra` says which and where."""

    code = "store.not_leading"


class Fault(BeforehandError):  # noqa: N818  a word of the kernel: refusal, fault, bug
    """A step, task or action did not work out.

    `transient` faults may be retried. `untouched` says that nothing physical began, so that even a physical step
    may be tried again.
    """

    code = "fault"

    def __init__(
        self, says: str, *, transient: bool = False, untouched: bool = False, code: str | None = None, hint: str = ""
    ) -> None:
        super().__init__(says, code=code, hint=hint)
        self.transient = transient
        self.untouched = untouched


class InDoubtError(Fault):
    """It was sent to its machine, and nobody can tell how far it came; a person decides.

    `difference` says, as data, what it was to leave and what is seen, where these contradict each other.
    """

    code = "step.in_doubt"

    def __init__(self, says: str, difference: Mapping[str, Any] | None = None, *, hint: str = "") -> None:
        super().__init__(says, hint=hint)
        self.difference = difference


class ChangedSinceError(Fault):
    """What a call would change is not what was judged or approved any more; nothing was done, and it is asked anew."""

    code = "approval.stale"

    def __init__(self, says: str) -> None:
        super().__init__(says, untouched=True)


class DriftError(Fault):
    """The world is not as a step needs it, seen at the last moment before its command; nothing was sent.

    `difference` says what was needed and what is, as data.
    """

    code = "step.drift"

    def __init__(self, says: str, difference: Mapping[str, Any] | None = None, *, hint: str = "") -> None:
        super().__init__(says, untouched=True, hint=hint)
        self.difference = difference or {}


class ModelError(BeforehandError):
    """A language model did not give an answer that can be used; `usage` is what the attempt has cost all the same."""

    code = "model.failed"

    def __init__(
        self,
        says: str,
        *,
        code: str | None = None,
        hint: str = "",
        problems: Sequence[Problem] = (),
        usage: Usage = NOTHING,
    ) -> None:
        super().__init__(says, code=code, hint=hint, problems=problems)
        self.usage = usage


class ModelNotConfiguredError(ModelError):
    """No model is set, or not all of what it needs; a normal state, and the hint says what to set."""

    code = "model.not_configured"


class ModelNameError(ModelNotConfiguredError):
    """What was given as the name of a model is none."""

    code = "model.bad_name"


class ModelRefusedError(ModelError):
    """The provider will not answer this, however often it is asked: the key, the name, the request, or its content."""

    code = "model.refused"


class ModelBusyError(ModelError):
    """The provider turned the request away for now, and went on doing so for as long as there was patience."""

    code = "model.busy"


class ModelUnreachableError(ModelError):
    """Nobody answers, or the connection broke in the middle of the answer."""

    code = "model.unreachable"


class ModelTimeoutError(ModelError):
    code = "model.timeout"


class ModelBudgetError(ModelError):
    """One more request might cost more than may be spent; it was not sent."""

    code = "model.budget"


class ModelAnswerError(ModelError):
    """What came is no answer: not readable, not of the wanted shape, or wrong by the asker's own check."""

    code = "model.bad_answer"
