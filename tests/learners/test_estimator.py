import copy
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from streamsieve.decode.decoder import Decoder
from streamsieve.estimator import FeatureSieve
from streamsieve.in_process import fitted
from streamsieve.in_process.habits import NotFitted
from streamsieve.in_process.model import LIMITS, Model, spec_of
from streamsieve.in_process.tables import NamedRow
from streamsieve.learners.catalogue import CATALOGUE, LABELS
from streamsieve.learners.making import make_learner
from streamsieve.spec import Spec

SAMPLE_ALGORITHMS = [
    entry.name for entry in CATALOGUE.values() if entry.kind == "sample" and LABELS[entry.losses[0]] != "class"
]


@pytest.fixture(scope="module")
def data():
    """Sparse rows of 40 columns, of which 3 and 7 tell; these are never 0."""
    random = np.random.default_rng(5)
    there = random.random((300, 40)) < 0.3
    there[:, [3, 7]] = True
    X = np.where(there, random.normal(size=(300, 40)), 0.0)
    y = np.where(X[:, 3] - X[:, 7] + 0.1 * random.normal(size=300) > 0, "spam", "ham")
    return X, y


def dicts(X, name="x{}".format):
    return [{name(column): value for column, value in enumerate(row.tolist()) if value} for row in X]


def same(one: FeatureSieve, other: FeatureSieve) -> bool:
    """To the bit."""
    a, b = one.selection_, other.selection_
    equal = np.array_equal(a.weights, b.weights) and np.array_equal(a.scores, b.scores) and a.intercept == b.intercept
    return bool(a.names) and a.names == b.names and equal and one.progress_ == other.progress_


@pytest.mark.parametrize("algorithm", SAMPLE_ALGORITHMS)
def test_it_is_the_learner_fed_through_decode(data, algorithm):
    X, y = data
    spec = Spec.parse({"name": "a", "topic": "a", "algorithm": algorithm, "budget": 5, "intercept": True})
    key = bytes(range(16))
    learner, decoder = make_learner(spec, key), Decoder("libsvm", spec.labels, LIMITS, key)
    lines = [
        f"{'+1' if label == 'spam' else '-1'} {' '.join(f'{name}:{value!r}' for name, value in row.items())}".encode()
        for row, label in zip(dicts(X, "{}".format), y, strict=True)
    ]
    decoded = decoder.decode(lines)
    assert decoded.rejects == []
    learner.learn(decoded.batch)
    expected = learner.selection()
    sieve = FeatureSieve(algorithm, 5, intercept=True).fit(X, y)
    assert sieve.selection_.names == [f"x{name}" for name in expected.names]
    assert np.array_equal(sieve.selection_.weights, expected.weights)
    assert np.array_equal(sieve.selection_.scores, expected.scores)
    assert sieve.selection_.intercept == expected.intercept
    assert sieve.progress_ == learner.progress()


@pytest.mark.parametrize("algorithm", SAMPLE_ALGORITHMS)
def test_a_learner_tells_its_intercept(data, algorithm):
    """Whoever predicts with a selection would else be wrong in silence."""
    X, y = data
    assert FeatureSieve(algorithm, 5, intercept=True).fit(X, y).selection_.intercept != 0.0
    assert FeatureSieve(algorithm, 5).fit(X, y).selection_.intercept == 0.0


def test_a_margin_is_what_the_learner_predicts_next(data):
    """The learner's own prediction of a sample, before it learns it, is the estimator's decision function."""
    X, y = data
    sieve = FeatureSieve(budget=5, intercept=True).fit(X[:200], y[:200])
    margins = sieve.decision_function(X[200:201])
    sieve.partial_fit(X[200:201], y[200:201])
    assert margins == pytest.approx(sieve._fitted.model._learner.margins, rel=1e-12)


@pytest.mark.parametrize("algorithm", SAMPLE_ALGORITHMS)
def test_pieces_are_as_good_as_the_whole(data, algorithm):
    X, y = data
    whole, pieces = FeatureSieve(algorithm, 6).fit(X, y), FeatureSieve(algorithm, 6)
    for start in range(0, len(X), 37):
        pieces.partial_fit(X[start : start + 37], y[start : start + 37], classes=["ham", "spam"])
    assert same(whole, pieces)


