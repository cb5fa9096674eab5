"""`beforehand token`: access tokens of the API, each with a name and a role."""

from typing import Annotated

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_err, print_json, print_out, print_table

app = typer.Typer(help="Access tokens of the API.", no_args_is_help=True)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is.")]


@app.command()
def add(
    name: NameArgument,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="viewer, operator or admin.")] = "operator",
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Make a token; it is shown once and kept only as a hash."""
    from beforehand.app.clock import wall_ms
    from beforehand.app.tokens import Tokens

    token = Tokens(settings_from(home=home, db=db)).add(name, role, wall_ms(), by=_who())
    if output is Output.JSON:
        print_json({"name": name, "role": role, "token": token})
    else:
        print_out(token)
        print_err(f"This is the token of {name} ({role}). It is shown only now; keep it safe.")
    return DONE


@app.command("list")
def list_all(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """The tokens there are: names and roles, never the tokens."""
    from beforehand.app.tokens import Tokens

    tokens = Tokens(settings_from(home=home, db=db)).list()
    if output is Output.JSON:
        print_json(tokens)
    else:
        rows = [(item["name"], item["role"], item["createdAt"]) for item in tokens]
        print_table(("name", "role", "since"), rows, nothing="There are no tokens.")
    return DONE


@app.command()
def revoke(
    name: NameArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int:
    """Take a token back; whoever uses it is refused from now on."""
    from beforehand.app.clock import wall_ms
    from beforehand.app.tokens import Tokens

    says = Tokens(settings_from(home=home, db=db)).revoke(name, wall_ms(), by=_who())
    if output is Output.JSON:
        print_json({"name": name, "revoked": True} | ({"says": says} if says else {}))
    else:
        print_out(f"The token of {name} is revoked.")
        if says:
            print_err(says)
    return DONE


def _who() -> str:
    """Who is at the command line, for the record."""
    from getpass import getuser

    try:
        return f"command line ({getuser()})"
    except (KeyError, OSError):  # a user without a name
        return "command line"
