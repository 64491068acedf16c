"""The seam between learners and everybody else.

A learner's state leaves it only as *chunks*: small named byte strings whose union is the whole state,
in canonical form (rows in first-seen order; no table or heap layout, no hash key). The store keeps
chunks, peers exchange them, a snapshot is all of them; nobody outside the learner looks inside.
"""

from collections.abc import Mapping
from typing import Protocol

from streamsieve.batch import Batch
from streamsieve.selection import Outcome, Progress, Selection

Chunks = dict[str, bytes]


class SampleLearner(Protocol):
    """Learns from samples as they arrive, in the order they arrive; batches may be cut anywhere between records."""

    def learn(self, batch: Batch) -> Outcome:
        """Predict, then learn, each sample in turn. A record is learnt whole or not at all."""

    def selection(self) -> Selection:
        """The features kept now, from this shard plus its peers as last heard."""

    def progress(self) -> Progress:
        """Progressive metrics of this shard alone."""

    def chunks(self) -> Chunks:
        """The whole state of this shard."""

    def changes(self) -> Chunks:
        """The chunks that changed since `settled` was last called (or since the start)."""

    def settled(self) -> None:
        """What `changes` gave is safe in the store."""

    def restore(self, chunks: Mapping[str, bytes]) -> None:
        """Become the shard that gave these chunks (a fresh learner only). Raises CorruptState."""

    def hear(self, peer: int, chunks: Mapping[str, bytes], whole: bool) -> None:
        """Take a peer's committed chunks: the changed ones, or all of them if `whole` (what it said before is void)."""

    def dirty_bytes(self) -> int:
        """About how many bytes `changes` would give, so that a commit's size can be bounded."""
