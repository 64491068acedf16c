"""Making learners from specs."""

import numpy as np

from streamsieve.batch import Batch
from streamsieve.kernels.hashing import hash_names, key_words
from streamsieve.learners.protocol import SampleLearner
from streamsieve.spec import Spec


def make_learner(spec: Spec, hash_key: bytes, shared: bool = False) -> SampleLearner:
    """A fresh learner for one shard; shared: it will hear its peers."""
    learner: SampleLearner = spec.entry.learner_class()(spec, hash_key, shared)
    return learner


def warm(spec: Spec) -> None:
    """Compile or load every kernel that this spec needs, so that no record waits for the compiler."""
    key = bytes(16)
    batch = _tiny_batch(key)
    if spec.labels == "class":
        ab = np.frombuffer(bytearray(b"ab"), np.uint8)
        batch = batch._replace(labels=np.maximum(batch.labels, 0.0), class_text=ab, class_ends=np.array([1, 2]))
    learner, peer = (make_learner(spec, key, shared=True) for _ in range(2))
    for one in (learner, peer):
        one.learn(batch)
    learner.hear(1, peer.changes(), whole=True)
    learner.selection()
    make_learner(spec, key).restore(learner.chunks())


def _tiny_batch(key: bytes) -> Batch:
    """Two records: one sample of two features, and two samples."""
    text = np.frombuffer(b"abababa", np.uint8).copy()
    starts, lengths = np.array([0, 1, 2, 3, 4]), np.ones(5, np.int32)
    return Batch(
        records=np.array([0, 1, 3]),
        samples=np.array([0, 2, 4, 5]),
        hashes=hash_names(text, starts, lengths, key_words(key)),
        values=np.ones(5),
        labels=np.array([1.0, -1.0, 1.0]),
        weights=np.ones(3),
        text=text,
        name_starts=starts,
        name_lengths=lengths,
    )
