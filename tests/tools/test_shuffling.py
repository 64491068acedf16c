from itertools import pairwise

import numpy as np
import pytest

from streamsieve.batch import Batch, Decoded
from streamsieve.decode.decoder import Decoder
from streamsieve.limits import Limits
from tools.passes import passes
from tools.shuffling import joined, shuffled, taken

LINES = [
    b'{"y": 1, "x": {"a": 1, "b": 2}}',
    b"broken",
    b'{"y": -1, "x": {"long name \xc3\xa9": 3}}',
    b'{"y": 1, "x": {"c": 4, "a": 5, "d": 6}, "w": 2}\n{"y": 0, "x": {"e": 7}}',
    b'{"y": 1, "x": {}}',
]


def decoded(lines: list[bytes]) -> Decoded:
    return Decoder("ndjson", "binary", Limits(), bytes(16)).decode(lines)


def unpacked(batch: Batch) -> list[list[tuple[float, float, dict[str, tuple[float, int]]]]]:
    """The records as plain values, read one by one: samples of label, weight, {name: (value, hash)}."""
    records = []
    for record in range(batch.record_count):
        samples = []
        for sample in range(batch.records[record], batch.records[record + 1]):
            entries = range(batch.samples[sample], batch.samples[sample + 1])
            named = {_name(batch, entry): (float(batch.values[entry]), int(batch.hashes[entry])) for entry in entries}
            samples.append((float(batch.labels[sample]), float(batch.weights[sample]), named))
        records.append(samples)
    return records


def _name(batch: Batch, entry: int) -> str:
    start = batch.name_starts[entry]
    return bytes(batch.text[start : start + batch.name_lengths[entry]]).decode()


def in_batches(*cuts: int):
    """A file read in batches cut at these lines."""
    bounds = [0, *cuts, len(LINES)]
    return lambda: (decoded(LINES[start:end]) for start, end in pairwise(bounds))


def test_records_are_taken_whole_in_any_order():
    batch = decoded(LINES).batch
    records = unpacked(batch)
    for order in ([2, 0, 1], [1], [], [1, 1]):
        assert unpacked(taken(batch, np.array(order, np.int64))) == [records[place] for place in order]


@pytest.mark.parametrize("cuts", [(), (1,), (2, 2, 3)])
def test_joining_undoes_cutting(cuts):
    whole = joined(list(in_batches(*cuts)()))
    assert unpacked(whole.batch) == unpacked(decoded(LINES).batch)


def test_positions_count_through_the_file_however_it_was_cut():
    for cuts in ((), (1,), (2, 3)):
        (walk,) = passes(in_batches(*cuts), 1, None, rereadable=True)
        parts = list(walk)
        assert [int(place) for part in parts for place in part.positions] == sorted({0, 2, 3, 4} - bad_places())
        assert [reject.record for part in parts for reject in part.rejects] == sorted({1, *bad_places()})


def bad_places() -> set[int]:
    """Whether a sample without features is refused is the decoder's affair."""
    return {reject.record for reject in decoded(LINES).rejects} - {1}


def test_a_shuffled_pass_deals_every_record_once_with_its_position():
    (walk,) = passes(in_batches(2), 1, None, rereadable=True)
    whole = joined(list(walk))
    originals = dict(zip(whole.positions.tolist(), unpacked(whole.batch), strict=True))
    for seed in range(5):
        (part,) = shuffled(whole, np.random.default_rng(seed))
        assert part.batch.record_count == len(originals)
        assert dict(zip(part.positions.tolist(), unpacked(part.batch), strict=True)) == originals


def many(count: int):
    lines = [b'{"y": 1, "x": {"n%d": 1}}' % number for number in range(count)]
    return lambda: (decoded(lines[start : start + 100]) for start in range(0, count, 100))


def orders(walks):
    return [[int(place) for part in walk for place in part.positions] for walk in walks]


def test_each_pass_has_a_fresh_order_and_a_seed_repeats_them():
    first, second = orders(passes(many(5_000), 2, seed=1, rereadable=True))
    assert sorted(first) == sorted(second) == list(range(5_000))
    assert first != second
    assert first != list(range(5_000))
    assert orders(passes(many(5_000), 2, seed=1, rereadable=True)) == [first, second]
    assert orders(passes(many(5_000), 1, seed=2, rereadable=True)) != [first]


def test_what_cannot_be_read_again_is_kept():
    source = many(250)()
    walks = orders(passes(lambda: source, 3, seed=None, rereadable=False))
    assert walks == [list(range(250))] * 3


def test_without_a_seed_one_pass_holds_one_batch_at_a_time():
    given = iter(many(1_000)())
    (walk,) = passes(lambda: given, 1, seed=None, rereadable=False)
    next(walk)
    assert sum(part.batch.record_count for part in given) == 900


def test_rejects_come_once_a_pass():
    for seed in (None, 3):
        for walk in passes(in_batches(2), 2, seed, rereadable=True):
            assert [reject.record for part in walk for reject in part.rejects][:1] == [1]


def test_an_empty_file_has_no_records():
    for seed in (None, 3):
        walks = passes(lambda: iter(()), 2, seed, rereadable=True)
        assert [part for walk in walks for part in walk] == []


def test_a_file_of_nothing_but_rejects_still_tells_them():
    (walk,) = passes(lambda: iter([decoded([b"broken", b"too"])]), 1, seed=1, rereadable=True)
    assert [len(part.rejects) for part in walk] == [2]
