"""The same bits with the compiler and without."""

import hashlib
import os
import subprocess
import sys

import pytest

from streamsieve.checks.streams import random_stream
from streamsieve.snapshot import canonical
from tests.twins.agreeing import LOSSES, learner_of, samples_of
from tests.twins.batches import batch_of

DIGEST = "from tests.learners.test_jit_off import digest; print(digest({algorithm!r}, **{fields!r}))"


def digest(algorithm, **fields):
    learner = learner_of(algorithm, **fields)
    learner.learn(batch_of(samples_of(random_stream(6, 150))))
    selection = learner.selection()
    state = canonical(algorithm, learner.chunks()) + selection.weights.tobytes() + repr(selection.names).encode()
    return hashlib.sha256(state).hexdigest()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("algorithm", "fields"),
    [
        ("l1-arda", {}),
        ("ada-fobos", {}),
        ("l1-arda", {"half_life": 2.5}),
        ("b-arda", {"half_life": 2.5, "params": {"lambda": 0.01}}),
    ],
    ids=["l1-arda", "ada-fobos", "l1-arda-forgetting", "b-arda-forgetting"],
)
def test_compiled_and_interpreted_agree_to_the_bit(algorithm, fields, loss):
    fields = {**fields, "loss": loss, "intercept": True}
    off = subprocess.run(
        [sys.executable, "-c", DIGEST.format(algorithm=algorithm, fields=fields)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert off.stdout.strip() == digest(algorithm, **fields)
