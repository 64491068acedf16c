"""What the naive learners with at most B weights share: dense vectors, O(d) every round."""

import math
from collections.abc import Mapping

import numpy as np


def slope(loss, y, p):
    if loss == "squared":
        return 2 * (p - y)
    if loss == "hinge":
        return -y if y * p < 1 else 0.0
    if loss == "squared_hinge":
        return -2 * y * (1 - y * p) if y * p < 1 else 0.0
    if y * p > 0:
        return -y * (math.exp(-y * p) / (1 + math.exp(-y * p)))
    return -y * (1 / (1 + math.exp(y * p)))


class NaiveKept:
    """Slot 0 is the intercept, always there, in use only if asked for; feature row r is slot r + 1."""

    def __init__(self, budget, loss, intercept=False):
        self.budget, self.loss, self.intercept = budget, loss, intercept
        self.slot: dict[str, int] = {}
        self.t = 0
        self.w = np.zeros(1)

    def learn(self, y: float, x: Mapping[str, float], weight: float = 1.0) -> float:
        for name in x:
            self.slot.setdefault(name, len(self.slot) + 1)
        self.grow(len(self.slot) + 1 - len(self.w))
        dense = np.zeros(len(self.w))
        dense[0] = 1.0 if self.intercept else 0.0
        p = 0.0
        for name, value in x.items():
            dense[self.slot[name]] = value
            p += self.w[self.slot[name]] * value
        p += self.w[0]
        self.t += 1
        self.step(y, dense, p, weight)
        return p

    def grow(self, more):
        self.w = np.append(self.w, np.zeros(more))

    def step(self, y, x, p, weight):
        raise NotImplementedError

    def score(self):
        """What is served, and what the budget goes by unless `truncate` is told otherwise."""
        return np.abs(self.w)

    def best(self, score):
        """The budget's slots: larger score first, then lower row; never the intercept."""
        return np.lexsort((np.arange(len(score) - 1), -score[1:]))[: self.budget] + 1

    def truncate(self, score):
        mask = np.ones(len(self.w), bool)
        mask[0] = False
        mask[self.best(score)] = False
        self.w[mask] = 0.0

    def selection(self) -> list[tuple[str, float, float]]:
        names, score = ["", *self.slot], self.score()
        kept = [slot for slot in self.best(score) if self.w[slot] != 0]
        return [(names[slot], float(self.w[slot]), float(score[slot])) for slot in kept]
