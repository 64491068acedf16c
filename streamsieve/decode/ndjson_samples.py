"""JSON lines, many samples a record: taken whole or refused whole. Blank lines are skipped; lines count from 1."""

from collections.abc import Sequence
from itertools import groupby

from streamsieve.batch import Reason
from streamsieve.decode.json_samples import parse_line
from streamsieve.decode.refusal import Refusal
from streamsieve.decode.samples import Rules, Sample

MOST_NAMED = 80  # characters for the bad lines' numbers; the rest of the detail says what is wrong with the first


def parse(value: bytes, rules: Rules) -> list[Sample]:
    """The record's samples; raises Refusal that names the bad lines."""
    lines = [(number, line) for number, line in enumerate(value.split(b"\n"), 1) if line.strip()]
    if not lines:
        raise Refusal(Reason.SYNTAX, "no samples")
    if len(lines) > rules.limits.max_samples:
        raise Refusal(Reason.TOO_MANY, f"{len(lines)} samples in a record, at most {rules.limits.max_samples}")
    samples: list[Sample] = []
    refusals: dict[int, Refusal] = {}
    for number, line in lines:
        try:
            samples.append(parse_line(line, rules))
        except Refusal as refusal:
            refusals[number] = refusal
    if refusals:
        raise _joint(refusals)
    return samples


def _joint(refusals: dict[int, Refusal]) -> Refusal:
    """One refusal for all bad lines, with the reason of the first."""
    numbers = list(refusals)
    first = refusals[numbers[0]]
    if len(numbers) == 1:
        return Refusal(first.reason, f"line {numbers[0]}: {first.detail}")
    return Refusal(first.reason, f"lines {spans(numbers)}; line {numbers[0]}: {first.detail}")


def spans(numbers: Sequence[int], most: int = MOST_NAMED) -> str:
    """Rising numbers as text, runs as spans, cut where it grows too long.

    >>> spans([1, 2, 3, 7])
    '1-3, 7'
    >>> spans([1, 3, 5, 7], most=6)
    '1, 3 (4 lines in all)'
    """
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    text = ""
    for run in runs:
        part = f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}"
        if text and len(text) + len(part) > most - 2:
            return f"{text} ({len(numbers)} lines in all)"
        text += f", {part}" if text else part
    return text
