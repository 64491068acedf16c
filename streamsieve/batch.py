"""What decoders give and learners take: records of samples as nested CSR arrays over hashed names."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
F64 = NDArray[np.float64]


class Batch(NamedTuple):
    """Accepted records, in order.

    Record r holds samples ``records[r]:records[r + 1]``; sample i holds entries
    ``samples[i]:samples[i + 1]``. Within one sample each hash occurs once and its value is finite.
    Entry e is named by ``text[name_starts[e]:name_starts[e] + name_lengths[e]]`` (UTF-8), hashed in
    ``hashes[e]`` with the deployment's key; the text is looked at only when a hash is new.
    Labels of binary losses are -1.0 or +1.0; weights are finite and > 0. Class labels are numbers of the batch's own:
    class c is named ``class_text[class_ends[c - 1]:class_ends[c]]`` (UTF-8), and two numbers may have one name.
    """

    records: I64
    samples: I64
    hashes: U64
    values: F64
    labels: F64
    weights: F64
    text: U8
    name_starts: I64
    name_lengths: I32
    class_text: U8 = np.zeros(0, np.uint8)
    class_ends: I64 = np.zeros(0, np.int64)

    @property
    def record_count(self) -> int:
        """How many records."""
        return len(self.records) - 1

    @property
    def sample_count(self) -> int:
        """How many samples."""
        return len(self.samples) - 1


def class_names(batch: Batch) -> list[str]:
    """The names of the batch's classes, by their numbers in it."""
    text, ends = batch.class_text.tobytes(), batch.class_ends.tolist()
    return [text[begin:end].decode() for begin, end in zip([0, *ends[:-1]], ends, strict=False)]


class Reason(StrEnum):
    """Why a record was refused; the word that dead letters and metrics carry."""

    SYNTAX = "syntax"  # not of its format
    CONTENT_TYPE = "content-type"  # no decoder for its content type
    NULL = "null"  # no value at all
    LABEL = "label"  # no label, or one that the loss can't use
    NUMBER = "number"  # NaN, infinite, over the limit, a weight that isn't > 0
    NAME = "name"  # a feature name that is empty, too long or not UTF-8
    TOO_LARGE = "too-large"  # record bytes over the limit
    TOO_MANY = "too-many"  # features a sample or samples a record over the limit
    LENGTH = "length"  # names and numbers differ in count
    OVERFLOW = "overflow"  # learning it would make a sum infinite
    DEPTH = "depth"  # nested deeper than the limit


class Reject(NamedTuple):
    """One refused record: its place among those given, and why, in a word and in a sentence."""

    record: int
    reason: Reason
    detail: str


class Decoded(NamedTuple):
    """The accepted records as a batch, where each stood among those given, and the refused ones."""

    batch: Batch
    positions: I64
    rejects: list[Reject]
