"""Batches as plain Python values, so that tests can compare them at a glance."""

from typing import NamedTuple

from streamsieve.batch import Batch, Decoded, Reason
from streamsieve.decode.decoder import Decoder
from streamsieve.limits import Limits

KEY = bytes(range(16))


class Plain(NamedTuple):
    features: list[tuple[str, float]]
    label: float
    weight: float


def decoder(default_format: str, labels: str = "binary", **limits: float) -> Decoder:
    return Decoder(default_format, labels, Limits(**limits), KEY)


def name_of(batch: Batch, entry: int) -> str:
    start = batch.name_starts[entry]
    return batch.text[start : start + batch.name_lengths[entry]].tobytes().decode()


def plain_samples(batch: Batch) -> list[Plain]:
    assert len(batch.labels) == len(batch.weights) == batch.sample_count
    entries = [(name_of(batch, entry), float(value)) for entry, value in enumerate(batch.values)]
    bounds = zip(batch.samples[:-1], batch.samples[1:], batch.labels, batch.weights, strict=True)
    return [Plain(entries[begin:end], float(label), float(weight)) for begin, end, label, weight in bounds]


def plain_records(batch: Batch) -> list[list[Plain]]:
    samples = plain_samples(batch)
    return [samples[begin:end] for begin, end in zip(batch.records[:-1], batch.records[1:], strict=True)]


def only_sample(decoded: Decoded) -> Plain:
    assert decoded.rejects == []
    (sample,) = plain_samples(decoded.batch)
    return sample


def only_reject(decoded: Decoded) -> tuple[Reason, str]:
    assert decoded.batch.record_count == decoded.batch.sample_count == len(decoded.batch.values) == 0
    (reject,) = decoded.rejects
    assert reject.record == 0
    return reject.reason, reject.detail
