"""The worker's metrics, declared once, each with the sentence a dashboard shows. Never a feature name as a label."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

SHARD = ("selector", "partition")


class WorkerMetrics:
    """One set a process, on its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.applied = self._counter("sieve_applied_records", "Records learnt by this worker.", SHARD)
        self.dead = self._counter(
            "sieve_dead_lettered_records", "Records refused and sent to the dead-letter topic.", (*SHARD, "reason")
        )
        self.ignored_names = self._counter(
            "sieve_ignored_names", "New names that were ignored because max_names was reached.", SHARD
        )
        self.commits = self._counter("sieve_commits", "Commits of state and offset.", SHARD)
        self.fenced = self._counter("sieve_fenced", "Times that another worker had taken the shard over.", SHARD)
        self.rolled_back = self._counter("sieve_rolled_back", "Times that the store went back and was replayed.", SHARD)
        self.store_emptied = self._counter(
            "sieve_store_emptied", "Times that the store had lost what was committed.", ("selector",)
        )
        self.lane_failures = self._counter("sieve_lane_failures", "Crashes of a selector's thread.", ("selector",))
        self.halted = Gauge(
            "sieve_halted", "1 while a partition stands still for an operator.", SHARD, registry=self.registry
        )
        self.next_offset = Gauge(
            "sieve_next_offset", "The offset that the committed state stands for.", SHARD, registry=self.registry
        )
        self.commit_seconds = self._histogram("sieve_commit_seconds", "Time of one commit.", ("selector",))
        self.exchange_seconds = self._histogram(
            "sieve_exchange_seconds", "Time to read what the peers committed.", ("selector",)
        )
        self.learn_seconds = self._histogram("sieve_learn_seconds", "Time to decode and learn a poll.", ("selector",))

    def _counter(self, name: str, sentence: str, labels: tuple[str, ...]) -> Counter:
        return Counter(name, sentence, labels, registry=self.registry)

    def _histogram(self, name: str, sentence: str, labels: tuple[str, ...]) -> Histogram:
        return Histogram(name, sentence, labels, registry=self.registry)
