"""The store in Redis, Valkey or Redis Cluster: registry, shards and served sets under one roof."""

import time

from store.books import Clock
from store.connection import Connection
from store.keys import Keys
from store.redis_registry import RedisRegistry
from store.redis_shards import RedisShards
from store.redis_top import RedisTop


class RedisStore:
    """Implements `store.protocol.Store`; any thread may call it. Make one a process, after the fork."""

    def __init__(self, connection: Connection, keys: Keys, clock: Clock) -> None:
        self._connection = connection
        registry = RedisRegistry(connection, keys)
        self.create = registry.create
        self.recreate = registry.recreate
        self.delete = registry.delete
        self.registry = registry.registry
        self.registry_version = registry.registry_version
        self.set_partitions = registry.set_partitions
        shards = RedisShards(connection, keys, clock)
        self.claim = shards.claim
        self.load = shards.load
        self.owns = shards.owns
        self.commit = shards.commit
        self.hear = shards.hear
        self.halt = shards.halt
        self.statuses = shards.statuses
        self.hash_key = shards.hash_key
        served = RedisTop(connection, keys, clock)
        self.publish = served.publish
        self.top = served.top
        self.top_version = served.top_version
        self.changes = served.changes

    @staticmethod
    def connect(url: str, prefix: str = "sieve", clock: Clock = time.time, timeout: float = 2.0) -> "RedisStore":
        """Nothing is sent before the first verb, so this succeeds while Redis is down; raises BadSpec for a bad URL."""
        return RedisStore(Connection(url, timeout), Keys(prefix), clock)

    def ping(self) -> None:
        """Raises StoreDown if Redis does not answer."""
        self._connection.call("PING")

    def close(self) -> None:
        """Let go of connections."""
        self._connection.close()
