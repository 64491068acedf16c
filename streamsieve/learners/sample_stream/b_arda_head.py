"""The `head` chunk of B-ARDA: what is not by row, in a fixed layout."""

import struct

import numpy as np

from streamsieve.errors import CorruptState
from streamsieve.kernels.dual_averaging import CORRECT, LOSS, SAMPLES, SQUARE, Head
from streamsieve.kernels.progress import BINS, area_under_curve
from streamsieve.selection import Progress

VERSION = 1
# version, t, own rows, ignored names, correct predictions, sum of losses, intercept's sums; then the two histograms
LAYOUT = struct.Struct("<q4q3d")
HISTOGRAM_BYTES = 2 * BINS * 8


def new_head() -> Head:
    """Nothing seen, nothing heard."""
    return Head(np.zeros(4, np.int64), np.zeros(3), np.zeros((2, BINS), np.int64), np.zeros(3))


def encode_head(head: Head) -> bytes:
    """The bytes of a head, without what was heard."""
    fixed = LAYOUT.pack(VERSION, *(int(count) for count in head.counts), *(float(number) for number in head.floats))
    return fixed + head.histogram.astype("<i8").tobytes()


def decode_head(data: bytes) -> Head:
    """A head from its bytes. Raises CorruptState."""
    if len(data) != LAYOUT.size + HISTOGRAM_BYTES:
        raise CorruptState(f"chunk head has {len(data)} bytes, not {LAYOUT.size + HISTOGRAM_BYTES}")
    version, *numbers = LAYOUT.unpack_from(data)
    if version != VERSION:
        raise CorruptState(f"chunk head is of version {version}; this program reads version {VERSION}")
    head = new_head()
    head.counts[:] = numbers[:4]
    head.floats[:] = numbers[4:]
    head.histogram[:] = np.frombuffer(data, "<i8", offset=LAYOUT.size).reshape(2, BINS)
    _check(head)
    return head


def progress_of(head: Head) -> Progress:
    """Progressive metrics of this shard alone."""
    samples = int(head.counts[SAMPLES])
    if samples == 0:
        return Progress(0, None, None, None)
    accuracy, loss = int(head.counts[CORRECT]) / samples, float(head.floats[LOSS]) / samples
    return Progress(samples, accuracy, loss, area_under_curve(head.histogram))


def _check(head: Head) -> None:
    if (head.counts < 0).any() or (head.histogram < 0).any() or head.histogram.sum() != head.counts[SAMPLES]:
        raise CorruptState("chunk head counts what can't be")
    if head.counts[CORRECT] > head.counts[SAMPLES] or not np.isfinite(head.floats).all() or head.floats[SQUARE] < 0:
        raise CorruptState("chunk head holds sums that can't be")
