"""MISSION on basehock: test accuracy after one pass and after five, over ten seeds (order of the rows, and hash key).

    SIEVE_DATA=<folder of data sets> python -m benchmarks.mission_basehock

Rows scaled to norm 1, eta 0.5, constant step, active set 16,384, sketch 3 x 2^18. Wanted: >= 91.5 % and >= 94.5 %.
"""

import os
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_matrix, diags

from benchmarks.matrix_batches import batch_of_rows
from streamsieve.batch import F64
from streamsieve.learners.sample_stream.mission import Mission
from streamsieve.spec import Spec

SEEDS = 10
PASSES = 5
SPEC = Spec.parse(
    {
        "name": "basehock", "algorithm": "mission", "budget": 16_384, "topic": "none", "loss": "logistic",
        "params": {"eta": 0.5, "decay": 0, "width": 2**18, "depth": 3},
    }
)  # fmt: skip


def main() -> None:
    folder = Path(os.environ["SIEVE_DATA"]) / "basehock"
    train = rows_of(loadmat(folder / "basehock.mat", mat_dtype=True)["data"])
    test = rows_of(loadmat(folder / "basehockTest.mat", mat_dtype=True)["testData"])
    accuracies = np.array([accuracies_of(seed, train, test) for seed in range(SEEDS)])
    for passes in range(1, PASSES + 1):
        found = 100 * accuracies[:, passes - 1]
        spread = f"{found.min():.2f} to {found.max():.2f}"
        print(f"{passes} passes: mean {found.mean():.2f} %, {spread}, standard deviation {found.std(ddof=1):.2f}")


def rows_of(data: object) -> tuple[csr_matrix, F64]:
    """Rows scaled to norm 1 and their labels, which are the last column."""
    table = csr_matrix(data)
    labels = table[:, -1].toarray().ravel()
    rows = csr_matrix(table[:, :-1])
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    scaled = csr_matrix(diags(1.0 / np.where(norms > 0, norms, 1.0)) @ rows)
    scaled.eliminate_zeros()
    return scaled, labels


def accuracies_of(seed: int, train: tuple[csr_matrix, F64], test: tuple[csr_matrix, F64]) -> list[float]:
    """Test accuracy after each pass, every pass in a fresh order."""
    random = np.random.default_rng(seed)
    key = random.bytes(16)
    learner = Mission(SPEC, key)
    found = []
    for _ in range(PASSES):
        order = random.permutation(len(train[1]))
        learner.learn(batch_of_rows(train[0][order], train[1][order], key))
        found.append(accuracy(learner, test))
    return found


def accuracy(learner: Mission, test: tuple[csr_matrix, F64]) -> float:
    """Of the served weights; +1 iff p > 0."""
    selection = learner.selection()
    weights = np.zeros(test[0].shape[1])
    weights[[int(name) for name in selection.names]] = selection.weights
    return float(np.mean((test[0] @ weights > 0) == (test[1] > 0)))


if __name__ == "__main__":
    main()
