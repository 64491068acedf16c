"""`sieve settings`: every setting with its value, where that comes from, and what it is for."""

import argparse
import os

from tools.output import as_json, say, table
from tools.settings import Listed, Settings, listing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--json", action="store_true", help="a JSON list instead of a table")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """List them."""
    listed = listing(settings, os.environ)
    say(as_json([each._asdict() for each in listed]) if args.json else _as_table(listed))
    return 0


def _as_table(listed: list[Listed]) -> str:
    rows = [(each.name, _text(each.value), _text(each.default), each.source, each.help) for each in listed]
    return table(("variable", "value", "default", "source", "help"), rows)


def _text(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)
