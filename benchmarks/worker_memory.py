"""Memory of a worker that has met a million distinct names through Kafka: growth over idle, in bytes a name."""

import json
import time
from pathlib import Path

import httpx

from broker.kafka_broker import KafkaBroker
from broker.types import Outgoing
from tools.settings import read_settings
from tools.stack.stack import Stack, Wanted

NAMES = 1_000_000
NAMES_A_SAMPLE = 100
TOPIC = "names"


def main() -> None:
    with Stack(Wanted(kafka="apache"), read_settings({"SIEVE_LOG_LEVEL": "warning"})) as stack:
        worker = stack.children[1].pid
        broker = KafkaBroker(stack.kafka)
        broker.ensure_topic(TOPIC)
        http = httpx.Client(base_url=stack.http, timeout=10.0)
        spec = {"name": "memory", "algorithm": "b-arda", "budget": 100, "topic": TOPIC}
        http.post("/selectors", json=spec).raise_for_status()
        send(broker, http, 0, 1)  # the first sample brings the lane up; idle is after it
        time.sleep(3)
        idle = resident(worker)
        send(broker, http, 1, NAMES // NAMES_A_SAMPLE)
        time.sleep(3)
        grown = resident(worker) - idle
        text = sum(len(name(at)) for at in range(NAMES))
        print(f"{NAMES:,} names, {text / NAMES:.1f} bytes of text each")
        print(f"worker: idle {idle / 1e6:.0f} MB, grown by {grown / 1e6:.0f} MB")
        print(f"beyond the text: {(grown - text) / NAMES:.0f} bytes a name")
        broker.close()


def name(at: int) -> str:
    return f"word-{at:07d}"


def send(broker: KafkaBroker, http: httpx.Client, first: int, stop: int) -> None:
    """In steps, each applied before the next, as a stream would come."""
    producer = broker.producer()
    for start in range(first, stop, 1_000):
        values = [sample(at) for at in range(start, min(stop, start + 1_000))]
        producer.send_all([Outgoing(TOPIC, None, value, [], 0) for value in values])
        while http.get("/selectors/memory").json()["applied"] < min(stop, start + 1_000):
            time.sleep(0.05)
    producer.close()


def sample(at: int) -> bytes:
    names = [name(NAMES_A_SAMPLE * at + each) for each in range(NAMES_A_SAMPLE)]
    return json.dumps({"y": 1 if at % 2 else -1, "x": names}).encode()


def resident(pid: int) -> int:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
