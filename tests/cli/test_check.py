"""`check` and `preview`: every problem at once, hostile input, and a home that is never made."""

import json

import pytest

DEEP = "[" * 3000 + "]" * 3000
GOOD = {"id": "a", "tool": "wait", "args": {"seconds": 0}}

UNREADABLE = {
    "empty": b"",
    "blank": b" \n\n",
    "binary": bytes(range(256)),
    "nul": b'{"steps": [\0]}',
    "broken json": b'{"steps": [',
    "broken yaml": b"steps: [a, : b\n  - }",
    "latin-1": "name: café".encode("latin-1"),
    "deep json": DEEP.encode(),
    "deep yaml": ("a: " + DEEP).encode(),
    "bomb": b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    + b"\n".join(b"%c: &%c [%s]" % (c, c, b",".join([b"*%c" % (c - 1)] * 10)) for c in range(98, 110)),
    "endless": b"a: &a [*a]",
    "tagged": b"!!python/object/apply:os.system [echo pwned]",
    "not a number": b"steps: [{id: a, tool: wait, args: {seconds: .nan}}]",
    "infinite": b'{"steps": [], "x": Infinity}',
    "huge": b'{"steps": "' + b"x" * (33 * 1024 * 1024) + b'"}',
}

INVALID = {
    "a text": "hello",
    "a list": [1, 2],
    "a number": 7,
    "null": None,
    "no steps": {"name": "x"},
    "steps no list": {"steps": {"a": 1}},
    "step no object": {"steps": ["a", 3, None]},
    "no tool": {"steps": [{"id": "a"}]},
    "no id": {"steps": [{"tool": "wait"}]},
    "odd id": {"steps": [{**GOOD, "id": "../../etc"}]},
    "long id": {"steps": [{**GOOD, "id": "x" * 5000}]},
    "cycle": {"steps": [{**GOOD, "dependsOn": ["b"]}, {**GOOD, "id": "b", "dependsOn": ["a"]}]},
    "itself": {"steps": [{**GOOD, "dependsOn": ["a"]}]},
    "twice": {"steps": [GOOD, GOOD]},
    "unknown tool": {"steps": [{**GOOD, "tool": "wiat"}]},
    "unknown dependency": {"steps": [{**GOOD, "dependsOn": ["b"]}]},
    "unknown reference": {"steps": [{**GOOD, "args": {"seconds": "$b.c"}}]},
    "bad arguments": {"steps": [{**GOOD, "args": {"seconds": -1, "more": 1}}]},
    "arguments no object": {"steps": [{**GOOD, "args": [1]}]},
    "negative retries": {"steps": [{**GOOD, "retries": -1}]},
    "bad when": {"steps": [{**GOOD, "when": "((("}]},
    "unknown key": {"steps": [{**GOOD, "colour": "red"}]},
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_document_is_bad_input(cli, name: str) -> None:
    (cli.folder / "plan").write_bytes(UNREADABLE[name])
    done = cli("check", "plan", "-o", "json", code=2)
    assert done.out == ""
    assert not (cli.folder / ".beforehand").exists()


def test_run_reads_documents_the_same_way(cli) -> None:
    for name in ("empty", "nul", "deep json"):
        (cli.folder / "plan").write_bytes(UNREADABLE[name])
        assert cli("run", "plan", "-o", "json", code=2).out == ""
    assert not (cli.folder / ".beforehand").exists()


def test_invalid_plans_fail_the_check_with_every_problem(cli) -> None:
    for name, document in INVALID.items():
        done = cli("check", "-", "-o", "json", given=json.dumps(document))
        assert done.code == 1, f"{name}: {done.err}"
        assert done.document["valid"] is False, name
        assert done.document["problems"], name
        for problem in done.document["problems"]:
            assert problem["says"] in done.err, name
    assert not (cli.folder / ".beforehand").exists()


def test_every_problem_is_told_unknown_names_first(cli, step) -> None:
    cli.plan(
        step("a", "wait", {"dependsOn": ["c"]}, seconds=-1),
        step("c", "wait", {"dependsOn": ["a"]}, seconds=0),
        step("d", "raed_file", path="x"),
    )
    done = cli("check", "plan.yaml", code=1)
    lines = done.err.splitlines()
    assert lines[0] == "The plan has 3 problems:"
    assert "Unknown tool 'raed_file'" in lines[1]
    assert "read_file" in lines[1]
    assert any("args.seconds" in line for line in lines)
    assert any("a → c → a" in line for line in lines)


@pytest.mark.parametrize("place", ["nowhere.yaml", ".", "no/such/plan.yaml", "x" * 5000])
def test_a_file_that_is_not_there(cli, place: str) -> None:
    assert cli("check", place, code=2).out == ""


def test_a_valid_plan_in_yaml_json_and_from_standard_input(cli, step) -> None:
    cli.plan(step("a", "wait", seconds=0))
    assert cli("check", "plan.yaml", code=0).out == "The plan is valid: 1 step.\n"
    (cli.folder / "plan.json").write_text(json.dumps({"steps": [GOOD, {**GOOD, "id": "b"}]}))
    assert cli("check", "plan.json", "-o", "json", code=0).document == {"valid": True, "steps": 2, "problems": []}
    assert cli("check", "-", code=0, given="steps:\n- {id: a, tool: wait, args: {seconds: 1}}\n").err == ""
    assert not (cli.folder / ".beforehand").exists()


def test_ten_thousand_steps(cli) -> None:
    steps = [{**GOOD, "id": f"s{n}", "dependsOn": [f"s{n - 1}"] if n else []} for n in range(10_000)]
    (cli.folder / "plan.json").write_text(json.dumps({"steps": steps}))
    assert cli("check", "plan.json", "-o", "json", code=0).document["steps"] == 10_000
    steps[0]["dependsOn"] = ["s9999"]
    (cli.folder / "plan.json").write_text(json.dumps({"steps": steps}))
    assert "s0" in cli("check", "plan.json", code=1).err


def test_preview_shows_the_diff_and_writes_nothing(cli, step) -> None:
    (cli.folder / "old.txt").write_text("one\n")
    cli.plan(
        step("a", "write_file", path="old.txt", content="two\n"),
        step("b", "read_file", {"dependsOn": ["a"]}, path="old.txt"),
        step("c", "write_file", path="new.txt", content="${b}!"),
    )
    shown = cli("preview", "plan.yaml", code=0).out
    assert "-one" in shown
    assert "+two" in shown
    assert "needs approval" in shown
    document = cli("preview", "plan.yaml", "-o", "json", code=0).document
    assert [row["stepId"] for row in document["timeline"]] == ["a", "b", "c"]
    assert {diff["stepId"] for diff in document["diffs"]} == {"a", "c"}
    assert document["problems"] == []
    assert (cli.folder / "old.txt").read_text() == "one\n"
    assert sorted(path.name for path in cli.folder.iterdir()) == ["old.txt", "plan.yaml"]


def test_a_preview_tells_what_would_not_work_out(cli, step) -> None:
    cli.plan(step("a", "read_file", path="missing.txt"), step("b", "read_file", path="../../etc/passwd"))
    done = cli("preview", "plan.yaml", "-o", "json", code=1)
    assert {problem["about"] for problem in done.document["problems"]} == {"a", "b"}
    assert "missing.txt" in done.err


def test_a_preview_needs_a_valid_plan(cli, step) -> None:
    cli.plan(step("a", "nothing"))
    assert "Unknown tool" in cli("preview", "plan.yaml", code=2).err


def test_text_in_a_plan_cannot_steer_the_terminal(cli, step) -> None:
    cli.write(
        "plan.json",
        json.dumps({"steps": [step("a", "write_file", path="x\u001b[31m\u0007", content="[red]\u001b]0;t\u0007")]}),
    )
    done = cli("preview", "plan.json")
    assert "\u001b" not in done.out + done.err
    assert "\u0007" not in done.out + done.err
    assert "[red]" in done.out


def test_a_step_list_for_a_scene_that_is_no_cell_is_told_what_it_is(cli) -> None:
    (cli.folder / "steps.json").write_text('[{"id": 1, "action": "move", "target": "Home"}]')
    done = cli("check", "steps.json", "--scene", "apartment", code=2)
    assert "apartment is a scene of kind home, not cell." in done.err
    assert "no cells" not in done.err


def test_a_plan_over_two_cells_finds_both(cli) -> None:
    both = ("weld_star", "weld_corridor")
    steps = [{"id": name, "tool": "cell.move", "args": {"scene": name, "target": "Safe_Pos_1"}} for name in both]
    (cli.folder / "plan.json").write_text(json.dumps({"steps": steps}))
    assert cli("check", "plan.json").out == "The plan is valid: 2 steps.\n"
