"""The settings of librdkafka, in one place: our defaults, then what the caller gives (TLS, SASL), then our rules."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Config = dict[str, Any]  # librdkafka takes strings, numbers, flags and callbacks

_ANY_CLIENT: dict[str, object] = {
    "log.connection.close": False,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 1_000,  # the default of 10 s would outlast most restarts of a broker
}

_CONSUMER_DEFAULTS: dict[str, object] = {
    "queued.max.messages.kbytes": 16 * 1024,
    "queued.min.messages": 20_000,
    "fetch.queue.backoff.ms": 20,  # with a short queue the default of 1 s would starve a fast reader
    "fetch.wait.max.ms": 100,  # a partition that was just fed waits for the fetch under way
    "topic.metadata.refresh.interval.ms": 2_000,  # how soon a topic made after the subscription is seen
}

_CONSUMER_RULES: dict[str, object] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "enable.partition.eof": True,
    "group.protocol": "classic",
    "partition.assignment.strategy": "cooperative-sticky",
}

_PRODUCER_DEFAULTS: dict[str, object] = {
    "compression.type": "lz4",
    "message.max.bytes": 16 * 1024 * 1024,  # the broker decides what is too large, not the client
    "linger.ms": 5,
}

_PRODUCER_RULES: dict[str, object] = {"enable.idempotence": True, "acks": "all"}


class Connection(NamedTuple):
    """Where the brokers are and how to speak to them."""

    bootstrap: str
    config: Mapping[str, object]
    session_timeout_ms: int = 6_000

    def consumer(self, group: str, on_error: Callable[..., None], on_commit: Callable[..., None]) -> Config:
        """For a member of a group."""
        hooks: dict[str, object] = {"group.id": group, "error_cb": on_error, "on_commit": on_commit}
        return self._merged(_CONSUMER_DEFAULTS | self._timing(), _CONSUMER_RULES | hooks)

    def asker(self, on_error: Callable[..., None]) -> Config:
        """For a consumer that joins no group and only asks for metadata and offsets; it never makes a topic."""
        rules: dict[str, object] = {
            "group.id": "sieve-asks-only",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
            "isolation.level": "read_uncommitted",  # lag counts up to the end of the log
            "error_cb": on_error,
        }
        return self._merged(self._timing(), rules)

    def producer(self, on_error: Callable[..., None]) -> Config:
        """For sending."""
        return self._merged(_PRODUCER_DEFAULTS, {**_PRODUCER_RULES, "error_cb": on_error})

    def admin(self, on_error: Callable[..., None]) -> Config:
        """For making and describing topics."""
        return self._merged({}, {"error_cb": on_error})

    def _timing(self) -> dict[str, object]:
        return {
            "session.timeout.ms": self.session_timeout_ms,
            "heartbeat.interval.ms": self.session_timeout_ms // 4,
        }

    def _merged(self, defaults: dict[str, object], rules: dict[str, object]) -> Config:
        return {
            **_ANY_CLIENT,
            **defaults,
            **self.config,
            **rules,
            "bootstrap.servers": self.bootstrap,
            "logger": logging.getLogger("broker.librdkafka"),
        }
