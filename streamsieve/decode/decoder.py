"""Records of any format to one batch; what can't be used becomes rejects."""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import TypeVar

import numpy as np

from streamsieve.batch import Decoded, Reason, Reject
from streamsieve.decode import json_samples, libsvm_text, ndjson_samples, vw_text
from streamsieve.decode.builder import Builder
from streamsieve.decode.refusal import Refusal, shown
from streamsieve.decode.samples import Rules, Sample
from streamsieve.errors import BadSpec
from streamsieve.kernels.hashing import key_words
from streamsieve.limits import Limits

Item = TypeVar("Item")
Parser = Callable[[bytes, Rules], list[Sample]]

PARSERS: dict[str, Parser] = {
    "json": json_samples.parse,
    "ndjson": ndjson_samples.parse,
    "vw": vw_text.parse,
    "libsvm": libsvm_text.parse,
}
CONTENT_TYPES = {
    "application/json": "json",
    "application/x-ndjson": "ndjson",
    "text/x-vw": "vw",
    "text/x-libsvm": "libsvm",
}


class Decoder:
    """Decodes one selector's records.

    >>> from streamsieve.limits import Limits
    >>> decoder = Decoder("json", "binary", Limits(), bytes(16))
    >>> decoded = decoder.decode([b'{"y": 0, "x": {"a": 1, "b": 2, "a": 3}}', b"{}", None])
    >>> decoded.batch.values, decoded.batch.labels, decoded.positions
    (array([4., 2.]), array([-1.]), array([0]))
    >>> [(reject.record, str(reject.reason), reject.detail) for reject in decoded.rejects]
    [(1, 'label', 'no label'), (2, 'null', 'no value')]
    """

    def __init__(self, default_format: str, labels: str, limits: Limits, hash_key: bytes) -> None:
        if default_format not in PARSERS:
            raise BadSpec("format", f"must be one of {', '.join(PARSERS)}, not {default_format!r}")
        if labels not in ("binary", "real", "class"):
            raise BadSpec("labels", f"must be binary, real or class, not {labels!r}")
        self.rules = Rules(labels, limits)
        self._default = PARSERS[default_format]
        self._key = key_words(hash_key)

    def decode(self, values: Sequence[bytes | None], content_types: Sequence[str | None] | None = None) -> Decoded:
        """Decode records; a record's content type, where it has one, goes before the default format."""
        types = repeat(None, len(values)) if content_types is None else content_types
        return self.gather(zip(values, types, strict=True), self._parse)

    def gather(self, items: Iterable[Item], parse: Callable[[Item, Rules], list[Sample]]) -> Decoded:
        """Make each item a record through `parse`, which may raise Refusal."""
        builder, positions, rejects = Builder(self._key), [], []
        for position, item in enumerate(items):
            try:
                samples = parse(item, self.rules)
            except Refusal as refusal:
                rejects.append(Reject(position, refusal.reason, refusal.detail))
            else:
                builder.add(samples)
                positions.append(position)
        return Decoded(builder.build(), np.array(positions, np.int64), rejects)

    def _parse(self, record: tuple[bytes | None, str | None], rules: Rules) -> list[Sample]:
        value, content_type = record
        if value is None:
            raise Refusal(Reason.NULL, "no value")
        if len(value) > rules.limits.max_record_bytes:
            raise Refusal(Reason.TOO_LARGE, f"{len(value)} bytes, at most {rules.limits.max_record_bytes}")
        parse = self._default if content_type is None else _parser_of(content_type)
        return parse(value, rules)


def _parser_of(content_type: str) -> Parser:
    """By media type alone: case and parameters such as charset don't matter."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in CONTENT_TYPES:
        raise Refusal(Reason.CONTENT_TYPE, f"no decoder for {shown(content_type)}")
    return PARSERS[CONTENT_TYPES[media_type]]
