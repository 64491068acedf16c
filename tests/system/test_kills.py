"""Whatever dies, the state is what an undisturbed run would have: SIGKILL at random moments, then compare bits."""

import os
import random
import time

import pytest

from streamsieve.decode.decoder import Decoder
from streamsieve.learners.making import make_learner
from streamsieve.snapshot import fingerprint
from streamsieve.spec import Spec
from tests.system.running import running, wait_until
from tests.system.streams import as_json, poisoned, sparse_stream

KILLS = int(os.environ.get("SIEVE_TEST_KILLS", "4"))  # `make chaos` asks for 20
SEED = int(os.environ.get("SIEVE_TEST_SEED", "20"))


def undisturbed(spec: Spec, values: list[bytes | None]) -> str:
    learner = make_learner(spec, bytes(16))
    decoder = Decoder(spec.format, spec.labels, spec.all_limits(), bytes(16))
    learner.learn(decoder.decode(values).batch)
    return fingerprint(spec.algorithm, learner.chunks())


@pytest.mark.apache
@pytest.mark.timeout(600)
def test_a_worker_killed_at_random_moments_leaves_the_same_bits(apache_kafka: str):
    draw = random.Random(SEED)
    spec = {"name": "killed", "algorithm": "b-arda", "budget": 40, "topic": "kills", "params": {"lambda": 1e-3}}
    values = poisoned(as_json(sparse_stream(KILLS * 1_000, seed=SEED)), every=100)
    with running("--kafka", apache_kafka, SIEVE_SESSION_TIMEOUT_MS="3000") as system:
        system.broker.ensure_topic("kills")
        system.create(**spec)
        killed = set()
        for kill in range(KILLS):
            before = system.selector("killed")["applied"]
            system.send("kills", values[kill * len(values) // KILLS : (kill + 1) * len(values) // KILLS], partition=0)
            wait_until(lambda before=before: system.selector("killed")["applied"] > before, pause=0.02)
            time.sleep(draw.uniform(0.0, 0.4))
            killed.add(system.kill_worker())
            wait_until(lambda: len(system.worker_ids()) == 1, seconds=3.0)
        system.wait_handled("killed", len(values))
        assert len(killed) == KILLS
        [books] = system.selector("killed")["partitions"]
        assert books["next_offset"] - books["first_offset"] == len(values)
        assert books["applied"] + books["dead_lettered"] == len(values)
        assert fingerprint("b-arda", system.stored("killed", 0).chunks) == undisturbed(Spec.parse(spec), values)
