"""Streams, specs and batches for tests of MISSION; labels may be names of classes."""

import numpy as np

from streamsieve.batch import Batch
from streamsieve.checks.streams import KEY, Sample, Stream, random_stream
from streamsieve.checks.streams import batch_of as batch_of_numbers
from streamsieve.learners.sample_stream.mission import Mission
from streamsieve.spec import Spec

COLOURS = ["red", "grün", "7", "blue"]


def spec_of(loss="logistic", budget=10, intercept=True, limits=None, **params) -> Spec:
    fixed = {"name": "m", "algorithm": "mission", "topic": "t", "limits": limits or {}}
    return Spec.parse({**fixed, "loss": loss, "budget": budget, "intercept": intercept, "params": params})


def stream_of(loss: str, seed: int, records: int) -> Stream:
    stream = random_stream(seed, records)
    if loss == "squared":
        return [[sample._replace(y=sample.y * (1 + len(sample.x) % 3)) for sample in record] for record in stream]
    if loss == "softmax":
        return [[sample._replace(y=colour_of(sample)) for sample in record] for record in stream]
    return stream


def colour_of(sample: Sample) -> str:
    return COLOURS[2 * (sample.y > 0) + len(sample.x) % 2]


def batch_of(records: Stream, key: bytes = KEY) -> Batch:
    classes = list(dict.fromkeys(sample.y for record in records for sample in record if isinstance(sample.y, str)))
    numbers = {name: float(at) for at, name in enumerate(classes)}
    numbered = [[sample._replace(y=numbers.get(sample.y, sample.y)) for sample in record] for record in records]
    text = "".join(classes).encode()
    return batch_of_numbers(numbered, key)._replace(
        class_text=np.frombuffer(bytearray(text), np.uint8),
        class_ends=np.cumsum([len(name.encode()) for name in classes], dtype=np.int64),
    )


def learnt(spec: Spec, stream: Stream, cut: int = 10**9, shared: bool = False) -> Mission:
    learner = Mission(spec, KEY, shared)
    for start in range(0, len(stream), cut):
        learner.learn(batch_of(stream[start : start + cut]))
    return learner
