"""Who holds which partition of a group: cooperative and sticky, as Kafka's assignor of that name."""

from collections.abc import Sequence
from typing import Generic, TypeVar

M = TypeVar("M")


class Group(Generic[M]):
    """The members of one group on one topic, in order of joining.

    >>> group: Group[str] = Group(4)
    >>> group.join("a"); group.take("a", group.moves("a")[1])
    >>> group.join("b"); group.moves("a"), group.moves("b")
    (([2, 3], []), ([], []))
    >>> group.give("a", [2, 3]); group.moves("b")
    ([], [2, 3])
    """

    def __init__(self, partitions: int) -> None:
        self.advised: dict[int, int] = {}
        self._partitions = partitions
        self._members: list[M] = []
        self._holder: dict[int, M] = {}
        self._target: dict[int, M] = {}

    def join(self, member: M) -> None:
        """A new member gets its share as soon as others let go."""
        self._members.append(member)
        self._aim()

    def leave(self, member: M) -> None:
        """Its partitions are free at once; leaving twice is harmless."""
        if member in self._members:
            self._members.remove(member)
        self._holder = {p: m for p, m in self._holder.items() if m is not member}
        self._aim()

    def knows(self, member: M) -> bool:
        """Is it a member?"""
        return member in self._members

    def resize(self, partitions: int) -> None:
        """The topic has so many partitions now."""
        if partitions != self._partitions:
            self._partitions = partitions
            self._aim()

    def moves(self, member: M) -> tuple[list[int], list[int]]:
        """What the member has to give up, and what it may take now."""
        mine = (p for p, m in self._holder.items() if m is member)
        going = [p for p in mine if self._target.get(p) is not member]
        coming = [p for p, m in self._target.items() if m is member and p not in self._holder]
        return sorted(going), sorted(coming)

    def take(self, member: M, partitions: Sequence[int]) -> None:
        """They are the member's from here on."""
        self._holder.update(dict.fromkeys(partitions, member))

    def give(self, member: M, partitions: Sequence[int]) -> None:
        """The member lets go of them."""
        for partition in partitions:
            if self._holder.get(partition) is member:
                del self._holder[partition]

    def _aim(self) -> None:
        """Even shares, and whoever holds a partition keeps it if its share allows."""
        kept: list[tuple[M, list[int]]] = [(m, self._kept_by(m)) for m in self._members]
        kept.sort(key=lambda pair: -len(pair[1]))
        free = set(range(self._partitions))
        shares: list[tuple[M, list[int], int]] = []
        for rank, (member, held) in enumerate(kept):
            share = (self._partitions + len(kept) - 1 - rank) // len(kept)
            shares.append((member, held[:share], share))
            free -= set(held[:share])
        left = sorted(free)
        self._target = {}
        for member, held, share in shares:
            missing = share - len(held)
            self._target.update(dict.fromkeys(held + left[:missing], member))
            left = left[missing:]

    def _kept_by(self, member: M) -> list[int]:
        return sorted(p for p, m in self._holder.items() if m is member and p < self._partitions)
