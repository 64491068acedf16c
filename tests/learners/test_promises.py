"""Every promise, kept by every learner of the catalogue, for each of its losses."""

import pytest

from streamsieve.checks.learners import CHECKS
from streamsieve.checks.streams import KEY, random_stream
from streamsieve.learners.catalogue import CATALOGUE
from streamsieve.learners.making import make_learner
from streamsieve.spec import Spec

STREAM = random_stream(seed=5, records=150, names=90)


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
    def make(shared=False, **fields):
        spec = Spec.parse({"name": "checked", "topic": "samples", "budget": 12, **variant, **fields})
        return make_learner(spec, KEY, shared)

    check(make, STREAM)
