"""MISSION as it is written down: dictionaries and float32 cells, every member looked at to find the worst."""

import math
from collections.abc import Mapping
from statistics import median

import numpy as np

from tests.twins.siphash import WORD, siphash13


def splitmix64(seed: int, row: int) -> int:
    number = (seed + (row + 1) * 0x9E3779B97F4A7C15) & WORD
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & WORD
    return number ^ (number >> 31)


class NaiveMission:
    def __init__(self, budget, eta, key, decay=0.0, width=2**18, depth=3, loss="logistic", intercept=False):
        self.budget, self.eta, self.key, self.decay = budget, eta, key, decay
        self.width, self.depth, self.loss, self.intercept = width, depth, loss, intercept
        self.t = 0
        self.classes: list[str | None] = [] if loss == "softmax" else [None]
        self.cells: dict[tuple[str | None, int, int], np.float32] = {}
        self.active: dict[str, dict[str | None, float]] = {}  # in order of entering
        self.bias: dict[str | None, float] = {}
        self.correct = 0
        self.hashes: dict[str, int] = {}

    def spots(self, name):
        hashed = self.hashes.setdefault(name, siphash13(self.key, name.encode()))
        for row in range(self.depth):
            mixed = splitmix64(hashed, row)
            yield row, mixed % self.width, -1.0 if mixed >> 63 else 1.0

    def margin(self, c, x):
        p = 0.0
        for name, value in x.items():
            if name in self.active:
                p += self.active[name].get(c, 0.0) * value
        return p + self.bias.get(c, 0.0)

    def learn(self, y, x: Mapping[str, float], weight: float = 1.0) -> float:
        if self.loss == "softmax":
            known = {c: self.margin(c, x) for c in self.classes}
            self.correct += bool(known) and max(known, key=lambda c: known[c]) == y
            if y not in self.classes:
                self.classes.append(y)
        p = {c: self.margin(c, x) for c in self.classes}
        self.t += 1
        scale = weight * self.eta
        if self.decay:
            scale /= math.pow(self.t, self.decay)
        steps = self.steps(y, p)
        for c in self.classes:
            for name, value in x.items():
                for row, at, sign in self.spots(name):
                    cell = float(self.cells.get((c, row, at), 0.0)) + sign * (scale * steps[c] * value)
                    self.cells[c, row, at] = np.float32(cell)
            if self.intercept:
                self.bias[c] = self.bias.get(c, 0.0) + scale * steps[c]
        for name in x:
            self.touch(name)
        return p[y] if self.loss == "softmax" else p[None]

    def steps(self, y, p):
        if self.loss == "softmax":
            highest = max(p.values())
            powers = {c: math.exp(margin - highest) for c, margin in p.items()}
            total = 0.0
            for power in powers.values():
                total += power
            return {c: (c == y) - power / total for c, power in powers.items()}
        if self.loss == "squared":
            return {None: 2 * (y - p[None])}
        if y * p[None] > 0:
            return {None: y * (math.exp(-y * p[None]) / (1 + math.exp(-y * p[None])))}
        return {None: y * (1 / (1 + math.exp(y * p[None])))}

    def query(self, name, c):
        return median(sign * float(self.cells.get((c, row, at), 0.0)) for row, at, sign in self.spots(name))

    def score(self, weights):
        return max((abs(weight) for weight in weights.values()), default=0.0)

    def touch(self, name):
        weights = {c: self.query(name, c) for c in self.classes}
        if name in self.active:
            self.active[name] = weights
        elif len(self.active) < self.budget:
            if self.score(weights) > 0:
                self.active[name] = weights
        else:
            smallest = min(self.score(kept) for kept in self.active.values())
            if self.score(weights) > 1.05 * smallest:
                latest = [kept for kept in self.active if self.score(self.active[kept]) == smallest][-1]
                del self.active[latest]
                self.active[name] = weights

    def selection(self):
        ranked = sorted(self.active.items(), key=lambda item: -self.score(item[1]))  # stable: earlier entry first
        return [(name, weights) for name, weights in ranked if self.score(weights) > 0]
