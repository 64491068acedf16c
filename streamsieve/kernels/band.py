"""The B best rows, exactly, at every round, with no work over all rows a sample.

Two edges, frozen copies of two rows of rank about B - slack and B + slack, cut the rows into three: *inside* (surely
better than the upper edge, hence kept), *outside* (surely worse than the lower one, hence not) and the *middle*, a
short list kept in exact order, whose first B - inside rows are kept. A touched row is compared with the edges and
changes place or not, in constant time; only rows of the middle move in a list. When the counts no longer add up, the
edges are set anew in one pass over all rows; slack doubles if that came too soon, so it stays rare.

Scores also change with the round (lambda > 0, or forgetting). "Surely" therefore means: by a margin beyond rounding,
now and at the horizon, hence at every round between (see `adaptive`). Past the horizon edges are set anew. Neighbours
in the middle carry the round until which their order is sure; from there on their true scores are compared again. Equal
bits stay equal for ever, so that the many words with equal sums are settled by row, whatever the round.

None of this is state: what is kept depends on the sums and the round alone.
"""

import math
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I64, U8
from streamsieve.kernels.adaptive import Clock, Moment, Rule, moment_at, score_of, sum_at
from streamsieve.kernels.compiler import kernel, lean_kernel
from streamsieve.kernels.ranking import nth_row, sort_best_first

OUTSIDE, INSIDE, MIDDLE = 0, 1, 2  # places
N_INSIDE, N_MIDDLE, EXPIRY, HORIZON, SLACK, WINDOW, WORK, MOST_WORK, STALE, LIMIT, REBUILDS = range(11)  # of counts
UPPER, LOWER = 0, 1  # edges
PULL, ROOT, ROW, AT_HORIZON = range(4)  # of an edge

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
    roots: F64
    until: I64
    edges: F64
    ahead: F64  # the horizon's moment
    counts: I64


class Sight(NamedTuple):
    """The edges' scores, margins included, at both ends of the time up to the horizon; mixed: at all four corners."""

    now: Moment
    end: Moment
    early: Moment  # h of now, e of the end (see `adaptive`)
    late: Moment  # h of the end, e of now
    moves: bool
    fades: bool
    mixed: bool
    over: tuple[float, float, float, float]  # of the upper edge: now, end, early, late
    under: tuple[float, float, float, float]  # of the lower edge


def new_band(capacity: int, room: int = ROOM) -> Band:
    """A band over no rows yet."""
    counts = np.zeros(11, np.int64)
    counts[SLACK], counts[WINDOW], counts[STALE] = 2 * LEAST_SLACK, 2 * LEAST_WINDOW, 1
    middle = np.empty(room, np.int64), np.empty(room), np.empty(room), np.empty(room, np.int64)
    return Band(np.zeros(capacity, np.uint8), *middle, np.zeros((2, 4)), np.zeros(3), counts)


@lean_kernel
def moves(clock: Clock) -> bool:
    """Do the scores of untouched rows change with the round?"""
    return clock.drag > 0.0 or clock.fade > 0.0


@lean_kernel
def is_mixed(clock: Clock) -> bool:
    """Do they change in two ways at once?"""
    return clock.drag > 0.0 and clock.fade > 0.0


@lean_kernel
def rise_of(clock: Clock) -> float:
    """How much more a score must be to be surely more; scores that stand still compare exactly."""
    return 1.0 + MARGIN if moves(clock) else 1.0


@lean_kernel
def edge_now(edges: F64, edge: int, moment: Moment) -> float:
    """An edge's score at a moment."""
    return score_of(edges[edge, PULL], edges[edge, ROOT], moment)


@lean_kernel
def crossed(one: Moment, other: Moment) -> Moment:
    """h of one moment with e of the other."""
    return Moment(0.0, one.delta, other.reach)


