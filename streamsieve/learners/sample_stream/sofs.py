"""SOFS: confidence-weighted learning that keeps the B features it is surest of (Wu et al.)."""

import math

import numpy as np

from streamsieve.batch import F64
from streamsieve.kernels.keeping import SOFS
from streamsieve.learners.sample_stream.kept_learner import KeptLearner, Ranking, basic_rule
from streamsieve.learners.sample_stream.merging import Heard
from streamsieve.spec import Spec


class Sofs(KeptLearner):
    """Rows are (mu, S): mean and variance of a weight; a feature never seen has S = 1. The B smallest S keep their mu.

    Merged: precisions 1 / S add up, a shard that knows no such name giving 1, and mu is their mean by precision.
    """

    second_bounds = (math.ulp(0.0), 1.0)  # S only shrinks, from 1 on, and never to 0

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        rule = basic_rule(SOFS, spec)._replace(confidence=spec.params["gamma"])
        super().__init__(rule, 2, spec, hash_key, shared)

    def rank(self, sums: F64) -> Ranking:
        """1 / S; the budget goes by S itself, which has fewer ties."""
        return Ranking(sums[:, 0], 1.0 / sums[:, 1], -sums[:, 1])

    def rank_merged(self, heard: Heard) -> Ranking:
        """The sum of the precisions."""
        total, pull = np.zeros(len(heard.order)), np.zeros(len(heard.order))
        for sums in heard.sums:
            precisions = 1.0 / np.where(sums[:, 1] > 0.0, sums[:, 1], 1.0)
            total += precisions
            pull += precisions * sums[:, 0]
        return Ranking(pull / total, total, total)