@pytest.mark.parametrize("seed", [None, 3])
def test_cuts_inside_of_a_fit_are_invisible(data, monkeypatch, seed):
    X, y = data
    whole = FeatureSieve(budget=6, passes=2, random_state=seed).fit(X, y)
    monkeypatch.setattr(fitted, "MOST_CELLS", 200)
    assert same(whole, FeatureSieve(budget=6, passes=2, random_state=seed).fit(X, y))
    assert same(whole, FeatureSieve(budget=6, passes=2, random_state=seed).fit(scipy.sparse.csr_matrix(X), y))


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 2.0, 300)])
def test_all_kinds_of_tables_agree(data, seed, weights):
    pandas = pytest.importorskip("pandas")
    X, y = data
    tables = {
        "dense": X,
        "lists": X.tolist(),
        "objects": X.astype(object),
        "fortran": np.asfortranarray(X),
        "csr": scipy.sparse.csr_matrix(X),
        "csr array": scipy.sparse.csr_array(X),
        "coo": scipy.sparse.coo_matrix(X),
        "csc": scipy.sparse.csc_matrix(X),
        "frame": pandas.DataFrame(X, columns=[f"x{column}" for column in range(40)]),
        "dicts": dicts(X),
        "series of dicts": pandas.Series(dicts(X)),
        "generator": None,
    }
    arguments = {"budget": 6, "loss": "logistic", "intercept": True, "random_state": seed}
    plain = FeatureSieve(**arguments).fit(X, y, weights)
    for kind, table in tables.items():
        given = iter(dicts(X)) if kind == "generator" else table
        sieve = FeatureSieve(**arguments).fit(given, y, weights)
        assert same(plain, sieve), kind
        given = iter(dicts(X)) if kind == "generator" else table
        np.testing.assert_allclose(sieve.predict_proba(given), plain.predict_proba(X), rtol=1e-12, err_msg=kind)


def test_explicit_zeros_and_split_entries_of_a_sparse_matrix_change_nothing(data):
    X, y = data
    parts = scipy.sparse.csr_matrix(X)
    data_twice, indices_twice = np.repeat(parts.data / 2, 2), np.repeat(parts.indices, 2)
    split = scipy.sparse.csr_matrix((data_twice, indices_twice, parts.indptr * 2), X.shape)
    zeros = scipy.sparse.csr_matrix((X.ravel(), np.tile(np.arange(40), 300), np.arange(301) * 40), X.shape)
    plain = FeatureSieve(budget=6).fit(X, y)
    for odd in (split, zeros):
        before = odd.copy()
        sieve = FeatureSieve(budget=6).fit(odd, y)
        assert same(plain, sieve)
        np.testing.assert_allclose(sieve.decision_function(odd), plain.decision_function(X), rtol=1e-12)
        assert np.array_equal(before.data, odd.data)


def test_names_alone_texts_as_values_and_numbers():
    lists = FeatureSieve(budget=3).fit([["free", "hi"], ["hi"], [], ["hi"]] * 5, [1, 0, 0, 0] * 5)
    ones = FeatureSieve(budget=3).fit([{"free": 1, "hi": True}, {"hi": 1}, {}, {"hi": 1.0}] * 5, [1, 0, 0, 0] * 5)
    assert same(lists, ones)
    texts = FeatureSieve(budget=3).fit([{"sender": "bank"}, {"sender": "mum"}] * 5, [True, False] * 5)
    assert sorted(texts.get_feature_names_out()) == ["sender=bank", "sender=mum"]
    assert texts.predict([{"sender": "bank"}, {"sender": "mum"}]).tolist() == [True, False]
    assert texts.transform([{"sender": "bank", "age": 5}]) == [{"sender=bank": 1.0}]
    assert lists.transform([["hi", "new", "free"], ["new"]]) == [["hi", "free"], []]


