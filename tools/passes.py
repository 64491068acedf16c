"""A file read once or many times, in its order or in a fresh random one each pass."""

from collections.abc import Callable, Iterator

import numpy as np

from streamsieve.batch import Decoded
from tools.shuffling import joined, shuffled

Read = Callable[[], Iterator[Decoded]]


def passes(read: Read, count: int, seed: int | None, rereadable: bool) -> Iterator[Iterator[Decoded]]:
    """One walk over all records a pass; positions count through the whole file.

    With a seed every decoded record is held in memory, as it is if several passes go over what can't be read again.
    """
    if seed is not None:
        return _shuffled_passes(list(_numbered(read())), count, seed)
    if count > 1 and not rereadable:
        kept = list(_numbered(read()))
        return (iter(kept) for _ in range(count))
    return (_numbered(read()) for _ in range(count))


def _shuffled_passes(kept: list[Decoded], count: int, seed: int) -> Iterator[Iterator[Decoded]]:
    if not kept:
        return
    whole = joined(kept)
    kept.clear()  # or the records would be in memory twice
    random = np.random.default_rng(seed)
    for _ in range(count):
        yield shuffled(whole, random)


def _numbered(batches: Iterator[Decoded]) -> Iterator[Decoded]:
    before = 0
    for decoded in batches:
        rejects = [reject._replace(record=reject.record + before) for reject in decoded.rejects]
        yield Decoded(decoded.batch, decoded.positions + before, rejects)
        before += decoded.batch.record_count + len(rejects)
