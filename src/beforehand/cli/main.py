"""The entry point of the command `beforehand`: it heeds signals first, and then loads the commands."""

from beforehand.cli.signals import heed_signals


def main() -> None:
    """Carry out the command line of this process, and end it."""
    heed_signals()
    from beforehand.cli.commands import run_command_line

    run_command_line()