@lean_kernel
def look(band: Band, t: int, clock: Clock) -> Sight:
    """What rows are compared with at this round."""
    edges, rise, mixed = band.edges, rise_of(clock), is_mixed(clock)
    now, end = moment_at(clock, t), Moment(band.ahead[0], band.ahead[1], band.ahead[2])
    early, late = now, end
    over, under = edge_now(edges, UPPER, now) * rise, edge_now(edges, LOWER, now) / rise
    over_early, over_late, under_early, under_late = over, over, under, under
    if mixed:
        early, late = crossed(now, end), crossed(end, now)
        over_early, over_late = edge_now(edges, UPPER, early) * rise, edge_now(edges, UPPER, late) * rise
        under_early, under_late = edge_now(edges, LOWER, early) / rise, edge_now(edges, LOWER, late) / rise
    overs = (over, float(edges[UPPER, AT_HORIZON]), over_early, over_late)
    unders = (under, float(edges[LOWER, AT_HORIZON]), under_early, under_late)
    return Sight(now, end, early, late, moves(clock), clock.fade > 0.0, mixed, overs, unders)


@lean_kernel
def alike(root: float, other: float, sight: Sight) -> bool:
    """Are the curvatures of both equal to the bit up to the horizon?"""
    return root == other or (not sight.fades and sight.now.delta + root == sight.now.delta + other)


@lean_kernel
def place_of(edges: F64, row: int, pull: float, root: float, sight: Sight) -> int:
    """Where a row belongs."""
    now = score_of(pull, root, sight.now)
    if not now > 0.0:
        return OUTSIDE
    end = score_of(pull, root, sight.end) if sight.moves else now
    inside, outside = now > sight.over[0] and end > sight.over[1], now < sight.under[0] and end < sight.under[1]
    if sight.mixed and (inside or outside):
        early, late = score_of(pull, root, sight.early), score_of(pull, root, sight.late)
        inside = inside and early > sight.over[2] and late > sight.over[3]
        outside = outside and early < sight.under[2] and late < sight.under[3]
    if inside:
        return INSIDE
    if outside:
        return OUTSIDE
    size = abs(pull)
    if size == edges[UPPER, PULL] and row <= edges[UPPER, ROW] and alike(root, edges[UPPER, ROOT], sight):
        return INSIDE
    if size == edges[LOWER, PULL] and row > edges[LOWER, ROW] and alike(root, edges[LOWER, ROOT], sight):
        return OUTSIDE
    return MIDDLE


@lean_kernel
def least_under(sight: Sight) -> float:
    """What the lower edge's score never falls below up to the horizon."""
    return min(sight.under[0], sight.under[1], sight.under[2], sight.under[3])


@lean_kernel
def quiet_of(sight: Sight) -> float:
    """What `is_quiet` compares the fourth power of a pull with, once it is multiplied by s2."""
    under = least_under(sight)
    return under * under * (1.0 - 1e-9) if under > TINY else 0.0


@lean_kernel
def flat_of(sight: Sight) -> float:
    """What `is_quiet` compares the square of a pull with. Damping never falls."""
    under = least_under(sight)
    if under < TINY:
        return 0.0
    if sight.mixed:
        return 4.0 * (1.0 - 1e-9) * sight.now.damping * under
    return 4.0 * (1.0 - 1e-9) * min(sight.now.damping * sight.under[0], sight.end.damping * sight.under[1])


@lean_kernel
def is_quiet(pull: float, square: float, quiet: float, flat: float) -> bool:
    """Surely outside, told without root or quotient.

    score = H pull^2 / (c t + H)^2 is at most pull^2 / H < pull^2 / sqrt(s2), and at most pull^2 / (4 c t).
    """
    size = pull * pull
    return size < flat or (quiet * square > TINY and size * size < quiet * square)


@lean_kernel
def leads(score: float, row: int, band: Band, place: int, moment: Moment) -> bool:
    """Does a row of this score come before the one at a place of the middle: larger score, then lower row?"""
    rival = score_of(band.pulls[place], band.roots[place], moment)
    return score > rival or (score == rival and row < band.rows[place])


