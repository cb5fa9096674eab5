"""Settings and the installation: precedence, secrets, tokens, doctor, plug-ins, scenes."""

import json
import os
import stat

import pytest


def shown(cli, name: str, *words: str, **environment: str) -> tuple[object, str]:
    settings = cli("config", "show", "-o", "json", *words, code=0, **environment).document["settings"]
    found = next(item for item in settings if item["name"] == name)
    return found["value"], found["source"]


def test_flags_before_environment_before_file_before_defaults(cli) -> None:
    assert shown(cli, "home") == ("./.beforehand", "default")
    cli.write("beforehand.toml", 'home = "from_file"\nhttp_allow = ["a:1", "b"]\n')
    assert shown(cli, "home") == ("from_file", "beforehand.toml")
    assert shown(cli, "http_allow") == ("a:1,b", "beforehand.toml")
    assert shown(cli, "home", BEFOREHAND_HOME="from_env") == ("from_env", "BEFOREHAND_HOME")
    assert shown(cli, "home", "--home", "flagged", BEFOREHAND_HOME="from_env") == ("flagged", "flag")
    assert shown(cli, "home", BEFOREHAND_HOME="") == ("from_file", "beforehand.toml")


def test_a_variable_that_is_no_setting_is_told_once_and_stops_nothing(cli) -> None:
    for words in (("config", "show", "-o", "json"), ("runs", "-o", "json"), ("doctor", "-o", "json")):
        done = cli(*words, code=0, BEFOREHAND_TOKN="x")
        assert done.err.count("BEFOREHAND_TOKN") == 1
        assert "BEFOREHAND_TOKEN" in done.err
        assert done.document is not None


def test_the_home_that_was_named_is_used(cli, step) -> None:
    cli.plan(step("a", "wait", seconds=0))
    cli("run", "plan.yaml", code=0, BEFOREHAND_HOME="elsewhere")
    assert (cli.folder / "elsewhere" / "log.db").exists()
    cli("run", "plan.yaml", "--db", "sqlite:///own.db", code=0)
    assert (cli.folder / "own.db").exists()
    assert not (cli.folder / ".beforehand").exists()


def test_a_home_that_is_a_file_is_refused_whatever_is_asked(cli, step) -> None:
    cli.plan(step("a", "wait", seconds=0))
    for words in (("runs", "-o", "json"), ("run", "plan.yaml"), ("token", "list"), ("up", "--no-open")):
        done = cli(*words, "--home", "plan.yaml", code=2)
        assert "plan.yaml is a file, not a folder." in done.err
        assert done.out == ""


def test_secrets_are_hidden(cli) -> None:
    done = cli("config", "show", code=0, BEFOREHAND_TOKEN="sesame-open")
    assert "sesame-open" not in done.out + done.err
    assert "(hidden)" in done.out


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("hmoe = 1\nport = true\n", "Unknown setting 'hmoe'"),
        ("port = 'x'\n", "port from beforehand.toml must be a whole number"),
        ("= broken", "beforehand.toml cannot be read"),
    ],
)
def test_settings_that_cannot_be_read(cli, toml: str, said: str) -> None:
    cli.write("beforehand.toml", toml)
    assert said in cli("config", "show", code=2).err


@pytest.mark.parametrize("db", ["mysql://x/y", "postgresql://x:y@[/z", "."])
def test_a_store_that_cannot_be(cli, step, db: str) -> None:
    cli.plan(step("a", "wait", seconds=0))
    cli("run", "plan.yaml", "--db", db, code=2)


def test_a_store_of_another_program_is_left_alone(cli, step) -> None:
    cli.plan(step("a", "wait", seconds=0))
    (cli.folder / "other.db").write_bytes(b"not a database at all, but precious" * 100)
    before = (cli.folder / "other.db").read_bytes()
    cli("run", "plan.yaml", "--db", "other.db", code=2)
    assert (cli.folder / "other.db").read_bytes() == before


