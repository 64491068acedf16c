"""The B best rows, exactly, at every round, with no work over all rows a sample.

Two edges, frozen copies of two rows of rank about B - slack and B + slack, cut the rows into three: *inside* (surely
better than the upper edge, hence kept), *outside* (surely worse than the lower one, hence not) and the *middle*, a
short list kept in exact order, whose first B - inside rows are kept. A touched row is compared with the edges and
changes place or not, in constant time; only rows of the middle move in a list. When the counts no longer add up, the
edges are set anew in one pass over all rows; slack doubles if that came too soon, so it stays rare.

Scores also change with the round (lambda > 0). "Surely" therefore means: by a margin beyond rounding, now and at the
horizon, hence at every round between (see `adaptive`). Past the horizon edges are set anew. Neighbours in the middle
carry the round until which their order is sure; from there on their true scores are compared again. Equal bits stay
equal for ever, so that the many words with equal sums are settled by row, whatever the round.

None of this is state: what is kept depends on the sums and the round alone.
"""

from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I64, U8
from streamsieve.kernels.adaptive import Rule, curvature_of, score_of, sum_at
from streamsieve.kernels.compiler import kernel, lean_kernel
from streamsieve.kernels.ranking import nth_row, sort_best_first

OUTSIDE, INSIDE, MIDDLE = 0, 1, 2  # places
N_INSIDE, N_MIDDLE, EXPIRY, HORIZON, SLACK, WINDOW, WORK, MOST_WORK, STALE, LIMIT, REBUILDS = range(11)  # of counts
UPPER, LOWER = 0, 1  # edges
PULL, CURVATURE, ROW, AT_HORIZON = range(4)  # of an edge

FOREVER = 2**62
MARGIN = 1e-12  # scores differ by rounding in the 16th digit; an order with this margin is sure
TINY = 1e-280  # below it a relative margin means nothing
LEAST_SLACK, MOST_SLACK = 16, 4096
LEAST_WINDOW = 32
ROOM = 4 * MOST_SLACK  # of the middle, to begin with
SPARE = 64  # room that the middle must have left after a rebuild


class Band(NamedTuple):
    """`place` is by row. The other columns are the middle, best first; until[i] speaks of the pair i, i + 1."""

    place: U8
    rows: I64
    pulls: F64
    curvatures: F64
    until: I64
    edges: F64
    counts: I64


def new_band(capacity: int, room: int = ROOM) -> Band:
    """A band over no rows yet."""
    counts = np.zeros(11, np.int64)
    counts[SLACK], counts[WINDOW], counts[STALE] = 2 * LEAST_SLACK, 2 * LEAST_WINDOW, 1
    middle = np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty(room, np.int64)
    return Band(np.zeros(capacity, np.uint8), *middle, np.zeros((2, 4)), counts)


@lean_kernel
def rise_of(drag: float) -> float:
    """How much more a score must be to be surely more; without drag scores stand still and compare exactly."""
    return 1.0 + MARGIN if drag > 0.0 else 1.0


@lean_kernel
def edge_now(edges: F64, edge: int, damping: float) -> float:
    """An edge's score at this round."""
    return score_of(edges[edge, PULL], edges[edge, CURVATURE], damping)


@lean_kernel
def place_of(
    edges: F64, row: int, pull: float, curvature: float, damping: float, end_damping: float, over: float, under: float
) -> int:
    """Where a row belongs. over, under: the edges' scores now, with their margins."""
    now = score_of(pull, curvature, damping)
    if not now > 0.0:
        return OUTSIDE
    end = now if end_damping == damping else score_of(pull, curvature, end_damping)
    if now > over and end > edges[UPPER, AT_HORIZON]:
        return INSIDE
    if now < under and end < edges[LOWER, AT_HORIZON]:
        return OUTSIDE
    size = abs(pull)
    if size == edges[UPPER, PULL] and curvature == edges[UPPER, CURVATURE] and row <= edges[UPPER, ROW]:
        return INSIDE
    if size == edges[LOWER, PULL] and curvature == edges[LOWER, CURVATURE] and row > edges[LOWER, ROW]:
        return OUTSIDE
    return MIDDLE


@lean_kernel
def quiet_of(edges: F64) -> float:
    """What `is_quiet` compares the fourth power of a pull with, once it is multiplied by s2."""
    under = edges[LOWER, AT_HORIZON]
    return under * under * (1.0 - 1e-9) if under > TINY else 0.0


