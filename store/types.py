"""What the store keeps, as plain values. Both stores, in Redis and in memory, speak these."""

from dataclasses import dataclass, field
from typing import NamedTuple

from streamsieve.spec import Spec


class Registered(NamedTuple):
    """A selector as the registry knows it; a new incarnation at each creation or reset."""

    spec: Spec
    incarnation: str
    partitions: int | None = None  # None until a worker has seen the topic
    paused: bool = False


class Registry(NamedTuple):
    """All selectors that live, by name, and the names that were deleted on purpose (tombstones)."""

    live: dict[str, Registered]
    deleted: frozenset[str]


class ShardKey(NamedTuple):
    """One partition's shard of one incarnation of a selector."""

    selector: str
    incarnation: str
    partition: int


class Claim(NamedTuple):
    """The right to write a shard: void as soon as somebody else claims it."""

    shard: ShardKey
    epoch: int
    owner: str  # random nonce, fresh at each claim


@dataclass(frozen=True)
class Accounts:
    """A partition's books: next_offset - first_offset = applied + dead_lettered + skipped, in records."""

    first_offset: int
    next_offset: int
    applied: int = 0
    dead_lettered: int = 0
    skipped: int = 0
    samples: int = 0
    leader_epoch: int = -1  # of the last record read, -1 where unknown
    topic_id: str = ""  # empty where the broker doesn't tell


@dataclass(frozen=True)
class Stored:
    """A shard as last committed. A shard that never was has no accounts, no chunks and version ''."""

    version: str = ""  # random id of the last commit
    number: int = 0  # how many commits
    accounts: Accounts | None = None
    chunks: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Commit:
    """What a commit writes, and what it builds on. Absolute values, so that sending it twice is harmless."""

    base_version: str
    base_offset: int | None  # next_offset that it builds on, None on a shard's first commit
    version: str  # fresh random id; the same one when resent
    accounts: Accounts
    chunks: dict[str, bytes]
    progress: tuple[float, float, float, float] = (0, 0, 0, 0)  # see ShardStatus.progress


class Seen(NamedTuple):
    """How far a reader has read a shard: enough to ask for what changed since."""

    version: str
    number: int


class Heard(NamedTuple):
    """A reading of another's shard. `whole`: what was read before is void. None accounts: never committed."""

    seen: Seen
    accounts: Accounts | None
    chunks: dict[str, bytes]
    whole: bool
    progress: tuple[float, float, float, float]


@dataclass(frozen=True)
class ShardStatus:
    """A shard's books without its state, for the service."""

    partition: int
    accounts: Accounts | None
    progress: tuple[float, float, float, float]  # samples, correct, sum of losses, auc (nan: has none)
    owner: str
    epoch: int
    committed_at: float  # seconds since 1970, 0 if never
    halted: str  # why it stands still until an operator decides; empty while it runs


class Feature(NamedTuple):
    """One served feature."""

    rank: int
    feature: str
    weight: float
    score: float


@dataclass(frozen=True)
class TopSet:
    """The served set. `applied` and the weights belong to one version; versions only grow."""

    selector: str
    incarnation: str
    algorithm: str
    version: int
    nonce: str
    applied: int
    samples: int
    updated_at: float
    budget: int
    features: tuple[Feature, ...]


@dataclass(frozen=True)
class Change:
    """What entered and left the served set at a version."""

    version: int
    at: float
    entered: tuple[str, ...]
    left: tuple[str, ...]
