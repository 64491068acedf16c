"""B-ARDA as it is written down: dense, obvious, O(d) every round."""

import math
from collections.abc import Mapping

import numpy as np


class NaiveBArda:
    def __init__(self, budget, eta, delta, lam, loss="squared_hinge", intercept=False, half_life=None):
        self.budget, self.eta, self.delta, self.lam = budget, eta, delta, lam
        self.loss, self.intercept = loss, intercept
        self.rho = 2 ** (-1 / half_life) if half_life else 1.0
        self.t = 0
        self.row: dict[str, int] = {}
        self.G = np.zeros(0)
        self.s2 = np.zeros(0)
        self.w = np.zeros(0)
        self.score = np.zeros(0)
        self.intercept_G = self.intercept_s2 = self.intercept_w = 0.0

    def learn(self, y: float, x: Mapping[str, float], weight: float = 1.0) -> float:
        for name in x:
            if name not in self.row:
                self.row[name] = len(self.row)
        grown = len(self.row) - len(self.G)
        self.G, self.s2, self.w = (np.append(old, np.zeros(grown)) for old in (self.G, self.s2, self.w))
        p = 0.0
        for name, value in x.items():
            p += self.w[self.row[name]] * value
        p += self.intercept_w
        slope = weight * slope_of(self.loss, y, p)
        self.t = self.rho * self.t + 1
        self.G *= self.rho
        self.s2 *= self.rho
        self.intercept_G *= self.rho
        self.intercept_s2 *= self.rho
        for name, value in x.items():
            g = slope * value
            self.G[self.row[name]] += g
            self.s2[self.row[name]] += g * g
        if self.intercept:
            self.intercept_G += slope
            self.intercept_s2 += slope * slope
        self.choose()
        return p

    def choose(self):
        H = self.delta + np.sqrt(self.s2)
        z = -self.eta * self.G / (self.lam * self.eta * self.t + H)
        self.score = H * z * z
        order = np.lexsort((np.arange(len(z)), -self.score))[: self.budget]
        self.w = np.zeros(len(z))
        self.w[order] = np.where(self.score[order] > 0, z[order], 0)
        if self.intercept:
            H = self.delta + math.sqrt(self.intercept_s2)
            self.intercept_w = -self.eta * self.intercept_G / (self.lam * self.eta * self.t + H)

    def selection(self) -> list[tuple[str, float, float]]:
        names = list(self.row)
        kept = [row for row in np.lexsort((np.arange(len(self.w)), -self.score)) if self.w[row] != 0]
        return [(names[row], float(self.w[row]), float(self.score[row])) for row in kept]


def slope_of(loss, y, p):
    if loss == "squared_hinge":
        return -2 * y * (1 - y * p) if y * p < 1 else 0.0
    if y * p > 0:
        return -y * (math.exp(-y * p) / (1 + math.exp(-y * p)))
    return -y * (1 / (1 + math.exp(y * p)))