@lean_kernel
def flat_of(edges: F64, damping: float, end_damping: float) -> float:
    """What `is_quiet` compares the square of a pull with."""
    end = edges[LOWER, AT_HORIZON]
    if end < TINY:
        return 0.0
    now = edge_now(edges, LOWER, damping)
    return float(4.0 * (1.0 - 1e-9) * min(damping * now, end_damping * end))


@lean_kernel
def is_quiet(pull: float, square: float, quiet: float, flat: float) -> bool:
    """Surely outside, told without root or quotient.

    score = H pull^2 / (c t + H)^2 is at most pull^2 / H < pull^2 / sqrt(s2), and at most pull^2 / (4 c t).
    """
    size = pull * pull
    return size < flat or (quiet * square > TINY and size * size < quiet * square)


@lean_kernel
def leads(score: float, row: int, band: Band, place: int, damping: float) -> bool:
    """Does a row of this score come before the one at a place of the middle: larger score, then lower row?"""
    rival = score_of(band.pulls[place], band.curvatures[place], damping)
    return score > rival or (score == rival and row < band.rows[place])


@lean_kernel
def clear(band: Band, at: int, damping: float) -> bool:
    """Is the pair at, at + 1 in order beyond rounding?"""
    left = score_of(band.pulls[at], band.curvatures[at], damping)
    right = score_of(band.pulls[at + 1], band.curvatures[at + 1], damping)
    return left > TINY and left > right * (1.0 + MARGIN)


@lean_kernel
def certify(band: Band, at: int, t: int, drag: float) -> int:
    """Until which round the pair at, at + 1, in order now, is surely in order."""
    if drag == 0.0:
        return FOREVER
    if band.curvatures[at] == band.curvatures[at + 1] and abs(band.pulls[at]) == abs(band.pulls[at + 1]):
        return FOREVER
    if not clear(band, at, drag * t):
        return t
    end = int(band.counts[HORIZON])
    while end > t:
        if clear(band, at, drag * end):
            return end
        end = t + (end - t) // 2
    return t


@lean_kernel
def shift(band: Band, source: int, target: int) -> None:
    """Copy a place of the middle, with the pair that it is the better half of."""
    band.rows[target], band.until[target] = band.rows[source], band.until[source]
    band.pulls[target], band.curvatures[target] = band.pulls[source], band.curvatures[source]


@lean_kernel
def renew(band: Band, pair: int, t: int, drag: float) -> None:
    """Certify a pair of neighbours that are new to each other."""
    if 0 <= pair < band.counts[N_MIDDLE] - 1:
        band.until[pair] = certify(band, pair, t, drag)
        band.counts[EXPIRY] = min(band.counts[EXPIRY], band.until[pair])


@lean_kernel
def climb(band: Band, at: int, damping: float) -> int:
    """Move a row of the middle up to where it belongs; where that is. The pair `at` is new then."""
    row, pull, curvature = band.rows[at], band.pulls[at], band.curvatures[at]
    score, place = score_of(pull, curvature, damping), at
    while place > 0 and leads(score, row, band, place - 1, damping):
        shift(band, place - 1, place)
        place -= 1
    band.rows[place], band.pulls[place], band.curvatures[place] = row, pull, curvature
    return place


@lean_kernel
def sink(band: Band, at: int, damping: float) -> int:
    """Move a row of the middle down to where it belongs; where that is. The pair `at - 1` is new then."""
    row, pull, curvature = band.rows[at], band.pulls[at], band.curvatures[at]
    score, place, last = score_of(pull, curvature, damping), at, band.counts[N_MIDDLE] - 1
    while place < last and not leads(score, row, band, place + 1, damping):
        shift(band, place + 1, place)
        place += 1
    band.rows[place], band.pulls[place], band.curvatures[place] = row, pull, curvature
    return place


@lean_kernel
def slide(band: Band, at: int, t: int, drag: float) -> None:
    """Move a row of the middle, whose numbers have changed, up or down to where it belongs."""
    place = climb(band, at, drag * t)
    if place < at:
        renew(band, at, t, drag)
    else:
        place = sink(band, at, drag * t)
        renew(band, at - 1, t, drag)
    renew(band, place - 1, t, drag)
    renew(band, place, t, drag)


