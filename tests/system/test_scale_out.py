"""Several partitions, several workers, poison in between: the books balance, and nothing is learnt worse."""

import os
from collections import Counter
from math import ceil

import pytest

from broker.types import Record
from tests.system.running import System, running, wait_until
from tests.system.streams import POISON, as_json, poisoned, sparse_stream

SAMPLES = int(os.environ.get("SIEVE_TEST_SAMPLES", "20000"))  # `make chaos` asks for 100,000
BUDGET = 40


class Collector:
    """Reads a topic from its start, as any consumer would."""

    def __init__(self, system: System, topic: str) -> None:
        self.records: list[Record] = []
        self._consumer = system.broker.consumer(topic, "collector", self)

    def assigned(self, partitions):
        for partition in partitions:
            self._consumer.feed(partition, 0)

    def revoked(self, partitions): ...

    def lost(self, partitions): ...

    def collect(self, count: int) -> list[Record]:
        def enough() -> bool:
            self.records += self._consumer.poll(5_000, 0.2).records
            return len(self.records) >= count

        wait_until(enough, pause=0.0)
        self._consumer.close()
        return self.records


def learn(system: System, topic: str, name: str, values: list[bytes | None], partitions: int) -> dict:
    system.broker.ensure_topic(topic, partitions)
    system.create(name=name, algorithm="b-arda", budget=BUDGET, topic=topic)
    for partition in range(partitions):
        system.send(topic, values[partition::partitions], partition)
    system.wait_handled(name, len(values), seconds=240)
    return system.selector(name)


@pytest.mark.apache
@pytest.mark.timeout(600)
def test_four_partitions_two_workers_and_poison(apache_kafka: str):
    good = as_json(sparse_stream(SAMPLES, seed=4))
    values = poisoned(good, every=100)
    with running("--kafka", apache_kafka, "--workers", "2", SIEVE_SESSION_TIMEOUT_MS="3000") as system:
        alone = learn(system, "scale-1", "alone", values, partitions=1)
        together = learn(system, "scale-4", "together", values, partitions=4)
        assert len(together["partitions"]) == 4
        for books in [*alone["partitions"], *together["partitions"]]:
            moved = books["next_offset"] - books["first_offset"]
            assert moved == books["applied"] + books["dead_lettered"] + books["skipped"]
        bad = ceil(SAMPLES / 100)
        for selector in (alone, together):
            assert (selector["applied"], selector["dead_lettered"]) == (SAMPLES, bad)
        letters = Collector(system, "scale-4.dlq").collect(bad)
        origins = {(headers["sieve-partition"], headers["sieve-offset"]) for headers in map(headers_of, letters)}
        assert len(origins) == bad
        wanted = Counter(POISON[at % len(POISON)] for at in range(bad))
        distinct = {(headers_of(r)["sieve-partition"], headers_of(r)["sieve-offset"]): r.value for r in letters}
        assert Counter(distinct.values()) == wanted
        accuracies = [selector["progressive"]["accuracy"] for selector in (alone, together)]
        print(f"progressive accuracy: one partition {accuracies[0]:.4f}, four {accuracies[1]:.4f}")
        assert abs(accuracies[0] - accuracies[1]) < 0.01, accuracies


def headers_of(record: Record) -> dict[str, bytes]:
    return dict(record.headers)
