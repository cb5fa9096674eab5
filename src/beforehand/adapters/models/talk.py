"""One ask as a conversation in pydantic-ai's terms: what is sent, what came back, and what is said about it."""

import json
from collections.abc import Sequence

from pydantic_ai.messages import (
    BinaryContent,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from beforehand.adapters.models.repairing import Reply, correction
from beforehand.model.usage import Usage, estimated_usage
from beforehand.ports.model import Ask, Message

TOOL = "answer"


def settings_of(ask: Ask) -> ModelSettings:
    """No retries by the libraries: waiting to be let in is counted and bounded here."""
    settings = ModelSettings(max_tokens=ask.max_output_tokens, max_retries=0, timeout=ask.timeout_s)
    if ask.temperature is not None:
        settings["temperature"] = ask.temperature
    return settings


def parameters_of(ask: Ask) -> ModelRequestParameters:
    """Structured answers are asked for as the arguments of a tool, which nearly every endpoint can do."""
    instructions = [InstructionPart(content=ask.system)] if ask.system else []
    if ask.schema is None:
        return ModelRequestParameters(instruction_parts=instructions)
    tool = ToolDefinition(
        name=TOOL,
        description="Give the answer.",
        parameters_json_schema=dict(ask.schema),
        kind="output",
    )
    return ModelRequestParameters(
        output_mode="tool", output_tools=[tool], allow_text_output=False, instruction_parts=instructions
    )


class Talk:
    """The messages of one ask, which grow while its answer is repaired."""

    def __init__(self, ask: Ask) -> None:
        self.messages: list[ModelMessage] = [_message(message) for message in ask.messages]

    def correct(self, problems: Sequence[str]) -> None:
        """Tell the model what is wrong with its last answer."""
        said = correction(problems)
        last = self.messages[-1]
        calls = last.tool_calls if isinstance(last, ModelResponse) else []
        parts: list[ModelRequestPart] = [ToolReturnPart(call.tool_name, said, call.tool_call_id) for call in calls]
        self.messages.append(ModelRequest(parts or [UserPromptPart(said)]))

    def hear(self, response: ModelResponse) -> Reply:
        """What the model said; it stays in the conversation, so that it can be told what is wrong with it."""
        if response.parts:
            self.messages.append(response)
        call = next(iter(response.tool_calls), None)
        return Reply(
            text=response.text or "",
            arguments=None if call is None else call.args or "",
            model=response.model_name or "",
            cut_off=response.finish_reason == "length",
        )

    def estimated(self, ask: Ask, response: ModelResponse) -> Usage:
        """What a request has taken, by the size of all that was said; a provider does not always tell."""
        said = [ask.system, json.dumps(ask.schema or ""), *(message.text for message in ask.messages)]
        said += [
            str(getattr(part, "content", ""))
            for message in self.messages[len(ask.messages) :]
            for part in message.parts
        ]
        heard = [part.args_as_json_str() for part in response.tool_calls] + [response.text or ""]
        return estimated_usage(_size(said), _size(heard), sum(len(message.images) for message in ask.messages))


def _size(texts: list[str]) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def _message(message: Message) -> ModelMessage:
    if message.role == "assistant":
        return ModelResponse([TextPart(message.text)])
    pictures = [BinaryContent(image, media_type="image/png") for image in message.images]
    if not pictures:
        return ModelRequest([UserPromptPart(message.text)])  # not every server reads lists of parts
    return ModelRequest([UserPromptPart([message.text, *pictures])])


def usage_of(response: ModelResponse, *, priced: bool) -> Usage:
    """What a response says it used; its price where there is a list of prices for it."""
    used = response.usage
    return Usage(
        input_tokens=used.input_tokens, output_tokens=used.output_tokens, money=_price(response) if priced else None
    )


def _price(response: ModelResponse) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