@lean_kernel
def settle(band: Band, t: int, drag: float) -> None:
    """Put the middle in the order of this round: an insertion sort that looks at unsure pairs only."""
    if t <= band.counts[EXPIRY]:
        return
    band.counts[EXPIRY] = FOREVER
    for pair in range(band.counts[N_MIDDLE] - 1):
        if band.until[pair] < t:
            place = climb(band, pair + 1, drag * t)
            if place <= pair:
                band.until[pair + 1] = -1  # its better half is another row now
                renew(band, place - 1, t, drag)
                renew(band, place, t, drag)
            else:
                renew(band, pair, t, drag)
        band.counts[EXPIRY] = min(band.counts[EXPIRY], band.until[pair])


@lean_kernel
def find_place(rows: I64, row: int) -> int:
    """Where in the middle a row stands."""
    at = 0
    while rows[at] != row:
        at += 1
    return at


@lean_kernel
def take_out(band: Band, at: int, t: int, drag: float) -> None:
    """Remove a place from the middle."""
    last = band.counts[N_MIDDLE] - 1
    for place in range(at, last):
        shift(band, place + 1, place)
    band.counts[N_MIDDLE] = last
    band.counts[WORK] += last - at
    renew(band, at - 1, t, drag)


@lean_kernel
def put_in(band: Band, row: int, pull: float, curvature: float, t: int, drag: float) -> None:
    """Insert a row into the middle, at its place."""
    score = score_of(pull, curvature, drag * t)
    low, high = 0, band.counts[N_MIDDLE]
    while low < high:
        half = (low + high) // 2
        if leads(score, row, band, half, drag * t):
            high = half
        else:
            low = half + 1
    for place in range(band.counts[N_MIDDLE], low, -1):
        shift(band, place - 1, place)
    band.rows[low], band.pulls[low], band.curvatures[low] = row, pull, curvature
    band.counts[WORK] += band.counts[N_MIDDLE] - low
    band.counts[N_MIDDLE] += 1
    renew(band, low - 1, t, drag)
    renew(band, low, t, drag)


@lean_kernel
def move(band: Band, row: int, pull: float, curvature: float, target: int, t: int, drag: float) -> None:
    """Take a touched row from where it is to where it belongs."""
    if band.counts[STALE]:
        return
    settle(band, t, drag)
    before = band.place[row]
    if before == MIDDLE:
        at = find_place(band.rows, row)
        band.counts[WORK] += at
        if target == MIDDLE:
            band.pulls[at], band.curvatures[at] = pull, curvature
            slide(band, at, t, drag)
            return
        take_out(band, at, t, drag)
    elif before == INSIDE:
        band.counts[N_INSIDE] -= 1
    if target == INSIDE:
        band.counts[N_INSIDE] += 1
    elif target == MIDDLE:
        if band.counts[N_MIDDLE] == len(band.rows):
            band.counts[STALE] = 1
            return
        put_in(band, row, pull, curvature, t, drag)
    band.place[row] = target


@lean_kernel
def touch(band: Band, rows: I64, own: F64, others: F64, t: int, rule: Rule) -> None:
    """Compare rows whose sums have changed with the edges, and move those that belong elsewhere now."""
    damping, end_damping = rule.drag * t, rule.drag * band.counts[HORIZON]
    over = edge_now(band.edges, UPPER, damping) * rise_of(rule.drag)
    under = edge_now(band.edges, LOWER, damping) / rise_of(rule.drag)
    for at in range(len(rows)):
        row = rows[at]
        pull = -rule.rate * sum_at(own, others, row, 0)
        curvature = curvature_of(sum_at(own, others, row, 1), rule.delta)
        target = place_of(band.edges, row, pull, curvature, damping, end_damping, over, under)
        if target == MIDDLE or target != band.place[row]:
            move(band, row, pull, curvature, target, t, rule.drag)


