"""`GET /metrics`, for Prometheus. A label is a route template, a status or a checked name: no stranger's text."""

from collections.abc import Iterable, Iterator
from time import perf_counter

from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.lag import LagWatch
from service.views import Books, Views
from store.types import ShardStatus
from streamsieve.errors import StoreDown
from streamsieve.spec import Spec

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class HttpMetrics:
    """Counts and times of requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter(
            "sieve_http_requests", "Requests answered", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "sieve_http_request_seconds", "Time to answer", ["method", "route"], buckets=BUCKETS, registry=registry
        )

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """One request is answered."""
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = getattr(scope.get("route"), "path", "none")
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)


class MeasuredApp:
    """Middleware that tells HttpMetrics of every request."""

    def __init__(self, app: ASGIApp, metrics: HttpMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note its end; without an answer it was a failure, told as 500 further out."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        began = perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.note(scope, status, perf_counter() - began)


class SelectorMetrics(Collector):
    """Gauges read from the store when Prometheus asks, so that a deleted selector leaves none behind."""

    def __init__(self, views: Views, lag: LagWatch) -> None:
        self._views = views
        self._lag = lag

    def describe(self) -> Iterable[Metric]:
        """None in advance: the registry would else read the store when the app is made."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Whether Redis and Kafka answer, then the books where Redis does."""
        try:
            books = self._views.books()
        except StoreDown:
            books = None
        yield GaugeMetricFamily("sieve_redis_up", "1 if Redis answers", value=float(books is not None))
        yield GaugeMetricFamily("sieve_kafka_up", "1 if Kafka answers", value=float(self._lag.kafka() == "up"))
        if books is not None:
            yield from self._gauges(books)

    def _gauges(self, books: Books) -> Iterator[Metric]:
        applied = _gauge("sieve_selector_applied_records", "Records learnt from")
        dead = _gauge("sieve_selector_dead_lettered_records", "Records refused")
        halted = _gauge("sieve_selector_halted_partitions", "Partitions that wait for an operator")
        lag = _gauge("sieve_selector_lag_records", "Records that wait in the log, where Kafka can tell")
        for registered, statuses in books:
            label = [registered.spec.name]
            accounts = [status.accounts for status in statuses if status.accounts]
            applied.add_metric(label, sum(account.applied for account in accounts))
            dead.add_metric(label, sum(account.dead_lettered for account in accounts))
            halted.add_metric(label, sum(bool(status.halted) for status in statuses))
            waiting = self._waiting(registered.spec, statuses)
            if waiting is not None:
                lag.add_metric(label, waiting)
        yield from (applied, dead, halted, lag)

    def _waiting(self, spec: Spec, statuses: list[ShardStatus]) -> int | None:
        lags = [self._lag.of(spec, status.partition, status.accounts) for status in statuses]
        known = [lag for lag in lags if lag is not None]
        return sum(known) if known and len(known) == len(lags) else None


def _gauge(name: str, sentence: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, sentence, labels=["selector"])


def metrics_router(registry: CollectorRegistry) -> APIRouter:
    """The router."""
    router = APIRouter(tags=["health"])

    @router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    def metrics() -> Response:
        """Prometheus text. It answers without Redis and without Kafka, and says that they are down."""
        return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return router
