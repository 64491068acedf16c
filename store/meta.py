"""A shard's `:meta` hash, to and from plain values.

| field                              | written by     | holds                                                     |
|------------------------------------|----------------|-----------------------------------------------------------|
| epoch, owner                       | claim          | how many claims there were, random nonce of the last      |
| ver, number                        | commit         | random id of the last commit, how many there were         |
| chunks                             | commit         | how many chunks the shard has: a lost key shows           |
| one for each field of `Accounts`   | commit         | the books                                                 |
| progress                           | commit         | four packed float64                                       |
| format                             | commit         | of all this, so that an older program refuses a newer one |
| committed_at                       | commit         | seconds since 1970                                        |
| halted                             | halt           | why the shard stands still, or nothing                    |
"""

import struct
from collections.abc import Mapping
from dataclasses import astuple, fields

from store.books import NO_PROGRESS, Progress
from store.types import Accounts, Commit, Seen, ShardStatus
from streamsieve.errors import CorruptState

FORMAT = b"1"
PROGRESS = struct.Struct("<4d")
ACCOUNTS = tuple(field.name for field in fields(Accounts))
TEXTS = ("topic_id",)  # the one account that is no number

Meta = Mapping[bytes, bytes]


def committed_fields(commit: Commit, now: float) -> dict[str, bytes]:
    """What a commit sets, besides what its script sets by itself (ver, number, chunks)."""
    accounts = dict(zip(ACCOUNTS, astuple(commit.accounts), strict=True))
    return {
        **{name: str(value).encode() for name, value in accounts.items()},
        "progress": PROGRESS.pack(*commit.progress),
        "format": FORMAT,
        "committed_at": repr(now).encode(),
    }


def accounts_of(meta: Meta) -> Accounts | None:
    """The books, None before the first commit; raises CorruptState."""
    if not meta.get(b"ver"):
        return None
    if meta.get(b"format") != FORMAT:
        raise CorruptState(f"stored in format {meta.get(b'format')!r}, this program reads {FORMAT!r}")
    try:
        values = {name: meta[name.encode()].decode() for name in ACCOUNTS}
        numbers = {name: int(value) for name, value in values.items() if name not in TEXTS}
    except (KeyError, ValueError) as error:
        raise CorruptState(f"a shard's books are damaged: {error}") from error
    return Accounts(**numbers, topic_id=values["topic_id"])


def seen_of(meta: Meta) -> Seen:
    """The last commit; ('', 0) before the first."""
    return Seen(meta.get(b"ver", b"").decode(), int(meta.get(b"number", b"0")))


def progress_of(meta: Meta) -> Progress:
    """Progressive sums as of the last commit."""
    packed = meta.get(b"progress")
    if packed is None:
        return NO_PROGRESS
    samples, correct, losses, auc = PROGRESS.unpack(packed)
    return samples, correct, losses, auc


def status_of(partition: int, meta: Meta) -> ShardStatus:
    """All of it, for the service."""
    return ShardStatus(
        partition=partition,
        accounts=accounts_of(meta),
        progress=progress_of(meta),
        owner=meta.get(b"owner", b"").decode(),
        epoch=int(meta.get(b"epoch", b"0")),
        committed_at=float(meta.get(b"committed_at", b"0")),
        halted=meta.get(b"halted", b"").decode(),
    )


def check_count(meta: Meta, found: int) -> None:
    """A shard has as many chunks as its last commit counted; a key lost to eviction or by hand raises CorruptState."""
    expected = int(meta.get(b"chunks", b"0"))
    if found != expected:
        raise CorruptState(f"the shard has {found} chunks, its last commit counted {expected}")
