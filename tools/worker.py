"""`sieve worker`: learn from Kafka, keep the state in Redis. Prints one JSON line when it is ready for partitions."""

import argparse
import json

from prometheus_client import start_http_server

from broker.kafka_broker import KafkaBroker
from store.redis_store import RedisStore
from store.types import Registered
from streamsieve.decode.decoder import Decoder
from streamsieve.learners.catalogue import CATALOGUE
from streamsieve.learners.making import warm
from streamsieve.spec import Spec
from tools.logs import configure_logs
from tools.settings import Settings
from tools.stopping import end_with_parent, stop_event
from workers.lane import Deployment
from workers.metrics import WorkerMetrics
from workers.policy import CommitPolicy
from workers.supervisor import Supervisor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Everything else is a setting."""
    parser.add_argument("--with-parent", action="store_true", help="stop when standard input ends")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Until told to stop."""
    stopping = stop_event()
    if args.with_parent:
        end_with_parent()
    configure_logs(settings.log_level, settings.log_format)
    warm_everything()  # before subscribing: a group must not wait for a compiler
    metrics = WorkerMetrics()
    server, thread = start_http_server(settings.metrics_port, settings.http_host, metrics.registry)
    deployment = _deployment(settings, metrics)
    print(json.dumps({"metrics": f"http://{settings.http_host}:{server.server_port}/metrics"}), flush=True)
    Supervisor(deployment, _warm).run(stopping)
    deployment.broker.close()
    deployment.store.close()
    server.shutdown()
    thread.join()
    return 0


def _deployment(settings: Settings, metrics: WorkerMetrics) -> Deployment:
    return Deployment(
        store=RedisStore.connect(settings.redis_url, settings.prefix),
        broker=make_broker(settings),
        metrics=metrics,
        prefix=settings.prefix,
        policy=CommitPolicy(interval=settings.commit_interval, publish_interval=settings.publish_interval),
    )


def make_broker(settings: Settings) -> KafkaBroker:
    """Kafka as the settings describe it."""
    return KafkaBroker(settings.kafka_bootstrap, settings.kafka_config, session_timeout_ms=settings.session_timeout_ms)


def warm_everything() -> None:
    """Compile or load every kernel of the catalogue, so that no selector created later waits for the compiler."""
    for entry in CATALOGUE.values():
        warm_spec(Spec.parse({"name": "warm", "algorithm": entry.name, "budget": 1, "topic": "warm"}))


def warm_spec(spec: Spec) -> None:
    """One selector's kernels, the decoder's among them."""
    warm(spec)
    Decoder("json", spec.labels, spec.all_limits(), bytes(16)).decode([b'{"y": 1, "x": {"a": 1, "b": 2}}'])


def _warm(registered: Registered) -> None:
    warm_spec(registered.spec)
