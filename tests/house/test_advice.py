"""Advice can be followed where it is read: commands, calls and verbs it names exist, and none speaks of a button.

Advice is every text that is given as `try_next`, `hint` or `remedy`, found in the source with holes where names are
put in; the reasons of a live fleet are walked as well.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from beforehand.cli.usage import command_paths

ADVICE = {"try_next", "hint", "remedy"}
HOLE = "X"
A_CODE = re.compile(r"[a-z]+\.[a-z_]+")
MENTIONED = re.compile(r"\bbeforehand ([a-z][^`]*)")
CALL = re.compile(r"\b(GET|PUT|POST|PATCH|DELETE) (/[^\s`,;]*[^\s`,;.])")


def texts(node: ast.AST) -> Iterator[str]:
    """The texts an expression may give, with a hole for every value that is put in."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in parts)
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            yield from texts(one)
            yield from texts(other)
        case ast.BoolOp(values=several):
            for one in several:
                yield from texts(one)
        case ast.Subscript(value=ast.Dict(values=several)):
            for one in several:
                yield from texts(one)


def places_of_advice(tree: ast.AST) -> dict[str, int]:
    """For each function or class of a module that takes advice by position: at which."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
        elif isinstance(node, ast.ClassDef):
            names = [
                part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and hasattr(part.target, "id")
            ]
        else:
            continue
        for place, name in enumerate(names):
            if name in ADVICE:
                found[node.name] = place
    return found


def advice_in(tree: ast.AST, places: dict[str, int]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                given = [word.value for word in node.keywords if word.arg in ADVICE]
                given += node.args[places[name] :][:1] if name in places else []
                for one in given:
                    yield from texts(one)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in (*ADVICE, "ends"):
                yield from texts(value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for name, value in zip(names, values, strict=False):
                    if getattr(name, "id", "") in ADVICE:
                        yield from texts(value)
            case ast.Tuple(elts=[ast.Constant(value=str(code)), _, last]) if A_CODE.fullmatch(code):
                yield from texts(last)


@pytest.fixture(scope="module")
def advice(repository: Path) -> list[str]:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((repository / "src").rglob("*.py"))]
    everywhere = {name: place for tree in trees for name, place in places_of_advice(tree).items()}
    found = [text for tree in trees for text in advice_in(tree, everywhere | places_of_advice(tree)) if text]
    assert len(found) > 200
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def root() -> Any:
    from beforehand.cli.commands import app

    return get_command(app)


@pytest.fixture(scope="module")
def calls(repository: Path) -> set[str]:
    schema = json.loads((repository / "docs" / "openapi.json").read_text(encoding="utf-8"))
    return {f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods}


def wrong_with(command: str, root: Any) -> str:
    """What is wrong with a command as advice names it, or nothing."""
    words = command.rstrip(".").split()
    place = root
    while words and hasattr(place, "commands"):
        name = words.pop(0)
        if name not in place.commands:
            return f"there is no command {name!r} in {place.name}"
        place = place.commands[name]
    options = {name: option for option in place.params for name in (*option.opts, *option.secondary_opts)}
    arguments = [option for option in place.params if option.param_type_name == "argument"]
    given = []
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            given.append(word)
        elif word not in options and word != f"--{HOLE}":
            return f"{place.name} has no option {word}"
        elif word not in options or not options[word].is_flag:
            words[:1] = []
    several = any(option.nargs == -1 for option in arguments)
    return "" if several or len(given) <= len(arguments) else f"{place.name} takes no {given[-1]}"


def test_commands_that_are_advised_exist_with_their_options(advice: list[str], root: Any) -> None:
    named = [(text, command) for text in advice for command in MENTIONED.findall(text)]
    assert len(named) > 20
    assert [(text, wrong) for text, command in named if (wrong := wrong_with(command, root))] == []


@pytest.mark.parametrize(
    "command",
    ["rnu x", "fleet fly", "robots hold", "run --fast", "tasks abort ID --note x", "doctor ID", "plan --scene"],
)
def test_a_command_that_does_not_exist_is_noticed(command: str, root: Any) -> None:
    assert bool(wrong_with(command, root)) is (command not in ("robots hold", "plan --scene"))


def test_calls_that_are_advised_exist(advice: list[str], calls: set[str]) -> None:
    named = {(method, path) for text in advice for method, path in CALL.findall(text)}
    assert named
    patterns = [re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(call))) for call in calls]
    missing = [
        f"{method} {path}"
        for method, path in named
        if not any(pattern.fullmatch(f"{method} /api/v1{path.removeprefix('/api/v1')}") for pattern in patterns)
    ]
    assert missing == []


DONE_BY = {
    r"\brelease it\b": ("robots release", "POST /api/v1/robots/{robot_id}/release"),
    r"\bclear (it|the hold)\b": ("fleet clear", "POST /api/v1/fleet/{scene}/clear"),
    r"\benable\b": ("streams enable", "PATCH /api/v1/streams/{stream_id}"),
    r"\bdisable\b": ("streams disable", "PATCH /api/v1/streams/{stream_id}"),
    r"\bhand(ed)?[ -](it )?back\b": ("tasks hand-back", "POST /api/v1/tasks/{task_id}/hand-back"),
    r"\babort\b": ("tasks abort", "POST /api/v1/tasks/{task_id}/abort"),
    r"\bdone-by-hand\b": ("tasks done-by-hand", "POST /api/v1/tasks/{task_id}/done-by-hand"),
    r"\bresume\b": ("tasks resume", "POST /api/v1/runs/{run_id}/resume"),
    r"\bback into service\b": ("robots in-service", "POST /api/v1/robots/{robot_id}/in-service"),
    r"\bcharge\b": ("robots charge", "POST /api/v1/robots/{robot_id}/charge"),
    r"\bretry\b": ("runs retry", "POST /api/v1/runs/{run_id}/steps/{step_id}/retry"),
    r"\bskip\b": ("runs skip", "POST /api/v1/runs/{run_id}/steps/{step_id}/skip"),
    r"\bpause\b": ("runs pause", "POST /api/v1/runs/{run_id}/pause"),
    r"\bcancel\b": ("runs cancel", "POST /api/v1/runs/{run_id}/cancel"),
    r"\bregenerate\b": ("", "POST /api/v1/plans/{plan_id}/regenerate"),
    r"\bactivate\b": ("up", "POST /api/v1/scenes/{name}/activate"),
    r"\binbox\b": ("inbox", "GET /api/v1/inbox"),
    r"\bedit its steps\b": ("", "PATCH /api/v1/plans/{plan_id}"),
}
"""What advice says in words, and what does it: on the command line and over HTTP."""


@pytest.mark.parametrize("words", DONE_BY)
def test_what_advice_says_in_words_can_be_done(words: str, advice: list[str], root: Any, calls: set[str]) -> None:
    command, call = DONE_BY[words]
    assert any(re.search(words, text, re.IGNORECASE) for text in advice), "nobody says that any more; take it out here"
    assert not command or tuple(command.split()) in set(command_paths(root))
    shapes = {re.sub(r"\{[^}]*\}", "{}", known) for known in calls}
    assert re.sub(r"\{[^}]*\}", "{}", call) in shapes


def test_no_advice_speaks_of_a_button(advice: list[str]) -> None:
    assert [text for text in advice if re.search(r"\b(button|click|press|tap)\b", text, re.IGNORECASE)] == []


def test_who_wants_a_review_is_told_to_submit(advice: list[str]) -> None:
    assert [text for text in advice if "review" in text.lower() and "beforehand run" in text] == []


def test_reasons_of_a_fleet_name_commands_that_exist(root: Any) -> None:
    """Those a fleet gives at work, with its own names put in."""
    from dataclasses import replace

    from beforehand.app.examples import example_files
    from beforehand.app.yaml12 import load
    from beforehand.crafts.fleet.core.scene import read_fleet
    from beforehand.crafts.fleet.core.state import Hold, initial
    from beforehand.crafts.fleet.core.why import why_everything

    seen = set()
    for name in ("line_pick_drop", "cross_dock"):
        state = initial(read_fleet(load(example_files()[name].read_text(encoding="utf-8"))), 0)
        for hold, enabled in ((Hold(), True), (Hold(person=True), True), (Hold(tasks=("t1",)), True), (Hold(), False)):
            state.hold = hold
            state.streams = {key: replace(stream, enabled=enabled) for key, stream in state.streams.items()}
            seen |= {reason.try_next for told in why_everything(state, 0).values() for reason in told}
    commands = [command for text in seen for command in MENTIONED.findall(text)]
    assert any(command.startswith("streams enable ") for command in commands)
    assert [wrong for command in commands if (wrong := wrong_with(command, root))] == []
