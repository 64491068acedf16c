"""The parts that exactness stands on, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamsieve.kernels.adaptive import score_of
from streamsieve.kernels.band import (
    CURVATURE,
    INSIDE,
    LOWER,
    MIDDLE,
    OUTSIDE,
    PULL,
    ROW,
    UPPER,
    edge_now,
    flat_of,
    is_quiet,
    look_ahead,
    new_band,
    place_of,
    quiet_of,
    rise_of,
)
from streamsieve.kernels.ranking import nth_row, sort_best_first

NOW, HORIZON = 100, 300


def band_with_edges(upper, lower, drag):
    band = new_band(1, 1)
    for edge, (pull, curvature, row) in ((UPPER, upper), (LOWER, lower)):
        band.edges[edge, PULL], band.edges[edge, CURVATURE], band.edges[edge, ROW] = pull, curvature, row
    look_ahead(band, HORIZON, drag)
    return band


def placed(band, row, pull, curvature, drag):
    over = edge_now(band.edges, UPPER, drag * NOW) * rise_of(drag)
    under = edge_now(band.edges, LOWER, drag * NOW) / rise_of(drag)
    return place_of(band.edges, row, pull, curvature, drag * NOW, drag * HORIZON, over, under)


def test_a_row_that_will_cross_an_edge_is_not_sure():
    """A score of much curvature falls slower: it may be below an edge now and above it at the horizon."""
    drag, upper, lower = 0.1, (20.0, 10.0), (2.0, 10.0)
    band = band_with_edges((*upper, 3), (*lower, 5), drag)
    rising, falling = (crossing_pull(*lower, 40.0, drag), 40.0), (crossing_pull(*upper, 2.0, drag), 2.0)
    assert score_of(*rising, drag * NOW) < score_of(*lower, drag * NOW)
    assert score_of(*falling, drag * NOW) > score_of(*upper, drag * NOW)
    assert placed(band, 9, *rising, drag) == MIDDLE
    assert placed(band, 9, *falling, drag) == MIDDLE
    assert [placed(band, 9, pull, 10.0, drag) for pull in (30.0, 10.0, 1.0)] == [INSIDE, MIDDLE, OUTSIDE]


def crossing_pull(edge_pull, edge_curvature, curvature, drag):
    """A pull whose score equals the edge's half-way to the horizon."""
    damping = drag * (NOW + HORIZON) / 2
    return float(np.sqrt(score_of(edge_pull, edge_curvature, damping) / curvature) * (damping + curvature))


@pytest.mark.parametrize("drag", [0.0, 0.1])
def test_equal_bits_are_settled_by_row(drag):
    band = band_with_edges(upper=(20.0, 10.0, 3), lower=(2.0, 10.0, 5), drag=drag)
    assert [placed(band, row, -20.0, 10.0, drag) for row in (2, 3, 4)] == [INSIDE, INSIDE, MIDDLE]
    assert [placed(band, row, -2.0, 10.0, drag) for row in (4, 5, 6)] == [MIDDLE, MIDDLE, OUTSIDE]


positive = st.floats(1e-3, 1e3)


@given(positive, positive, positive, positive, st.sampled_from([0.0, 1e-3, 0.1, 10.0]))
def test_what_is_quiet_is_outside(edge_pull, edge_curvature, pull, square, drag):
    """The short cut must never call a row outside that the long way would not."""
    band = band_with_edges((1e9, 1.0, 0), (edge_pull, edge_curvature, 5), drag)
    quiet, flat = quiet_of(band.edges), flat_of(band.edges, drag * NOW, drag * HORIZON)
    if is_quiet(pull, square, quiet, flat):
        assert placed(band, 9, pull, 0.01 + float(np.sqrt(square)), drag) == OUTSIDE


@given(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.5, 1e-300, np.inf]) | st.floats(0, 1e9), min_size=1, max_size=60))
def test_ranks_are_those_of_a_sort(numbers):
    scores = np.array(numbers)
    expected = np.lexsort((np.arange(len(scores)), -scores))
    assert [nth_row(scores, rank + 1) for rank in range(len(scores))] == expected.tolist()
    rows = np.arange(len(scores))[::-1].copy()
    sort_best_first(rows, scores)
    assert rows.tolist() == expected.tolist()
