"""IHT: gradient descent that keeps the B largest weights after each sample, or after each batch of samples."""

from streamsieve.batch import F64
from streamsieve.kernels.keeping import IHT
from streamsieve.learners.sample_stream.kept_learner import KeptLearner, Ranking, basic_rule, rank_by_size
from streamsieve.learners.sample_stream.merging import Heard
from streamsieve.spec import Spec


class Iht(KeptLearner):
    """Rows are (w). w -= eta g; when the number of samples is a multiple of `batch`, only the B largest |w| stay.

    Between two prunings every weight is used and stored; served are the B largest. Merged: the sample-weighted mean.
    """

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        rule = basic_rule(IHT, spec)._replace(rate=spec.params["eta"], batch=int(spec.params["batch"]))
        super().__init__(rule, 1, spec, hash_key, shared)

    def rank(self, sums: F64) -> Ranking:
        """|w|."""
        return rank_by_size(sums[:, 0])

    def rank_merged(self, heard: Heard) -> Ranking:
        """|mean w|."""
        return rank_by_size(heard.mean_weights())
