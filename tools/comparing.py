"""`sieve compare`: several algorithms and budgets over one file, side by side."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from streamsieve.batch import Decoded
from streamsieve.decode.decoder import Decoder
from streamsieve.errors import BadFile, BadSpec
from streamsieve.learners.catalogue import entry_of
from streamsieve.limits import Limits
from streamsieve.selection import Outcome
from streamsieve.spec import Spec
from tools.comparison import Course, Run, run_one, split
from tools.failures import BadArgument
from tools.files import FORMATS, read_batches
from tools.numbers import counting_number, whole_number
from tools.output import as_json, note, one_line, say, shown, table
from tools.passes import passes
from tools.plotting import Lines, check_plot, drawn
from tools.progress import progress_bar
from tools.saving import save
from tools.selecting import spec_of, why_nothing
from tools.settings import Settings
from tools.shuffling import joined
from tools.tally import Tally

COLUMNS = ("algorithm", "budget", "selected", "accuracy", "loss", "auc")
TEST_COLUMNS = ("test accuracy", "test loss")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("file", metavar="FILE", help="the data, or - for standard input; it is held in memory, decoded")
    parser.add_argument("--algorithms", required=True, type=_names, metavar="A,B,...", help="such as b-arda,ofs")
    parser.add_argument("--budgets", required=True, type=_budgets, metavar="N,M,...", help="such as 10,50,100,500")
    parser.add_argument("--format", choices=FORMATS, help="default: what the file's name tells")
    parser.add_argument("--loss", metavar="L", help="default: each algorithm's first")
    parser.add_argument("--intercept", action="store_true", help="add a constant feature outside the budget")
    parser.add_argument(
        "--param", action="append", default=[], metavar="[A.]K=V", help="a parameter, of all algorithms or of A alone"
    )
    parser.add_argument("--passes", type=counting_number, default=1, metavar="N", help="go over the data N times")
    parser.add_argument("--shuffle", type=whole_number, metavar="SEED", help="a fresh order each pass")
    held_out = parser.add_mutually_exclusive_group()
    held_out.add_argument("--test", metavar="FILE", help="predict these samples with the selected features")
    held_out.add_argument("--holdout", type=_share, metavar="SHARE", help="keep a random share, such as 0.2, for that")
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="S", help="of --holdout and of sketches; default: 0"
    )
    parser.add_argument("--output", choices=("json", "table"), default="table", help="default: table")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="accuracy against budget, as .png or .svg")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Run every algorithm with every budget, print how they did."""
    specs = _specs(args)
    check_plot(args.plot)
    hash_key = np.random.default_rng(args.seed).bytes(16)
    decoder = Decoder("json", specs[0].labels, Limits(), hash_key)
    with progress_bar(args.file) as bar:
        train, rejected = _read(args.file, args.format, decoder)
        test = None
        if args.test is not None:
            test, _ = _read(args.test, args.format, decoder)
        elif args.holdout is not None:
            train, test = split(train, args.holdout, args.seed)
            _check_split(train.record_count, test.record_count, args.holdout)
        bar.expect(train.record_count * args.passes * len(specs))
        course = Course(train, test, hash_key, args.passes, args.shuffle)
        runs = [run_one(spec, course, bar) for spec in specs]
    say(as_json(_result(runs, rejected)) if args.output == "json" else _table(runs))
    if args.plot is not None:
        save("--plot", args.plot, drawn(_lines(runs, args.file), args.plot.suffix))
    return 0


def _specs(args: argparse.Namespace) -> list[Spec]:
    """One for each algorithm and budget, all checked before anything is read. Raises BadSpec, BadArgument."""
    for algorithm in args.algorithms:
        if entry_of(algorithm).kind != "sample":
            raise BadSpec("algorithm", f"{algorithm} does not learn samples; compare is for those that do")
    specs = [
        spec_of(argparse.Namespace(**{**vars(args), "algorithm": algorithm, "budget": budget, "param": params}))
        for algorithm in args.algorithms
        for params in [_params_of(algorithm, args)]
        for budget in args.budgets
    ]
    kinds = {spec.labels for spec in specs}
    if len(kinds) > 1:
        losses = ", ".join(sorted({spec.loss for spec in specs}))
        raise BadArgument(f"--loss: {losses} do not take the same labels, so there is nothing to compare")
    if kinds == {"class"} and (args.test or args.holdout):
        raise BadArgument("--test, --holdout: only for two classes or numbers")
    return specs