@lean_kernel
def clear(band: Band, at: int, moment: Moment) -> bool:
    """Is the pair at, at + 1 in order beyond rounding?"""
    left = score_of(band.pulls[at], band.roots[at], moment)
    right = score_of(band.pulls[at + 1], band.roots[at + 1], moment)
    return left > TINY and left > right * (1.0 + MARGIN)


@lean_kernel
def stays_clear(band: Band, at: int, now: Moment, end: Moment, mixed: bool) -> bool:
    """Is a pair that is clear now clear up to then?"""
    if mixed and not (clear(band, at, crossed(now, end)) and clear(band, at, crossed(end, now))):
        return False
    return clear(band, at, end)


@lean_kernel
def certify(band: Band, at: int, t: int, clock: Clock) -> int:
    """Until which round the pair at, at + 1, in order now, is surely in order."""
    if not moves(clock):
        return FOREVER
    if band.roots[at] == band.roots[at + 1] and abs(band.pulls[at]) == abs(band.pulls[at + 1]):
        return FOREVER
    now = moment_at(clock, t)
    if not clear(band, at, now):
        return t
    end = int(band.counts[HORIZON])
    while end > t:
        if stays_clear(band, at, now, moment_at(clock, end), is_mixed(clock)):
            return end
        end = t + (end - t) // 2
    return t


@lean_kernel
def shift(band: Band, source: int, target: int) -> None:
    """Copy a place of the middle, with the pair that it is the better half of."""
    band.rows[target], band.until[target] = band.rows[source], band.until[source]
    band.pulls[target], band.roots[target] = band.pulls[source], band.roots[source]


@lean_kernel
def renew(band: Band, pair: int, t: int, clock: Clock) -> None:
    """Certify a pair of neighbours that are new to each other."""
    if 0 <= pair < band.counts[N_MIDDLE] - 1:
        band.until[pair] = certify(band, pair, t, clock)
        band.counts[EXPIRY] = min(band.counts[EXPIRY], band.until[pair])


@lean_kernel
def climb(band: Band, at: int, moment: Moment) -> int:
    """Move a row of the middle up to where it belongs; where that is. The pair `at` is new then."""
    row, pull, root = band.rows[at], band.pulls[at], band.roots[at]
    score, place = score_of(pull, root, moment), at
    while place > 0 and leads(score, row, band, place - 1, moment):
        shift(band, place - 1, place)
        place -= 1
    band.rows[place], band.pulls[place], band.roots[place] = row, pull, root
    return place


@lean_kernel
def sink(band: Band, at: int, moment: Moment) -> int:
    """Move a row of the middle down to where it belongs; where that is. The pair `at - 1` is new then."""
    row, pull, root = band.rows[at], band.pulls[at], band.roots[at]
    score, place, last = score_of(pull, root, moment), at, band.counts[N_MIDDLE] - 1
    while place < last and not leads(score, row, band, place + 1, moment):
        shift(band, place + 1, place)
        place += 1
    band.rows[place], band.pulls[place], band.roots[place] = row, pull, root
    return place


@lean_kernel
def slide(band: Band, at: int, t: int, clock: Clock) -> None:
    """Move a row of the middle, whose numbers have changed, up or down to where it belongs."""
    moment = moment_at(clock, t)
    place = climb(band, at, moment)
    if place < at:
        renew(band, at, t, clock)
    else:
        place = sink(band, at, moment)
        renew(band, at - 1, t, clock)
    renew(band, place - 1, t, clock)
    renew(band, place, t, clock)


