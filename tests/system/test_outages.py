"""Redis or the broker dies and comes back: nothing is lost, everybody recovers by themselves."""

from pathlib import Path

import pytest

from streamsieve.snapshot import fingerprint
from streamsieve.spec import Spec
from tests.system.running import running, wait_until
from tests.system.streams import as_json, sparse_stream
from tests.system.test_kills import undisturbed
from tools.stack.apache_kafka import start_kafka
from tools.stack.valkey import RunningValkey, start_valkey

SPEC = {"name": "outage", "algorithm": "b-arda", "budget": 30, "topic": "outage"}


def test_redis_dies_and_comes_back(fresh_valkey: RunningValkey):
    values = as_json(sparse_stream(3_000, seed=3))
    port, folder = fresh_valkey.port, fresh_valkey.folder
    with running("--redis", fresh_valkey.url) as system:
        system.broker.ensure_topic("outage")
        system.create(**SPEC, peers="none")
        system.send("outage", values[:1_000], partition=0)
        system.wait_handled("outage", 1_000)
        fresh_valkey.kill()
        system.send("outage", values[1_000:2_000], partition=0)
        wait_until(lambda: system.http.get("/features/top").status_code == 503)  # answers are shared for 0.1 s
        refused = system.http.get("/features/top")
        assert refused.headers["content-type"] == "application/problem+json"
        assert system.http.get("/livez").status_code == 200
        assert system.http.get("/readyz").status_code == 503
        system.send("outage", values[2_000:], partition=0)
        with start_valkey(folder, port):
            wait_until(lambda: system.http.get("/readyz").status_code == 200)
            system.wait_handled("outage", 3_000)
            assert system.selector("outage")["applied"] == 3_000
            spec = Spec.parse({**SPEC, "peers": "none"})
            assert fingerprint("b-arda", system.stored("outage", 0).chunks) == undisturbed(spec, list(values))
            system.process.terminate()  # before its Redis goes
            assert system.process.wait(30) == 0


@pytest.mark.apache
def test_the_broker_dies_and_comes_back(tmp_path: Path):
    values = as_json(sparse_stream(2_000, seed=5))
    with start_kafka(tmp_path) as kafka, running("--kafka", kafka.bootstrap) as system:
        system.broker.ensure_topic("outage")
        system.create(**SPEC)
        system.send("outage", values[:1_000], partition=0)
        system.wait_handled("outage", 1_000)
        kafka.kill(0)
        wait_until(lambda: "down" in system.http.get("/readyz").json()["kafka"])
        assert system.top("outage")["applied"] == 1_000  # reads go on
        kafka.restart(0)
        system.send("outage", values[1_000:], partition=0)
        system.wait_handled("outage", 2_000)
        assert fingerprint("b-arda", system.stored("outage", 0).chunks) == undisturbed(Spec.parse(SPEC), list(values))
