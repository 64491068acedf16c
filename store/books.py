"""Small rules that both stores share, so that the twins can't drift apart."""

import math
from collections.abc import Callable, Sequence

from store.types import Change, Feature

Clock = Callable[[], float]
Progress = tuple[float, float, float, float]

NO_PROGRESS: Progress = (0.0, 0.0, 0.0, math.nan)  # of a shard that never was committed
KEPT_CHANGES = 1_000  # of the served set's history
KEPT_VERSIONS = 1_000  # commits that a peer may lag behind before it has to read a whole shard


def next_version(last: int, now: float) -> int:
    """Larger than any before, and at least the wall clock in ms, so that it grows even over an emptied store.

    >>> next_version(0, 1.5), next_version(1500, 1.5), next_version(9000, 1.5)
    (1500, 1501, 9001)
    """
    return max(last + 1, int(now * 1000))


def names_of(features: Sequence[Feature]) -> tuple[str, ...]:
    """The names, best first."""
    return tuple(feature.feature for feature in features)


def change_between(before: Sequence[str], after: Sequence[str], version: int, at: float) -> Change | None:
    """Who entered and who left, each in the order of its own set; None if nobody did.

    >>> change_between(["a", "b"], ["c", "b"], 7, 1.0)
    Change(version=7, at=1.0, entered=('c',), left=('a',))
    >>> change_between(["a", "b"], ["b", "a"], 7, 1.0)
    """
    old, new = set(before), set(after)
    entered = tuple(name for name in after if name not in old)
    left = tuple(name for name in before if name not in new)
    return Change(version, at, entered, left) if entered or left else None
