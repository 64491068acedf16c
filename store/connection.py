"""The one place that talks to redis-py: when to connect, to what, and what its errors mean to us."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import redis
from redis.backoff import ExponentialBackoff
from redis.cluster import RedisCluster
from redis.commands.core import Script
from redis.connection import BlockingConnectionPool, parse_url
from redis.exceptions import (
    ClusterError,
    NoPermissionError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.retry import Retry

from streamsieve.errors import BadSpec, StoreDown

Value = str | bytes | int | float
Command = tuple[Value, ...]
Client = redis.Redis | RedisCluster

CONNECTIONS = 64  # at most, a process; more threads wait for one
RETRIES = 1  # whatever we send is safe to send twice
CLUSTER_RETRIES = 3  # a moved slot and a failover take more
SCRIPTS = {path.stem: path.read_text() for path in sorted(Path(__file__).parent.glob("*.lua"))}
READ_ONLY = ("hear",)
DECLARING = 7  # the first version of Redis that reads a declaration at a script's top
# Replies that mean "not now": from a replica, a loading, full, busy or unsynced server.
PASSING = ("READONLY", "LOADING", "OOM", "MISCONF", "NOREPLICAS", "BUSY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN")


class _Link(NamedTuple):
    client: Client
    scripts: dict[str, Script]


class Connection:
    """A lazy client of one Redis, or of one Redis Cluster: it finds out at the first command which of the two it is."""

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url
        self._timeout = timeout
        self._place, self._secret = _describe(url)
        self._lock = Lock()
        self._link: _Link | None = None

    def call(self, *command: Value) -> Any:
        """One command."""
        with self._answering() as link:
            return link.client.execute_command(*command)  # type: ignore[no-untyped-call]

    def call_all(self, commands: Sequence[Command], atomic: bool = False) -> list[Any]:
        """Many commands in one go; atomic only for keys of one slot."""
        with self._answering() as link, link.client.pipeline(transaction=atomic) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            return list(pipeline.execute())

    def run(self, script: str, keys: Sequence[str], arguments: Sequence[Value]) -> Any:
        """A script of this package, by its file's name."""
        with self._answering() as link:
            return link.scripts[script](keys=keys, args=arguments)

    def close(self) -> None:
        """Let go of connections; a later command opens new ones."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.client.close()

    @contextmanager
    def _answering(self) -> Iterator[_Link]:
        try:
            yield self._linked()
        except (redis.ConnectionError, redis.TimeoutError, ClusterError, RedisClusterException) as error:
            raise self._down(error) from error
        except ResponseError as error:
            if not _passes(error):
                raise
            if isinstance(error, ReadOnlyError) or "READONLY" in str(error):
                # After a failover the pool still holds connections to the old master, which is a replica now.
                self.close()
            raise self._down(error) from error

    def _linked(self) -> _Link:
        """Connecting to a silent host takes seconds, so threads don't queue for it; the first that succeeds stays."""
        if (link := self._link) is not None:
            return link
        made = self._connect()
        with self._lock:
            link = self._link = self._link or made
        if link is not made:
            made.client.close()
        return link

    def _connect(self) -> _Link:
        """To the one server, or to the cluster that it turns out to be part of."""
        client = redis.Redis.from_pool(self._pool())
        try:
            info = _info(client)
        except RedisError:
            client.close()
            raise
        if not info.get("cluster_enabled"):
            return _link(client, info)
        client.close()
        return _link(self._cluster(), info)

    def _pool(self) -> BlockingConnectionPool:
        return BlockingConnectionPool.from_url(
            self._url,
            max_connections=CONNECTIONS,
            timeout=self._timeout,
            socket_timeout=self._timeout,
            socket_connect_timeout=self._timeout,
            retry=Retry(ExponentialBackoff(cap=0.1, base=0.01), RETRIES),
            protocol=2,
        )

    def _cluster(self) -> RedisCluster:
        return RedisCluster.from_url(
            self._url,
            connection_pool_class=BlockingConnectionPool,
            max_connections=CONNECTIONS,
            timeout=self._timeout,
            socket_timeout=self._timeout,
            socket_connect_timeout=self._timeout,
            retry=Retry(ExponentialBackoff(cap=0.1, base=0.01), CLUSTER_RETRIES),
            protocol=2,
        )

    def _down(self, error: Exception) -> StoreDown:
        reason = str(error) or type(error).__name__
        if self._secret:
            reason = reason.replace(self._secret, "***")
        return StoreDown(f"Redis at {self._place} does not answer: {reason}")


def _describe(url: str) -> tuple[str, str]:
    """host:port and the password; raises BadSpec, whose text holds nothing of the URL."""
    try:
        parts = parse_url(url)  # type: ignore[no-untyped-call]
    except ValueError:
        raise BadSpec("redis", "must be a URL like redis://user:password@host:6379/0 (rediss:// for TLS)") from None
    place = str(parts.get("path") or f"{parts.get('host', 'localhost')}:{parts.get('port', 6379)}")
    return place, str(parts.get("password", ""))


def _info(client: redis.Redis) -> dict[str, Any]:
    """What the server says of itself; nothing where it won't tell us."""
    try:
        return dict(client.info())
    except NoPermissionError:
        return {}


def _link(client: Client, info: dict[str, Any]) -> _Link:
    declares = int(str(info.get("redis_version", "0")).split(".", 1)[0]) >= DECLARING
    texts = {name: _declared(name, text) if declares else text for name, text in SCRIPTS.items()}
    return _Link(client, {name: client.register_script(text) for name, text in texts.items()})


def _declared(name: str, text: str) -> str:
    """With a declaration the server checks for memory, disk and replicas before the script's first line."""
    return f"#!lua flags={'no-writes' if name in READ_ONLY else ''}\n{text}"


def _passes(error: ResponseError) -> bool:
    """Before Redis 7 the word stands within the sentence of a failed script, after a minus."""
    text = str(error)
    known = isinstance(error, (ReadOnlyError, TryAgainError, redis.OutOfMemoryError))
    return known or text.startswith(PASSING) or any(f"-{word} " in text for word in PASSING)
