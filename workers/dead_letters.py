"""Refused records, addressed to `<topic>.dlq`: key and bytes as they were, and headers that say why and from where."""

from broker.types import Outgoing, Record
from streamsieve.batch import Reason

PREFIX = "sieve-"


def dead_letter_topic(topic: str) -> str:
    """Where the refused records of a topic go."""
    return f"{topic}.dlq"


def dead_letter(record: Record, selector: str, reason: Reason, detail: str) -> Outgoing:
    """The record with its origin; copies of one refusal carry equal headers, so that a reader can tell them."""
    origin = {
        "reason": reason.value,
        "detail": detail,
        "selector": selector,
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
    }
    added = [(PREFIX + name, text.encode("utf-8", "backslashreplace")) for name, text in origin.items()]
    kept = [(name, value) for name, value in record.headers if not name.startswith(PREFIX)]
    return Outgoing(dead_letter_topic(record.topic), record.key, record.value, kept + added)