def test_tokens(cli) -> None:
    assert cli("token", "list", code=0).out == "There are no tokens.\n"
    made = cli("token", "add", "ada", "--role", "admin", code=0)
    token = made.out.strip()
    assert token.startswith("bh_")
    kept = cli.folder / ".beforehand" / "tokens.json"
    assert token not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert cli("token", "add", "bob", "--role", "viewer", "-o", "json", code=0).document["role"] == "viewer"
    assert "There is a token 'ada' already" in cli("token", "add", "ada", code=3).err
    assert [item["name"] for item in cli("token", "list", "-o", "json", code=0).document] == ["ada", "bob"]
    assert token not in cli("token", "list", code=0).out
    cli("token", "revoke", "ada", code=0)
    assert "Unknown token 'ada'. Known tokens: bob." in cli("token", "revoke", "ada", code=2).err


def test_doctor(cli) -> None:
    done = cli("doctor", "-o", "json", code=0)
    checks = {item["check"]: item["state"] for item in done.document["checks"]}
    for name in ("python", "sqlite", "home", "disk", "journal", "leader", "tokens", "tools"):
        assert checks[name] == "ok"
    assert list(cli.folder.iterdir()) == []
    (cli.folder / "beforehand.toml").write_text('host = "0.0.0.0"\n[mcp.ghost]\ncommand = "no-such-program-here"\n')
    cli("config", "trust", code=0)
    broken = cli("doctor", code=1)
    assert "ghost" in broken.err
    assert "beforehand token add" in broken.err


def test_doctor_and_config_know_the_model_and_keep_its_key(cli) -> None:
    checks = {item["check"]: item for item in cli("doctor", "-o", "json", code=0).document["checks"]}
    assert checks["model"]["state"] == "missing"
    assert "BEFOREHAND_MODEL" in checks["model"]["tryNext"]
    cli.write("beforehand.toml", 'model = "just-a-name"\nmodel_key = "sk-not-for-the-screen"\n')
    told = cli("config", "show", code=0)
    assert "just-a-name" in told.out
    assert "sk-not-for-the-screen" not in told.out + told.err
    broken = cli("doctor", code=1)
    assert "'just-a-name' is not the name of a model" in broken.err
    assert "sk-not-for-the-screen" not in broken.out + broken.err


def test_doctor_looks_into_the_log(cli) -> None:
    home = cli.folder / ".beforehand"
    home.mkdir()
    (home / "log.db").write_bytes(bytes(range(256)) * 20)
    assert "is damaged or is not a Beforehand log" in cli("doctor", code=1).err


def test_plugins(cli) -> None:
    tools = {tool["name"]: tool for tool in cli("plugins", "-o", "json", code=0).document["tools"]}
    assert tools["bench.append"]["effect"] == "physical"
    assert tools["bench.append"]["source"] == "bench"
    assert tools["write_file"]["effect"] == "idempotent"
    assert tools["read_file"]["effect"] == "pure"
    assert "delete_file" in cli("plugins", code=0).out


def test_a_plugin_that_is_missing_is_named(cli) -> None:
    cli.write("beforehand.toml", '[mcp.ghost]\ncommand = "no-such-program-here"\n')
    cli("config", "trust", code=0)
    done = cli("plugins", "-o", "json", code=1)
    assert [reason["about"] for reason in done.document["missing"]] == ["ghost"]
    assert "ghost" in done.err


def test_a_settings_file_in_the_workspace_runs_nothing_before_it_is_trusted(cli) -> None:
    marker = cli.folder / "ran"
    server = f'port = 8123\n[mcp.odd]\ncommand = "touch"\nargs = ["{marker}"]\nstart_timeout_s = 2\n'
    cli.write("beforehand.toml", server)
    done = cli("plugins", "-o", "json", code=0)
    assert not marker.exists()
    assert "beforehand config trust" in done.err
    assert shown(cli, "port") == (8123, "beforehand.toml")
    assert any("config trust" in item["says"] for item in cli("doctor", "-o", "json", code=0).document["checks"])
    assert f"odd: touch {marker}" in cli("config", "trust", code=0).out
    assert "config trust" not in cli("plugins", code=1).err
    assert marker.exists()
    marker.unlink()
    cli.write("beforehand.toml", server + "\n")
    assert "config trust" in cli("plugins", code=0).err
    assert not marker.exists()
    cli("config", "trust", code=0)
    cli("plugins", code=1)
    assert marker.exists()


def test_a_settings_file_outside_the_workspace_needs_no_trust(cli) -> None:
    (cli.folder / "work").mkdir()
    cli.write("beforehand.toml", 'workspace = "work"\n[mcp.ghost]\ncommand = "no-such-program-here"\n')
    assert "ghost" in cli("plugins", code=1).err


