"""Compiled or not, the same bytes."""

import os
import subprocess
import sys

import numba

from streamsieve.checks.streams import batch_of
from streamsieve.kernels.kept_round import learn
from streamsieve.snapshot import fingerprint
from tests.learners.kept import Case, sparse_stream, tied_stream

CASES = [
    Case("b-amd", "squared_hinge", {}),
    Case("b-amd", "logistic", {"lambda": 0.02}, intercept=True),
    Case("ofs", "hinge", {"lambda": 0.0}),
    Case("ofs", "hinge", {"lambda": 0.3}, intercept=True),
    Case("sofs", "hinge", {"gamma": 0.3}, intercept=True),
    Case("iht", "logistic", {}),
    Case("iht", "squared", {"eta": 0.02}, intercept=True),
    Case("batch-iht", "logistic", {"batch": 11}),
]


def fingerprints() -> list[str]:
    found = []
    for case in CASES:
        for stream in (sparse_stream(2, 120, real=case.loss == "squared"), tied_stream(3, 60)):
            learner = case.learner(7)
            learner.learn(batch_of(stream))
            found.append(fingerprint(case.algorithm, learner.chunks()))
    return found


def test_compiled_equals_interpreted_to_the_bit():
    program = "from tests.learners.test_kept_bits import fingerprints; print(*fingerprints())"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "ignore", "-c", program]
    interpreted = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    compiled = fingerprints()
    assert isinstance(learn, numba.core.dispatcher.Dispatcher)
    assert learn.signatures
    assert interpreted.stdout.split() == compiled
