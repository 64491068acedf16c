"""A value read again when it is older than it may be, by one thread while the others wait for it."""

from collections.abc import Callable
from math import inf
from threading import Lock
from typing import Generic, TypeVar

from streamsieve.errors import StoreDown

T = TypeVar("T")
Clock = Callable[[], float]


class Fresh(Generic[T]):
    """Keeps what `read` gave for so many seconds. A StoreDown is shared with those who waited for it, no longer.

    >>> readings = iter("abc")
    >>> time = [0.0]
    >>> letter = Fresh(lambda: next(readings), seconds=0.1, clock=lambda: time[0])
    >>> letter.get(), letter.get()
    ('a', 'a')
    >>> time[0] = 0.2
    >>> letter.get()
    'b'
    """

    def __init__(self, read: Callable[[], T], seconds: float, clock: Clock) -> None:
        self._read = read
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._began = self._ended = -inf  # of the last reading
        self._kept: T | StoreDown = StoreDown("not read yet")

    def get(self, seconds: float | None = None) -> T:
        """The value, at most `seconds` older than this call; left out: as old as it may be."""
        arrived = self._clock()
        with self._lock:
            if not self._serves(arrived, self._seconds if seconds is None else seconds):
                self._refresh()
            if isinstance(self._kept, StoreDown):
                raise StoreDown(str(self._kept)) from self._kept
            return self._kept

    def forget(self) -> None:
        """Read again at the next call; a reading under way is waited for, as it may have missed a change."""
        with self._lock:
            self._began = self._ended = -inf

    def _serves(self, arrived: float, seconds: float) -> bool:
        # Compared with the arrival, not with now: whoever queued behind a slow reading shares its outcome,
        # or a store that hangs would be asked once for every request in the queue.
        if isinstance(self._kept, StoreDown):
            return arrived <= self._ended
        return arrived - seconds <= self._began

    def _refresh(self) -> None:
        began = self._clock()
        try:
            self._kept = self._read()
        except StoreDown as error:
            self._kept = error
        self._began, self._ended = began, self._clock()