@lean_kernel
def settle(band: Band, t: int, clock: Clock) -> None:
    """Put the middle in the order of this round: an insertion sort that looks at unsure pairs only."""
    if t <= band.counts[EXPIRY]:
        return
    moment = moment_at(clock, t)
    band.counts[EXPIRY] = FOREVER
    for pair in range(band.counts[N_MIDDLE] - 1):
        if band.until[pair] < t:
            place = climb(band, pair + 1, moment)
            if place <= pair:
                band.until[pair + 1] = -1  # its better half is another row now
                renew(band, place - 1, t, clock)
                renew(band, place, t, clock)
            else:
                renew(band, pair, t, clock)
        band.counts[EXPIRY] = min(band.counts[EXPIRY], band.until[pair])


@lean_kernel
def find_place(rows: I64, row: int) -> int:
    """Where in the middle a row stands."""
    at = 0
    while rows[at] != row:
        at += 1
    return at


@lean_kernel
def take_out(band: Band, at: int, t: int, clock: Clock) -> None:
    """Remove a place from the middle."""
    last = band.counts[N_MIDDLE] - 1
    for place in range(at, last):
        shift(band, place + 1, place)
    band.counts[N_MIDDLE] = last
    band.counts[WORK] += last - at
    renew(band, at - 1, t, clock)


@lean_kernel
def put_in(band: Band, row: int, pull: float, root: float, t: int, clock: Clock) -> None:
    """Insert a row into the middle, at its place."""
    moment = moment_at(clock, t)
    score = score_of(pull, root, moment)
    low, high = 0, band.counts[N_MIDDLE]
    while low < high:
        half = (low + high) // 2
        if leads(score, row, band, half, moment):
            high = half
        else:
            low = half + 1
    for place in range(band.counts[N_MIDDLE], low, -1):
        shift(band, place - 1, place)
    band.rows[low], band.pulls[low], band.roots[low] = row, pull, root
    band.counts[WORK] += band.counts[N_MIDDLE] - low
    band.counts[N_MIDDLE] += 1
    renew(band, low - 1, t, clock)
    renew(band, low, t, clock)


@lean_kernel
def move(band: Band, row: int, pull: float, root: float, target: int, t: int, clock: Clock) -> None:
    """Take a touched row from where it is to where it belongs."""
    if band.counts[STALE]:
        return
    settle(band, t, clock)
    before = band.place[row]
    if before == MIDDLE:
        at = find_place(band.rows, row)
        band.counts[WORK] += at
        if target == MIDDLE:
            band.pulls[at], band.roots[at] = pull, root
            slide(band, at, t, clock)
            return
        take_out(band, at, t, clock)
    elif before == INSIDE:
        band.counts[N_INSIDE] -= 1
    if target == INSIDE:
        band.counts[N_INSIDE] += 1
    elif target == MIDDLE:
        if band.counts[N_MIDDLE] == len(band.rows):
            band.counts[STALE] = 1
            return
        put_in(band, row, pull, root, t, clock)
    band.place[row] = target


@lean_kernel
def touch(band: Band, rows: I64, own: F64, others: F64, t: int, rule: Rule, clock: Clock) -> None:
    """Compare rows whose sums have changed with the edges, and move those that belong elsewhere now."""
    sight = look(band, t, clock)
    for at in range(len(rows)):
        row = rows[at]
        pull = -rule.rate * sum_at(own, others, row, 0)
        root = math.sqrt(sum_at(own, others, row, 1))
        target = place_of(band.edges, row, pull, root, sight)
        if target == MIDDLE or target != band.place[row]:
            move(band, row, pull, root, target, t, clock)


