"""Feature selection in this process, in the habits of scikit-learn, which need not be installed."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64
from streamsieve.in_process.columns import Columns
from streamsieve.in_process.fitted import Fitted, fitted_to
from streamsieve.in_process.habits import not_fitted, tags_of
from streamsieve.in_process.model import HASH_KEY, Model, spec_of
from streamsieve.in_process.tables import Named, NamedRow, Sparse, Table, table_of
from streamsieve.in_process.targets import column_of, weights_of
from streamsieve.learners.catalogue import CATALOGUE, LABELS
from streamsieve.selection import Progress, Selection

Array = NDArray[Any]


class FeatureSieve:
    """Keeps the `budget` features that tell most, learning sample by sample, and predicts with those alone.

    algorithm, loss and params are those of a selector's description (`params` by name, e.g. {"eta": 0.1}); `intercept`
    adds a constant feature outside the budget. `fit` goes over the rows `passes` times: in the order given if
    random_state is None, else in a fresh random order each time. `partial_fit` goes over them once, as they are.

    X is a dense array, a scipy sparse matrix, a data frame, or samples with names of their own: a list of dicts
    ({name: number}, or {name: text} for the feature `name=text`) or of lists of names. Columns without names are
    called x0, x1, ...; what is 0 counts as not there.

    >>> X = [{"free": 1, "hi": 1}, {"hi": 1}, {"free": 2, "money": 1}, {"hi": 1, "money": 1}] * 9
    >>> sieve = FeatureSieve(budget=2).fit(X, ["spam", "ham", "spam", "ham"] * 9)
    >>> sieve.get_feature_names_out()
    array(['free', 'hi'], dtype=object)
    >>> sieve.predict([{"free": 1}, {"hi": 1, "never seen": 5}])
    array(['spam', 'ham'], dtype='<U4')

    After fitting: `selection_` (names, weights and scores, best first, and the intercept), `progress_` (how well each
    sample was predicted before it was learnt), `classes_` (the second is the positive one), and where X has columns
    `n_features_in_` and, where these have names, `feature_names_in_`.
    """

    _state: Fitted | None = None

    def __init__(
        self,
        algorithm: str = "b-arda",
        budget: int = 100,
        loss: str | None = None,
        params: Mapping[str, float] | None = None,
        intercept: bool = False,
        passes: int = 1,
        random_state: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.budget = budget
        self.loss = loss
        self.params = params
        self.intercept = intercept
        self.passes = passes
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "FeatureSieve":
        """Forget everything, then learn these rows, `passes` times."""
        if self.passes < 1:
            raise ValueError(f"passes: must be at least 1, not {self.passes!r}")
        table = table_of(X)
        random = None if self.random_state is None else np.random.default_rng(self.random_state)
        state = self._begun(table, HASH_KEY if random is None else random.bytes(16))
        lesson = state.lesson(table, y, None, sample_weight)
        for _ in range(self.passes):
            state.learn(lesson, lesson.rows if random is None else random.permutation(lesson.rows))
        self._state = state
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: Any = None
    ) -> "FeatureSieve":
        """Learn these rows, once, after all those before; `classes` is needed where the first y holds only one."""
        table = table_of(X)
        state = self._state or self._begun(table, HASH_KEY)
        lesson = state.lesson(table, y, classes, sample_weight)
        state.learn(lesson, lesson.rows)
        self._state = state
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def predict(self, X: Any) -> Array:
        """A class a row: the second of `classes_` where the margin is > 0; with the loss `squared` a number a row."""
        margins = self._margins(X)
        return margins if self._fitted.model.real else self.classes_[(margins > 0).astype(np.intp)]

    @property
    def decision_function(self) -> Callable[[Any], F64]:
        """The margins: the selected weights times the values, plus the intercept. Not there for the loss `squared`."""
        if self._real:
            raise AttributeError("a loss of numbers has no decision function; use predict")
        return self._margins

    @property
    def predict_proba(self) -> Callable[[Any], F64]:
        """The probability of each class. There for the loss `logistic` alone."""
        if self._loss != "logistic":
            raise AttributeError(f"the loss {self._loss} gives no probabilities; logistic does")
        return self._probabilities

    def transform(self, X: Any) -> Any:
        """X with the selected features alone, of the kind that was given; columns keep their order."""
        fitted, table = self._fitted, table_of(X)
        if isinstance(table, Named):
            return [_kept(sample, row, fitted.model.weights) for sample, row in zip(X, table.rows, strict=True)]
        names, support = fitted.columns_of(table).names, fitted.support()
        if isinstance(table, Sparse):
            return (X.tocsr() if hasattr(X, "tocsr") else X)[:, support]
        return table.values[:, support] if table.names is None else X[[names[place] for place in support]]

    def get_support(self, indices: bool = False) -> Array:
        """Which columns are selected, as a mask or as indices. Samples with names of their own have no columns."""
        support = self._fitted.support()
        return support if indices else np.isin(np.arange(self.n_features_in_), support)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Array:
        """The selected names: in the order of the columns or, where there are none, best first."""
        fitted = self._fitted
        if fitted.columns is None:
            return np.array(fitted.model.selection.names, object)
        names = fitted.columns.names
        if input_features is not None:
            if fitted.named and list(input_features) != names:
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != len(names):
                raise ValueError("input_features should have length equal to number of features")
            names = [str(name) for name in input_features]
        return np.array([names[place] for place in fitted.support()], object)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, or R^2 with the loss `squared`."""
        predicted = self.predict(X)
        labels = column_of(y, len(predicted), type(self).__name__)
        weights = weights_of(sample_weight, len(predicted))
        if not self._fitted.model.real:
            return float(np.average(predicted == labels, weights=weights))
        spread = np.sum(weights * (labels - np.average(labels, weights=weights)) ** 2)
        return float(1.0 - np.sum(weights * (labels - predicted) ** 2) / spread)

    @property
    def selection_(self) -> Selection:
        """The selected names with weights and scores, best first, and the intercept."""
        return self._fitted.model.selection

    @property
    def progress_(self) -> Progress:
        """How well each sample was predicted before it was learnt."""
        return self._fitted.model.progress()

    @property
    def classes_(self) -> Array:
        """The two classes; the second is the positive one."""
        if self._fitted.classes is None:
            raise AttributeError("a loss of numbers has no classes")
        return self._fitted.classes

    @property
    def n_features_in_(self) -> int:
        """How many columns X has."""
        return len(self._columns.names)

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns of X, where they have some of their own."""
        if not self._fitted.named:
            raise AttributeError("the columns of X had no names")
        return np.array(self._columns.names, object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments; nothing is nested, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> "FeatureSieve":
        """Set some of the constructor's arguments; what was learnt stays until the next `fit`."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given, known = self.get_params(), inspect.signature(type(self)).parameters
        changed = [f"{name}={given[name]!r}" for name in given if repr(given[name]) != repr(known[name].default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        return tags_of(self._real)

    @classmethod
    def _parameters(cls) -> list[str]:
        return sorted(inspect.signature(cls).parameters)

    @property
    def _loss(self) -> str:
        """The loss that was asked for: the algorithm's first if none was."""
        return self.loss or (CATALOGUE[self.algorithm].losses[0] if self.algorithm in CATALOGUE else "")

    @property
    def _real(self) -> bool:
        return LABELS.get(self._loss) == "real"

    @property
    def _fitted(self) -> Fitted:
        if self._state is None:
            raise not_fitted(type(self).__name__)
        return self._state

    @property
    def _columns(self) -> Columns:
        if self._fitted.columns is None:
            raise AttributeError("samples with names of their own have no columns")
        return self._fitted.columns

    def _begun(self, table: Table, hash_key: bytes) -> Fitted:
        """Nothing learnt; it becomes this estimator's state when all has gone well."""
        spec = spec_of(self.algorithm, self.budget, self.loss, self.params, self.intercept)
        return fitted_to(table, Model(spec, hash_key), type(self).__name__)

    def _margins(self, X: Any) -> F64:
        fitted = self._fitted
        return fitted.margins(table_of(X))

    def _probabilities(self, X: Any) -> F64:
        margins = self._margins(X)
        small = np.exp(-np.abs(margins))  # only exponents <= 0, so that nothing overflows
        positive = np.where(margins > 0, 1.0, small) / (1.0 + small)
        return np.column_stack([1.0 - positive, positive])


def _kept(sample: Any, row: NamedRow, weights: Mapping[str, float]) -> Any:
    """A sample with its selected features alone; names without values stay so."""
    kept = {name: value for name, value in zip(*row, strict=True) if name in weights}
    return kept if isinstance(sample, Mapping) else list(kept)
