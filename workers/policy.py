"""When to commit and exchange. Pure: time and counts are arguments."""

from math import log
from typing import NamedTuple

LEAST_UNTOLD = 64  # samples; below this many, waiting for peers would cost more than it teaches
STEADY_UNTOLD = 32  # a step that does not shrink makes up for nothing: an absolute bound (simulated: 4 and 16 shards)
UNTOLD_SHARE = 100  # simulated with 4 to 64 shards: 1 % of all samples changes nothing, 5 % diverges


class CommitPolicy(NamedTuple):
    """Bounds on what a worker may hold uncommitted or unserved."""

    interval: float = 0.25  # seconds
    publish_interval: float = 0.25  # seconds between merges; the served set may trail the commits by 1
    dirty_bytes: int = 32 * 1024 * 1024  # a commit's size: Redis serves nobody while it is written
    rejected_bytes: int = 8 * 1024 * 1024


def untold_allowance(samples_seen: int, partitions: int, half_life: float | None = None, steady: bool = False) -> int:
    """How many own samples a shard may learn before it tells its peers.

    Together the shards keep at most max(64, 1 % of all samples) to themselves, whatever their number; of samples that
    are forgotten, 1 % of those that are not: a shard remembers half_life / ln 2 of its own. With a steady step: 32.

    >>> untold_allowance(0, 4), untold_allowance(1_000_000, 4), untold_allowance(0, 1000)
    (16, 2500, 1)
    >>> untold_allowance(1_000_000, 4, half_life=10_000)
    144
    >>> untold_allowance(1_000_000, 4, steady=True)
    8
    """
    remembered = samples_seen if half_life is None else int(min(samples_seen, half_life / log(2) * partitions))
    together = STEADY_UNTOLD if steady else max(LEAST_UNTOLD, remembered // UNTOLD_SHARE)
    return max(1, together // partitions)
