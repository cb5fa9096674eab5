"""`up`, and commands that hand their work to the server that leads the home."""

import signal


def test_up_says_where_and_stops_cleanly(cli, step) -> None:
    process = cli.start("up", "--no-open", "--port", "0")
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(3)]
    assert told[0].startswith("Beforehand is at http://127.0.0.1:")
    assert str(cli.folder / ".beforehand") in told[1]
    assert "Ctrl-C stops it" in told[2]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Stopped." in out
    assert "Traceback" not in err


def test_a_server_without_tokens_listens_to_this_machine_only(cli) -> None:
    assert "no token is set" in cli("up", "--no-open", "--host", "0.0.0.0", "--port", "0", code=2).err
    assert "is not an address" in cli("up", "--no-open", "--host", "256.1.1.1", "--port", "0", code=2).err


def test_a_second_server_is_told_who_leads(cli) -> None:
    url = cli.up()
    assert url in cli("up", "--no-open", "--port", "0", code=3).err


def test_a_run_is_handed_to_the_server(cli, step) -> None:
    url = cli.up()
    (cli.folder / "old.txt").write_text("old")
    (cli.folder / "sub").mkdir()
    cli.plan(
        step("a", "write_file", path="new.txt", content="n"),
        step("b", "write_file", path="old.txt", content="changed"),
    )
    done = cli("run", "plan.yaml", "-o", "json", code=3)
    assert f"The server at {url}" in done.err
    run = done.document
    assert run["status"] == "waiting"
    answered = cli("inbox", "answer", run["decisions"][0]["id"], "approve", "-o", "json", code=0)
    assert answered.document["status"] == "answered"
    finished = cli("run", "--resume", run["runId"], "-o", "json", code=0).document
    assert finished["status"] == "completed"
    assert (cli.folder / "old.txt").read_text() == "changed"
    again = cli("run", "plan.yaml", "--yes", "-o", "json", code=0)
    assert again.document["status"] == "completed", "every approval is given, one after another"
    inside = type(cli)(cli.folder / "sub")
    inside.plan(step("c", "write_file", path="here.txt", content="x"))
    inside("run", "plan.yaml", "--home", str(cli.folder / ".beforehand"), code=0)
    assert (cli.folder / "sub" / "here.txt").exists(), "file tools work where the command was given"
    assert "Unknown tool" in cli("run", "-", given="steps: [{id: a, tool: nothing}]", code=2).err
    assert "Unknown run" in cli("run", "--resume", "run_x", code=2).err


def test_templates_at_the_server(cli, step) -> None:
    cli.up()
    cli.write("t.yaml", {"parameters": {"n": "integer"}, "steps": [step("a", "wait", seconds="$params.n")]})
    cli("template", "save", "t.yaml", code=0)
    assert cli("template", "run", "t", "n=0", "-o", "json", code=0).document["status"] == "completed"
    assert "n must be of type integer" in cli("template", "run", "t", "n=x", code=2).err
    assert "Known templates: t" in cli("template", "run", "tt", "n=0", code=2).err


def test_the_servers_token_is_asked_for(cli, step) -> None:
    cli.up(BEFOREHAND_TOKEN="sesame")
    cli.plan(step("a", "wait", seconds=0))
    assert "BEFOREHAND_TOKEN" in cli("run", "plan.yaml", code=3).err
    assert cli("run", "plan.yaml", "-o", "json", code=0, BEFOREHAND_TOKEN="sesame").document["status"] == "completed"


def test_up_takes_up_a_run_that_waited(cli, step) -> None:
    (cli.folder / "old.txt").write_text("old")
    cli.plan(step("a", "write_file", path="old.txt", content="changed"))
    run = cli("run", "plan.yaml", "-o", "json", code=3).document
    cli("inbox", "answer", run["decisions"][0]["id"], "approve", code=0)
    cli.up()
    assert cli("run", "--resume", run["runId"], "-o", "json", code=0).document["status"] == "completed"


def test_a_frozen_server_is_said_to_be_silent(cli, step) -> None:
    cli.up()
    server = cli._started[-1]
    cli.plan(step("a", "wait", seconds=0))
    server.send_signal(signal.SIGSTOP)
    try:
        done = cli("run", "plan.yaml", code=1)
        assert "does not answer" in done.err
        assert "beforehand doctor" in done.err
    finally:
        server.send_signal(signal.SIGCONT)


def test_what_a_command_asks_a_server_for_carries_a_key_and_is_done_once(cli, step) -> None:
    cli.up()
    cli.plan(step("a", "wait", seconds=0))
    cli("run", "plan.yaml", code=0)
    written = [event for event in cli.events() if "requestId" in event["about"]]
    assert [event["kind"] for event in written] == ["planCreated", "decisionAnswered"]
    assert len({event["about"]["requestId"] for event in written}) == 2
