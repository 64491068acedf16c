"""SOFS as it is written down."""

import numpy as np

from tests.twins.kept import NaiveKept


class NaiveSofs(NaiveKept):
    """w is mu."""

    def __init__(self, budget, loss="hinge", intercept=False, gamma=10.0):
        super().__init__(budget, loss, intercept)
        self.gamma = gamma
        self.S = np.ones(1)

    def grow(self, more):
        super().grow(more)
        self.S = np.append(self.S, np.ones(more))

    def step(self, y, x, p, weight):
        if y * p < 1:
            beta = 1 / (np.sum(self.S * x * x) + self.gamma)
            self.w = self.w + weight * (1 - y * p) * beta * y * self.S * x
            there = x != 0
            self.S[there] = 1 / (1 / self.S[there] + x[there] ** 2 / self.gamma)
            self.truncate(-self.S)

    def score(self):
        return 1 / self.S
