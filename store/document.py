"""The served set as the document that HTTP and the features topic both give."""

from datetime import UTC, datetime
from typing import Any

from store.types import TopSet


def as_document(top: TopSet, k: int) -> dict[str, Any]:
    """The first k features and what they stand for, in the contract's words."""
    return {
        "selector": top.selector,
        "algorithm": top.algorithm,
        "version": top.version,
        "applied": top.applied,
        "samples": top.samples,
        "updated_at": timestamp(top.updated_at),
        "budget": top.budget,
        "k": k,
        "features": [feature._asdict() for feature in top.features[:k]],
    }


def timestamp(seconds: float) -> str | None:
    """RFC 3339 in UTC; None for never.

    >>> timestamp(1700000000.25)
    '2023-11-14T22:13:20.250Z'
    """
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
