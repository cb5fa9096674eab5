"""A request to a model as a span, by OpenTelemetry's words for generative AI: model, tokens and cost, never texts."""

from collections.abc import Iterator
from contextlib import contextmanager

from beforehand.adapters.models.access import Access
from beforehand.adapters.models.repairing import Meter
from beforehand.ports.tracing import Span, Value, is_tracing, span


@contextmanager
def request_span(access: Access, meter: Meter) -> Iterator[Span]:
    """One request; what it used is told at its end, whether it brought an answer or not."""
    about: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": access.family,
        "gen_ai.request.model": access.bare_name,
        "gen_ai.request.max_tokens": meter.ask.max_output_tokens,
        "gen_ai.request.temperature": meter.ask.temperature,
        "gen_ai.output.type": "text" if meter.ask.schema is None else "json",
        "beforehand.request": meter.used.requests,
    }
    before = meter.used
    with span(f"chat {access.bare_name}", about, kind="client") as request:
        try:
            yield request
        finally:
            if is_tracing():
                after = meter.used
                request.note(
                    {
                        "gen_ai.usage.input_tokens": after.input_tokens - before.input_tokens,
                        "gen_ai.usage.output_tokens": after.output_tokens - before.output_tokens,
                        "beforehand.cost_usd": _between(before.money, after.money),
                    }
                )


def _between(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