@lean_kernel
def tells(band: Band, t: int, rule: Rule) -> bool:
    """Do the edges enclose the cut between kept and not? All inside are above the upper, all outside below the lower.

    Rows of the middle may lie beyond an edge at some rounds, so counting them is not enough: the last one kept must
    not be below the lower edge, nor the first one not kept above the upper.
    """
    settle(band, t, rule.drag)
    kept, damping = rule.budget - band.counts[N_INSIDE], rule.drag * t
    if kept < 0:
        return False
    if kept < band.counts[N_MIDDLE]:
        over = edge_now(band.edges, UPPER, damping)
        if leads_edge(band, kept, over, band.edges[UPPER, ROW], damping):
            return False
    elif kept > band.counts[N_MIDDLE]:
        return bool(band.edges[LOWER, PULL] == 0.0)
    under = edge_now(band.edges, LOWER, damping)
    return kept == 0 or not trails_edge(band, kept - 1, under, band.edges[LOWER, ROW], damping)


@lean_kernel
def leads_edge(band: Band, place: int, score: float, row: float, damping: float) -> bool:
    """Is a row of the middle better than an edge?"""
    mine = score_of(band.pulls[place], band.curvatures[place], damping)
    return mine > score or (mine == score and band.rows[place] < row)


@lean_kernel
def trails_edge(band: Band, place: int, score: float, row: float, damping: float) -> bool:
    """Is a row of the middle worse than an edge?"""
    mine = score_of(band.pulls[place], band.curvatures[place], damping)
    return mine < score or (mine == score and band.rows[place] > row)


@lean_kernel
def is_current(band: Band, t: int, rule: Rule) -> bool:
    """Does the band tell the budget best rows of this round, and cheaply?"""
    if band.counts[STALE] or t > band.counts[HORIZON]:
        return False
    if band.counts[N_MIDDLE] > band.counts[LIMIT] or band.counts[WORK] > band.counts[MOST_WORK]:
        return False
    return tells(band, t, rule)