def _params_of(algorithm: str, args: argparse.Namespace) -> list[str]:
    """What --param says to one algorithm: K=V to all, A.K=V to A alone. Raises BadArgument."""
    mine = []
    for text in args.param:
        name, _, _ = text.partition("=")
        owner, dot, rest = text.partition(".") if "." in name else ("", "", text)
        if dot and owner not in args.algorithms:
            raise BadArgument(f"--param {text}: {owner} is none of the algorithms compared")
        if owner in ("", algorithm):
            mine.append(rest)
    return mine


def _read(path: str, file_format: str | None, decoder: Decoder) -> tuple[Any, int]:
    """All records that can be used, as one batch, and how many can't. Raises BadFile."""
    walk = next(passes(lambda: read_batches(path, file_format, decoder), 1, None, rereadable=True))
    parts: list[Decoded] = list(walk)
    tally = Tally()
    for part in parts:
        tally.count(part, Outcome([], 0))
    if not tally.applied:
        raise BadFile(f"{path}: {why_nothing(tally)}")
    for line in tally.lines():
        note(f"sieve compare: {one_line(f'{path}: {line}')}")
    return joined(parts).batch, tally.rejected


def _check_split(train: int, test: int, share: float) -> None:
    if not train or not test:
        raise BadArgument(f"--holdout {share}: leaves {train} records to learn and {test} to predict")


def _result(runs: list[Run], rejected: int) -> dict[str, Any]:
    return {"rejected": rejected, "runs": [_run_json(each) for each in runs]}


def _run_json(each: Run) -> dict[str, Any]:
    progress = each.progress
    return {
        "algorithm": each.spec.algorithm,
        "budget": each.spec.budget,
        "loss": each.spec.loss,
        "selected": each.selected,
        "samples": progress.samples,
        "overflowed": each.overflowed,
        "progressive": {"accuracy": progress.accuracy, "loss": progress.loss, "auc": progress.auc},
        "test": None if each.test is None else each.test._asdict(),
    }


def _table(runs: list[Run]) -> str:
    tested = runs[0].test is not None
    return table((*COLUMNS, *(TEST_COLUMNS if tested else ())), [_row(each) for each in runs])


def _row(each: Run) -> list[str]:
    progress = each.progress
    numbers = [progress.accuracy, progress.loss, progress.auc]
    if each.test is not None:
        numbers += [each.test.accuracy, each.test.loss]
    cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
    return [each.spec.algorithm, str(each.spec.budget), str(each.selected), *cells]


def _lines(runs: list[Run], path: str) -> Lines:
    """Held-out accuracy if there is any, else the progressive one; the loss where labels are numbers."""
    tested = runs[0].test is not None
    value = "accuracy" if runs[0].spec.labels != "real" else "loss"
    points: dict[str, list[tuple[int, float]]] = {}
    for each in runs:
        measured = getattr(each.test if tested else each.progress, value)
        if measured is not None:
            points.setdefault(each.spec.algorithm, []).append((each.spec.budget, measured))
    return Lines(shown(Path(path).name), f"{'held-out' if tested else 'progressive'} {value}", points)


def _names(text: str) -> list[str]:
    names = text.split(",")
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"must be names with commas between, none twice, not {text!r}")
    return names


def _budgets(text: str) -> list[int]:
    budgets = [counting_number(part) for part in text.split(",")]
    if len(set(budgets)) < len(budgets):
        raise argparse.ArgumentTypeError(f"must be different numbers, not {text!r}")
    return sorted(budgets)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, not {text!r}")
    return share
