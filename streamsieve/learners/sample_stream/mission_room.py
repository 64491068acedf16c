"""Room that MISSION's kernel works in: a log to undo a record by, and scratch arrays for one sample."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import Batch
from streamsieve.kernels.active_set import Moves
from streamsieve.kernels.mission import Log, Scratch
from streamsieve.kernels.sketch import Writes
from streamsieve.learners.sample_stream.row_learner import widest


def new_log(batch: Batch, classes: int, depth: int, pieces: int) -> Log:
    """A log for records of one sample; longer ones ask for more."""
    entries, samples = widest(batch.samples), widest(batch.records)
    return _empty(entries * depth * classes, entries, samples, classes, pieces * classes)


def longer_log(log: Log, entries: int, classes: int, depth: int, pieces: int) -> Log:
    """The same with room for a sample of so many entries more; at least twice as long, so that growing is rare."""
    writes = max(int(log.writes.sizes[0]) + entries * depth * classes, 2 * len(log.writes.cells))
    moves = max(int(log.moves.sizes[0]) + entries, 2 * len(log.moves.members))
    longer = _empty(writes, moves, len(log.bins), classes, pieces * classes)
    for old, new in zip(_arrays(log), _arrays(longer), strict=True):
        new[tuple(slice(length) for length in old.shape)] = old
    return longer


def new_scratch(batch: Batch, classes: int, depth: int) -> Scratch:
    """Room for the widest sample."""
    entries = widest(batch.samples)
    return Scratch(
        found=np.zeros(entries, np.int64),
        spots=np.zeros(entries * depth, np.int64),
        margins=np.zeros(classes),
        steps=np.zeros(classes),
        answers=np.zeros(classes),
        votes=np.zeros(depth),
    )


def _empty(writes: int, moves: int, samples: int, classes: int, pieces: int) -> Log:
    return Log(
        Writes(
            cells=np.zeros(writes, np.int64),
            values=np.zeros(writes, np.float32),
            pieces=np.zeros(pieces, np.int32),
            states=np.zeros(pieces, np.uint8),
            sizes=np.zeros(2, np.int64),
        ),
        Moves(
            members=np.zeros(moves, np.int32),
            hashes=np.zeros(moves, np.uint64),
            weights=np.zeros((moves, classes)),
            entries=np.zeros(moves, np.int64),
            starts=np.zeros(moves, np.int64),
            lengths=np.zeros(moves, np.int32),
            sizes=np.zeros(4, np.int64),
        ),
        bins=np.zeros(samples, np.int64),
        counts=np.zeros(3, np.int64),
        losses=np.zeros(1),
        intercepts=np.zeros(classes),
        samples=np.zeros(1, np.int64),
    )


def _arrays(log: Log) -> tuple[NDArray[Any], ...]:
    return (*log.writes, *log.moves, log.bins, log.counts, log.losses, log.intercepts, log.samples)
