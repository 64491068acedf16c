"""What is left of a record that the broker refuses for its size."""

import hashlib

from broker.types import Headers, Outgoing

KEPT_BYTES = 64 * 1024
_SMALL_HEADER = 1024
_STRANGERS_HEADERS = 32


def truncated(record: Outgoing) -> Outgoing:
    """The record with the first 64 KiB of its value, and headers that say so and identify the whole.

    The key and a stranger's headers are bounded too, or a record with a huge key would be refused again, for ever.

    >>> short = truncated(Outgoing("t.dlq", None, b"x" * 100_000, []))
    >>> len(short.value), [name for name, _ in short.headers]
    (65536, ['sieve-truncated', 'sieve-sha256'])
    """
    whole = record.value or b""
    digest = hashlib.sha256(whole).hexdigest().encode()
    marks = [("sieve-truncated", b"1"), ("sieve-sha256", digest)]
    key = record.key[:KEPT_BYTES] if record.key else record.key
    return record._replace(key=key, value=whole[:KEPT_BYTES], headers=_bounded(record.headers) + marks)


def _bounded(headers: Headers) -> Headers:
    """Our own headers first, for a reader relies on them."""
    small = [(name, value) for name, value in headers if len(name) + len(value) <= _SMALL_HEADER]
    ours = [(name, value) for name, value in small if name.startswith("sieve-")]
    others = [(name, value) for name, value in small if not name.startswith("sieve-")]
    return ours + others[:_STRANGERS_HEADERS]


def is_truncated(record: Outgoing) -> bool:
    """Has this been cut already? Cutting it again would not make it smaller."""
    return any(name == "sieve-truncated" for name, _ in record.headers)
