"""Algorithms and budgets over the same samples: each run learns them anew and is measured alike."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from streamsieve.batch import Batch
from streamsieve.learners.making import make_learner
from streamsieve.prediction import Quality, quality_of
from streamsieve.selection import Progress
from streamsieve.spec import Spec
from tools.progress import Bar
from tools.shuffling import RECORDS_A_BATCH, taken


class Course(NamedTuple):
    """What every run goes through; `shuffle` is the seed of a fresh order each pass."""

    train: Batch
    test: Batch | None
    hash_key: bytes
    passes: int
    shuffle: int | None


class Run(NamedTuple):
    """One algorithm with one budget, and how it did. `overflowed` records were refused while learning."""

    spec: Spec
    selected: int
    overflowed: int
    progress: Progress
    test: Quality | None


def split(whole: Batch, share: float, seed: int) -> tuple[Batch, Batch]:
    """The records without a random share of them, and that share; both keep their order."""
    count = whole.record_count
    held_out = np.zeros(count, np.bool_)
    held_out[np.random.default_rng(seed).permutation(count)[: round(share * count)]] = True
    return taken(whole, np.flatnonzero(~held_out)), taken(whole, np.flatnonzero(held_out))


def run_one(spec: Spec, course: Course, bar: Bar) -> Run:
    """Learn the samples with a fresh learner, then predict those held out with what it selected."""
    learner, overflowed = make_learner(spec, course.hash_key), 0
    for batch in _batches(course):
        overflowed += len(learner.learn(batch).overflowed)
        bar.advance(batch.record_count)
    selection = learner.selection()
    binary = spec.labels == "binary"
    test = None if course.test is None else quality_of(course.test, selection, course.hash_key, spec.loss, binary)
    return Run(spec, len(selection.names), overflowed, learner.progress(), test)


def _batches(course: Course) -> Iterator[Batch]:
    random = None if course.shuffle is None else np.random.default_rng(course.shuffle)
    count = course.train.record_count
    for _ in range(course.passes):
        order = np.arange(count) if random is None else random.permutation(count)
        for start in range(0, count, RECORDS_A_BATCH):
            yield taken(course.train, order[start : start + RECORDS_A_BATCH])
