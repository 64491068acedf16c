"""A selector with river's verbs: one sample at a time, as a dict. river need not be installed.

river's pipelines and metrics ask what a model is. Tell them once, whichever is meant: where it predicts,
``river.base.Classifier.register(RiverSieve)``; where it feeds the next step,
``river.base.SupervisedTransformer.register(RiverSieve)``.
"""

import inspect
import math
from collections.abc import Mapping
from typing import Any

from streamsieve.in_process.model import Model, spec_of
from streamsieve.in_process.tables import NamedRow, named_row
from streamsieve.selection import Progress

NEGATIVE, POSITIVE = (False, 0, -1), (True, 1)


class RiverSieve:
    """Keeps the `budget` features that tell most, and predicts with those alone.

    algorithm, loss, params and intercept are as in `streamsieve.estimator.FeatureSieve`. Labels are True and False (1
    and 0 or -1 count as such), or numbers with the loss `squared`. A text as a value is the feature `name=text`.

    >>> sieve = RiverSieve(budget=1, loss="logistic")
    >>> for words, spam in [({"free": 1, "hi": 1}, True), ({"hi": 1}, False)] * 20:
    ...     sieve.learn_one(words, spam)
    >>> sieve.selected, sieve.predict_one({"free": 1, "now": 1}), sieve.transform_one({"free": 2, "hi": 1})
    (['free'], True, {'free': 2.0})
    """

    _supervised = True  # how river's pipelines learn that `learn_one` wants y

    def __init__(
        self,
        algorithm: str = "b-arda",
        budget: int = 100,
        loss: str | None = None,
        params: Mapping[str, float] | None = None,
        intercept: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self.budget = budget
        self.loss = loss
        self.params = params
        self.intercept = intercept
        self._model = Model(spec_of(algorithm, budget, loss, params, intercept))

    def learn_one(self, x: Mapping[str, Any], y: Any, w: float = 1.0) -> None:
        """Learn one sample; w is its weight. Raises ValueError or TypeError, and has learnt nothing then."""
        label = self._model.rules.label(float(y)) if self._model.real else _signed(y)
        if not 0 < w < math.inf:
            raise ValueError(f"w: must be a number > 0, not {w!r}")
        self._model.learn(self._model.named_batch([named_row(x, 0)], [label], [float(w)]), [0])

    def predict_one(self, x: Mapping[str, Any]) -> bool | float:
        """True where the margin is > 0; with the loss `squared` a number."""
        margin = self._margin(named_row(x, 0))
        return margin if self._model.real else margin > 0

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[bool, float]:
        """The probability of each label; the loss `logistic` alone gives it."""
        if self._model.spec.loss != "logistic":
            raise NotImplementedError(f"the loss {self._model.spec.loss} gives no probabilities; logistic does")
        margin = self._margin(named_row(x, 0))
        small = math.exp(-abs(margin))  # only exponents <= 0, so that nothing overflows
        positive = (1.0 if margin > 0 else small) / (1.0 + small)
        return {False: 1.0 - positive, True: positive}

    def transform_one(self, x: Mapping[str, Any]) -> dict[str, float]:
        """The sample with its selected features alone."""
        weights = self._model.weights
        return {name: value for name, value in zip(*named_row(x, 0), strict=True) if name in weights}

    @property
    def selected(self) -> list[str]:
        """The selected features, best first."""
        return self._model.selection.names

    @property
    def weights(self) -> dict[str, float]:
        """Their weights."""
        return dict(self._model.weights)

    @property
    def progress(self) -> Progress:
        """How well each sample was predicted before it was learnt."""
        return self._model.progress()

    def clone(self, new_params: Mapping[str, Any] | None = None) -> "RiverSieve":
        """A fresh one with the same arguments, or with these."""
        given = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        return type(self)(**{**given, **(new_params or {})})

    def _margin(self, row: NamedRow) -> float:
        weights = self._model.weights
        total = sum(weights.get(name, 0.0) * value for name, value in zip(*row, strict=True))
        return total + self._model.selection.intercept


def _signed(y: Any) -> float:
    if y not in (*NEGATIVE, *POSITIVE):
        raise ValueError(f"y: must be True or False, or one of -1, 0, 1, not {y!r}")
    return 1.0 if y in POSITIVE else -1.0
