"""The whole walk on real parts: Kafka -> worker -> Valkey -> HTTP, against the dense twin."""

from collections.abc import Iterator

import pytest

from tests.system.running import System, running
from tests.system.streams import as_json, sparse_stream, twin_selection

BUDGET = 30


@pytest.fixture(scope="module")
def embedded() -> Iterator[System]:
    with running() as system:
        yield system


@pytest.fixture(scope="module")
def apache(apache_kafka: str) -> Iterator[System]:
    with running("--kafka", apache_kafka, SIEVE_SESSION_TIMEOUT_MS="3000") as system:
        yield system


def walk(system: System, lam: float, topic: str, name: str) -> None:
    params = {"eta": 0.5, "delta": 0.01, "lambda": lam}
    stream = sparse_stream(1_500, seed=7)
    system.broker.ensure_topic(topic)
    system.create(name=name, algorithm="b-arda", budget=BUDGET, topic=topic, params=params)
    system.send(topic, as_json(stream), partition=0)
    system.wait_handled(name, 1_500)
    top, books = system.top(name), system.selector(name)
    assert (top["applied"], books["applied"], books["dead_lettered"]) == (1_500, 1_500, 0)
    expected = twin_selection(stream, BUDGET, params)
    served = [(each["feature"], each["weight"]) for each in top["features"]]
    assert {name for name, _ in served} == {name for name, _, _ in expected}
    largest = max(abs(weight) for _, weight, _ in expected)
    weights = {name: weight for name, weight, _ in expected}
    for feature, weight in served:
        assert abs(weight - weights[feature]) <= 1e-9 * (abs(weights[feature]) + largest)


@pytest.mark.parametrize("lam", [0.0, 1e-3])
def test_embedded_serves_what_the_twin_says(embedded: System, lam: float):
    walk(embedded, lam, f"walk-{lam:g}", f"walk-{'plain' if lam == 0 else 'shrunk'}")


@pytest.mark.apache
@pytest.mark.parametrize("lam", [0.0, 1e-3])
def test_apache_serves_what_the_twin_says(apache: System, lam: float):
    walk(apache, lam, f"walk-{lam:g}", f"walk-{'plain' if lam == 0 else 'shrunk'}")
