"""`sieve serve`: the HTTP service. Prints one JSON line with its address when it listens."""

import argparse
import json

from service.app import create_app
from service.serving import serve
from store.redis_store import RedisStore
from tools.logs import configure_logs
from tools.settings import Settings
from tools.stopping import end_with_parent
from tools.worker import make_broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Everything else is a setting."""
    parser.add_argument("--allow-writes", action="store_true", help="let anybody who reaches the port write")
    parser.add_argument("--with-parent", action="store_true", help="stop when standard input ends")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Until told to stop."""
    configure_logs(settings.log_level, settings.log_format)
    if args.with_parent:
        end_with_parent()
    store = RedisStore.connect(settings.redis_url, settings.prefix)
    broker = make_broker(settings)
    app = create_app(store, broker, writes_allowed=args.allow_writes)
    serve(app, settings.http_host, settings.http_port, lambda port: _tell(settings.http_host, port))
    broker.close()
    store.close()
    return 0


def _tell(host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    print(json.dumps({"http": f"http://{shown}:{port}"}), flush=True)
