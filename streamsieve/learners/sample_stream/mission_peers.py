"""What a MISSION shard has heard of its peers: their sketches as last committed, added up, and their active sets.

Each peer's cells are kept as they were said, so that their total is a function of what was heard last.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from streamsieve.batch import F64, I32, U64
from streamsieve.kernels.active_set import ENTERED
from streamsieve.kernels.hashing import hash_names
from streamsieve.kernels.mission import Rule
from streamsieve.kernels.sketch import F32, PIECE, Sketch, estimates
from streamsieve.learners.sample_stream.members import ActiveSet
from streamsieve.learners.sample_stream.mission_chunks import Parsed, Shape, Summary
from streamsieve.learners.sample_stream.row_chunks import CHUNK_ROWS, NameChunk, chunk_count

NAMELESS = ""  # the one class of losses that name none


@dataclass
class Peer:
    """One peer: its head, its cells by class, the names of its members by chunk."""

    head: Summary
    cells: dict[str, F32] = field(default_factory=dict)
    names: dict[int, NameChunk] = field(default_factory=dict)


class MissionPeers:
    """All peers of a shard."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._peers: dict[int, Peer] = {}
        self._changed: set[tuple[str, int]] = set()  # class and piece whose total is out of date

    def forget(self, number: int) -> None:
        """What this peer said is void."""
        peer = self._peers.pop(number, None)
        if peer is not None:
            self._changed |= {(name, piece) for name in peer.cells for piece in range(self._shape.pieces)}

    def hear(self, number: int, parsed: Parsed) -> None:
        """Take what a peer says now."""
        peer = self._peers.setdefault(number, Peer(parsed.head))
        peer.head = parsed.head
        peer.names |= parsed.names
        classes = parsed.head.classes or [NAMELESS]
        for at, cells in parsed.cells.items():
            name, piece = classes[at // self._shape.pieces], at % self._shape.pieces
            kept = peer.cells.setdefault(name, np.zeros(self._shape.cells, np.float32))
            kept[piece * PIECE : piece * PIECE + len(cells)] = cells
            self._changed.add((name, piece))

    def classes(self) -> list[str]:
        """The classes of all peers, in order of the peers and their own order."""
        return list(dict.fromkeys(name for number in sorted(self._peers) for name in self._peers[number].head.classes))

    def candidates(self) -> list[bytes]:
        """The names of all peers' members, in order of the peers and their places."""
        names: dict[bytes, None] = {}
        for number in sorted(self._peers):
            peer = self._peers[number]
            for chunk in range(chunk_count(peer.head.members)):
                names |= dict.fromkeys(_names_in(peer.names.get(chunk), peer.head.members - chunk * CHUNK_ROWS))
        return list(names)

    def add_up(self, others: F64, heard: F64, lines: Mapping[str, int] | None) -> None:
        """Bring the totals up to date; lines: where each class lies here, None for the one that has no name."""
        lines = {NAMELESS: 0} if lines is None else lines
        for name, piece in [key for key in self._changed if key[0] in lines]:
            view = slice(piece * PIECE, (piece + 1) * PIECE)
            total = np.zeros(len(others[0, view]))
            for number in sorted(self._peers):
                if name in self._peers[number].cells:
                    total += self._peers[number].cells[name][view]
            others[lines[name], view] = total
            self._changed.discard((name, piece))
        heard[:] = 0.0
        for number in sorted(self._peers):
            head = self._peers[number].head
            heard[0] += head.samples
            for name, intercept in zip(head.classes or [NAMELESS], head.intercepts, strict=True):
                if name in lines:
                    heard[1 + lines[name]] += intercept


def _names_in(chunk: NameChunk | None, most: int) -> list[bytes]:
    if chunk is None:
        return []
    text = chunk.text.tobytes()
    return [
        text[start : start + length]
        for start, length in zip(chunk.starts[:most].tolist(), chunk.lengths[:most].tolist(), strict=True)
    ]


def regathered(active: ActiveSet, heard: list[bytes], sketch: Sketch, classes: int, rule: Rule, key: U64) -> None:
    """Query members and candidates again and keep the heaviest; equal ones: members by entry, then as they were heard.

    A member that stays keeps its place; newcomers fill the places of those that leave, then the free ones.
    """
    own = [active.name(member).encode() for member in range(active.size)]
    known = set(own)
    names = own + [name for name in heard if name not in known]
    if not names:
        return
    hashes = _hashed(names, key)
    weights = estimates(sketch, hashes, classes, rule.depth, rule.width)
    scores = np.abs(weights).max(axis=1, initial=0.0)
    entries = active.members.entries[: active.size]
    seniority = np.concatenate([entries, active.entered + np.arange(len(names) - len(own))])
    best = np.lexsort((seniority, -scores))[: len(active.members.heap)]
    stay = {int(one) for one in best if one < len(own)}
    come = [int(one) for one in best if one >= len(own) and scores[one] > 0.0]
    come.sort()
    chosen = _placed(len(own), stay, come)
    active.members.counts[ENTERED] += len(come)
    fresh = dict(zip(come, range(active.entered - len(come), active.entered), strict=True))
    entered = np.array([fresh.get(one, int(seniority[one])) for one in chosen], np.int64)
    active.fill(hashes[chosen], weights[chosen], entered)
    active.rename([names[one] for one in chosen])


def _placed(size: int, stay: set[int], come: list[int]) -> list[int]:
    """Who has each place: those who stay their own, newcomers the freed and then the next ones."""
    waiting = iter(come)
    placed = [place if place in stay else next(waiting, -1) for place in range(size)]
    return [one for one in placed + list(waiting) if one >= 0]


def _hashed(names: list[bytes], key: U64) -> U64:
    lengths: I32 = np.array([len(name) for name in names], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    return hash_names(np.frombuffer(bytearray().join(names), np.uint8), starts, lengths, key)
