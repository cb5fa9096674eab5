"""Usage errors as sentences: what is wrong, what was probably meant, the names there are, and where to read more."""

import re
from collections.abc import Iterator
from typing import Any

from beforehand.cli.near import near_words
from beforehand.model.reason import name_list
from beforehand.model.words import wanted_value

FEW = 10
MOST_PLACES = 4
"""A word that is a command of more groups than that, such as `list`, says nothing about what was meant."""
_MISSING = re.compile(r"No such command (['\"])(?P<word>.*?)\1\.", re.DOTALL)


def usage_sentences(error: Any) -> list[str]:
    """What a wrong command line is told."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return [error.format_message()]
    said = str(getattr(error, "message", "") or error.format_message()).rstrip()
    if context is None:
        return [_sentence(said)]
    return [*_explained(error, context, said), f"See `{context.command_path} --help`."]


def _sentence(said: str) -> str:
    return said if said.endswith((".", "?", "!", ")")) else f"{said}."


def _explained(error: Any, context: Any, said: str) -> list[str]:
    missing = _MISSING.match(said)
    if missing is not None:
        return _no_command(missing["word"], context)
    if type(error).__name__ == "NoSuchOption":
        return _no_option(str(error.option_name), context.command)
    if "Missing command" in said:
        return [_sentence(said), _listed("Commands", context.command.commands)]
    return [_sentence(str(error.format_message()).replace(said, _plainly(error, said)).rstrip())]


def _plainly(error: Any, said: str) -> str:
    """What is wrong with a value, naming it; the library's own words are for programmers."""
    for found in getattr(error.__cause__, "errors", list)():
        if wanted := wanted_value(found["type"], found.get("ctx", {})):
            return f"{found['input']!r} is not {wanted}."
    return said.removeprefix("Value error, ")


def _listed(what: str, names: Any) -> str:
    return f"{what}: {name_list(names)}."


def _meant(guesses: list[str]) -> str:
    return f"Did you mean {' or '.join(f'`{guess}`' for guess in guesses)}?"


def _no_command(word: str, context: Any) -> list[str]:
    """Near commands of this group, else of any other; where none is near, all there are."""
    commands = context.command.commands
    guesses = [f"{context.command_path} {name}" for name in near_words(word, commands)]
    guesses = guesses or _elsewhere(word, context.find_root())
    known = [_listed("Commands", commands)] if not guesses or len(commands) <= FEW else []
    return [f"Unknown command {word!r}.", *([_meant(guesses)] if guesses else []), *known]


def _elsewhere(word: str, root: Any) -> list[str]:
    places: dict[str, list[str]] = {}
    for path in command_paths(root.command):
        places.setdefault(path[-1], []).append(" ".join((root.command_path, *path)))
    found = [place for name in near_words(word, places) for place in places[name]]
    return found if len(found) <= MOST_PLACES else []


def command_paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and group below one, as the words that lead to it; hidden ones left out."""
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield (*path, name)
            yield from command_paths(child, (*path, name))


def _no_option(wanted: str, command: Any) -> list[str]:
    options = [
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    ]
    options = [*dict.fromkeys(options), "--help"]
    guesses = near_words(wanted, options) if wanted.startswith("--") else []
    known = [_listed("Options", options)] if not guesses else []
    return [f"Unknown option {wanted}.", *([_meant(guesses)] if guesses else []), *known]
