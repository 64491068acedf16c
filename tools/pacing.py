"""Keeping to a rate. Time is an argument."""


class Pace:
    """So many records a second, counted from the start; None is as fast as it goes.

    >>> pace = Pace(rate=100.0, start=10.0)
    >>> pace.wait(sent=50, now=10.2)
    0.3
    >>> pace.wait(sent=50, now=11.0), Pace(None, 10.0).wait(50, 10.0)
    (0.0, 0.0)
    """

    def __init__(self, rate: float | None, start: float) -> None:
        self._rate = rate
        self._start = start

    def batch(self, most: int) -> int:
        """How many to send at once, so that the rate is kept within a tenth of a second."""
        return most if self._rate is None else max(1, min(most, int(self._rate / 10)))

    def wait(self, sent: int, now: float) -> float:
        """Seconds to wait before the next are due."""
        if self._rate is None:
            return 0.0
        return max(0.0, round(self._start + sent / self._rate - now, 9))
