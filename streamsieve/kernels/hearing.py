"""Taking in a peer's rows."""

from streamsieve.batch import F64, I32, U8
from streamsieve.kernels.compiler import lean_kernel


@lean_kernel
def absorb(news: F64, places: I32, known: F64, changed: U8) -> None:
    """Replace a peer's sums by its news, row by row at our places (-1: ignored), and mark rows that differ."""
    for row in range(len(news)):
        place = places[row]
        if place < 0:
            continue
        for column in range(news.shape[1]):
            if known[place, column] != news[row, column]:
                known[place, column] = news[row, column]
                changed[place] = 1