@lean_kernel
def adapt(band: Band, rows: int, t: int, drag: float) -> None:
    """Balance two costs: of rebuilding, which a wider middle puts off, and of moving rows in a wide middle."""
    if drag > 0.0 and t > band.counts[HORIZON]:
        band.counts[WINDOW] *= 2
    elif band.counts[WORK] < 4 * rows:
        band.counts[SLACK] = min(2 * band.counts[SLACK], MOST_SLACK)
    elif band.counts[WORK] > 16 * rows:
        band.counts[SLACK] = max(band.counts[SLACK] // 2, LEAST_SLACK)
    band.counts[WORK], band.counts[STALE] = 0, 0
    band.counts[MOST_WORK] = 32 * rows + 1000
    band.counts[REBUILDS] += 1


@kernel
def all_scores(own: F64, others: F64, rows: int, damping: float, rule: Rule) -> F64:
    """The score of each row; what is no number counts as zero."""
    scores = np.empty(rows)
    for row in range(rows):
        curvature = curvature_of(sum_at(own, others, row, 1), rule.delta)
        score = score_of(-rule.rate * sum_at(own, others, row, 0), curvature, damping)
        scores[row] = score if score > 0.0 else 0.0
    return scores


@kernel
def set_edge(band: Band, edge: int, rank: int, scores: F64, own: F64, others: F64, rule: Rule) -> None:
    """Freeze the row of a rank as an edge. Rank 0 is above everything; a rank past all scores is zero, below any."""
    scored = 0
    for score in scores:
        scored += score > 0.0
    if rank == 0:
        band.edges[edge, PULL], band.edges[edge, CURVATURE], band.edges[edge, ROW] = np.inf, 1.0, -1.0
    elif scored <= rank:
        band.edges[edge, PULL], band.edges[edge, CURVATURE], band.edges[edge, ROW] = 0.0, 1.0, -1.0
    else:
        row = nth_row(scores, rank)
        band.edges[edge, PULL] = abs(-rule.rate * sum_at(own, others, row, 0))
        band.edges[edge, CURVATURE] = curvature_of(sum_at(own, others, row, 1), rule.delta)
        band.edges[edge, ROW] = row


@lean_kernel
def look_ahead(band: Band, horizon: int, drag: float) -> None:
    """Fix the horizon, and the edges' scores there with their margins; too tiny ones make nobody sure."""
    band.counts[HORIZON] = horizon
    for edge in (UPPER, LOWER):
        score = edge_now(band.edges, edge, drag * horizon)
        unsure = drag > 0.0 and 0.0 < score < TINY
        if edge == UPPER:
            band.edges[edge, AT_HORIZON] = np.inf if unsure else score * rise_of(drag)
        else:
            band.edges[edge, AT_HORIZON] = 0.0 if unsure else score / rise_of(drag)


@lean_kernel
def place_all(band: Band, scores: F64, own: F64, others: F64, t: int, rule: Rule) -> int:
    """Place each row by the edges; how many are in the middle."""
    damping, end_damping = rule.drag * t, rule.drag * band.counts[HORIZON]
    over = edge_now(band.edges, UPPER, damping) * rise_of(rule.drag)
    under = edge_now(band.edges, LOWER, damping) / rise_of(rule.drag)
    far = band.edges[LOWER, AT_HORIZON]  # a score only falls, so below this one it stays below
    inside, middle = 0, 0
    for row in range(len(scores)):
        if scores[row] < far:
            band.place[row] = OUTSIDE
            continue
        pull = -rule.rate * sum_at(own, others, row, 0)
        curvature = curvature_of(sum_at(own, others, row, 1), rule.delta)
        place = place_of(band.edges, row, pull, curvature, damping, end_damping, over, under)
        band.place[row] = place
        inside += place == INSIDE
        middle += place == MIDDLE
    band.counts[N_INSIDE], band.counts[N_MIDDLE] = inside, middle
    return middle


@kernel
def fill_middle(band: Band, scores: F64, own: F64, others: F64, t: int, rule: Rule) -> None:
    """List the rows of the middle, best first, and certify each pair."""
    count = band.counts[N_MIDDLE]
    rows = np.empty(count, np.int64)
    at = 0
    for row in range(len(scores)):
        if band.place[row] == MIDDLE:
            rows[at] = row
            at += 1
    sort_best_first(rows, scores)
    for place in range(count):
        row = rows[place]
        band.rows[place] = row
        band.pulls[place] = -rule.rate * sum_at(own, others, row, 0)
        band.curvatures[place] = curvature_of(sum_at(own, others, row, 1), rule.delta)
    band.counts[EXPIRY] = FOREVER
    for pair in range(count - 1):
        renew(band, pair, t, rule.drag)


@kernel
def rebuild(band: Band, own: F64, others: F64, rows: int, t: int, rule: Rule) -> bool:
    """Set the edges anew, in time linear in the rows. False: the middle needs more room first."""
    adapt(band, rows, t, rule.drag)
    slack = band.counts[SLACK]
    scores = all_scores(own, others, rows, rule.drag * t, rule)
    set_edge(band, UPPER, rule.budget - min(slack, rule.budget), scores, own, others, rule)
    set_edge(band, LOWER, rule.budget + slack, scores, own, others, rule)
    while True:
        look_ahead(band, t + band.counts[WINDOW] if rule.drag > 0.0 else FOREVER, rule.drag)
        middle = place_all(band, scores, own, others, t, rule)
        window = band.counts[WINDOW]
        affordable = middle <= 4 * slack or middle * window <= 16 * rows  # against rebuilding every window
        if affordable or rule.drag == 0.0 or window <= LEAST_WINDOW:
            break
        band.counts[WINDOW] = window // 2
    if middle + SPARE > len(band.rows):
        band.counts[STALE] = 1
        return False
    band.counts[LIMIT] = max(4 * slack, 2 * middle)
    fill_middle(band, scores, own, others, t, rule)
    return True


@lean_kernel
def worst_kept(band: Band, t: int, rule: Rule) -> tuple[float, int]:
    """Score and row of the last of the middle that is kept; if none is, what nobody reaches."""
    settle(band, t, rule.drag)
    last = min(rule.budget - band.counts[N_INSIDE], band.counts[N_MIDDLE]) - 1
    if last < 0:
        return np.inf, -1
    return score_of(band.pulls[last], band.curvatures[last], rule.drag * t), band.rows[last]


@kernel
def kept_rows(band: Band, rows: int, t: int, rule: Rule) -> I64:
    """The rows kept at this round, in no order; the band must be current."""
    settle(band, t, rule.drag)
    from_middle = min(rule.budget - band.counts[N_INSIDE], band.counts[N_MIDDLE])
    kept = np.empty(band.counts[N_INSIDE] + from_middle, np.int64)
    at = 0
    for row in range(rows):
        if band.place[row] == INSIDE:
            kept[at] = row
            at += 1
    for place in range(from_middle):
        kept[at + place] = band.rows[place]
    return kept
