"""Numbers on the command line; argparse turns the error into its one line."""

import argparse
import re


def whole_number(text: str) -> int:
    """0, 1, 2, ...

    >>> whole_number("20")
    20
    """
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}")
    return int(text)


def counting_number(text: str) -> int:
    """1, 2, 3, ..."""
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def positive_number(text: str) -> float:
    """A finite number > 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number > 0, not {text!r}")
    return number
