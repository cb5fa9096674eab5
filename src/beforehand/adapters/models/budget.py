"""A limit to what asking may cost, put round any model.

Requests are counted one by one as they are sent, so none goes out above the limit. What a request will cost in tokens
and money is known only afterwards: it is refused when asks as big as the biggest so far, those in the air included,
would go over. An answer gets no more room than there are tokens left, and no more time than there is left.
"""

from dataclasses import dataclass, replace

from beforehand.model.errors import ModelBudgetError, ModelError
from beforehand.model.usage import NOTHING, Usage
from beforehand.model.words import counted
from beforehand.ports.model import Answer, Ask, Model


@dataclass(frozen=True, slots=True)
class Limits:
    """The most of each that may be used; None is no limit. Money is in US dollars."""

    requests: int | None = None
    tokens: int | None = None
    money: float | None = None
    seconds: float | None = None


class Budget:
    """The model with limits; what every ask used is counted, the failed ones' too."""

    def __init__(self, model: Model, limits: Limits, used: Usage = NOTHING) -> None:
        """`used` is what was used already, in an earlier process."""
        self.name = model.name
        self.limits = limits
        self.used = used
        self._model = model
        self._in_air = 0
        self._biggest = Usage(money=0)
        """The most tokens and money that one ask has taken so far."""

    async def answer(self, ask: Ask) -> Answer:
        """As the model answers; a ModelBudgetError before a request that might go over."""
        spent = NOTHING
        self._in_air += 1
        try:
            self._allow(NOTHING)
            answer = await self._model.answer(self._bounded(ask))
            spent = answer.usage
        except ModelError as error:
            spent = error.usage
            raise
        finally:
            self._in_air -= 1
            self._count(spent)
        return answer

    async def close(self) -> None:
        await self._model.close()

    def _bounded(self, ask: Ask) -> Ask:
        """The ask with no more room and time than there is left, and every request of it counted."""

        def permit(so_far: Usage) -> None:
            if ask.permit is not None:
                ask.permit(so_far)
            self._allow(so_far)
            self.used = self.used.plus(Usage(requests=1, money=0))

        room, time = ask.max_output_tokens, ask.timeout_s
        if self.limits.tokens is not None:
            room = min(room, self.limits.tokens - self.used.tokens)
        if self.limits.seconds is not None:
            time = min(time, self.limits.seconds - self.used.seconds)
        return replace(ask, permit=permit, max_output_tokens=room, timeout_s=time)

    def _count(self, spent: Usage) -> None:
        """Requests were counted when they were sent, and also when nobody waited for the answer."""
        self.used = self.used.plus(spent.model_copy(update={"requests": 0}))
        if spent.tokens > self._biggest.tokens:
            tokens = {"input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens}
            self._biggest = self._biggest.model_copy(update=tokens)
        if spent.money is not None and spent.money > (self._biggest.money or 0):
            self._biggest = self._biggest.model_copy(update={"money": spent.money})

    def _allow(self, so_far: Usage) -> None:
        used = self.used.plus(so_far.model_copy(update={"requests": 0}))
        limits = self.limits
        if limits.requests is not None and used.requests + 1 > limits.requests:
            raise self._over(counted(limits.requests, "request"), f"{used.requests}")
        if limits.tokens is not None and used.tokens + max(self._biggest.tokens, 1) * self._in_air > limits.tokens:
            raise self._over(counted(limits.tokens, "token"), f"{used.tokens}")
        if limits.seconds is not None and used.seconds >= limits.seconds:
            raise self._over(f"{limits.seconds:g} s", f"{used.seconds:.1f} s")
        if limits.money is not None:
            self._allow_money(used.money, limits.money)

    def _allow_money(self, used: float | None, limit: float) -> None:
        if used is None:
            says = f"What {self.name} costs is not known, so a budget of {limit:g} US dollars cannot be kept."
            raise ModelBudgetError(says, hint="Limit requests or tokens instead.")
        if used + (self._biggest.money or 0) * self._in_air > limit or used >= limit:
            raise self._over(f"{limit:g} US dollars", f"{used:.4f}")

    def _over(self, limit: str, used: str) -> ModelBudgetError:
        return ModelBudgetError(
            f"The budget of {limit} is used up: {used} used, and one more request might go over.",
            hint="Give it more, or ask for less.",
        )
