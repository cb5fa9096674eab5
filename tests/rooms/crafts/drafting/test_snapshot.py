"""What a model is shown of a workspace, and what not."""

from pathlib import Path

import pytest

from beforehand.adapters.files.workspace import DiskWorkspace
from beforehand.crafts.drafting.core.snapshot import (
    HIDDEN,
    MOST_FILES,
    MOST_TEXT,
    Seen,
    bounded,
    head_of,
    is_shown,
    without_secret_looks,
)
from beforehand.crafts.drafting.looking import look_at


@pytest.mark.parametrize(
    "name",
    [
        *(".env", ".env.local", "id_rsa", "id_ed25519.pub", "server.pem", "client_secret.json", "credentials"),
        *("tokens.txt", ".netrc", "passwords.csv", "my-api-key.txt", ".git/", ".ssh/", "node_modules/", "vault.kdbx"),
    ],
)
def test_what_looks_like_a_secret_by_name_is_left_out(name: str) -> None:
    assert not is_shown(name)


@pytest.mark.parametrize("name", ["notes.txt", "src/", "Makefile", ".gitignore", "environment.yml", "keyboard.md"])
def test_ordinary_names_are_shown(name: str) -> None:
    assert is_shown(name)


@pytest.mark.parametrize(
    "line",
    [
        "password: hunter2-xyz",
        'DB_PASSWORD="hunter2-xyz"',
        "aws_secret_access_key = hunter2-xyz",
        '{"api_key": "hunter2-xyz"}',
        "Authorization: Bearer hunter2-xyz",
        "url = postgres://me:hunter2-xyz@db/shop",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2-xyz\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter2-xyz\n-----END PGP PRIVATE KEY BLOCK-----",
        "see sk-hunter2-xyz-0123456789abcdef",
        "passphrase = hunter2-xyz",
        "password: |\n  hunter2-xyz\n  hunter2-xyz",
        "psql --password hunter2-xyz shop",
        "<Password>hunter2-xyz</Password>",
        'login("me"); set_password("hunter2-xyz")',
        'curl -H "X-Auth: Bearer hunter2-xyz"',
        "DefaultEndpointsProtocol=https;AccountKey=hunter2-xyz",
        "redis://:hunter2-xyz@cache:6379",
    ],
)
def test_what_looks_like_a_secret_inside_a_file_is_blanked_out(line: str) -> None:
    shown = without_secret_looks(f"title = shop\n{line}")
    assert "hunter2-xyz" not in shown
    assert shown.startswith("title = shop\n")


@pytest.mark.parametrize(
    "line",
    [
        "export PAY=sk_live_" + "51abcdefghijklmnop",
        "remote: glpat-" + "abcdefghij0123456789",
        "maps: AIza" + "SyA0123456789abcdefghijklmnopqrstuv",
    ],
)
def test_keys_of_known_shapes_are_blanked_out_under_any_name(line: str) -> None:
    assert without_secret_looks(line).endswith(HIDDEN)


@pytest.mark.parametrize(
    "line", ["The password is asked for once.", "tokens are counted", "def token(self) -> str:", "<tokens/>", "a: b"]
)
def test_ordinary_lines_are_shown_as_they_are(line: str) -> None:
    assert without_secret_looks(line) == line


def test_only_small_texts_have_a_head() -> None:
    assert head_of("größer".encode()[:-2], 8) == "größ"
    assert head_of("ö".encode()[:1], 2) == ""
    assert head_of(b"\x89PNG\0", 5) is None
    assert head_of(b"\xff\xfe\xfd\xfc\xfb", 5) is None
    assert head_of(b"text", 10_000_000) is None


def test_everything_is_bounded() -> None:
    files = [Seen(f"{at:04}.txt", 500, "x" * 500) for at in range(MOST_FILES + 50)]
    shown = bounded(files, 3)
    assert len(shown.files) == MOST_FILES
    assert sum(len(file.head or "") for file in shown.files) <= MOST_TEXT
    assert shown.items()[-1] == {"leftOut": 53}


async def test_what_file_tools_may_not_reach_is_not_there(tmp_path: Path) -> None:
    root, home = tmp_path / "work", tmp_path / "work" / "data"
    (root / "a" / "b" / "c" / "d").mkdir(parents=True)
    home.mkdir()
    (home / "log.sqlite").write_text("ours")
    (root / "beforehand.toml").write_text("ours")
    (root / "a" / "beforehand.toml").write_text("ours")
    (root / "a" / "b" / "deep.txt").write_text("deep")
    (root / "a" / "b" / "c" / "d" / "too_deep.txt").write_text("x")
    (tmp_path / "other.txt").write_text("theirs")
    (root / "link.txt").symlink_to(tmp_path / "other.txt")
    (root / "up").symlink_to(tmp_path)
    seen = await look_at(DiskWorkspace(root, closed=[home], closed_names=["beforehand.toml"]))
    assert [(file.path, file.size, file.head) for file in seen.files] == [("a/b/deep.txt", 4, "deep")]
    assert seen.left_out >= 4
