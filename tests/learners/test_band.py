"""The parts that exactness stands on, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsieve.kernels.adaptive import Clock, moment_at, score_of
from streamsieve.kernels.band import (
    FOREVER,
    HORIZON,
    INSIDE,
    LOWER,
    MIDDLE,
    OUTSIDE,
    PULL,
    ROOT,
    ROW,
    UPPER,
    flat_of,
    is_quiet,
    look,
    look_ahead,
    new_band,
    place_of,
    quiet_of,
)
from streamsieve.kernels.ranking import nth_row, sort_best_first

NOW, END = 100, 300
DELTA = 0.01


def clock_with(drag):
    return Clock(drag, DELTA, 0.0, 0, FOREVER, 0.0)


def band_with_edges(upper, lower, clock):
    band = new_band(1, 1)
    for edge, (pull, root, row) in ((UPPER, upper), (LOWER, lower)):
        band.edges[edge, PULL], band.edges[edge, ROOT], band.edges[edge, ROW] = pull, root, row
    band.counts[HORIZON] = END
    look_ahead(band, END, clock)
    return band


def placed(band, row, pull, root, clock):
    return place_of(band.edges, row, pull, root, look(band, NOW, clock))


def test_a_row_that_will_cross_an_edge_is_not_sure():
    """A score of much curvature falls slower: it may be below an edge now and above it at the horizon."""
    clock, upper, lower = clock_with(0.1), (20.0, 10.0), (2.0, 10.0)
    band, now = band_with_edges((*upper, 3), (*lower, 5), clock), moment_at(clock, NOW)
    rising, falling = (crossing_pull(*lower, 40.0, clock), 40.0), (crossing_pull(*upper, 2.0, clock), 2.0)
    assert score_of(*rising, now) < score_of(*lower, now)
    assert score_of(*falling, now) > score_of(*upper, now)
    assert placed(band, 9, *rising, clock) == MIDDLE
    assert placed(band, 9, *falling, clock) == MIDDLE
    assert [placed(band, 9, pull, 10.0, clock) for pull in (30.0, 10.0, 1.0)] == [INSIDE, MIDDLE, OUTSIDE]


def crossing_pull(edge_pull, edge_root, root, clock):
    """A pull whose score equals the edge's half-way to the horizon; scores grow with the square of the pull."""
    half_way = moment_at(clock, (NOW + END) // 2)
    return float(np.sqrt(score_of(edge_pull, edge_root, half_way) / score_of(1.0, root, half_way)))


@pytest.mark.parametrize("drag", [0.0, 0.1])
def test_equal_bits_are_settled_by_row(drag):
    clock = clock_with(drag)
    band = band_with_edges((20.0, 10.0, 3), (2.0, 10.0, 5), clock)
    assert [placed(band, row, -20.0, 10.0, clock) for row in (2, 3, 4)] == [INSIDE, INSIDE, MIDDLE]
    assert [placed(band, row, -2.0, 10.0, clock) for row in (4, 5, 6)] == [MIDDLE, MIDDLE, OUTSIDE]


positive = st.floats(1e-3, 1e3)


@given(positive, positive, positive, positive, st.sampled_from([0.0, 1e-3, 0.1, 10.0]))
def test_what_is_quiet_is_outside(edge_pull, edge_root, pull, square, drag):
    """The short cut must never call a row outside that the long way would not."""
    clock = clock_with(drag)
    band = band_with_edges((1e9, 1.0, 0), (edge_pull, edge_root, 5), clock)
    sight = look(band, NOW, clock)
    if is_quiet(pull, square, quiet_of(sight), flat_of(sight)):
        assert placed(band, 9, pull, float(np.sqrt(square)), clock) == OUTSIDE


@given(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, 1e-300, np.inf]) | st.floats(0, 1e9), min_size=1, max_size=60))
def test_ranks_are_those_of_a_sort(numbers):
    scores = np.array(numbers)
    expected = np.lexsort((np.arange(len(scores)), -scores))
    assert [nth_row(scores, rank + 1) for rank in range(len(scores))] == expected.tolist()
    rows = np.arange(len(scores))[::-1].copy()
    sort_best_first(rows, scores)
    assert rows.tolist() == expected.tolist()
