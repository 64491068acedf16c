"""Every key in Redis, in one place.

| key                               | type       | holds                                                        |
|-----------------------------------|------------|--------------------------------------------------------------|
| {prefix}:registry                 | hash       | selector's name -> JSON entry, live or tombstone             |
| {prefix}:registry-version         | string     | random id of the registry's last change                      |
| {prefix}:hash-key                 | string     | the deployment's 16 secret bytes                             |
| {prefix:sel:inc:partition}:meta   | hash       | who owns the shard, and its books (store/meta.py)            |
| {prefix:sel:inc:partition}:state  | hash       | chunk id -> checksum and bytes                               |
| {prefix:sel:inc:partition}:names  | hash       | the same, for ids that begin with n:                         |
| {prefix:sel:inc:partition}:changed  | sorted set | chunk id, scored by the commit that last wrote it          |
| {prefix:sel:inc:partition}:versions | sorted set | version, scored by its commit number; the last 1,000       |
| {prefix:sel:inc}:top              | hash       | epoch, owner, version, nonce, body (JSON) of the served set  |
| {prefix:sel:inc}:version          | string     | version:nonce of the served set                              |
| {prefix:sel:inc}:changes          | sorted set | change (JSON), scored by version; the last 1,000             |

What stands in braces decides the slot in Redis Cluster: one script, one slot.
"""

from typing import NamedTuple

from store.types import ShardKey
from streamsieve.errors import BadSpec


class ShardKeys(NamedTuple):
    """One shard's keys, in the order in which scripts take them."""

    meta: str
    state: str
    names: str
    changed: str
    versions: str


class TopKeys(NamedTuple):
    """One served set's keys, in the order in which scripts take them."""

    top: str
    version: str
    changes: str


class Keys:
    """The keys of one deployment.

    >>> Keys("sieve").shard(ShardKey("spam", "1f", 0)).meta
    '{sieve:spam:1f:0}:meta'
    """

    def __init__(self, prefix: str) -> None:
        if not prefix or set(prefix) & set("{} \r\n"):
            raise BadSpec("prefix", "must be given, without braces or white space")
        self._prefix = prefix
        self.registry = f"{{{prefix}}}:registry"
        self.registry_version = f"{{{prefix}}}:registry-version"
        self.hash_key = f"{{{prefix}}}:hash-key"

    def shard(self, shard: ShardKey) -> ShardKeys:
        """Keys of one partition's shard."""
        tag = f"{{{self._prefix}:{shard.selector}:{shard.incarnation}:{shard.partition}}}"
        return ShardKeys(*(f"{tag}:{field}" for field in ShardKeys._fields))

    def top(self, selector: str, incarnation: str) -> TopKeys:
        """Keys of one served set."""
        tag = f"{{{self._prefix}:{selector}:{incarnation}}}"
        return TopKeys(*(f"{tag}:{field}" for field in TopKeys._fields))
