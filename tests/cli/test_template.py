"""`template`: kept, listed, and run with parameters of the type they have."""

import pytest

TEMPLATE = {
    "name": "greet",
    "description": "Write a greeting",
    "parameters": {
        "who": {"type": "string", "description": "Whom"},
        "times": {"type": "integer", "default": 2},
        "loud": {"type": "boolean", "default": False},
    },
    "steps": [
        {
            "id": "note",
            "tool": "write_file",
            "args": {"path": "${params.who}.txt", "content": "${params.times} ${params.loud}"},
        }
    ],
}


@pytest.fixture
def greet(cli) -> None:
    cli.write("greeting.yaml", TEMPLATE)
    done = cli("template", "save", "greeting.yaml", code=0)
    assert "beforehand template run greet who=… times=… loud=…" in done.out


def test_none_yet(cli) -> None:
    assert cli("template", "list", code=0).out == "There are no templates yet.\n"
    assert not (cli.folder / ".beforehand").exists()


def test_list(cli, greet) -> None:
    assert "who: string, times: integer = 2" in cli("template", "list", code=0).out
    assert [item["name"] for item in cli("template", "list", "-o", "json", code=0).document] == ["greet"]


def test_parameters_are_read_as_their_type(cli, greet) -> None:
    cli("template", "run", "greet", "who=Ada", "times=3", "loud=true", code=0)
    assert (cli.folder / "Ada.txt").read_text() == "3 true"
    run = cli("template", "run", "greet", "who=12", "-o", "json", code=0).document
    assert run["status"] == "completed"
    assert (cli.folder / "12.txt").read_text() == "2 false"


def test_every_wrong_parameter_is_told(cli, greet) -> None:
    err = cli("template", "run", "greet", "times=many", "wo=x", code=2).err
    assert "Unknown parameter 'wo' in greet. Known parameters: loud, times, who." in err
    assert "greet needs the parameter who (string)." in err
    assert "times must be of type integer." in err


def test_a_template_that_is_checked_or_run_as_a_plan_is_told_what_to_do(cli, greet) -> None:
    for command in ("check", "run", "submit"):
        said = cli(command, "greeting.yaml", code=1 if command == "check" else 2).err
        assert "This is a template, not a plan: its steps use the parameters " in said
        assert "`beforehand template run NAME" in said
        assert " who=…" in said
        assert "$$" not in said


def test_an_unknown_template(cli, greet) -> None:
    assert "Unknown template 'gret'. Known templates: greet." in cli("template", "run", "gret", code=2).err


def test_a_template_that_cannot_work_is_not_kept(cli, step) -> None:
    cli.write("bad.yaml", {"steps": [step("a", "wait", seconds="$params.nothing")]})
    assert (
        "Unknown parameter '$params.nothing'. There are no declared parameters."
        in cli("template", "save", "bad.yaml", code=2).err
    )
    cli.write("bad.yaml", {"plan": {"steps": [step("a", "wait", seconds=0)]}, "paramters": {}, "nmae": "t"})
    told = cli("template", "save", "bad.yaml", code=2).err
    assert "Unknown field 'paramters' in a template. Known fields: description, name, parameters, plan." in told
    assert "Unknown field 'nmae'" in told
    assert "needs a plan with `steps`" in cli("template", "save", "-", "--name", "t", given="{}", code=2).err
    wrong = {"n": {"type": "int"}, "m": {"type": "number", "defualt": 3}}
    cli.write("bad.yaml", {"steps": [step("a", "wait", seconds="$params.n")], "parameters": wrong})
    told = cli("template", "save", "bad.yaml", code=2).err
    assert "parameters.n.type must be 'string', 'number', 'integer', 'boolean', 'array' or 'object'." in told
    assert "Unknown field 'defualt'. Known fields: default, description, required, type." in told
    cli.write("bad.yaml", {"steps": [step("a", "wiat", seconds="$params.n")], "parameters": {"n": {"default": 1}}})
    told = cli("template", "save", "bad.yaml", code=2).err
    assert told.index("Unknown tool 'wiat'.") < told.index("The default of n is not of type string.")
    assert cli("template", "list", "-o", "json", code=0).document == []


def test_its_name(cli, step) -> None:
    cli.plan(step("a", "wait", seconds=0), name="nightly.yaml")
    assert cli("template", "save", "nightly.yaml", "-o", "json", code=0).document["name"] == "nightly"
    assert cli("template", "save", "nightly.yaml", "--name", "other", "-o", "json", code=0).document["name"] == "other"
    assert "cannot be called 'a b'" in cli("template", "save", "nightly.yaml", "--name", "a b", code=2).err
    given = (cli.folder / "nightly.yaml").read_text()
    assert "--name" in cli("template", "save", "-", given=given, code=2).err
