import copy
import math
import pickle

import numpy as np
import pytest

from streamsieve.estimator import FeatureSieve
from streamsieve.river_adapter import RiverSieve

ARGUMENTS = {"budget": 3, "loss": "logistic", "intercept": True, "params": {"eta": 0.3}}


def stream(count=200):
    random = np.random.default_rng(2)
    for _ in range(count):
        x = {f"w{word}": float(random.integers(1, 3)) for word in random.permutation(12)[:4]}
        yield x, x.get("w1", 0.0) - x.get("w2", 0.0) + 0.2 * float(random.normal()) > 0


def dense_stream(count=500):
    random = np.random.default_rng(3)
    for row in random.normal(size=(count, 12)):
        yield {f"w{word}": value for word, value in enumerate(row.tolist())}, bool(row[1] - row[2] > 0)


def test_one_by_one_is_as_good_as_all_at_once():
    sieve = RiverSieve(**ARGUMENTS)
    predicted = []
    for x, y in stream():
        predicted.append(sieve.predict_one(x) == y)
        sieve.learn_one(x, y)
    xs, ys = zip(*stream(), strict=True)
    whole = FeatureSieve(**ARGUMENTS).fit(list(xs), list(ys))
    assert sieve.selected == whole.selection_.names
    assert list(sieve.weights.values()) == whole.selection_.weights.tolist()
    assert sieve.progress == whole.progress_
    assert sieve.progress.accuracy == pytest.approx(np.mean(predicted))
    margins = [math.log(odds[True] / odds[False]) for odds in map(sieve.predict_proba_one, xs)]
    np.testing.assert_allclose(margins, whole.decision_function(list(xs)), rtol=1e-9)
    assert [sieve.predict_one(x) for x in xs] == whole.predict(list(xs)).tolist()
    assert [sieve.transform_one(x) for x in xs] == whole.transform(list(xs))
    assert {"w1", "w2"} <= set(sieve.selected)


def test_labels_weights_and_texts():
    plain, numbers, signs = RiverSieve(), RiverSieve(), RiverSieve()
    for y in (True, False, True):
        plain.learn_one({"from": "bank"}, y)
        numbers.learn_one({"from": "bank"}, int(y))
        signs.learn_one({"from": "bank"}, 1 if y else -1)
    assert plain.weights == numbers.weights == signs.weights
    assert plain.selected == ["from=bank"]
    weighted = RiverSieve()
    weighted.learn_one({"from": "bank"}, True, w=3.0)
    assert weighted.weights != plain.weights


@pytest.mark.parametrize(
    ("x", "y", "w", "message"),
    [
        ({"a": 1.0}, "spam", 1.0, "y: must be True or False"),
        ({"a": 1.0}, None, 1.0, "y: must be True or False"),
        ({"a": 1.0}, True, 0.0, "w: must be a number > 0"),
        ({"a": math.nan}, True, 1.0, "the value nan of 'a'"),
        ({"a": []}, True, 1.0, "the value of 'a' must be a number or a string"),
    ],
)
def test_what_is_refused_leaves_no_trace(x, y, w, message):
    sieve = RiverSieve()
    with pytest.raises((ValueError, TypeError), match=message):
        sieve.learn_one(x, y, w)
    assert sieve.progress.samples == 0


def test_no_probabilities_without_logistic():
    with pytest.raises(NotImplementedError, match="squared_hinge gives no probabilities"):
        RiverSieve().predict_proba_one({})
    with pytest.raises(ValueError, match="budget: must be a whole number"):
        RiverSieve(budget=0)


def test_clones_are_fresh_and_copies_are_not():
    sieve = RiverSieve(**ARGUMENTS)
    for x, y in stream():
        sieve.learn_one(x, y)
    assert sieve.clone().selected == []
    assert sieve.clone({"budget": 1}).budget == 1
    for twin in (copy.deepcopy(sieve), pickle.loads(pickle.dumps(sieve))):
        assert twin.weights == sieve.weights
        assert twin.progress == sieve.progress


def test_in_rivers_pipelines():
    river = pytest.importorskip("river.api")
    scale, accuracy = river.preprocessing.StandardScaler, river.metrics.Accuracy
    river.base.Classifier.register(RiverSieve)
    model = scale() | RiverSieve(**ARGUMENTS)
    assert river.evaluate.progressive_val_score(dense_stream(), model, accuracy()).get() > 0.8
    river.base.SupervisedTransformer.register(RiverSieve)
    model = scale() | RiverSieve(**ARGUMENTS) | river.linear_model.LogisticRegression()
    assert river.evaluate.progressive_val_score(dense_stream(), model, accuracy()).get() > 0.7
    assert {"w1", "w2"} <= set(model["RiverSieve"].selected)
    assert len(model["RiverSieve"].selected) == 3
