"""B-AMD: adaptive mirror descent that keeps the B best features (Zhai et al., algorithm 2)."""

import numpy as np

from streamsieve.batch import F64
from streamsieve.kernels.keeping import B_AMD
from streamsieve.learners.sample_stream.kept_learner import KeptLearner, Ranking, basic_rule
from streamsieve.learners.sample_stream.merging import Heard
from streamsieve.spec import Spec


class BAmd(KeptLearner):
    """Rows are (w, s2): g = loss gradient + lambda w, H = delta + sqrt(s2), z = w - eta g / H; the largest H |z| stay.

    Merged: the sample-weighted mean of w; s2 adds up, as it would in one shard, and gives the H that ranks the means.
    """

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        rate, delta, shrinkage = (spec.params[name] for name in ("eta", "delta", "lambda"))
        rule = basic_rule(B_AMD, spec)._replace(rate=rate, delta=delta, shrinkage=shrinkage)
        super().__init__(rule, 2, spec, hash_key, shared)

    def rank(self, sums: F64) -> Ranking:
        """H |z|, by the same operations as the kernel's."""
        return self._ranked(sums[:, 0], sums[:, 1])

    def rank_merged(self, heard: Heard) -> Ranking:
        """H of all gradients seen anywhere, times the mean weight."""
        return self._ranked(heard.mean_weights(), heard.total(1))

    def _ranked(self, weights: F64, squares: F64) -> Ranking:
        scores = (self._rule.delta + np.sqrt(squares)) * np.abs(weights)
        return Ranking(weights, scores, scores)