def test_trusting_needs_a_file(cli) -> None:
    assert "There is no beforehand.toml" in cli("config", "trust", code=2).err


def test_secrets_stand_in_settings_by_reference(cli) -> None:
    """They come from the environment or the home, and no command shows them."""
    secret = "hunter2-and-more"
    cli.write("beforehand.toml", 'token = "secret:DOOR"\n[mcp.odd]\ncommand = "no-such-${secret:DOOR}"\n')
    cli("config", "trust", code=0)
    assert shown(cli, "token", BEFOREHAND_SECRET_DOOR=secret) == ("secret:DOOR", "beforehand.toml")
    for words in (("config", "show"), ("doctor",), ("plugins",), ("doctor", "-o", "json")):
        done = cli(*words, BEFOREHAND_SECRET_DOOR=secret)
        assert secret not in done.out + done.err
    assert "no-such-(hidden)" in cli("plugins", code=1, BEFOREHAND_SECRET_DOOR=secret).err
    told = cli("plugins", code=1).err
    assert "There is no secret 'DOOR'" in told
    assert "BEFOREHAND_SECRET_DOOR" in told
    home = cli.folder / ".beforehand"
    (home / "secrets").mkdir(mode=0o700)
    (home / "secrets" / "DOOR").write_text(secret + "\n")
    assert "no-such-(hidden)" in cli("plugins", code=1).err
    assert secret.encode() not in b"".join(path.read_bytes() for path in home.glob("log.db*"))


@pytest.mark.parametrize("path", ["beforehand.toml", "sub/beforehand.toml", ".beforehand/tokens.json", "link", "twin"])
def test_no_plan_reaches_the_installations_own_files(cli, step, path: str) -> None:
    cli("token", "add", "ada", "--role", "admin", code=0)
    kept = cli.folder / ".beforehand" / "tokens.json"
    before = kept.read_bytes()
    (cli.folder / "link").symlink_to(".beforehand/tokens.json")
    os.link(kept, cli.folder / "twin")
    cli.plan(step("w", "write_file", path=path, content="[mcp.evil]\ncommand = 'x'\n"))
    done = cli("run", "plan.yaml", "--yes", code=1)
    assert "closed to file tools" in done.err
    assert not (cli.folder / "beforehand.toml").exists()
    assert not (cli.folder / "sub").exists()
    assert kept.read_bytes() == before
    cli.plan(step("r", "read_file", path=path))
    assert "closed to file tools" in cli("run", "plan.yaml", "--yes", code=1).err


def test_a_log_outside_the_home_is_closed_too(cli, step) -> None:
    cli.plan(step("r", "copy_file", **{"from": "mine.db", "to": "copy"}), step("d", "delete_file", path="mine.db-wal"))
    done = cli("run", "plan.yaml", "--yes", "--db", "mine.db", code=1)
    for path in ("mine.db", "mine.db-wal"):
        assert f"The path '{path}' is one of Beforehand's own files, which are closed to file tools" in done.err


def test_scenes(cli) -> None:
    names = {row["name"] for row in cli("scene", "list", "-o", "json", code=0).document}
    assert {"weld_star", "weld_corridor", "line_pick_drop"} <= names
    document = cli("scene", "show", "weld_star", "-o", "json", code=0).document
    assert document["kind"] == "cell"
    assert "positions" in cli("scene", "show", "weld_star", code=0).out
    cli.write("mine.json", json.dumps(document))
    assert cli("scene", "check", "mine.json", code=0).out == "The scene weld_star is valid.\n"
    document["moves"] = [["Home", "Nowhere"], ["Nobody", "Home"]]
    done = cli("scene", "check", "-", "-o", "json", given=json.dumps(document), code=1)
    assert done.document["valid"] is False
    for name in ("Nowhere", "Nobody"):
        assert name in done.err
    assert "'moon'" in cli("scene", "check", "-", given="kind: moon", code=1).err
    assert not (cli.folder / ".beforehand").exists()


def test_every_setting_is_documented(repository) -> None:
    from beforehand.app.settings import KNOWN, PREFIX

    page = (repository / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [setting.name for setting in KNOWN if f"`{PREFIX}{setting.name.upper()}`" not in page] == []
