"""Throughput of the learning kernels: 50,000 samples of 69 features, about 50,000 names, budget 500."""

import time

import numpy as np

from streamsieve.batch import F64, Batch
from streamsieve.kernels.hashing import hash_names, key_words
from streamsieve.learners.sample_stream.b_arda import BArda
from streamsieve.spec import Spec

KEY = bytes(range(16))
SAMPLES, FEATURES, NAMES, BUDGET = 50_000, 69, 50_000, 500


def sparse_batch(seed: int, samples: int = SAMPLES, features: int = FEATURES, names: int = NAMES) -> Batch:
    """Names drawn by a power law, as words are; labels from a sparse true weight vector, with noise."""
    random = np.random.default_rng(seed)
    reach = np.cumsum(1.0 / (np.arange(names) + 10.0))
    ids = np.concatenate([_distinct(random, reach / reach[-1], features) for _ in range(samples)])
    truth = random.normal(size=names) * (random.random(names) < 0.05)
    values = random.choice([1.0, 1.0, 2.0, 0.5], size=len(ids))
    margins = (truth[ids] * values).reshape(samples, features).sum(axis=1)
    return _as_batch(ids, values, np.where(margins + 0.5 * random.normal(size=samples) > 0, 1.0, -1.0), features)


def _distinct(random: np.random.Generator, reach: F64, features: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    drawn = np.searchsorted(reach, random.random(4 * features))
    _, first = np.unique(drawn, return_index=True)
    return drawn[np.sort(first)][:features]


def _as_batch(ids: "np.ndarray[tuple[int], np.dtype[np.int64]]", values: F64, labels: F64, features: int) -> Batch:
    texts = [f"w{number}".encode() for number in range(int(ids.max()) + 1)]
    lengths = np.array([len(text) for text in texts], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    text = np.frombuffer(b"".join(texts), np.uint8).copy()
    hashes = hash_names(text, starts, lengths, key_words(KEY))
    return Batch(
        records=np.arange(len(labels) + 1),
        samples=np.arange(len(labels) + 1) * features,
        hashes=hashes[ids],
        values=values,
        labels=labels,
        weights=np.ones(len(labels)),
        text=text,
        name_starts=starts[ids],
        name_lengths=lengths[ids],
    )


def measure(batch: Batch, shrinkage: float, loss: str) -> None:
    """Learn the batch four times over, each with a fresh learner, and print the best."""
    params = {"lambda": shrinkage}
    spec = Spec.parse(
        {"name": "bench", "algorithm": "b-arda", "budget": BUDGET, "topic": "t", "loss": loss, "params": params}
    )
    seconds, learner = np.inf, BArda(spec, KEY)
    for _ in range(4):
        learner = BArda(spec, KEY)
        began = time.perf_counter()
        learner.learn(batch)
        seconds = min(seconds, time.perf_counter() - began)
    progress = learner.progress()
    print(
        f"b-arda {loss:14} lambda {shrinkage:<6g} {batch.sample_count / seconds:12,.0f} samples/s "
        f"{len(batch.values) / seconds / 1e6:7.1f} million values/s   "
        f"names {len(np.unique(batch.hashes)):,}  rebuilds {learner.rebuilds}  accuracy {progress.accuracy:.3f}"
    )


def main() -> None:
    batch = sparse_batch(seed=1)
    for loss in ("squared_hinge", "logistic"):
        for shrinkage in (0.0, 1e-3, 1e-1):
            measure(batch, shrinkage, loss)


if __name__ == "__main__":
    main()
