"""The served set: merged from committed shards by the owner of partition 0, written to the store, told to Kafka."""

from collections.abc import Callable

import msgspec

from broker.protocol import Producer
from broker.types import Outgoing
from store.document import as_document
from store.protocol import Store
from store.types import Claim, Feature, TopSet
from streamsieve.selection import Selection
from streamsieve.spec import Spec

ANNOUNCE_INTERVAL = 1.0  # the contract: at most once a second on the topic


def features_topic(selector: str) -> str:
    """The compacted topic that carries a selector's served set."""
    return f"{selector}.features"


def features_of(selection: Selection) -> tuple[Feature, ...]:
    """The selection as ranked rows."""
    rows = zip(selection.names, selection.weights.tolist(), selection.scores.tolist(), strict=True)
    return tuple(Feature(rank, *row) for rank, row in enumerate(rows, 1))


class ServedSet:
    """Publishes what changed, no more often than the contract says."""

    def __init__(
        self,
        spec: Spec,
        claim: Claim,
        store: Store,
        producer: Producer,
        clock: Callable[[], float],
        interval: float,
    ) -> None:
        self._spec = spec
        self._claim = claim
        self._store = store
        self._producer = producer
        self._clock = clock
        self._interval = interval
        self._last: TopSet | None = None
        self._announced: tuple[Feature, ...] | None = None  # None: a new owner announces at once
        self._published_at = self._announced_at = float("-inf")

    def due(self, now: float) -> bool:
        """Is it time to look for something to publish?"""
        return now - self._published_at >= self._interval

    def publish(self, selection: Selection, applied: int, samples: int, now: float) -> None:
        """Serve this selection if it is news. Raises Fenced, StoreDown."""
        self._published_at = now
        features = features_of(selection)
        last = self._last
        if last is not None and (features, applied, samples) == (last.features, last.applied, last.samples):
            return
        shard = self._claim.shard
        self._last = self._store.publish(
            self._claim,
            TopSet(
                selector=shard.selector,
                incarnation=shard.incarnation,
                algorithm=self._spec.algorithm,
                version=0,
                nonce="",
                applied=applied,
                samples=samples,
                updated_at=self._clock(),
                budget=self._spec.budget,
                features=features,
            ),
        )

    def announce(self, now: float) -> None:
        """Send the served set to its topic if set or weights changed since the last time. Raises BrokerDown."""
        top = self._last
        if top is None or top.features == self._announced or now - self._announced_at < ANNOUNCE_INTERVAL:
            return
        self._announced_at = now
        key = top.selector.encode()
        headers = [("content-type", b"application/json")]
        self._producer.send_all([Outgoing(features_topic(top.selector), key, announcement(top), headers)], seconds=5.0)
        self._announced = top.features


def announcement(top: TopSet) -> bytes:
    """The value on the features topic: what `GET /features/top` answers for the whole set."""
    return msgspec.json.encode(as_document(top, len(top.features)))
