"""What a learner says of the stream: the selected features, and how well it has predicted so far."""

from typing import NamedTuple

from streamsieve.batch import F64


class Selection(NamedTuple):
    """Selected features, best first: ties by larger score, then first seen. Weights are never zero.

    `nonzero` is how many weights the model has where the budget caps only what is served; else None.
    With several classes a weight is that of the class where it is largest in size, and `classes` gives all of them.
    `intercept` is the weight of the constant feature, which is outside the budget and not served; 0.0 without one, and
    with several classes, where there is one a class.
    """

    names: list[str]
    weights: F64
    scores: F64
    nonzero: int | None = None
    classes: list[dict[str, float]] | None = None
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
