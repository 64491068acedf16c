"""`sieve select`: run a selector over a file, in this process."""

import argparse
import secrets
from pathlib import Path
from typing import Any

from streamsieve.decode.decoder import Decoder
from streamsieve.errors import BadFile
from streamsieve.learners.making import make_learner
from streamsieve.learners.protocol import SampleLearner
from streamsieve.snapshot import canonical
from streamsieve.spec import Spec
from tools.failures import BadArgument
from tools.files import FORMATS, read_batches
from tools.numbers import counting_number, whole_number
from tools.output import as_json, feature_table, note, one_line, say
from tools.passes import passes
from tools.progress import progress_bar
from tools.saving import check_place, save
from tools.settings import Settings
from tools.tally import Tally

TOP_LEVEL = ("loss", "intercept", "half_life")  # fields of a spec that --param may set too
REPEATABLE_KEY = b"sieve select key"  # where results depend on the key, a run can be repeated
FLAGS = {"true": True, "1": True, "false": False, "0": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("file", metavar="FILE", help="the data, or - for standard input")
    parser.add_argument("--algorithm", required=True, metavar="A", help="such as b-arda")
    parser.add_argument("--budget", required=True, type=whole_number, metavar="B", help="how many features to keep")
    parser.add_argument("--format", choices=FORMATS, help="default: what the file's name tells")
    parser.add_argument("--loss", metavar="L", help="default: the algorithm's first")
    parser.add_argument("--intercept", action="store_true", help="add a constant feature outside the budget")
    parser.add_argument("--param", action="append", default=[], metavar="K=V", help="a parameter of the algorithm")
    parser.add_argument("--passes", type=counting_number, default=1, metavar="N", help="go over the data N times")
    parser.add_argument(
        "--shuffle", type=whole_number, metavar="SEED", help="a fresh order each pass; holds all decoded data in memory"
    )
    parser.add_argument("--output", choices=("json", "table"), default="json", help="default: json")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the learner's state there, as a snapshot")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Learn the file, print the selection."""
    spec = spec_of(args)
    check_place("--save", args.save)
    learner, tally = learnt(spec, args)
    if not tally.applied:
        raise BadFile(f"{args.file}: {why_nothing(tally)}")
    for line in tally.lines():
        note(f"sieve select: {one_line(line)}")
    result = _result(spec, learner, tally)
    say(as_json(result) if args.output == "json" else feature_table(result["features"]))
    if args.save is not None:
        save("--save", args.save, canonical(spec.algorithm, learner.chunks()))
    return 0


def spec_of(args: argparse.Namespace) -> Spec:
    """The selector that the arguments describe; a file needs no name and no topic. Raises BadSpec, BadArgument."""
    given: dict[str, Any] = {"loss": args.loss, "intercept": args.intercept}
    params: dict[str, float] = {}
    for text in args.param:
        name, value = _param(text)
        (given if name in TOP_LEVEL else params)[name] = value
    fixed = {"name": "select", "topic": "select", "algorithm": args.algorithm, "budget": args.budget}
    return Spec.parse({**fixed, **given, "params": params})


def _param(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise BadArgument(f"--param {text}: must be K=V")
    if name == "intercept":
        return name, FLAGS.get(value.lower(), value)
    if name == "loss":
        return name, value
    try:
        return name, float(value)
    except ValueError:
        raise BadArgument(f"--param {text}: {name} must be a number") from None


def learnt(spec: Spec, args: argparse.Namespace) -> tuple[SampleLearner, Tally]:
    """The learner after all passes, and the accounts."""
    hash_key = REPEATABLE_KEY if spec.entry.keyed else secrets.token_bytes(16)
    learner = make_learner(spec, hash_key, shared=False)
    decoder = Decoder(spec.format, spec.labels, spec.all_limits(), hash_key)
    tally = Tally()
    rereadable = args.file != "-" and Path(args.file).is_file()
    with progress_bar(args.file) as bar:
        walks = passes(lambda: read_batches(args.file, args.format, decoder), args.passes, args.shuffle, rereadable)
        for number, walk in enumerate(walks, 1):
            for decoded in walk:
                before = tally.records
                tally.count(decoded, learner.learn(decoded.batch))
                bar.advance(tally.records - before)
            bar.expect(tally.records // number * args.passes)
    return learner, tally


def _result(spec: Spec, learner: SampleLearner, tally: Tally) -> dict[str, Any]:
    selection, progress = learner.selection(), learner.progress()
    ranked = zip(selection.names, selection.weights.tolist(), selection.scores.tolist(), strict=True)
    classes = [{}] * len(selection.names) if selection.classes is None else [{"classes": c} for c in selection.classes]
    return {
        "algorithm": spec.algorithm,
        "applied": tally.applied,
        "rejected": tally.rejected,
        "samples": progress.samples,
        **({} if selection.nonzero is None else {"nonzero": selection.nonzero}),
        "progressive": {"accuracy": progress.accuracy, "loss": progress.loss, "auc": progress.auc},
        "features": [
            {"rank": rank, "feature": name, "weight": weight, "score": score, **classes[rank - 1]}
            for rank, (name, weight, score) in enumerate(ranked, 1)
        ],
    }


def why_nothing(tally: Tally) -> str:
    """Why no record of a file was applied."""
    if not tally.rejected:
        return "it holds no samples"
    return f"no sample could be used, {tally.rejected} rejected; {tally.lines()[0]}"