def test_the_telling_columns_are_selected_and_transformed(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    sieve = FeatureSieve(budget=2)
    out = sieve.fit_transform(X, y)
    assert sieve.get_support(indices=True).tolist() == [3, 7]
    assert np.flatnonzero(sieve.get_support()).tolist() == [3, 7]
    assert sieve.get_support().shape == (40,)
    assert sieve.get_feature_names_out().tolist() == ["x3", "x7"]
    assert sieve.get_feature_names_out([f"word {place}" for place in range(40)]).tolist() == ["word 3", "word 7"]
    assert np.array_equal(out, X[:, [3, 7]])
    sparse = sieve.transform(scipy.sparse.coo_matrix(X))
    assert scipy.sparse.issparse(sparse)
    assert np.array_equal(sparse.toarray(), out)
    frame = pandas.DataFrame(X, columns=[f"word {column}" for column in range(40)])
    framed = FeatureSieve(budget=2).fit(frame, y)
    assert framed.transform(frame).columns.tolist() == framed.get_feature_names_out().tolist() == ["word 3", "word 7"]
    assert framed.feature_names_in_.tolist() == frame.columns.tolist()
    assert (framed.n_features_in_, sieve.n_features_in_) == (40, 40)
    assert not hasattr(sieve, "feature_names_in_")


def test_unseen_names_weigh_nothing_until_they_are_learnt(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    sieve = FeatureSieve(budget=50).fit(dicts(X * (np.arange(40) < 20)), y)
    before = sieve.decision_function([{"x3": 1.0}])
    assert sieve.decision_function([{"x3": 1.0, "x30": 9.0, "never": 1.0}]) == before
    assert "x30" not in sieve.get_feature_names_out()
    sieve.partial_fit(dicts(X * (np.arange(40) >= 20)), y)
    assert {"x3", "x30"} <= set(sieve.get_feature_names_out())
    assert not hasattr(sieve, "n_features_in_")
    framed = FeatureSieve(budget=5).fit(pandas.DataFrame(X[:, :2], columns=["a", "b"]), y)
    assert framed.decision_function([{"b": 2.0, "c": 1.0}]) == framed.decision_function(
        pandas.DataFrame([[0.0, 2.0]], columns=["a", "b"])
    )


def test_weights_reach_the_learner_and_zero_leaves_a_row_out(data):
    X, y = data
    weights = np.tile([1.0, 0.0, 2.5], 100)
    weighted = FeatureSieve(budget=5).fit(X, y, weights)
    assert not same(weighted, FeatureSieve(budget=5).fit(X, y))
    assert same(weighted, FeatureSieve(budget=5).fit(X[weights > 0], y[weights > 0], weights[weights > 0]))
    assert same(FeatureSieve(budget=5).fit(X, y, 1.0), FeatureSieve(budget=5).fit(X, y))
    assert weighted.score(X, y, weights) == pytest.approx(np.average(weighted.predict(X) == y, weights=weights))


def test_passes_go_over_the_rows_again(data):
    X, y = data
    twice = FeatureSieve(budget=5, passes=2).fit(X, y)
    assert same(twice, FeatureSieve(budget=5).partial_fit(X, y).partial_fit(X, y))
    assert twice.progress_.samples == 600


def test_a_seed_is_repeatable_and_changes_the_order(data):
    X, y = data
    one, again, other, plain = (FeatureSieve(budget=5, random_state=seed).fit(X, y) for seed in (1, 1, 2, None))
    assert same(one, again)
    assert not same(one, other)
    assert not same(one, plain)


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), ("ham", "spam"), (False, True), (2.0, 7.0)])
def test_any_two_classes(data, labels):
    X, y = data
    named = np.array(labels)[(y == "spam").astype(int)]
    sieve = FeatureSieve(budget=5).fit(X, named)
    assert sieve.classes_.tolist() == list(labels)
    assert same(sieve, FeatureSieve(budget=5).fit(X, y))
    assert sieve.predict(X).dtype == named.dtype
    assert sieve.score(X, named) > 0.9
    assert np.array_equal(sieve.predict(X) == labels[1], sieve.decision_function(X) > 0)


def test_probabilities_are_there_for_logistic_alone(data):
    X, y = data
    sieve = FeatureSieve(budget=5, loss="logistic").fit(X, y)
    odds = sieve.predict_proba(X)
    margins = sieve.decision_function(X)
    np.testing.assert_allclose(odds[:, 1], 1 / (1 + np.exp(-margins)), rtol=1e-12)
    np.testing.assert_allclose(odds.sum(axis=1), 1.0)
    assert np.array_equal(sieve.classes_[odds.argmax(axis=1)], sieve.predict(X))
    assert not hasattr(FeatureSieve(), "predict_proba")
    assert hasattr(FeatureSieve(), "decision_function")