@lean_kernel
def tells(band: Band, t: int, rule: Rule, clock: Clock) -> bool:
    """Do the edges enclose the cut between kept and not? All inside are above the upper, all outside below the lower.

    Rows of the middle may lie beyond an edge at some rounds, so counting them is not enough: the last one kept must
    not be below the lower edge, nor the first one not kept above the upper.
    """
    settle(band, t, clock)
    kept, moment = rule.budget - band.counts[N_INSIDE], moment_at(clock, t)
    if kept < 0:
        return False
    if kept < band.counts[N_MIDDLE]:
        over = edge_now(band.edges, UPPER, moment)
        if leads_edge(band, kept, over, band.edges[UPPER, ROW], moment):
            return False
    elif kept > band.counts[N_MIDDLE]:
        return bool(band.edges[LOWER, PULL] == 0.0)
    under = edge_now(band.edges, LOWER, moment)
    return kept == 0 or not trails_edge(band, kept - 1, under, band.edges[LOWER, ROW], moment)


@lean_kernel
def leads_edge(band: Band, place: int, score: float, row: float, moment: Moment) -> bool:
    """Is a row of the middle better than an edge?"""
    mine = score_of(band.pulls[place], band.roots[place], moment)
    return mine > score or (mine == score and band.rows[place] < row)


@lean_kernel
def trails_edge(band: Band, place: int, score: float, row: float, moment: Moment) -> bool:
    """Is a row of the middle worse than an edge?"""
    mine = score_of(band.pulls[place], band.roots[place], moment)
    return mine < score or (mine == score and band.rows[place] > row)


@lean_kernel
def is_current(band: Band, t: int, rule: Rule, clock: Clock) -> bool:
    """Does the band tell the budget best rows of this round, and cheaply?"""
    if band.counts[STALE] or t > band.counts[HORIZON]:
        return False
    if band.counts[N_MIDDLE] > band.counts[LIMIT] or band.counts[WORK] > band.counts[MOST_WORK]:
        return False
    return tells(band, t, rule, clock)


