"""A budget refuses before the request that would go over, and counts what was really used."""

import asyncio
from typing import Any

import pytest

from beforehand.adapters.models.budget import Budget, Limits
from beforehand.model.errors import ModelAnswerError, ModelBudgetError, ModelUnreachableError
from beforehand.model.usage import Usage
from beforehand.ports.model import Ask, Message
from beforehand.testing import ScriptedModel

ASK = Ask((Message("user", "hello"),), timeout_s=60, max_output_tokens=4096)
DIM = Usage(input_tokens=300, output_tokens=100, money=0.25)


def budget(*script: Any, cost: Usage = DIM, **limits: Any) -> tuple[Budget, ScriptedModel]:
    model = ScriptedModel(*(script or ("ok",)), cost=cost)
    return Budget(model, Limits(**limits)), model


async def answered(budgeted: Budget, ask: Ask = ASK) -> int:
    """How many asks are answered before it refuses."""
    for count in range(100):
        try:
            await budgeted.answer(ask)
        except ModelBudgetError:
            return count
    return 100


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ({"requests": 3}, 3),
        ({"tokens": 1200}, 3),
        ({"tokens": 1599}, 3),
        ({"money": 1.0}, 4),
        ({"money": 0.9}, 3),
        ({"requests": 0}, 0),
        ({"tokens": 0}, 0),
        ({"money": 0.0}, 0),
        ({"seconds": 0}, 0),
        ({}, 100),
    ],
)
async def test_each_limit_holds(limits: dict[str, Any], count: int) -> None:
    budgeted, model = budget(**limits)
    assert await answered(budgeted) == count
    assert len(model.problems) == count
    assert budgeted.used.requests == count
    assert budgeted.used.tokens == 400 * count
    assert budgeted.used.money == pytest.approx(0.25 * count)


async def test_the_sentence_says_which_limit_and_how_much() -> None:
    budgeted, _ = budget(requests=1)
    await budgeted.answer(ASK)
    with pytest.raises(ModelBudgetError, match="budget of 1 request is used up: 1 used"):
        await budgeted.answer(ASK)


async def test_repairs_are_requests_too() -> None:
    budgeted, model = budget("", requests=2)
    with pytest.raises(ModelBudgetError):
        await budgeted.answer(Ask(ASK.messages, repairs=5))
    assert (len(model.problems), budgeted.used.requests) == (2, 2)


async def test_what_failed_is_counted() -> None:
    budgeted, _ = budget(ModelUnreachableError("Gone."), "", tokens=100_000)
    with pytest.raises(ModelUnreachableError):
        await budgeted.answer(ASK)
    with pytest.raises(ModelAnswerError):
        await budgeted.answer(Ask(ASK.messages, repairs=1))
    assert (budgeted.used.requests, budgeted.used.tokens) == (3, 800)


async def test_an_answer_gets_no_more_room_and_time_than_there_is() -> None:
    budgeted, model = budget(tokens=1000, seconds=30)
    await budgeted.answer(ASK)
    await budgeted.answer(ASK)
    first, second = model.asks
    assert (first.max_output_tokens, first.timeout_s) == (1000, 30)
    assert second.max_output_tokens == 600
    assert second.timeout_s < 30


async def test_a_price_nobody_knows_cannot_be_limited() -> None:
    budgeted, _ = budget(cost=Usage(input_tokens=1, output_tokens=1), money=1.0)
    await budgeted.answer(ASK)
    with pytest.raises(ModelBudgetError, match="is not known") as raised:
        await budgeted.answer(ASK)
    assert "tokens" in raised.value.hint


async def test_side_by_side_none_goes_over() -> None:
    begun = asyncio.Event()

    async def later(ask: Ask) -> str:
        await begun.wait()
        return "ok"

    budgeted, model = budget(later, requests=3)
    asks = [asyncio.ensure_future(budgeted.answer(ASK)) for _ in range(5)]
    await asyncio.sleep(0)
    begun.set()
    outcomes = await asyncio.gather(*asks, return_exceptions=True)
    assert sum(isinstance(outcome, ModelBudgetError) for outcome in outcomes) == 2
    assert len(model.problems) == 3


async def test_an_ask_that_was_cancelled_was_still_a_request() -> None:
    begun = asyncio.Event()

    async def never(ask: Ask) -> str:
        begun.set()
        return await asyncio.get_running_loop().create_future()

    budgeted, _ = budget(never, requests=1)
    asking = asyncio.ensure_future(budgeted.answer(ASK))
    await begun.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    with pytest.raises(ModelBudgetError):
        await budgeted.answer(ASK)