def test_pickles_and_copies_go_on_to_the_bit(data):
    X, y = data
    whole = FeatureSieve(budget=5).fit(X, y)
    half = FeatureSieve(budget=5).partial_fit(X[:150], y[:150])
    for twin in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        assert same(half, twin)
        assert same(whole, twin.partial_fit(X[150:], y[150:]))
    assert half.progress_.samples == 150


def test_a_call_that_fails_leaves_everything_as_it_was(data):
    X, y = data
    sieve = FeatureSieve(budget=5).fit(X, y)
    before = copy.deepcopy(sieve)
    bad = X.copy()
    bad[200, 3] = np.nan
    for call in (sieve.fit, sieve.partial_fit):
        with pytest.raises(ValueError, match=r"Input X contains NaN\."):
            call(bad, y)
        with pytest.raises(ValueError, match=r"Only binary|none of the classes"):
            call(X, np.arange(300))
        assert same(sieve, before)
    with pytest.raises(ValueError, match="row 1: the value 1e\\+300 of 'a' is not within"):
        FeatureSieve().fit([{"a": 1.0}, {"a": 1e300}], [1, 0])


def test_rows_that_would_overflow_are_named():
    X, y = np.full((3, 1), 1e99), [1, 0, 1]
    with pytest.raises(ValueError, match=r"1 row\(s\) not learnt, the first is row 1: .* would make a sum infinite"):
        FeatureSieve(params={"eta": 1e9}).fit(X, y)


def test_names_past_the_limit_are_ignored_with_a_warning():
    spec = replace(spec_of("b-arda", 5, None, None, False), limits={"max_names": 2})
    model = Model(spec)
    rows = [NamedRow([name], [1.0]) for name in "aba"]
    model.learn(model.named_batch(rows, [1.0, -1.0, 1.0], [1.0] * 3), range(3))
    with pytest.warns(UserWarning, match="1 new names ignored: 2 are known already"):
        model.learn(model.named_batch([NamedRow(["c"], [1.0])], [1.0], [1.0]), [0])
    assert sorted(model.weights) == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "magic"}, "algorithm: unknown algorithm 'magic'; known: b-arda"),
        ({"budget": 0}, "budget: must be a whole number from 1"),
        ({"loss": "l0"}, "loss: must be one of squared_hinge, logistic, not 'l0'"),
        ({"params": {"speed": 1}}, "params.speed: b-arda has no such parameter"),
        ({"params": {"eta": -1.0}}, "params.eta: must be > 0"),
        ({"intercept": "yes"}, "intercept: must be true or false"),
        ({"passes": 0}, "passes: must be at least 1"),
    ],
)
def test_bad_arguments_are_told_at_fit(data, arguments, message):
    with pytest.raises(ValueError, match=message):
        FeatureSieve(**arguments).fit(*data)


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([[1.0], [2.0]], [1, 1], None, "one class only, np.int64\\(1\\)"),
        ([[1.0], [2.0]], [1, 2, 1], None, r"inconsistent numbers of samples: \[2, 3\]"),
        ([[1.0], [2.0]], None, None, "requires y to be passed"),
        ([[1.0], [2.0]], [0.5, 1.0], None, "Unknown label type: continuous"),
        ([[1.0], [2.0]], [0, 1], [1, -1], "Negative values in sample_weight"),
        ([[1.0], [2.0]], [0, 1], [1, 1, 1], "inconsistent numbers"),
        ([1.0, 2.0], [0, 1], None, "Expected 2D array, got 1D array instead. Reshape your data"),
        (np.zeros((2, 0)), [0, 1], None, "0 feature"),
        (["free money", "hi"], [0, 1], None, "could not convert string"),
        ([{"a": None}, {}], [0, 1], None, "row 0: the value of 'a' must be a number or a string, not None"),
        ([{}, {1: 2.0}], [0, 1], None, "row 1: a feature's name must be a string, not 1"),
        ([{}, {"": 2.0}], [0, 1], None, "row 1: feature 1 has an empty name"),
        ([{}, {"a": float("nan")}], [0, 1], None, "row 1: the value nan of 'a'"),
    ],
)
def test_bad_data_is_told(X, y, weights, message):
    with pytest.raises((ValueError, TypeError), match=message):
        FeatureSieve().fit(X, y, weights)


