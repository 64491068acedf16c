"""A shard: one partition's learner and books, between two commits. Does no I/O."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from math import nan

from broker.types import Outgoing, Record
from store.types import Accounts, Claim, Commit, Stored
from streamsieve.batch import Decoded, Reason
from streamsieve.decode.decoder import Decoder
from streamsieve.learners.protocol import SampleLearner
from workers.dead_letters import dead_letter

CONTENT_TYPE = "content-type"


class Shard:
    """Applies records and says what to commit; `settled` closes a commit."""

    def __init__(self, claim: Claim, learner: SampleLearner, decoder: Decoder, stored: Stored, now: float) -> None:
        if stored.accounts is None:
            raise ValueError("a shard is made from committed books")
        self.claim = claim
        self.learner = learner
        self.accounts = stored.accounts
        self.rejected: list[Outgoing] = []
        self.rejected_bytes = 0
        self.pending: Commit | None = None
        self.committed_at = now
        self._decoder = decoder
        self._base = stored
        self._committed = stored.accounts

    @property
    def partition(self) -> int:
        """Which partition it is."""
        return self.claim.shard.partition

    @property
    def changed(self) -> bool:
        """Is there anything that the store doesn't know?"""
        return self.accounts is not self._committed

    @property
    def committed(self) -> Accounts:
        """The books as the store has them."""
        return self._committed

    @property
    def untold(self) -> int:
        """Samples learnt since the last commit."""
        return self.accounts.samples - self._committed.samples

    def apply(self, records: Sequence[Record]) -> list[Outgoing]:
        """Learn these, in order; gives the refused ones. Offsets that hold no record are counted as skipped."""
        fresh = [record for record in records if record.offset >= self.accounts.next_offset]
        if not fresh:
            return []
        decoded = self._decoder.decode([record.value for record in fresh], [content_type(record) for record in fresh])
        outcome = self.learner.learn(decoded.batch)
        letters = self._refusals(fresh, decoded, outcome.overflowed)
        self._book(fresh, decoded, letters)
        self.rejected += letters
        self.rejected_bytes += sum(len(letter.value or b"") for letter in letters)
        return letters

    def _refusals(
        self, records: Sequence[Record], decoded: Decoded, overflowed: list[tuple[int, str]]
    ) -> list[Outgoing]:
        refused = {reject.record: (reject.reason, reject.detail) for reject in decoded.rejects}
        for index, detail in overflowed:
            refused[int(decoded.positions[index])] = (Reason.OVERFLOW, detail)
        selector = self.claim.shard.selector
        return [dead_letter(records[at], selector, *refused[at]) for at in sorted(refused)]

    def _book(self, records: Sequence[Record], decoded: Decoded, letters: list[Outgoing]) -> None:
        books, last = self.accounts, records[-1]
        advanced = last.offset + 1 - books.next_offset
        self.accounts = replace(
            books,
            next_offset=last.offset + 1,
            applied=books.applied + len(records) - len(letters),
            dead_lettered=books.dead_lettered + len(letters),
            skipped=books.skipped + advanced - len(records),
            samples=self.learner.progress().samples,
            leader_epoch=last.leader_epoch,
        )

    def reach(self, offset: int) -> None:
        """The log's readable part ends at `offset`: whatever lies between is no record."""
        gap = offset - self.accounts.next_offset
        if gap > 0:
            self.accounts = replace(self.accounts, next_offset=offset, skipped=self.accounts.skipped + gap)

    def checkpoint(self) -> Commit:
        """What to commit. While one commit's fate is unknown it is this same one, to be resent as it is."""
        if self.pending is None:
            progress = self.learner.progress()
            samples = progress.samples
            self.pending = Commit(
                base_version=self._base.version,
                base_offset=self._base.accounts.next_offset if self._base.accounts else None,
                version=secrets.token_hex(8),
                accounts=self.accounts,
                chunks=self.learner.changes(),
                progress=(
                    float(samples),
                    nan if samples and progress.accuracy is None else (progress.accuracy or 0.0) * samples,
                    (progress.loss or 0.0) * samples,
                    nan if progress.auc is None else progress.auc,
                ),
            )
        return self.pending

    def settled(self, now: float) -> None:
        """The checkpoint is in the store."""
        commit = self.checkpoint()
        self.learner.settled()
        self._base = Stored(commit.version, self._base.number + 1, commit.accounts)
        self._committed = commit.accounts
        self.pending = None
        self.rejected, self.rejected_bytes = [], 0
        self.committed_at = now


def content_type(record: Record) -> str | None:
    """What the producer says the value is; None where it says nothing."""
    for name, value in record.headers:
        if name.lower() == CONTENT_TYPE:
            return value.decode("utf-8", "replace")
    return None
