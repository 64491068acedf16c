"""B-AMD as it is written down."""

import numpy as np

from tests.twins.kept import NaiveKept, slope


class NaiveBAmd(NaiveKept):
    def __init__(self, budget, loss, intercept=False, eta=0.5, delta=0.01, lam=0.0):
        super().__init__(budget, loss, intercept)
        self.eta, self.delta, self.lam = eta, delta, lam
        self.s2 = np.zeros(1)

    def grow(self, more):
        super().grow(more)
        self.s2 = np.append(self.s2, np.zeros(more))

    def step(self, y, x, p, weight):
        g = weight * slope(self.loss, y, p) * x + self.lam * self.w
        self.s2 += g * g
        self.w = self.w - self.eta * g / (self.delta + np.sqrt(self.s2))
        self.truncate(self.score())

    def score(self):
        return (self.delta + np.sqrt(self.s2)) * np.abs(self.w)
