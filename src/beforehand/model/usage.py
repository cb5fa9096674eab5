"""What asking a language model has cost: requests, tokens, money and time."""

from typing import Literal, Self

from pydantic import NonNegativeFloat, NonNegativeInt

from beforehand.model.base import WireModel


class Usage(WireModel):
    """`requests` counts every request that was sent, those that were turned away too.

    `money` is in US dollars, and None where nobody knows the price: what is not known is never taken for nothing. Of a
    request that brought no answer the request counts, and whatever a stream said it used before it broke. `estimated`
    where a provider did not say how many tokens it was: they are reckoned from bytes then.
    """

    requests: NonNegativeInt = 0
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    money: NonNegativeFloat | None = None
    seconds: NonNegativeFloat = 0.0
    estimated: Literal[True] | None = None

    @property
    def tokens(self) -> int:
        """Those that went in and those that came out."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: Self) -> Self:
        """Both together; a price that is not known makes the sum unknown."""
        money = None if self.money is None or other.money is None else self.money + other.money
        return type(self)(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            money=money,
            seconds=self.seconds + other.seconds,
            estimated=self.estimated or other.estimated,
        )


NOTHING = Usage(money=0)
BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_000


def estimated_usage(asked_bytes: int, answered_bytes: int, images: int = 0) -> Usage:
    """What a request takes by the size of what was said, where its provider does not tell; the price is not known."""
    asked = -(-asked_bytes // BYTES_PER_TOKEN) + images * TOKENS_PER_IMAGE
    return Usage(input_tokens=asked, output_tokens=-(-answered_bytes // BYTES_PER_TOKEN), estimated=True)
