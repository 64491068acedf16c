"""OFS: online gradient descent on the hinge loss, inside a ball, keeping the B largest weights (Wang et al.)."""

from streamsieve.batch import F64
from streamsieve.kernels.keeping import OFS
from streamsieve.learners.sample_stream.kept_learner import KeptLearner, Ranking, basic_rule, rank_by_size
from streamsieve.learners.sample_stream.merging import Heard
from streamsieve.spec import Spec


class Ofs(KeptLearner):
    """Rows are (w). On loss w = (1 - lambda eta) w + eta y x, then into the ball of radius 1 / sqrt(lambda).

    Without loss the shrinking alone. The B largest |w| stay. Merged: the sample-weighted mean.
    """

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        rule = basic_rule(OFS, spec)._replace(rate=spec.params["eta"], shrinkage=spec.params["lambda"])
        super().__init__(rule, 1, spec, hash_key, shared)

    def rank(self, sums: F64) -> Ranking:
        """|w|."""
        return rank_by_size(sums[:, 0])

    def rank_merged(self, heard: Heard) -> Ranking:
        """|mean w|."""
        return rank_by_size(heard.mean_weights())
