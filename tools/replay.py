"""`sieve replay`: a file's lines to a topic, each a record. The producer is idempotent: no retry doubles a record."""

import argparse
import logging
import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from broker.kafka_broker import KafkaBroker
from broker.protocol import Broker
from broker.types import Outgoing
from streamsieve.decode.decoder import CONTENT_TYPES
from streamsieve.spec import TOPIC
from tools.failures import BadArgument
from tools.files import FORMATS, LINE_FORMATS, guess_format, read_records
from tools.numbers import positive_number, whole_number
from tools.output import note
from tools.pacing import Pace
from tools.progress import Bar, progress_bar
from tools.settings import Settings

MOST_AT_ONCE = 2_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("file", metavar="FILE", help="lines of samples, or - for standard input")
    parser.add_argument("--topic", required=True, metavar="T", help="made with one partition if it isn't there")
    parser.add_argument("--partition", type=whole_number, metavar="P", help="default: spread over all")
    parser.add_argument("--rate", type=positive_number, metavar="N", help="records a second; default: no limit")
    parser.add_argument("--format", choices=FORMATS, help="default: what the file's name tells")
    parser.add_argument("--kafka", metavar="BOOTSTRAP", help="HOST:PORT,...; default: SIEVE_KAFKA_BOOTSTRAP")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Send the file."""
    file_format = _line_format(args)
    if not TOPIC.fullmatch(args.topic):
        raise BadArgument(f"--topic {args.topic}: must match {TOPIC.pattern}")
    records = _opened(outgoing(args.file, file_format, args.topic, args.partition))
    logging.getLogger("broker").addHandler(logging.NullHandler())  # what the client logs comes back as BrokerDown
    broker = KafkaBroker(args.kafka or settings.kafka_bootstrap, settings.kafka_config)
    try:
        _check_partition(broker, args.topic, args.partition)
        with progress_bar(f"{args.file} to {args.topic}") as bar:
            sent = send(broker, records, args.rate, bar)
    finally:
        broker.close()
    note(f"sieve replay: {sent} records sent to {args.topic}")
    return 0


def outgoing(path: str, file_format: str, topic: str, partition: int | None) -> Iterator[Outgoing]:
    """Every line as a record without its line end; its header tells the format."""
    content_type = next(name for name, known in CONTENT_TYPES.items() if known == file_format)
    headers = [("content-type", content_type.encode())]
    for lines in read_records(path, file_format):
        for line in lines:
            yield Outgoing(topic, None, line.rstrip(b"\r\n"), headers, partition)


def send(broker: Broker, records: Iterable[Outgoing], rate: float | None, bar: Bar) -> int:
    """Send them all at that rate; how many they were. Raises BrokerDown."""
    producer = broker.producer()
    pace = Pace(rate, time.monotonic())
    remaining, sent = iter(records), 0
    try:
        while batch := list(islice(remaining, pace.batch(MOST_AT_ONCE))):
            producer.send_all(batch)
            sent += len(batch)
            bar.advance(len(batch))
            time.sleep(pace.wait(sent, time.monotonic()))
    finally:
        producer.close()
    return sent


def _line_format(args: argparse.Namespace) -> str:
    file_format: str = args.format or guess_format(args.file)
    if file_format not in LINE_FORMATS:
        raise BadArgument(f"{args.file}: {file_format} has no lines to send; known: {', '.join(LINE_FORMATS)}")
    return file_format


def _opened(records: Iterator[Outgoing]) -> Iterator[Outgoing]:
    """The same records, the first one read already: a file that can't be read must not make a topic."""
    return chain(list(islice(records, 1)), records)


def _check_partition(broker: Broker, topic: str, partition: int | None) -> None:
    """Make the topic where it isn't there; a partition that does not exist would only time out."""
    broker.ensure_topic(topic, (partition or 0) + 1)
    count = broker.partition_count(topic)
    if partition is not None and partition >= count:
        raise BadArgument(f"--partition {partition}: {topic} has {count} partitions, counted from 0")
