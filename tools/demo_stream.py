"""The demo's stream: made-up mail in a made-up language, where we know which words tell spam from ham.

Most words say nothing: they are as frequent in spam as in ham, and fall off by Zipf's law. The telling words are drawn
class by class: a spammy word is in 6 to 10 % of the spam and in an eighth of that, or less, of the ham, a hammy one the
other way round. `change` lets some telling words go silent: they stay, but equally frequent in both.
"""

import numpy as np

from streamsieve.batch import F64, I64

VOCABULARY = 50_000
TELLING = 60  # half of them spammy, half hammy
REPLACED = 20  # by each `change`, half of each kind
FEWEST, MOST = 30, 60  # background words drawn a message; doubles are said once
TELLING_RATE = (0.06, 0.10)  # share of its own class's messages that a telling word is in
SPILL = (0.05, 0.125)  # how much of that rate the other class has
ZIPF_SHIFT = 20.0  # Zipf-Mandelbrot: flattens the head, so that no word is in every message
CONSONANTS = "bdfgjklmnprstvz"
VOWELS = "aeiou"
CODAS = ("", "", "l", "n", "r", "s")


class SpamStream:
    """A seeded stream; the same seed and the same calls give the same bytes.

    >>> stream = SpamStream(seed=1)
    >>> len(stream.telling), stream.samples(2) == SpamStream(seed=1).samples(2)
    (60, True)
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._words = _words(self._random)
        ranks = np.arange(1, VOCABULARY + 1)
        self._cumulated = np.cumsum(1.0 / (ranks + ZIPF_SHIFT))
        self._telling = np.empty(0, np.int64)
        self._silent = np.empty(0, np.int64)
        self._telling = self._fresh(TELLING)
        self._telling_rates = _rates(self._random, TELLING)
        self._silent_rates = np.empty(0)

    @property
    def telling(self) -> frozenset[str]:
        """The words that tell spam from ham now."""
        return frozenset(self._words[self._telling].tolist())

    def change(self) -> None:
        """Replace some telling words by words that said nothing so far."""
        spammy, hammy = np.arange(0, TELLING, 2), np.arange(1, TELLING, 2)
        places = np.concatenate([self._random.choice(kind, REPLACED // 2, replace=False) for kind in (spammy, hammy)])
        self._silent = np.concatenate([self._silent, self._telling[places]])
        self._silent_rates = np.concatenate([self._silent_rates, self._telling_rates[:, places].mean(axis=0)])
        self._telling[places] = self._fresh(REPLACED)
        self._telling_rates[:, places] = _rates(self._random, REPLACED)

    def samples(self, count: int) -> list[bytes]:
        """The next messages as JSON events: y = 1 is spam, x lists the words."""
        labels = self._random.integers(0, 2, count)
        background, ends = self._background(count)
        planted = self._planted(labels)
        words = self._words[background].tolist()
        starts = [0, *ends[:-1].tolist()] if count else []
        return [
            _event(label, dict.fromkeys(words[start:end] + more))
            for label, start, end, more in zip(labels.tolist(), starts, ends.tolist(), planted, strict=True)
        ]

    def _fresh(self, count: int) -> I64:
        """Words for a new role, from the rare half: what else they do in the background hardly matters."""
        taken = np.concatenate([self._telling, self._silent])
        free = np.setdiff1d(np.arange(VOCABULARY // 2, VOCABULARY), taken)
        return self._random.choice(free, count, replace=False)

    def _background(self, count: int) -> tuple[I64, I64]:
        """Word numbers of all messages in a row, and where each message ends."""
        ends = np.cumsum(self._random.integers(FEWEST, MOST + 1, count))
        draws = self._random.random(int(ends[-1]) if count else 0) * self._cumulated[-1]
        return np.searchsorted(self._cumulated, draws).astype(np.int64), ends

    def _planted(self, labels: I64) -> list[list[str]]:
        """The telling and the silenced words of each message."""
        numbers = np.concatenate([self._telling, self._silent])
        rates = np.concatenate([self._telling_rates, np.stack([self._silent_rates, self._silent_rates])], axis=1)
        hits = self._random.random((len(labels), len(numbers))) < rates[labels]
        words = self._words[numbers]
        return [words[row].tolist() for row in hits]


def _rates(random: np.random.Generator, count: int) -> F64:
    """How often each word is in ham (row 0) and in spam (row 1); even places are spammy, odd ones hammy."""
    own = random.uniform(*TELLING_RATE, count)
    other = own * random.uniform(*SPILL, count)
    spammy = np.arange(count) % 2 == 0
    return np.stack([np.where(spammy, other, own), np.where(spammy, own, other)])


def _words(random: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Unique pronounceable words, frequent ones first and short."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        syllables = 2 if len(words) < 2_000 else 3
        words.update(dict.fromkeys(_spelled(random, syllables, 1_000)))
    return np.array(list(words)[:VOCABULARY], dtype=object)


def _spelled(random: np.random.Generator, syllables: int, count: int) -> list[str]:
    consonants = random.integers(0, len(CONSONANTS), (count, syllables)).tolist()
    vowels = random.integers(0, len(VOWELS), (count, syllables)).tolist()
    codas = random.integers(0, len(CODAS), count).tolist()
    return [
        "".join(CONSONANTS[c] + VOWELS[v] for c, v in zip(row, vowel_row, strict=True)) + CODAS[coda]
        for row, vowel_row, coda in zip(consonants, vowels, codas, strict=True)
    ]


def _event(label: int, words: dict[str, None]) -> bytes:
    listed = '","'.join(words)
    return f'{{"y":{1 if label else -1},"x":["{listed}"]}}'.encode()
