"""Ada-Fobos as it is written down: every weight is thresholded in every round."""

from collections.abc import Mapping

import numpy as np

from tests.twins.b_arda import slope_of


class NaiveAdaFobos:
    def __init__(self, budget, eta, delta, l1, loss="squared_hinge", intercept=False):
        self.budget, self.eta, self.delta, self.l1 = budget, eta, delta, l1
        self.loss, self.intercept = loss, intercept
        self.row: dict[str, int] = {}
        self.w = np.zeros(0)
        self.s2 = np.zeros(0)
        self.intercept_w = self.intercept_s2 = 0.0

    def learn(self, y: float, x: Mapping[str, float], weight: float = 1.0) -> float:
        for name in x:
            self.row.setdefault(name, len(self.row))
        grown = len(self.row) - len(self.w)
        self.w, self.s2 = (np.append(old, np.zeros(grown)) for old in (self.w, self.s2))
        p = sum(self.w[self.row[name]] * value for name, value in x.items()) + self.intercept_w
        slope = weight * slope_of(self.loss, y, p)
        g = np.zeros(len(self.w))
        for name, value in x.items():
            g[self.row[name]] = slope * value
        self.s2 += g * g
        H = self.delta + np.sqrt(self.s2)
        z = self.w - self.eta * g / H
        self.w = np.sign(z) * np.maximum(0, np.abs(z) - self.l1 * self.eta / H)
        if self.intercept:
            self.intercept_s2 += slope * slope
            self.intercept_w -= self.eta * slope / (self.delta + np.sqrt(self.intercept_s2))
        return float(p)

    def selection(self) -> list[tuple[str, float, float]]:
        names, order = list(self.row), np.lexsort((np.arange(len(self.w)), -np.abs(self.w)))[: self.budget]
        return [(names[row], float(self.w[row]), float(abs(self.w[row]))) for row in order if self.w[row] != 0]
