"""MISSION over ten million distinct names: is memory flat, and are its heaviest the true heaviest?

    python -m benchmarks.mission_names [names in millions]

Each sample has 20 of 2,000 recurring names (a third of them telling) and 80 names that never come again. The exact twin
is an identity sketch: the same rounds with one cell a name. Memory is the resident set after each tenth of the stream,
taken before the twin runs. Wanted: flat after the first tenth, and top 100 >= 0.95 alike at width 2^18.
"""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from streamsieve.batch import F64, I64, Batch
from streamsieve.kernels.hashing import hash_names, key_words
from streamsieve.learners.sample_stream.mission import Mission
from streamsieve.spec import Spec

RECURRING, A_SAMPLE, ONCE = 2_000, 20, 80
SAMPLES_A_BATCH = 1_000
BUDGET, RATE, TOP = 1_000, 0.1, 100
KEY = b"a key for names!"
NAME = 12  # bytes: one letter, eleven digits
SPEC = Spec.parse(
    {
        "name": "names", "algorithm": "mission", "budget": BUDGET, "topic": "none", "loss": "logistic",
        "params": {"eta": RATE, "decay": 0, "width": 2**18, "depth": 3},
    }
)  # fmt: skip


def main() -> None:
    names = int(float(sys.argv[1] if len(sys.argv) > 1 else 10) * 1e6)
    batches = names // (ONCE * SAMPLES_A_BATCH)
    learner, told = Mission(SPEC, KEY), max(batches // 10, 1)
    for number, (columns, labels) in enumerate(stream(batches), 1):
        learner.learn(batch_of(columns, labels))
        if number % told == 0:
            print(f"{number * ONCE * SAMPLES_A_BATCH:>12,} names: {resident() / 2**20:7.1f} MiB resident")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.1f} MiB")
    print(f"state {sum(map(len, learner.chunks().values())) / 2**20:.2f} MiB; {learner.progress()}")
    served = [int(name[1:]) for name in learner.selection().names[:TOP]]
    exact = heaviest(batches)
    print(f"top {TOP} like the identity sketch's: {len(set(served) & set(exact[:TOP])) / TOP:.2f}")


def stream(batches: int) -> Iterator[tuple[I64, F64]]:
    """Columns (one row a sample) and labels; columns from RECURRING on come once."""
    random = np.random.default_rng(1)
    truth = random.normal(size=RECURRING) * (np.arange(RECURRING) % 3 == 0)
    once = RECURRING
    for _ in range(batches):
        common = random.integers(0, RECURRING, (SAMPLES_A_BATCH, A_SAMPLE))
        common = np.sort(common, axis=1)
        fresh = once + np.arange(SAMPLES_A_BATCH * ONCE).reshape(SAMPLES_A_BATCH, ONCE)
        once += SAMPLES_A_BATCH * ONCE
        margins = truth[common].sum(axis=1) + random.normal(size=SAMPLES_A_BATCH)
        yield np.concatenate([common, fresh], axis=1), np.where(margins > 0, 1.0, -1.0)


def is_first(columns: I64) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """A name that a sample drew twice counts once: equal ones are neighbours."""
    first = np.ones(columns.shape, np.bool_)
    first[:, 1:] = columns[:, 1:] != columns[:, :-1]
    return first


def batch_of(columns: I64, labels: F64) -> Batch:
    first = is_first(columns)
    flat = columns[first]
    digits = flat[:, None] // 10 ** np.arange(NAME - 2, -1, -1) % 10 + ord("0")
    text = np.concatenate([np.full((len(flat), 1), ord("f")), digits], axis=1).astype(np.uint8).ravel()
    starts, lengths = NAME * np.arange(len(flat)), np.full(len(flat), NAME, np.int32)
    return Batch(
        records=np.arange(len(labels) + 1),
        samples=np.concatenate([[0], np.cumsum(first.sum(axis=1))]),
        hashes=hash_names(text, starts, lengths, key_words(KEY)),
        values=np.ones(len(flat)),
        labels=labels,
        weights=np.ones(len(labels)),
        text=text,
        name_starts=starts,
        name_lengths=lengths,
    )


class Exact:
    """The identity sketch: one float32 cell a name; of a sample members are refreshed first, then outsiders enter."""

    def __init__(self, names: int) -> None:
        self.cells = np.zeros(names, np.float32)
        self.stored = np.zeros(names, np.float32)  # zero outside the active set
        self.active: I64 = np.zeros(0, np.int64)

    def learn(self, row: I64, y: float) -> None:
        """One round."""
        margin = float(self.stored[row].sum(dtype=np.float64))
        self.cells[row] += np.float32(RATE * y / (1.0 + np.exp(y * margin)))
        inside = self.stored[row] != 0
        self.stored[row[inside]] = self.cells[row[inside]]
        for column in row[~inside]:
            self._enter(column)

    def _enter(self, column: int) -> None:
        if len(self.active) < BUDGET:
            self.active = np.append(self.active, column)
        else:
            worst = np.abs(self.stored[self.active]).argmin()
            if abs(self.cells[column]) <= 1.05 * abs(self.stored[self.active[worst]]):
                return
            self.stored[self.active[worst]] = 0.0
            self.active[worst] = column
        self.stored[column] = self.cells[column]


def heaviest(batches: int) -> list[int]:
    """The identity sketch's active set, heaviest first."""
    exact = Exact(RECURRING + batches * ONCE * SAMPLES_A_BATCH)
    for columns, labels in stream(batches):
        for row, first, y in zip(columns, is_first(columns), labels, strict=True):
            exact.learn(row[first], float(y))
    order = np.argsort(-np.abs(exact.stored[exact.active]), kind="stable")
    return [int(column) for column in exact.active[order]]


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
