"""IHT and Batch-IHT as they are written down."""

import numpy as np

from tests.twins.kept import NaiveKept, slope


class NaiveIht(NaiveKept):
    def __init__(self, budget, loss, intercept=False, eta=0.01, batch=1):
        super().__init__(budget, loss, intercept)
        self.eta, self.batch = eta, batch

    def step(self, y, x, p, weight):
        self.w = self.w - self.eta * weight * slope(self.loss, y, p) * x
        if self.t % self.batch == 0:
            self.truncate(np.abs(self.w))
