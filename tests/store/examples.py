"""Plain values that the store's tests share."""

import secrets
from collections.abc import Sequence

from store.types import Accounts, Claim, Commit, Feature, ShardKey, Stored, TopSet
from streamsieve.spec import Spec

SHARD = ShardKey("spam", "a1", 0)
PROGRESS = (3.0, 2.0, 0.1, 0.75)


def spec(name: str = "spam", budget: int = 10) -> Spec:
    return Spec.parse(
        {
            "name": name,
            "algorithm": "b-arda",
            "budget": budget,
            "topic": "samples",
            "params": {"eta": 0.1 + 0.2},
            "limits": {"max_value": 1e9, "max_names": 77},
        }
    )


def commit_on(stored: Stored, chunks: dict[str, bytes], records: int = 1) -> Commit:
    """The commit that a worker would build on what it loaded."""
    before = stored.accounts or Accounts(first_offset=5, next_offset=5)
    after = Accounts(5, before.next_offset + records, applied=before.applied + records, leader_epoch=2, topic_id="t-1")
    base = None if stored.accounts is None else stored.accounts.next_offset
    return Commit(stored.version, base, secrets.token_hex(8), after, chunks, PROGRESS)


def top_set(names: Sequence[str], claim: Claim) -> TopSet:
    return TopSet(
        selector=claim.shard.selector,
        incarnation=claim.shard.incarnation,
        algorithm="b-arda",
        version=0,
        nonce="",
        applied=12,
        samples=13,
        updated_at=1_700_000_000.25,
        budget=max(len(names), 1),
        features=tuple(Feature(i + 1, name, 0.1 * (i + 1), 1.0 / (i + 1)) for i, name in enumerate(names)),
    )
