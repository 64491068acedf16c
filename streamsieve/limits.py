"""The limits on what strangers may send. A selector's spec may lower or raise each."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Bounds on a record, each checked before anything is learnt."""

    max_record_bytes: int = 4 * 1024 * 1024
    max_samples: int = 100_000  # samples a record
    max_features: int = 10_000  # features a sample
    max_name_bytes: int = 256
    max_value: float = 1e6  # of |value|, |label| and weight
    max_depth: int = 8  # JSON nesting
    max_names: int = 5_000_000  # distinct names a shard; past it new ones are ignored and counted
