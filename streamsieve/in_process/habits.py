"""What scikit-learn expects to see, without scikit-learn: its own classes are used only where it is loaded already."""

import sys
from typing import Any


class NotFitted(ValueError, AttributeError):  # noqa: N818 - named by what the reader must do
    """Call fit or partial_fit first."""


def not_fitted(name: str) -> Exception:
    """The error for a model that has learnt nothing: scikit-learn's own where it is loaded."""
    kind: type[Exception] = _loaded("sklearn.exceptions", "NotFittedError") or NotFitted
    return kind(f"This {name} is not fitted yet: call fit or partial_fit first.")


def column_vector_warning() -> type[Warning]:
    """The category of the warning about a y of one column."""
    kind: type[Warning] = _loaded("sklearn.exceptions", "DataConversionWarning") or UserWarning
    return kind


def _loaded(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)


def tags_of(real: bool) -> Any:
    """scikit-learn's tags of a selector that predicts too; the one place that imports it, and only when asked by it."""
    from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags  # noqa: PLC0415

    return Tags(
        estimator_type="regressor" if real else "classifier",
        target_tags=TargetTags(required=True),
        transformer_tags=TransformerTags(),
        classifier_tags=None if real else ClassifierTags(multi_class=False),
        regressor_tags=RegressorTags() if real else None,
        input_tags=InputTags(sparse=True, dict=True),
    )


def check_names(given: list[str] | None, known: list[str] | None) -> None:
    """Columns must be those of the first time, in the same order. Raises ValueError."""
    if given is None or known is None or given == known:
        return
    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    lines = ["The feature names should match those that were passed during fit."]
    for title, names in (("unseen at fit time:", unseen), ("seen at fit time, yet now missing:", missing)):
        if names:
            lines.append(f"Feature names {title}")
            lines += [f"- {name}" for name in names[:5]]
            lines += ["- ..."] if len(names) > 5 else []
    if not unseen and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    raise ValueError("\n".join(lines) + "\n")