@lean_kernel
def adapt(band: Band, rows: int, t: int, clock: Clock) -> None:
    """Balance two costs: of rebuilding, which a wider middle puts off, and of moving rows in a wide middle."""
    if moves(clock) and t > band.counts[HORIZON]:
        band.counts[WINDOW] *= 2
    elif t == clock.base and clock.fade > 0.0:
        pass  # the sums' scale began anew, which says nothing of slack
    elif band.counts[WORK] < 4 * rows:
        band.counts[SLACK] = min(2 * band.counts[SLACK], MOST_SLACK)
    elif band.counts[WORK] > 16 * rows:
        band.counts[SLACK] = max(band.counts[SLACK] // 2, LEAST_SLACK)
    band.counts[WORK], band.counts[STALE] = 0, 0
    band.counts[MOST_WORK] = 32 * rows + 1000
    band.counts[REBUILDS] += 1


@kernel
def all_scores(own: F64, others: F64, rows: int, moment: Moment, rule: Rule) -> F64:
    """The score of each row; what is no number counts as zero."""
    scores = np.empty(rows)
    for row in range(rows):
        root = math.sqrt(sum_at(own, others, row, 1))
        score = score_of(-rule.rate * sum_at(own, others, row, 0), root, moment)
        scores[row] = score if score > 0.0 else 0.0
    return scores


@kernel
def set_edge(band: Band, edge: int, rank: int, scores: F64, own: F64, others: F64, rule: Rule) -> None:
    """Freeze the row of a rank as an edge. Rank 0 is above everything; a rank past all scores is zero, below any."""
    scored = 0
    for score in scores:
        scored += score > 0.0
    if rank == 0:
        band.edges[edge, PULL], band.edges[edge, ROOT], band.edges[edge, ROW] = np.inf, 1.0, -1.0
    elif scored <= rank:
        band.edges[edge, PULL], band.edges[edge, ROOT], band.edges[edge, ROW] = 0.0, 1.0, -1.0
    else:
        row = nth_row(scores, rank)
        band.edges[edge, PULL] = abs(-rule.rate * sum_at(own, others, row, 0))
        band.edges[edge, ROOT] = math.sqrt(sum_at(own, others, row, 1))
        band.edges[edge, ROW] = row


@lean_kernel
def look_ahead(band: Band, horizon: int, clock: Clock) -> None:
    """Fix the horizon, and the edges' scores there with their margins; too tiny ones make nobody sure."""
    band.counts[HORIZON] = horizon
    moment = moment_at(clock, horizon)
    band.ahead[0], band.ahead[1], band.ahead[2] = moment.damping, moment.delta, moment.reach
    for edge in (UPPER, LOWER):
        score = edge_now(band.edges, edge, moment)
        unsure = moves(clock) and 0.0 < score < TINY
        if edge == UPPER:
            band.edges[edge, AT_HORIZON] = np.inf if unsure else score * rise_of(clock)
        else:
            band.edges[edge, AT_HORIZON] = 0.0 if unsure else score / rise_of(clock)


@lean_kernel
def place_all(band: Band, scores: F64, own: F64, others: F64, t: int, rule: Rule, clock: Clock) -> int:
    """Place each row by the edges; how many are in the middle."""
    sight = look(band, t, clock)
    far = 0.0 if sight.mixed else sight.under[1]  # unless mixed, scores only fall: below this one they stay below
    inside, middle = 0, 0
    for row in range(len(scores)):
        if scores[row] < far:
            band.place[row] = OUTSIDE
            continue
        pull = -rule.rate * sum_at(own, others, row, 0)
        root = math.sqrt(sum_at(own, others, row, 1))
        place = place_of(band.edges, row, pull, root, sight)
        band.place[row] = place
        inside += place == INSIDE
        middle += place == MIDDLE
    band.counts[N_INSIDE], band.counts[N_MIDDLE] = inside, middle
    return middle


@kernel
def fill_middle(band: Band, scores: F64, own: F64, others: F64, t: int, rule: Rule, clock: Clock) -> None:
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
        band.roots[place] = math.sqrt(sum_at(own, others, row, 1))
    band.counts[EXPIRY] = FOREVER
    for pair in range(count - 1):
        renew(band, pair, t, clock)


@kernel
def rebuild(band: Band, own: F64, others: F64, rows: int, t: int, rule: Rule, clock: Clock) -> bool:
    """Set the edges anew, in time linear in the rows. False: the middle needs more room first."""
    adapt(band, rows, t, clock)
    slack = band.counts[SLACK]
    scores = all_scores(own, others, rows, moment_at(clock, t), rule)
    set_edge(band, UPPER, rule.budget - min(slack, rule.budget), scores, own, others, rule)
    set_edge(band, LOWER, rule.budget + slack, scores, own, others, rule)
    while True:
        look_ahead(band, min(t + band.counts[WINDOW], clock.last) if moves(clock) else FOREVER, clock)
        middle = place_all(band, scores, own, others, t, rule, clock)
        window = band.counts[WINDOW]
        affordable = middle <= 4 * slack or middle * window <= 16 * rows  # against rebuilding every window
        if affordable or not moves(clock) or window <= LEAST_WINDOW:
            break
        band.counts[WINDOW] = window // 2
    if middle + SPARE > len(band.rows):
        band.counts[STALE] = 1
        return False
    band.counts[LIMIT] = max(4 * slack, 2 * middle)
    fill_middle(band, scores, own, others, t, rule, clock)
    return True


@lean_kernel
def worst_kept(band: Band, t: int, rule: Rule, clock: Clock) -> tuple[float, int]:
    """Score and row of the last of the middle that is kept; if none is, what nobody reaches."""
    settle(band, t, clock)
    last = min(rule.budget - band.counts[N_INSIDE], band.counts[N_MIDDLE]) - 1
    if last < 0:
        return np.inf, -1
    return score_of(band.pulls[last], band.roots[last], moment_at(clock, t)), band.rows[last]


@kernel
def kept_rows(band: Band, rows: int, t: int, rule: Rule, clock: Clock) -> I64:
    """The rows kept at this round, in no order; the band must be current."""
    settle(band, t, clock)
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
