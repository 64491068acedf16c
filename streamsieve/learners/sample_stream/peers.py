"""What a shard has heard of its peers: their sums as last committed, added up.

Each peer's sums are kept as they were said, so that their total is a function of what was heard last and no rounding
piles up over exchanges.
"""

from dataclasses import dataclass, field

import numpy as np

from streamsieve.batch import F64, I32, I64
from streamsieve.errors import CorruptState
from streamsieve.kernels.hearing import absorb
from streamsieve.learners.sample_stream.row_chunks import CHUNK_ROWS, NameChunk, RowChunks
from streamsieve.learners.sample_stream.rows import Rows, at_least


@dataclass
class Peer:
    """One peer: where its rows lie in our table (-1: ignored), and its sums there."""

    sums: F64
    places: I32 = field(default_factory=lambda: np.zeros(0, np.int32))
    scalars: F64 = field(default_factory=lambda: np.zeros(3))  # samples, the intercept's two sums


class Peers:
    """All peers of a shard."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._peers: dict[int, Peer] = {}
        self._changed = np.zeros(0, np.uint8)  # by row: the total is out of date

    def scalars(self) -> F64:
        """Samples and the intercept's sums, of all peers, in order of their numbers."""
        total = np.zeros(3)
        for number in sorted(self._peers):
            total += self._peers[number].scalars
        return total

    def each(self) -> list[Peer]:
        """Every peer, in order of their numbers, with room for all our rows."""
        for peer in self._peers.values():
            peer.sums = at_least(peer.sums, self._rows.capacity)
        return [self._peers[number] for number in sorted(self._peers)]

    def rows_known(self, number: int) -> int:
        """How many rows a peer has named so far."""
        return len(self._peers[number].places) if number in self._peers else 0

    def forget(self, number: int) -> None:
        """What this peer said is void."""
        peer = self._peers.pop(number, None)
        if peer is not None:
            self._make_room()
            self._changed[peer.places[peer.places >= 0]] = 1

    def hear(self, number: int, decoded: RowChunks, scalars: F64) -> None:
        """Take what a peer says now; checked by `check_heard` before."""
        peer = self._peers.setdefault(number, Peer(np.zeros((0, self._rows.width))))
        peer.scalars = scalars
        for chunk in sorted(decoded.names):
            self._meet(peer, chunk * CHUNK_ROWS, decoded.names[chunk])
        self._make_room()
        peer.sums = at_least(peer.sums, self._rows.capacity)
        for chunk, sums in decoded.sums.items():
            absorb(sums, peer.places[chunk * CHUNK_ROWS : chunk * CHUNK_ROWS + len(sums)], peer.sums, self._changed)

    def refresh(self) -> I64:
        """Bring the totals of changed rows up to date; which rows those are."""
        rows = np.flatnonzero(self._changed)
        total = np.zeros((len(rows), self._rows.width))
        for peer in self.each():
            total += peer.sums[rows]
        self._rows.shard.others[rows] = total
        self._changed[rows] = 0
        return rows

    def _meet(self, peer: Peer, first: int, names: NameChunk) -> None:
        """Find our rows for the names that are new; a peer's rows never change their names."""
        known = max(len(peer.places) - first, 0)
        rest = NameChunk(names.text, names.starts[known:], names.lengths[known:])
        peer.places = np.concatenate([peer.places, self._rows.know(rest)])

    def _make_room(self) -> None:
        self._changed = at_least(self._changed, self._rows.capacity)


def check_heard(decoded: RowChunks, known: int, rows: int) -> None:
    """A peer's rows must be named without gaps before or as their sums come. Raises CorruptState."""
    named = known
    for chunk in sorted(decoded.names):
        if chunk * CHUNK_ROWS > named:
            raise CorruptState(f"a peer's names are missing before chunk {chunk}")
        named = max(named, chunk * CHUNK_ROWS + len(decoded.names[chunk].starts))
    if named != rows:
        raise CorruptState(f"a peer has {rows} rows but named {named}")
