"""`beforehand completion`: scripts that let a shell complete commands, options and names, and what they ask.

The scripts call `beforehand completion words` with the words so far; each answer is a line: a word, a tab, what it is.
Only the module of the command that is being written is imported.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.screen import line, print_out

app = typer.Typer(help="Scripts for shells: have them complete commands, options and names.", no_args_is_help=True)

BASH = r"""_beforehand() {
    local IFS=$'\n'
    COMPREPLY=($("$1" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _beforehand beforehand
"""
ZSH = r"""#compdef beforehand
_beforehand() {
    local -a found
    local each
    for each in "${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $each ]] && found+=("${${each%%$'\t'*}//:/\\:}:${each#*$'\t'}")
    done
    if (( $#found )); then
        _describe beforehand found
    else
        _files
    fi
}
if [[ $funcstack[1] == _beforehand ]]; then
    _beforehand "$@"
else
    compdef _beforehand beforehand
fi
"""
FISH = r"""function __beforehand
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion words -- $words[2..-1] 2>/dev/null
end
complete -c beforehand -a '(__beforehand)'
"""


@app.command()
def bash() -> int:
    """The script for bash; in ~/.bashrc: source <(beforehand completion bash)"""
    print_out(BASH.rstrip())
    return DONE


@app.command()
def zsh() -> int:
    """The script for zsh; in ~/.zshrc, behind compinit: source <(beforehand completion zsh)"""
    print_out(ZSH.rstrip())
    return DONE


@app.command()
def fish() -> int:
    """The script for fish; in ~/.config/fish/config.fish: beforehand completion fish | source"""
    print_out(FISH.rstrip())
    return DONE


@app.command(hidden=True)
def words(
    context: typer.Context,
    so_far: Annotated[
        list[str] | None, typer.Argument(help="The words of the line, the one at the cursor last.")
    ] = None,
) -> int:
    """What may stand at the cursor, a line each."""
    for word, says in dict(completed(context.find_root().command, so_far or [""])).items():
        print_out(f"{word}\t{line(says)}")
    return DONE


def completed(root: Any, words: list[str]) -> Iterator[tuple[str, str]]:
    """What the last word may become, given those before it."""
    *given, part = words
    context, asked, arguments = _place(root, given)
    if context is None:
        return
    command = context.command
    if asked is not None:
        yield from _values(context, asked, part)
    elif part.startswith("-"):
        yield from _starting(part, _options(command))
    elif hasattr(command, "commands"):
        yield from _starting(part, _commands(command))
    else:
        for argument in _arguments(command)[arguments:][:1]:
            yield from _values(context, argument, part)


def _place(root: Any, given: list[str]) -> tuple[Any, Any, int]:
    """Where in the tree the line has got to: the command, the option that waits for its value, how many arguments.

    No command where a word is none of those there are.
    """
    context: Any = typer.Context(root, info_name="beforehand")
    asked, arguments = None, 0
    for word in given:
        command = context.command
        if asked is not None:
            context.params[asked.name], asked = word, None
        elif word.startswith("-"):
            option = next((item for item in command.params if word in (*item.opts, *item.secondary_opts)), None)
            asked = option if option is not None and not option.is_flag else None
        elif not hasattr(command, "commands"):
            arguments += 1
        elif word in command.commands:
            context = typer.Context(command.commands[word], info_name=word, parent=context)
        else:
            return None, None, 0
    return context, asked, arguments


def _starting(part: str, offered: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((word, says) for word, says in offered if word.startswith(part))


def _commands(group: Any) -> Iterator[tuple[str, str]]:
    listed = getattr(group.commands, "entries", None)
    if listed is not None:
        return ((name, entry.help) for name, entry in listed.items())
    return ((name, child.get_short_help_str(80)) for name, child in group.commands.items() if not child.hidden)


def _options(command: Any) -> Iterator[tuple[str, str]]:
    for item in command.params:
        if not getattr(item, "hidden", False):
            yield from (
                (name, str(item.help or "")) for name in (*item.opts, *item.secondary_opts) if name.startswith("--")
            )
    yield "--help", "Show how it is used and exit."


def _arguments(command: Any) -> list[Any]:
    return [item for item in command.params if item.param_type_name == "argument"]


def _values(context: Any, asked: Any, part: str) -> Iterator[tuple[str, str]]:
    return ((str(item.value), str(item.help or "")) for item in asked.shell_complete(context, part))
