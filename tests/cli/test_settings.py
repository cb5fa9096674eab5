"""Settings and the installation: precedence, secrets, tokens, doctor, plug-ins, scenes."""

import json
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


def test_the_home_that_was_named_is_used(cli, step) -> None:
    cli.plan(step("a", "wait", seconds=0))
    cli("run", "plan.yaml", code=0, BEFOREHAND_HOME="elsewhere")
    assert (cli.folder / "elsewhere" / "log.db").exists()
    cli("run", "plan.yaml", "--db", "sqlite:///own.db", code=0)
    assert (cli.folder / "own.db").exists()
    assert not (cli.folder / ".beforehand").exists()


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


@pytest.mark.parametrize("db", ["postgres://x/y", "."])
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
    made = cli("token", "add", "ada", "--role", "viewer", code=0)
    token = made.out.strip()
    assert token.startswith("bh_")
    kept = cli.folder / ".beforehand" / "tokens.json"
    assert token not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert cli("token", "add", "bob", "--role", "admin", "-o", "json", code=0).document["role"] == "admin"
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
    broken = cli("doctor", code=1)
    assert "ghost" in broken.err
    assert "beforehand token add" in broken.err


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
    done = cli("plugins", "-o", "json", code=1)
    assert [reason["about"] for reason in done.document["missing"]] == ["ghost"]
    assert "ghost" in done.err


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
