"""A selector's description: what a user writes as JSON, checked once, frozen after."""

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from streamsieve.errors import BadSpec
from streamsieve.learners.catalogue import LABELS, Entry, entry_of
from streamsieve.limits import Limits

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
TOPIC = re.compile(r"[A-Za-z0-9._-]{1,240}")  # Kafka allows 249; `.dlq` and `.features` need room
FORMATS = ("json", "ndjson", "vw", "libsvm")
STARTS = ("earliest", "latest")
PEERS = ("shared", "none")
MAX_BUDGET = 1_000_000
REQUIRED = ("name", "algorithm", "budget", "topic")


@dataclass(frozen=True)
class Spec:
    """One selector. Make it with `Spec.parse`, which checks everything and fills in the defaults.

    >>> spec = Spec.parse({"name": "spam", "algorithm": "b-arda", "budget": 100, "topic": "samples"})
    >>> spec.loss, spec.params["eta"]
    ('squared_hinge', 0.5)
    >>> Spec.parse({"name": "spam", "algorithm": "b-arda", "budget": 0, "topic": "samples"})
    Traceback (most recent call last):
    streamsieve.errors.BadSpec: budget: must be a whole number from 1 to 1000000, not 0
    """

    name: str
    algorithm: str
    budget: int
    topic: str
    loss: str
    params: dict[str, float]
    format: str = "json"
    intercept: bool = False
    half_life: float | None = None
    start: str = "earliest"
    peers: str = "shared"
    limits: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def parse(given: object) -> "Spec":
        """Check a JSON object; raises BadSpec that names the field."""
        if not isinstance(given, Mapping):
            raise BadSpec("body", "must be a JSON object")
        _check_keys(given)
        entry = entry_of(_text(given, "algorithm"))
        return Spec(
            name=_matching(given, "name", NAME),
            algorithm=entry.name,
            budget=_whole(given["budget"], "budget", 1, MAX_BUDGET),
            topic=_topic(given),
            loss=_one_of(given, "loss", entry.losses),
            params=_params(given.get("params", {}), entry),
            format=_one_of(given, "format", FORMATS),
            intercept=_flag(given, "intercept"),
            half_life=_half_life(given.get("half_life"), entry),
            start=_one_of(given, "start", STARTS),
            peers=_one_of(given, "peers", PEERS),
            limits=_limits(given.get("limits", {})),
        )

    def as_json(self) -> dict[str, Any]:
        """What `parse` takes; every default spelled out."""
        return asdict(self)

    @property
    def entry(self) -> Entry:
        """Its line in the catalogue."""
        return entry_of(self.algorithm)

    @property
    def labels(self) -> str:
        """What its loss takes as labels: binary, real or class."""
        return LABELS[self.loss]

    @property
    def steady(self) -> bool:
        """Does its step shrink too slowly for peers to be heard late? A decay left out is chosen with them in mind."""
        return self.params.get("decay", 1.0) < 0.5

    def all_limits(self) -> Limits:
        """The defaults, with what this selector sets."""
        whole = {name: type(getattr(Limits(), name))(value) for name, value in self.limits.items()}
        return Limits(**whole)


def _check_keys(given: Mapping[str, object]) -> None:
    for name in REQUIRED:
        if name not in given:
            raise BadSpec(name, "is required")
    known = Spec.__dataclass_fields__
    for name in given:
        if name not in known:
            raise BadSpec(str(name), f"unknown field; known: {', '.join(known)}")


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given[name]
    if not isinstance(value, str):
        raise BadSpec(name, f"must be a string, not {value!r}")
    return value


def _matching(given: Mapping[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = _text(given, name)
    if not pattern.fullmatch(value):
        raise BadSpec(name, f"must match {pattern.pattern}")
    return value


def _topic(given: Mapping[str, Any]) -> str:
    topic = _matching(given, "topic", TOPIC)
    if topic in (".", ".."):
        raise BadSpec("topic", "Kafka allows no topic of that name")
    return topic


def _whole(value: object, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadSpec(name, f"must be a whole number from {least} to {most}, not {value!r}")
    return value


def _one_of(given: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    value = given.get(name) or known[0]
    if value not in known:
        raise BadSpec(name, f"must be one of {', '.join(known)}, not {value!r}")
    return str(value)


def _flag(given: Mapping[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise BadSpec(name, f"must be true or false, not {value!r}")
    return value


def _params(given: object, entry: Entry) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise BadSpec("params", "must be an object of numbers")
    known = {param.name: param for param in entry.params}
    for name in given:
        if name not in known:
            raise BadSpec(f"params.{name}", f"{entry.name} has no such parameter; known: {', '.join(known)}")
    wanted = {name: given.get(name, param.default) for name, param in known.items()}
    return {name: known[name].checked(value) for name, value in wanted.items() if name in given or value is not None}


def _half_life(value: object, entry: Entry) -> float | None:
    if value is None:
        return None
    if not entry.forgets:
        raise BadSpec("half_life", f"{entry.name} does not forget; leave it out")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value <= sys.float_info.max:
        raise BadSpec("half_life", "must be a finite number of samples, at least 1")
    return float(value)


def _limits(given: object) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise BadSpec("limits", "must be an object of numbers")
    defaults = Limits()._asdict()
    checked: dict[str, float] = {}
    for name, value in given.items():
        if name not in defaults:
            raise BadSpec(f"limits.{name}", f"no such limit; known: {', '.join(defaults)}")
        if name == "max_value":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1e100:
                raise BadSpec("limits.max_value", "must be a number > 0 and at most 1e100")
            checked[name] = float(value)
        else:
            checked[name] = _whole(value, f"limits.{name}", 1, 2**31 - 1)
    return checked