def test_kinds_of_tables_do_not_mix_while_learning(data):
    X, y = data
    columns, names = FeatureSieve(budget=5).fit(X, y), FeatureSieve(budget=5).fit(dicts(X), y)
    with pytest.raises(ValueError, match="was fitted on a table with columns"):
        columns.partial_fit(dicts(X), y)
    with pytest.raises(ValueError, match="was fitted on samples with names of their own"):
        names.partial_fit(X, y)
    with pytest.raises(ValueError, match="was fitted on samples with names of their own"):
        names.predict(X)
    with pytest.raises(ValueError, match="have no columns; use get_feature_names_out"):
        names.get_support()
    with pytest.raises(ValueError, match="X has 39 features, but FeatureSieve is expecting 40 features as input"):
        columns.predict(X[:, 1:])


def test_parameters_are_as_scikit_learn_wants_them():
    sieve = FeatureSieve("b-arda", budget=np.int64(7), params={"eta": np.float32(0.25)})
    assert FeatureSieve(**sieve.get_params()).get_params() == sieve.get_params()
    assert sieve.set_params(budget=9, intercept=True) is sieve
    assert repr(sieve) == "FeatureSieve(budget=9, intercept=True, params={'eta': np.float32(0.25)})"
    with pytest.raises(ValueError, match="Invalid parameter 'colour' for estimator FeatureSieve"):
        sieve.set_params(colour="red")


def test_before_fitting(data):
    for call in (FeatureSieve().predict, FeatureSieve().transform, FeatureSieve().decision_function):
        with pytest.raises((NotFitted, ValueError), match="not fitted yet: call fit or partial_fit first"):
            call(data[0])
    assert not hasattr(FeatureSieve(), "selection_")
    assert not hasattr(FeatureSieve(), "classes_")


def test_nothing_of_it_is_imported():
    """The library works where neither scikit-learn, scipy, pandas nor river is installed."""
    program = (
        "import sys; sys.modules.update(dict.fromkeys(['sklearn', 'scipy', 'pandas', 'river', 'matplotlib']))\n"
        "from streamsieve.estimator import FeatureSieve; import streamsieve.river_adapter\n"
        "sieve = FeatureSieve(budget=1).fit([[1.0, 2.0], [1.0, -2.0]], [1, 0])\n"
        "try: FeatureSieve().predict([[1.0]])\n"
        "except ValueError as error: print(type(error).__name__)\n"
        "print(sieve.predict([[1.0, 3.0]])[0], sieve.get_support())"
    )
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=True)
    assert run.stdout.split("\n")[:2] == ["NotFitted", "1 [False  True]"]


UNSUPPORTED = "a sample's weight scales its gradient; two equal samples are two rounds, and order matters"


def test_check_estimator():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    expected = {f"check_sample_weight_equivalence_on_{kind}_data": UNSUPPORTED for kind in ("dense", "sparse")}
    for sieve in (FeatureSieve(), FeatureSieve(loss="logistic", intercept=True, random_state=1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is no BaseEstimator, and what the checks themselves provoke
            results = checks.check_estimator(sieve, expected_failed_checks=expected, on_skip=None, on_fail=None)
        failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
        assert failed == {}
        assert sum(result["status"] == "passed" for result in results) >= 60


def test_in_a_pipeline_and_a_grid_search(data):
    base, linear, selection, pipeline = (
        pytest.importorskip(f"sklearn.{name}") for name in ("base", "linear_model", "model_selection", "pipeline")
    )
    X, y = data
    model = pipeline.make_pipeline(FeatureSieve(budget=2), linear.LogisticRegression())
    assert model.fit(X, y).score(X, y) > 0.9
    assert model[:-1].get_feature_names_out().tolist() == ["x3", "x7"]
    grid = {"budget": np.array([1, 2]), "params": [{"eta": 0.5}, {"eta": 0.1}]}
    search = selection.GridSearchCV(FeatureSieve(), grid, cv=3).fit(X, y)
    assert search.best_params_["budget"] == 2
    assert base.clone(search.best_estimator_).get_params() == search.best_estimator_.get_params()
