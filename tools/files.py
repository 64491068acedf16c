"""Data files, read as a stream of decoded batches.

Lines of json, ndjson, vw and libsvm are one sample each; blank ones are skipped, and so are libsvm's comments. csv and
npz are described in `streamsieve.decode.csv_rows` and `matrix_rows`. A name that ends in .gz is gunzipped on the way;
``-`` is the standard input, taken for JSON lines unless told otherwise.
"""

import csv
import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import numpy as np

from streamsieve.batch import Decoded
from streamsieve.decode import csv_rows, matrix_rows
from streamsieve.decode.decoder import CONTENT_TYPES, Decoder
from streamsieve.errors import BadFile

Item = TypeVar("Item")

FORMAT_OF_SUFFIX = {
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "ndjson",
    ".vw": "vw",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".csv": "csv",
    ".npz": "npz",
}
LINE_FORMATS = ("json", "ndjson", "vw", "libsvm")
FORMATS = (*LINE_FORMATS, "csv", "npz")

MOST_ITEMS = 2000  # lines or rows a batch
MOST_BYTES = 4 * 1024 * 1024  # of lines a batch
MOST_CELLS = 500_000  # of rows a batch
LONGEST_LINE = 64 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def guess_format(path: str) -> str:
    """The format that a file's name tells; raises BadFile if it tells none.

    >>> guess_format("spam.vw.gz"), guess_format("-")
    ('vw', 'json')
    """
    if path == "-":
        return "json"
    suffix = Path(path.lower().removesuffix(".gz")).suffix
    if suffix not in FORMAT_OF_SUFFIX:
        raise BadFile(f"{path}: its name does not tell its format; say which of {', '.join(FORMATS)} it is")
    return FORMAT_OF_SUFFIX[suffix]


def read_batches(path: str, file_format: str | None, decoder: Decoder) -> Iterator[Decoded]:
    """Every sample of the file, each as one record, batch by batch; raises BadFile."""
    known = file_format or guess_format(path)
    if known == "csv":
        return _read_csv(path, decoder)
    if known == "npz":
        return _read_npz(path, decoder)
    line_type = _content_type(known)
    return (decoder.decode(lines, [line_type] * len(lines)) for lines in read_records(path, known))


def read_records(path: str, file_format: str) -> Iterator[list[bytes]]:
    """The lines of a file, each one record of one sample, a few thousand at a time; raises BadFile."""
    _content_type(file_format)
    with _opened(path) as stream:
        lines = (line for line in _lines(stream, path) if _holds_sample(line, file_format))
        yield from _groups(lines, len, MOST_BYTES)


def _content_type(file_format: str) -> str:
    """Of one line of such a file: a line of ndjson is one JSON sample."""
    if file_format not in LINE_FORMATS:
        raise BadFile(f"unknown format {file_format!r}; known: {', '.join(FORMATS)}")
    line_format = "json" if file_format == "ndjson" else file_format
    return next(name for name, known in CONTENT_TYPES.items() if known == line_format)


def _holds_sample(line: bytes, file_format: str) -> bool:
    text = line.lstrip()
    return bool(text) and not (file_format == "libsvm" and text.startswith(b"#"))


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """The file's bytes; whatever goes wrong with it, now or while reading, is a BadFile."""
    try:
        if path == "-":
            yield sys.stdin.buffer
        elif path.lower().endswith(".gz"):
            with gzip.open(path, "rb") as unzipped:
                yield cast("BinaryIO", unzipped)
        else:
            with Path(path).open("rb") as stream:
                yield stream
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise BadFile(f"{path}: it is a folder, not a file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadFile(f"{path}: it is not a whole gzip file: {error}") from None
    except OSError as error:
        raise BadFile(f"{path}: it can't be read: {error.strerror or error}") from None


def _lines(stream: BinaryIO, path: str) -> Iterator[bytes]:
    """Line ends included, a byte order mark not."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise BadFile(f"{path}: line {number} is longer than {LONGEST_LINE} bytes")
        yield line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def _groups(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Lists of at most MOST_ITEMS, ended as soon as their sizes reach `most`."""
    group: list[Item] = []
    total = 0
    for item in items:
        group.append(item)
        total += size(item)
        if len(group) == MOST_ITEMS or total >= most:
            yield group
            group, total = [], 0
    if group:
        yield group


def _read_csv(path: str, decoder: Decoder) -> Iterator[Decoded]:
    with _opened(path) as stream:
        rows = _cells(stream, path)
        first = next(rows, None)
        if first is None:
            raise BadFile(f"{path}: the table is empty")
        with _naming(path):
            table = csv_rows.table_of(first)
        if not csv_rows.has_header(first):
            rows = chain([first], rows)
        for group in _groups(rows, len, MOST_CELLS):
            yield decoder.gather(group, table.parse)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Say which file it is that can't be used."""
    try:
        yield
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None


def _cells(stream: BinaryIO, path: str) -> Iterator[list[str]]:
    """The rows that are not blank."""
    lines = (line.decode("utf-8", "surrogateescape") for line in _lines(stream, path))
    reader = csv.reader(lines, strict=True)
    try:
        for row in reader:
            if row:
                yield row
    except csv.Error as error:
        raise BadFile(f"{path}: line {reader.line_num} is not CSV: {error}") from None


def _read_npz(path: str, decoder: Decoder) -> Iterator[Decoded]:
    arrays = _arrays(path)
    with _naming(path):
        matrix = matrix_rows.matrix_of(arrays, decoder.rules.limits.max_features)
    for group in _groups(matrix.rows(), lambda row: len(row.names), MOST_CELLS):
        yield decoder.gather(group, matrix_rows.parse)


def _arrays(path: str) -> dict[str, matrix_rows.Array]:
    with _opened(path) as stream:
        # A zip file is read from its end: neither a pipe nor gzip can seek there.
        seekable = io.BytesIO(stream.read()) if path == "-" or path.lower().endswith(".gz") else stream
        try:
            archive = np.load(seekable, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise BadFile(f"{path}: it is one array, not an npz archive")
            return dict(archive)
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
            raise BadFile(f"{path}: it is not an npz archive of plain arrays: {error}") from None
