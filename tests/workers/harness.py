"""Lanes over the in-memory twins, turned by hand: no thread, no sleep, a clock that the test moves."""

import json
import random
from collections.abc import Sequence

from broker.memory import MemoryBroker
from broker.types import Outgoing
from store.memory import MemoryStore
from store.types import Accounts, Claim, Commit, ShardKey
from streamsieve.decode.decoder import Decoder
from streamsieve.errors import StoreDown
from streamsieve.learners.making import make_learner
from streamsieve.snapshot import canonical
from streamsieve.spec import Spec
from workers.lane import Deployment, Known, Lane
from workers.metrics import WorkerMetrics

TOPIC = "samples"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class UnluckyStore(MemoryStore):
    """A store whose connection fails when the test says so."""

    down = False
    lose_replies = 0

    def commit(self, claim: Claim, commit: Commit) -> None:
        if self.down:
            raise StoreDown("the test cut the connection")
        super().commit(claim, commit)
        if self.lose_replies:
            self.lose_replies -= 1
            raise StoreDown("the test lost the reply")


class World:
    """One topic, one selector, any number of lanes."""

    def __init__(self, partitions: int = 1, store: MemoryStore | None = None, **spec: object) -> None:
        self.clock = Clock()
        self.broker = MemoryBroker()
        self.store = store or MemoryStore()
        self.metrics = WorkerMetrics()
        self.broker.ensure_topic(TOPIC, partitions)
        given = {"name": "spam", "algorithm": "b-arda", "budget": 5, "topic": TOPIC, **spec}
        self.registered = self.store.create(Spec.parse(given))
        self.partitions = partitions
        self._producer = self.broker.producer()

    def lane(self, known: Known | None = None) -> Lane:
        deployment = Deployment(self.store, self.broker, self.metrics, clock=self.clock)
        return Lane(self.registered, deployment, self.partitions, {} if known is None else known, lambda: False)

    def send(self, values: Sequence[bytes | None], partition: int = 0) -> None:
        self._producer.send_all([Outgoing(TOPIC, b"key", value, [], partition) for value in values])

    def turn(self, *lanes: Lane, times: int = 6, seconds: float = 1.0) -> None:
        for _ in range(times):
            self.clock.now += seconds
            for lane in lanes:
                lane.turn()

    def key(self, partition: int = 0) -> ShardKey:
        return ShardKey("spam", self.registered.incarnation, partition)

    def accounts(self, partition: int = 0) -> Accounts:
        accounts = self.store.load(self.key(partition)).accounts
        assert accounts is not None
        assert accounts.next_offset - accounts.first_offset == (
            accounts.applied + accounts.dead_lettered + accounts.skipped
        )
        return accounts

    def bytes(self, partition: int = 0) -> bytes:
        return canonical("b-arda", self.store.load(self.key(partition)).chunks)

    def served(self) -> dict[str, float]:
        top = self.store.top("spam", self.registered.incarnation)
        return {} if top is None else {feature.feature: feature.weight for feature in top.features}


def samples(count: int, seed: int = 0) -> list[bytes]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        words = draw.sample(range(40), 6)
        y = 1 if sum(word % 3 - 1 for word in words) > 0 else -1
        made.append(json.dumps({"y": y, "x": {f"w{word}": draw.choice([0.5, 1, 2]) for word in words}}).encode())
    return made


def reference(spec: Spec, values: Sequence[bytes]) -> bytes:
    """The bytes of an undisturbed run over the same log, one record at a time, in one process."""
    learner = make_learner(spec, bytes(16))
    decoder = Decoder(spec.format, spec.labels, spec.all_limits(), bytes(16))
    for value in values:
        learner.learn(decoder.decode([value]).batch)
    return canonical("b-arda", learner.chunks())
