"""Usage errors as sentences: what is wrong, the names there are, and where to read more."""

import re
from typing import Any

from beforehand.model.reason import name_list, nearest_names


def usage_sentences(error: Any) -> list[str]:
    """What a wrong command line is told."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return [error.format_message()]
    said = str(error.format_message()).rstrip()
    sentences = [said if said.endswith((".", "?", "!", ")")) else f"{said}."]
    if context is not None:
        sentences += _names(error, context, said)
        sentences.append(f"See `{context.command_path} --help`.")
    return sentences


def _names(error: Any, context: Any, said: str) -> list[str]:
    wanted = getattr(error, "option_name", None)
    if wanted is not None:
        options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
        return [f"Options: {name_list(nearest_names(wanted, [*options, '--help']))}."]
    commands = getattr(context.command, "commands", None)
    missing = re.search(r"No such command '(.*?)'", said)
    if commands and (missing or "Missing command" in said):
        return [f"Commands: {name_list(nearest_names(missing[1] if missing else '', commands))}."]
    return []
