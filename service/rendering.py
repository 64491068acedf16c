"""The served set as bytes: rendered once for a version, k and format, then shared by all who ask."""

import csv
import io
import re
from collections import OrderedDict
from collections.abc import Callable
from enum import StrEnum
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from store.document import as_document
from store.types import TopSet

KEPT_BYTES = 64 * 1024 * 1024


class Format(StrEnum):
    """What `format` may be."""

    JSON = "json"
    CSV = "csv"
    VW_MASK = "vw-mask"


MEDIA_TYPES = {
    Format.JSON: "application/json",
    Format.CSV: "text/csv; charset=utf-8; header=present",
    Format.VW_MASK: "text/x-vw; charset=utf-8",
}


def entity_tag(top: TopSet, k: int, form: Format) -> str:
    """Strong: equal tags mean equal bytes."""
    return f'"{top.version}-{top.nonce}-{k}-{form}"'


def as_json(top: TopSet, k: int) -> bytes:
    """The document of the contract; numbers in full."""
    return msgspec.json.encode(as_document(top, k))


# A spreadsheet takes a cell that starts like this for a formula, or drops the apostrophe. The wide forms count too.
FORMULA = re.compile(r"[=+\-@\t\r\n'＝＋－＠]")  # noqa: RUF001


def csv_name(name: str) -> str:
    """A name that no spreadsheet computes: one apostrophe before what looks like a formula, or like this escape.

    Whoever reads it with a program drops one leading apostrophe to have the name as it was.

    >>> csv_name("len"), csv_name("=1+1"), csv_name("'tis")
    ('len', "'=1+1", "''tis")
    """
    return f"'{name}" if FORMULA.match(name) else name


def as_csv(top: TopSet, k: int) -> bytes:
    """RFC 4180 with a header line."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(("rank", "feature", "weight", "score"))
    for feature in top.features[:k]:
        writer.writerow((feature.rank, csv_name(feature.feature), feature.weight, feature.score))
    return text.getvalue().encode()


VW_SPECIAL = re.compile(r"[\x00-\x20:|%\x7f]")


def vw_line(name: str) -> str:
    """One Vowpal Wabbit example that holds this feature alone; `ns^feature` is the feature of a namespace.

    What VW's text can't carry in a name, and `%`, is percent-encoded.

    >>> vw_line("free"), vw_line("title^free"), vw_line("tok:free")
    ('1 | free', '1 |title free', '1 | tok%3Afree')
    """
    namespace, caret, feature = name.partition("^")
    if not (namespace and caret and feature):
        namespace, feature = "", name
    return f"1 |{_vw_escaped(namespace)} {_vw_escaped(feature)}"


def _vw_escaped(name: str) -> str:
    return VW_SPECIAL.sub(lambda found: quote(found[0], safe=""), name)


def as_vw_mask(top: TopSet, k: int) -> bytes:
    """Examples from which `vw --noconstant -f MASK` makes a model for `vw --feature_mask MASK`."""
    return "".join(f"{vw_line(feature.feature)}\n" for feature in top.features[:k]).encode()


RENDERERS: dict[Format, Callable[[TopSet, int], bytes]] = {
    Format.JSON: as_json,
    Format.CSV: as_csv,
    Format.VW_MASK: as_vw_mask,
}


class Key(NamedTuple):
    """All that the bytes depend on."""

    selector: str
    incarnation: str
    version: int
    nonce: str
    k: int
    form: Format


class Rendered:
    """The least recently asked-for answers go when all together exceed the limit."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most = most_bytes
        self._held = 0
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = Lock()

    def of(self, top: TopSet, k: int, form: Format) -> bytes:
        """The answer's body."""
        key = Key(top.selector, top.incarnation, top.version, top.nonce, k, form)
        with self._lock:
            body = self._kept.get(key)
            if body is None:
                body = self._keep(key, RENDERERS[form](top, k))
            else:
                self._kept.move_to_end(key)
        return body

    def _keep(self, key: Key, body: bytes) -> bytes:
        self._kept[key] = body
        self._held += len(body)
        while self._held > self._most:
            _, oldest = self._kept.popitem(last=False)
            self._held -= len(oldest)
        return body
