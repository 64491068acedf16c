"""What every sample learner promises, whatever its algorithm. One function a promise; CHECKS lists them all."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from streamsieve.checks.streams import Record, Sample, Stream, batch_of
from streamsieve.learners.protocol import Chunks, SampleLearner
from streamsieve.selection import Outcome, Selection
from streamsieve.snapshot import canonical, parse_canonical


class Make(Protocol):
    """Makes a fresh learner; `fields` go into its spec."""

    def __call__(self, shared: bool = False, **fields: Any) -> SampleLearner:
        """A learner that has seen nothing."""


Check = Callable[[Make, Stream], None]


def check_batching_is_invisible(make: Make, stream: Stream) -> None:
    """Kafka cuts batches where it likes; the state must not differ by one byte."""
    whole, single, ragged = make(), make(), make()
    whole.learn(batch_of(stream))
    for record in stream:
        single.learn(batch_of([record]))
    for part in _ragged(stream):
        ragged.learn(batch_of(part))
    _same(whole, single)
    _same(whole, ragged)


def check_same_stream_same_bytes(make: Make, stream: Stream) -> None:
    """After a crash the log is read again: the same records must give the same state, on any machine."""
    one, other = make(), make()
    for learner in (one, other):
        learner.learn(batch_of(stream))
    _same(one, other)


def check_selecting_before_learning(make: Make, stream: Stream) -> None:
    """A selector is asked for its features as soon as it is created; nothing is a fine answer."""
    learner = make()
    assert learner.selection().names == []
    assert learner.progress() == (0, None, None, None)
    assert learner.changes() == {}
    again = make()
    again.restore(learner.chunks())
    _same(learner, again)


def check_looking_changes_nothing(make: Make, stream: Stream) -> None:
    """Serving and committing happen at any time; neither may leave a trace in what is learnt."""
    watched, alone = make(), make()
    for part in _ragged(stream):
        watched.learn(batch_of(part))
        watched.selection()
        watched.changes()
        watched.settled()
    alone.learn(batch_of(stream))
    _same(watched, alone)


def check_at_most_budget(make: Make, stream: Stream) -> None:
    """Whoever reads the features has room for `budget` of them: best first, each once, none with weight zero."""
    for budget in (1, 3, 17):
        learner = make(budget=budget)
        for part in _ragged(stream):
            learner.learn(batch_of(part))
            selection = learner.selection()
            assert len(selection.names) == len(set(selection.names)) <= budget
            assert (np.diff(selection.scores) <= 0).all()
            assert (selection.weights != 0).all()


def check_snapshot_round_trip(make: Make, stream: Stream) -> None:
    """A shard moves between workers all the time: what is restored goes on bit for bit as if never interrupted."""
    uninterrupted, travelling = make(), make()
    for part in _ragged(stream):
        uninterrupted.learn(batch_of(part))
        travelling.learn(batch_of(part))
        _, chunks = parse_canonical(canonical("any", travelling.chunks()))
        travelling = make()
        travelling.restore(chunks)
        _same(uninterrupted, travelling)


def check_changes_add_up(make: Make, stream: Stream) -> None:
    """A commit writes what changed since the last one; together they must be the whole state."""
    learner, stored = make(), Chunks()
    for part in _ragged(stream):
        learner.learn(batch_of(part))
        assert learner.dirty_bytes() > 0
        stored |= learner.changes()
        learner.settled()
        assert learner.changes() == {}
        assert learner.dirty_bytes() == 0
        assert stored == learner.chunks()


def check_input_untouched(make: Make, stream: Stream) -> None:
    """Several selectors learn from one decoded batch; a learner may not write into it."""
    batch = batch_of(stream)
    before = {name: column.copy() for name, column in batch._asdict().items()}
    for column in batch._asdict().values():
        column.flags.writeable = False
    learner, other = make(), make()
    learner.learn(batch)
    other.learn(batch_of(stream))
    assert all(np.array_equal(before[name], column) for name, column in batch._asdict().items())
    _same(learner, other)


def check_empty_samples_count(make: Make, stream: Stream) -> None:
    """A sample without features is a sample: it is predicted and counted, and nothing breaks."""
    learner = make()
    learner.learn(batch_of(stream))
    before = learner.progress().samples
    learner.learn(batch_of([[Sample(1.0, {})], [Sample(-1.0, {}), Sample(1.0, {})]]))
    learner.learn(batch_of([]))
    assert learner.progress().samples == before + 3


def check_overflow_leaves_no_trace(make: Make, stream: Stream) -> None:
    """One absurd record must not poison the sums for ever: it is refused, named and forgotten."""
    _check_refusal(make, stream, [Sample(1.0, {"n1": 1.0, "never seen": 1.0, "huge": 1e300})])


def check_overflow_undoes_its_record(make: Make, stream: Stream) -> None:
    """A record of many samples is learnt whole or not at all, even if only its last sample overflows."""
    good = [Sample(1.0, {"n1": 1.0, "n2": 0.5, f"new {number}": 1.0}) for number in range(5)]
    _check_refusal(make, stream, [*good, Sample(-1.0, {"n1": -1.0, "huge": 1e300}), *good])


def check_names_are_bounded(make: Make, stream: Stream) -> None:
    """A hostile stream invents names without end; memory stays bounded and the ignored ones are counted."""
    learner = make(limits={"max_names": 10}, budget=100)
    outcome = learner.learn(batch_of(stream))
    assert outcome.ignored_names > 0
    assert learner.progress().samples == sum(len(record) for record in stream)
    first = list(dict.fromkeys(name for record in stream for sample in record for name in sample.x))[:10]
    assert set(learner.selection().names) <= set(first)


def check_peers_add_up(make: Make, stream: Stream) -> None:
    """The model is the sum of the shards: whoever has heard everybody serves the same, and a bystander too."""
    left, right, bystander = (make(shared=True, budget=1000) for _ in range(3))
    half = len(stream) // 2
    left.learn(batch_of(stream[:half]))
    right.learn(batch_of(stream[half:]))
    own = left.chunks()
    left.hear(2, right.chunks(), whole=True)
    right.hear(1, own, whole=True)
    bystander.hear(1, own, whole=True)
    bystander.hear(2, right.chunks(), whole=True)
    _close(left.selection(), right.selection())
    _close(left.selection(), bystander.selection())
    assert left.chunks() == own, "what is heard is not one's own"


def check_hearing_bit_by_bit(make: Make, stream: Stream) -> None:
    """Peers send what changed; it must come to the same as hearing all of it at once, also while learning goes on."""
    speaker, listener, latecomer = (make(shared=True) for _ in range(3))
    for part in _ragged(stream):
        speaker.learn(batch_of(part))
        listener.hear(7, speaker.changes(), whole=False)
        speaker.settled()
        listener.selection()
    latecomer.hear(7, speaker.chunks(), whole=True)
    _close(listener.selection(), latecomer.selection())
    listener.hear(7, {}, whole=True)
    assert listener.selection().names == []


CHECKS: tuple[Check, ...] = (
    check_batching_is_invisible,
    check_same_stream_same_bytes,
    check_selecting_before_learning,
    check_looking_changes_nothing,
    check_at_most_budget,
    check_snapshot_round_trip,
    check_changes_add_up,
    check_input_untouched,
    check_empty_samples_count,
    check_overflow_leaves_no_trace,
    check_overflow_undoes_its_record,
    check_names_are_bounded,
    check_peers_add_up,
    check_hearing_bit_by_bit,
)


def _ragged(stream: Stream) -> list[Stream]:
    """The stream in parts of uneven lengths, always cut alike."""
    random = np.random.default_rng(len(stream))
    cuts = np.sort(random.integers(0, len(stream) + 1, 9))
    parts = [stream[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    return [part for part in parts if part]


def _same(one: SampleLearner, other: SampleLearner) -> None:
    """Equal to the bit, in state and in what is served."""
    assert canonical("any", one.chunks()) == canonical("any", other.chunks())
    mine, theirs = one.selection(), other.selection()
    assert mine.names == theirs.names
    assert mine.weights.tobytes() == theirs.weights.tobytes()
    assert one.progress() == other.progress()


def _close(one: Selection, other: Selection) -> None:
    """Equal but for rounding: sums of the same numbers in another order."""
    assert sorted(one.names) == sorted(other.names)
    mine, theirs = (dict(zip(each.names, each.weights, strict=True)) for each in (one, other))
    largest = max(abs(weight) for weight in mine.values())
    assert all(abs(mine[name] - theirs[name]) <= 1e-9 * (abs(theirs[name]) + largest) for name in mine)


def _check_refusal(make: Make, stream: Stream, bad: Record) -> None:
    half = len(stream) // 2
    tried, spared = make(), make()
    outcome: Outcome = tried.learn(batch_of([*stream[:half], bad, *stream[half:]]))
    assert [record for record, _ in outcome.overflowed] == [half]
    assert outcome.ignored_names == 0
    spared.learn(batch_of(stream))
    _same(tried, spared)
