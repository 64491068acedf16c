"""Every promise, kept by every learner of the catalogue, for each of its losses."""

import numpy as np
import pytest

from streamsieve.checks.learners import CHECKS
from streamsieve.checks.streams import KEY, random_stream
from streamsieve.learners.catalogue import CATALOGUE
from streamsieve.learners.making import make_learner
from streamsieve.learners.sample_stream.mission import Mission
from streamsieve.spec import Spec

STREAM = random_stream(seed=5, records=150, names=90)


# What a learner does not promise, and why; its own tests say what it does instead.
NOT_PROMISED = {
    ("mission", "names_are_bounded"): "the sketch bounds memory whatever the number of names, so none is ever ignored",
    (
        "mission",
        "peers_add_up",
    ): "cells stay one's own, but the active set is chosen from the union of all that is heard",
    ("mission", "hearing_bit_by_bit"): "a listener still knows names that the speaker's active set has dropped since",
}


class OfClasses(Mission):
    """Takes the stream's labels, -1 and 1, as classes named a and b."""

    def learn(self, batch):
        ab = np.frombuffer(bytearray(b"ab"), np.uint8)
        numbers = np.maximum(batch.labels, 0.0)
        return super().learn(batch._replace(labels=numbers, class_text=ab, class_ends=np.array([1, 2])))


def variants():
    for entry in CATALOGUE.values():
        if entry.kind != "sample":
            continue
        shrunk = {"lambda": 0.01} if "lambda" in [param.name for param in entry.params] else {}
        for loss in entry.losses:
            plain = {"algorithm": entry.name, "loss": loss}
            yield pytest.param(plain, id=f"{entry.name}-{loss}")
            yield pytest.param({**plain, "intercept": True, "params": shrunk}, id=f"{entry.name}-{loss}-intercept")


@pytest.mark.parametrize("variant", list(variants()))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_promise(check, variant):
    beyond = NOT_PROMISED.get((variant["algorithm"], check.__name__.removeprefix("check_")))
    if beyond is not None:
        pytest.skip(beyond)

    def make(shared=False, **fields):
        spec = Spec.parse({"name": "checked", "topic": "samples", "budget": 12, **variant, **fields})
        return OfClasses(spec, KEY, shared) if spec.labels == "class" else make_learner(spec, KEY, shared)

    check(make, STREAM)
