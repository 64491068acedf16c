"""OFS as it is written down."""

import numpy as np

from tests.twins.kept import NaiveKept


class NaiveOfs(NaiveKept):
    def __init__(self, budget, loss="hinge", intercept=False, eta=0.2, lam=0.001):
        super().__init__(budget, loss, intercept)
        self.eta, self.lam = eta, lam

    def step(self, y, x, p, weight):
        self.w = (1 - self.lam * self.eta) * self.w
        if y * p < 1:
            self.w = self.w + self.eta * weight * y * x
            if self.lam > 0:
                self.w = self.w * min(1.0, 1 / np.sqrt(self.lam) / max(np.linalg.norm(self.w), 1e-300))
            self.truncate(np.abs(self.w))
