"""All shards of a model that is not a sum, side by side, to be merged when the served set is asked for."""

from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I64
from streamsieve.learners.sample_stream.peers import Peer, Peers
from streamsieve.learners.sample_stream.row_chunks import RowChunks
from streamsieve.learners.sample_stream.rows import Rows

LAST = np.iinfo(np.int64).max


class Heard(NamedTuple):
    """The shards that have learnt something, by row of the merge: numbers are zero where a shard knows no such name.

    `order` says which row was seen first: by shard, then by row in it, whenever it was that we heard of it.
    `constants` are the intercepts' numbers, a row each as in `sums`.
    """

    sums: list[F64]
    samples: list[float]
    order: I64
    constants: list[F64]

    def constant(self) -> "Heard":
        """The intercept as the only row."""
        return self._replace(sums=self.constants, order=np.zeros(1, np.int64))

    def mean_weights(self) -> F64:
        """The weights' mean over all samples: a shard counts as often as it has samples."""
        total = sum((count * sums[:, 0] for sums, count in zip(self.sums, self.samples, strict=True)), self._zeros())
        return total / sum(self.samples)

    def total(self, column: int) -> F64:
        """One column, added up over the shards."""
        return sum((sums[:, column] for sums in self.sums), self._zeros())

    def _zeros(self) -> F64:
        return np.zeros(len(self.order))


class Merging:
    """What was heard of each shard, in one table of names."""

    def __init__(self, width: int, hash_key: bytes, max_names: int) -> None:
        self._rows = Rows(width, hash_key, max_names, shared=True)
        self._peers = Peers(self._rows)

    def rows_known(self, peer: int) -> int:
        """How many rows a shard has named so far."""
        return self._peers.rows_known(peer)

    def forget(self, peer: int) -> None:
        """What this shard said is void."""
        self._peers.forget(peer)

    def hear(self, peer: int, decoded: RowChunks, scalars: F64) -> None:
        """Take what a shard says now."""
        self._peers.hear(peer, decoded, scalars)

    def names_of(self, rows: I64) -> list[str]:
        """The names of some rows."""
        return self._rows.names_of(rows)

    def heard(self) -> Heard | None:
        """All shards that have learnt something; None if there is none."""
        peers = [peer for peer in self._peers.each() if peer.scalars[0] > 0]
        if not peers:
            return None
        size = self._rows.size
        samples = [float(peer.scalars[0]) for peer in peers]
        constants = [peer.scalars[np.newaxis, 1:] for peer in peers]
        return Heard([peer.sums[:size] for peer in peers], samples, first_seen(peers, size), constants)


def first_seen(peers: list[Peer], size: int) -> I64:
    """By row: its place in the shards' rows, end to end."""
    order = np.full(size, LAST)
    end = sum(len(peer.places) for peer in peers)
    for peer in reversed(peers):
        end -= len(peer.places)
        known = np.flatnonzero(peer.places >= 0)
        order[peer.places[known]] = end + known
    return order
