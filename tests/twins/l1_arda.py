"""l1-ARDA as it is written down: dense, obvious, O(d) every round."""

import numpy as np

from tests.twins.b_arda import NaiveBArda


class NaiveL1Arda(NaiveBArda):
    """B-ARDA's sums; only the weights that follow from them differ. The intercept is not thresholded."""

    def __init__(self, budget, eta, delta, l1, **others):
        super().__init__(budget, eta, delta, 0.0, **others)
        self.l1 = l1

    def choose(self):
        super().choose()  # for the intercept
        H = self.delta + np.sqrt(self.s2)
        self.w = -np.sign(self.G) * (self.eta * self.t / H) * np.maximum(0, np.abs(self.G) / self.t - self.l1)
        self.score = np.abs(self.w)

    def selection(self):
        return super().selection()[: self.budget]
