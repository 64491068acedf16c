"""What librdkafka says, sorted: what passes by itself, what stops one partition, what ends the client."""

import logging
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

from broker.client_config import Config
from streamsieve.errors import BadSpec, BrokerDown

logger = logging.getLogger(__name__)
C = TypeVar("C")


def reason(failure: KafkaException) -> KafkaError:
    """The error inside the exception."""
    error = failure.args[0]
    return error if isinstance(error, KafkaError) else KafkaError(KafkaError._FAIL, str(error))


def broker_down(failure: KafkaException, doing: str) -> BrokerDown:
    """The exception that our callers know."""
    return BrokerDown(f"{doing}: {reason(failure).str()}")


def made(client: Callable[[Config], C], config: Config) -> C:
    """The client; raises BadSpec if librdkafka doesn't like its settings."""
    try:
        return client(config)
    except KafkaException as failure:
        raise BadSpec("kafka config", reason(failure).str()) from failure


class Grumbler:
    """Logs a client's errors once each until `heard` says that the broker answers again; remembers a fatal one."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._told: set[int] = set()
        self._fatal: str = ""

    def __call__(self, error: KafkaError) -> None:
        """Is librdkafka's `error_cb`."""
        if error.fatal():
            self._fatal = error.str()
        if error.code() not in self._told:
            self._told.add(error.code())
            logger.warning("%s: %s (%s)", self._who, error.str(), error.name())

    def heard(self) -> None:
        """The broker answered: the next trouble is news again."""
        self._told.clear()

    def check(self) -> None:
        """Raises BrokerDown after a fatal error: the client has to be made anew."""
        if self._fatal:
            raise BrokerDown(f"{self._who}: {self._fatal}")
