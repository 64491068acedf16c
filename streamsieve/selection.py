"""What a learner says of the stream: the selected features, and how well it has predicted so far."""

from typing import NamedTuple

from streamsieve.batch import F64


class Selection(NamedTuple):
    """Selected features, best first: ties by larger score, then first seen. Weights are never zero.

    `intercept` is the weight of the constant feature, which is outside the budget and not served.
    """

    names: list[str]
    weights: F64
    scores: F64
    intercept: float = 0.0


class Progress(NamedTuple):
    """Progressive validation: each sample was predicted before it was learnt. None before the first."""

    samples: int
    accuracy: float | None
    loss: float | None
    auc: float | None


class Outcome(NamedTuple):
    """What came of one batch: records refused while learning (as record index, sentence), names ignored."""

    overflowed: list[tuple[int, str]]
    ignored_names: int
