"""The parser of `sieve`, and the one place where errors become a line and an exit code.

A command is a module with `add_arguments(parser)` and `run(args, settings) -> exit code`; it is imported only when it
is the one asked for, so that `sieve --help` does not load a compiler.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Any, NamedTuple, NoReturn

from streamsieve.errors import SieveError
from tools.output import note, one_line
from tools.settings import read_settings, unknown_variables

BAD_INPUT = 2
INTERRUPTED = 130  # as a shell reports SIGINT
PIPE_CLOSED = 141  # as a shell reports SIGPIPE


class Command(NamedTuple):
    """One subcommand: the module that holds it, its sentence in `sieve --help`."""

    name: str
    module: str
    help: str
    deploys: bool = False  # lives by the settings, so it warns of variables that nobody reads


COMMANDS = (
    Command("dev", "tools.dev", "start everything on this machine, for development", deploys=True),
    Command("demo", "tools.demo", "dev plus a generated spam stream and a live table", deploys=True),
    Command("select", "tools.selecting", "run a selector over a file, in this process"),
    Command("compare", "tools.comparing", "run several algorithms and budgets over a file: table and plot"),
    Command("replay", "tools.replay", "send a file's lines to a Kafka topic"),
    Command("worker", "tools.worker", "learn from Kafka, keep the state in Redis", deploys=True),
    Command("serve", "tools.serve", "the HTTP service", deploys=True),
    Command("top", "tools.top", "the served features of a selector"),
    Command("settings", "tools.show_settings", "list all settings", deploys=True),
)


class OneLineParser(argparse.ArgumentParser):
    """Answers a mistake with one line instead of the usage; options are spelled out."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Exit 2 with one line that says what is wrong and where help is."""
        self.exit(BAD_INPUT, f"{self.prog}: {one_line(message)}; try '{self.prog} --help'\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sieve`; returns the exit code, and never shows a traceback for what the user can mend."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = _named(words)
    try:
        code = _run(words, command)
        sys.stdout.flush()
    except SieveError as error:
        note(f"{_title(command)}: {one_line(str(error))}")
        return BAD_INPUT
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(words: list[str], command: Command | None) -> int:
    parser = OneLineParser(prog="sieve", description="Tells a streaming pipeline which features matter right now.")
    parser.add_argument("--version", action="version", version=f"sieve {metadata.version('streamsieve')}")
    subparsers = _add_commands(parser)
    if command is None:
        parser.parse_args(words)
        parser.error("a command is needed")
    module = import_module(command.module)
    module.add_arguments(subparsers[command.name])
    args, left_over = parser.parse_known_args(words)
    if left_over:  # parse_args would have the error say just `sieve`
        subparsers[command.name].error(f"unrecognized arguments: {' '.join(left_over)}")
    settings = read_settings(os.environ)
    if command.deploys:
        _warn_of_unknown_variables()
    code: int = module.run(args, settings)
    return code


def _named(words: list[str]) -> Command | None:
    """The command that the words ask for. sieve's own options take no value, so it is the first that is no option."""
    name = next((word for word in words if not word.startswith("-")), None)
    return next((command for command in COMMANDS if command.name == name), None)


def _add_commands(parser: OneLineParser) -> dict[str, OneLineParser]:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    return {
        command.name: commands.add_parser(command.name, help=command.help, description=_sentence(command.help))
        for command in COMMANDS
    }


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."


def _title(command: Command | None) -> str:
    return f"sieve {command.name}" if command else "sieve"


def _warn_of_unknown_variables() -> None:
    unknown = unknown_variables(os.environ)
    if unknown:
        note(f"sieve: nobody reads {one_line(', '.join(unknown))}; 'sieve settings' lists what is known")


def _forget_stdout() -> None:
    """Whoever read our output is gone; what is still buffered must not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
