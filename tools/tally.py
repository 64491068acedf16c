"""What `sieve select` applied and what it refused, in records over all passes."""

from dataclasses import dataclass, field

from streamsieve.batch import Decoded, Reason
from streamsieve.selection import Outcome

TOLD = 5  # refusals told one by one


@dataclass
class Tally:
    """Counts, and the first refused records with their reasons. Record 1 is the file's first that is not blank."""

    applied: int = 0
    rejected: int = 0
    told: dict[int, str] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """Seen so far."""
        return self.applied + self.rejected

    def count(self, decoded: Decoded, outcome: Outcome) -> None:
        """Enter one learnt batch."""
        self.applied += decoded.batch.record_count - len(outcome.overflowed)
        self.rejected += len(decoded.rejects) + len(outcome.overflowed)
        for reject in decoded.rejects:
            self._tell(reject.record, reject.reason, reject.detail)
        for record, sentence in outcome.overflowed:
            self._tell(int(decoded.positions[record]), Reason.OVERFLOW, sentence)

    def lines(self) -> list[str]:
        """The first refusals, one a line, and how many there were if there were more."""
        lines = [f"record {position + 1} rejected: {why}" for position, why in sorted(self.told.items())]
        if self.rejected > len(lines):
            lines.append(f"{self.rejected} rejected in all")
        return lines

    def _tell(self, position: int, reason: Reason, detail: str) -> None:
        if len(self.told) < TOLD:
            self.told.setdefault(position, f"{reason}: {detail}")
