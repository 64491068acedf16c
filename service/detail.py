"""A selector with its books: what `GET /selectors/{name}` tells."""

from collections.abc import Sequence
from math import isnan

from service.lag import LagWatch
from service.models import PartitionBooks, Progressive, Selector
from store.types import Accounts, ShardStatus
from streamsieve.spec import Spec

NO_ACCOUNTS = Accounts(first_offset=0, next_offset=0)


def selector_detail(spec: Spec, statuses: Sequence[ShardStatus], version: int, lag: LagWatch) -> Selector:
    """The spec, the sums over its partitions, and each partition."""
    books = [status.accounts or NO_ACCOUNTS for status in statuses]
    return Selector(
        **spec.as_json(),
        applied=sum(account.applied for account in books),
        dead_lettered=sum(account.dead_lettered for account in books),
        skipped=sum(account.skipped for account in books),
        samples=sum(account.samples for account in books),
        version=version,
        progressive=progressive(statuses),
        partitions=[partition_books(spec, status, lag) for status in statuses],
    )


def partition_books(spec: Spec, status: ShardStatus, lag: LagWatch) -> PartitionBooks:
    """One partition's line."""
    accounts = status.accounts or NO_ACCOUNTS
    return PartitionBooks(
        partition=status.partition,
        first_offset=status.accounts.first_offset if status.accounts else None,
        next_offset=status.accounts.next_offset if status.accounts else None,
        applied=accounts.applied,
        dead_lettered=accounts.dead_lettered,
        skipped=accounts.skipped,
        lag=lag.of(spec, status.partition, status.accounts),
        halted=status.halted or None,
    )


def progressive(statuses: Sequence[ShardStatus]) -> Progressive:
    """Means over all samples; the area under the curve over those of shards that have one."""
    shards = [status.progress for status in statuses]
    samples = sum(progress[0] for progress in shards)
    if not samples:
        return Progressive(accuracy=None, loss=None, auc=None)
    ranked = [(progress[0], progress[3]) for progress in shards if progress[0] and not isnan(progress[3])]
    correct = sum(progress[1] for progress in shards)  # nan where labels are real numbers
    ranked_samples = sum(count for count, _ in ranked)
    return Progressive(
        accuracy=None if isnan(correct) else correct / samples,
        loss=sum(progress[2] for progress in shards) / samples,
        auc=sum(count * auc for count, auc in ranked) / ranked_samples if ranked else None,
    )
