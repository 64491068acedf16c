"""A learner in this process: no log, no store, one shard. What the estimator and the river adapter have in common."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamsieve.batch import I64, Batch
from streamsieve.decode.builder import Builder
from streamsieve.decode.refusal import Refusal
from streamsieve.decode.samples import Rules
from streamsieve.errors import BadSpec
from streamsieve.in_process.tables import LARGEST, NamedRow
from streamsieve.kernels.hashing import key_words
from streamsieve.learners.making import make_learner
from streamsieve.limits import Limits
from streamsieve.selection import Progress, Selection
from streamsieve.spec import Spec

# Nobody sends names into this process but its own program, so nothing here needs the secret of a deployment, and a
# fixed key gives sketches the same collisions in every run.
HASH_KEY = b"streamsieve-1-py"
# The limits of the wire are for strangers; what remains is what arithmetic and storage need.
LIMITS = Limits(max_features=2**31 - 1, max_name_bytes=65_535, max_value=LARGEST)


def spec_of(algorithm: str, budget: int, loss: str | None, params: Mapping[str, float] | None, intercept: bool) -> Spec:
    """The selector that these arguments describe. Raises ValueError that names the wrong one."""
    given = {
        "name": "in-process",
        "topic": "in-process",
        "algorithm": algorithm,
        "budget": _plain(budget),
        "loss": loss,
        "params": {name: _plain(value) for name, value in (params or {}).items()},
        "intercept": _plain(intercept),
    }
    try:
        spec = Spec.parse(given)
    except BadSpec as error:
        raise ValueError(str(error)) from None
    if spec.entry.kind != "sample":
        raise ValueError(f"algorithm: {algorithm} learns no samples but by {spec.entry.kind}")
    if spec.labels == "class":
        raise ValueError(f"loss: {spec.loss} is for streams; in this process there are two classes or numbers")
    return spec


def _plain(value: Any) -> Any:
    """numpy's numbers as Python's: grid searches hand those over."""
    return value.item() if isinstance(value, np.generic) else value


class Model:
    """A spec's learner, and what it selects now.

    It pickles and copies by the learner's chunks, as state leaves a learner everywhere else.
    """

    def __init__(self, spec: Spec, hash_key: bytes = HASH_KEY) -> None:
        self.spec = spec
        self.hash_key = hash_key
        self.rules = Rules(spec.labels, LIMITS)
        self._learner = make_learner(spec, hash_key)
        self._served: tuple[Selection, dict[str, float]] | None = None

    @property
    def real(self) -> bool:
        """Are its labels numbers, not two classes?"""
        return self.spec.labels == "real"

    def learn(self, batch: Batch, rows: Sequence[int] | I64) -> None:
        """Learn each sample in turn; `rows` says what the caller calls them.

        Raises ValueError if one would have made a sum infinite; those around it are learnt all the same.
        """
        self._served = None
        outcome = self._learner.learn(batch)
        if outcome.ignored_names:
            limit = self.spec.all_limits().max_names
            warnings.warn(f"{outcome.ignored_names} new names ignored: {limit} are known already", stacklevel=4)
        if outcome.overflowed:
            record, sentence = outcome.overflowed[0]
            count = len(outcome.overflowed)
            first = f"the first is row {rows[record]}: {sentence}"
            raise ValueError(f"{count} row(s) not learnt, {first}; scale the values, or take smaller steps")

    def named_batch(self, rows: Sequence[NamedRow], labels: Sequence[float | str], weights: Sequence[float]) -> Batch:
        """Samples with names of their own as a batch. Raises ValueError; nothing was learnt then."""
        builder = Builder(key_words(self.hash_key))
        for place, (row, label, weight) in enumerate(zip(rows, labels, weights, strict=True)):
            try:
                builder.add([self.rules.sample(row.names, row.values, label, weight)])
            except Refusal as refusal:
                raise ValueError(f"row {place}: {refusal.detail}") from None
        return builder.build()

    @property
    def selection(self) -> Selection:
        """The features selected now, best first."""
        return self._now()[0]

    @property
    def weights(self) -> dict[str, float]:
        """The selected features' weights by name."""
        return self._now()[1]

    def progress(self) -> Progress:
        """How well each sample was predicted before it was learnt."""
        return self._learner.progress()

    def _now(self) -> tuple[Selection, dict[str, float]]:
        if self._served is None:
            selection = self._learner.selection()
            self._served = selection, dict(zip(selection.names, selection.weights.tolist(), strict=True))
        return self._served

    def __getstate__(self) -> dict[str, Any]:
        return {"spec": self.spec, "hash_key": self.hash_key, "chunks": self._learner.chunks()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fresh = Model(state["spec"], state["hash_key"])
        fresh._learner.restore(state["chunks"])
        self.__dict__.update(fresh.__dict__)
