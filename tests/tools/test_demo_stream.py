import json
import time
from collections import Counter

from streamsieve.decode.decoder import Decoder
from streamsieve.learners.making import make_learner
from streamsieve.spec import Spec
from tools.demo_stream import FEWEST, MOST, REPLACED, TELLING, VOCABULARY, SpamStream


def parsed(events):
    return [(event["y"], event["x"]) for event in map(json.loads, events)]


def rates(samples, label):
    own = [words for y, words in samples if y == label]
    counted = Counter(word for words in own for word in words)
    return {word: count / len(own) for word, count in counted.items()}


def test_the_same_seed_and_calls_give_the_same_bytes():
    one, two = SpamStream(7), SpamStream(7)
    assert one.samples(50) == two.samples(50)
    one.change()
    two.change()
    assert one.samples(50) == two.samples(50)
    assert one.telling == two.telling
    assert SpamStream(8).samples(50) != SpamStream(7).samples(50)


def test_messages_hold_distinct_words_and_both_labels():
    samples = parsed(SpamStream(1).samples(500))
    assert {y for y, _ in samples} == {-1, 1}
    for _, words in samples:
        assert len(words) == len(set(words))
        assert FEWEST / 2 <= len(words) <= MOST + TELLING
        assert all(word.isascii() and word.isalpha() and word.islower() for word in words)


def test_telling_words_tell_and_the_others_do_not():
    stream = SpamStream(3)
    samples = parsed(stream.samples(20_000))
    spam, ham = rates(samples, 1), rates(samples, -1)
    spammy = {word for word in stream.telling if spam.get(word, 0) > ham.get(word, 0)}
    assert len(stream.telling) == TELLING
    assert len(spammy) == TELLING // 2
    for word in stream.telling:
        one, other = sorted((spam.get(word, 0), ham.get(word, 0)))
        assert 0.05 < other < 0.12
        assert one < other / 4
    common = [word for word in spam if word not in stream.telling and spam[word] > 0.02]
    assert len(common) > 100
    assert max(abs(spam[word] - ham[word]) for word in common) < 0.03


def test_a_change_silences_some_words_and_lets_others_tell():
    stream = SpamStream(4)
    before = stream.telling
    stream.change()
    gone = before - stream.telling
    assert len(gone) == REPLACED
    assert len(stream.telling) == TELLING
    samples = parsed(stream.samples(20_000))
    spam, ham = rates(samples, 1), rates(samples, -1)
    for word in gone:
        assert abs(spam[word] - ham[word]) < 0.02
    for word in stream.telling:
        assert abs(spam.get(word, 0) - ham.get(word, 0)) > 0.03


def test_silenced_words_never_come_back():
    stream = SpamStream(5)
    seen: set[str] = set()
    for _ in range(10):
        before = stream.telling
        stream.change()
        gone = before - stream.telling
        assert not seen & stream.telling
        seen |= gone
    assert len(seen) == 10 * REPLACED


def test_the_vocabulary_is_large_and_unique():
    words = {word for _, message in parsed(SpamStream(6).samples(20_000)) for word in message}
    assert VOCABULARY / 3 < len(words) <= VOCABULARY


def test_it_is_fast_enough_to_feed_the_demo():
    stream = SpamStream(1)
    best = min(_seconds(stream) for _ in range(3))
    assert 2_000 / best >= 5_000


def _seconds(stream: SpamStream) -> float:
    start = time.perf_counter()
    stream.samples(2_000)
    return time.perf_counter() - start


def test_no_samples_are_no_samples():
    assert SpamStream(1).samples(0) == []


def test_b_arda_finds_nearly_all_telling_words_early():
    """The demo promises 54 of 60; each of eight seeds tried had them after 10,000 messages."""
    spec = Spec.parse({"name": "demo", "algorithm": "b-arda", "budget": 100, "topic": "demo"})
    learner = make_learner(spec, bytes(16))
    decoder = Decoder("json", "binary", spec.all_limits(), bytes(16))
    stream = SpamStream(1)
    learner.learn(decoder.decode(stream.samples(10_000)).batch)
    assert len(stream.telling & set(learner.selection().names)) >= 54
