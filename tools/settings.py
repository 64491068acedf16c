"""Settings: one table, read once from the environment into a frozen object.

A setting is a field of `Settings`; its variable is SIEVE_ and the field's name in capitals. An empty variable counts
as not set, as compose files leave it. `sieve settings` lists them all.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple

from tools.failures import BadSetting
from tools.redaction import HIDDEN, redacted

PREFIX = "SIEVE_"
FOREIGN = re.compile(r"SIEVE_(DATA|TEST_\w+)")  # of the tests, not of the product
LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")
Reader = Callable[[str], Any]


def setting(default: object, read: Reader, help_text: str, secret: bool = False) -> Any:
    """One line of the table: default, how its text is read (ValueError says what it must be), what it is for."""
    metadata = {"default": default, "read": read, "help": help_text, "secret": secret}
    return field(default_factory=lambda: default, metadata=metadata)


def text(value: str) -> str:
    """Any text but an empty one."""
    if not value.strip():
        raise ValueError("must not be empty")
    return value.strip()


def one_of(*known: str) -> Reader:
    """One word of several, in any case."""

    def read(value: str) -> str:
        if value.lower() not in known:
            raise ValueError(f"must be one of {', '.join(known)}, not {value!r}")
        return value.lower()

    return read


def matching(pattern: str, sentence: str) -> Reader:
    """Text of a form; the sentence says which, and never shows the value: it may hold a password."""

    def read(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(sentence)
        return value

    return read


def whole(least: int, most: int) -> Reader:
    """A whole number between two bounds, both included."""

    def read(value: str) -> int:
        if not re.fullmatch(r"\d{1,18}", value.strip(), re.ASCII) or not least <= int(value) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}, not {value!r}")
        return int(value)

    return read


def seconds(value: str) -> float:
    """A time in seconds, more than none."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= 3600:
        raise ValueError(f"must be a number of seconds > 0 and at most 3600, not {value!r}")
    return number


def client_config(value: str) -> Mapping[str, Any]:
    """A JSON object of librdkafka's settings; read-only, as all settings are."""
    try:
        given = json.loads(value)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not all(isinstance(each, (str, int, float)) for each in given.values()):
        raise ValueError("must be a JSON object of strings, numbers and booleans")
    return MappingProxyType(given)


PORT = whole(0, 65535)
NAME = matching(r"[a-z0-9][a-z0-9_-]{0,62}", "must match [a-z0-9][a-z0-9_-]{0,62}")
REDIS_URL = matching(r"(redis|rediss|unix)://.+", "must start with redis://, rediss:// or unix://")
HTTP_URL = matching(r"https?://.+", "must start with http:// or https://")


@dataclass(frozen=True)
class Settings:
    """Everything that a deployment may set. Make it with `read_settings`.

    >>> read_settings({"SIEVE_HTTP_PORT": "8080"}).http_port
    8080
    >>> read_settings({"SIEVE_HTTP_PORT": "tcp://10.0.0.1:80"})
    Traceback (most recent call last):
    tools.failures.BadSetting: SIEVE_HTTP_PORT: must be a whole number from 0 to 65535, not 'tcp://10.0.0.1:80'
    """

    kafka_bootstrap: str = setting("127.0.0.1:9092", text, "Kafka's brokers, HOST:PORT, separated by commas.")
    kafka_config: Mapping[str, Any] = setting(
        MappingProxyType({}), client_config, "JSON object passed to every Kafka client (librdkafka): TLS, SASL, tuning."
    )
    redis_url: str = setting("redis://127.0.0.1:6379/0", REDIS_URL, "Redis or Valkey: redis://, rediss:// or unix://.")
    prefix: str = setting("sieve", NAME, "Begins every Redis key and consumer group of this deployment.")
    api_keys: str = setting("", str, "Reserved: the keys that may write over HTTP.", secret=True)
    http_host: str = setting("127.0.0.1", text, "The address that the HTTP service listens on.")
    http_port: int = setting(8000, PORT, "The port that the HTTP service listens on; 0 takes any free one.")
    metrics_port: int = setting(9100, PORT, "The port of a worker's Prometheus metrics; 0 takes any free one.")
    url: str = setting("http://127.0.0.1:8000", HTTP_URL, "Where `sieve top` finds the HTTP service.")
    commit_interval: float = setting(0.25, seconds, "Seconds until a worker commits what it has learnt, at most.")
    publish_interval: float = setting(0.25, seconds, "Seconds between two merges of the shards into the served set.")
    session_timeout_ms: int = setting(
        6000, whole(1000, 1_800_000), "Milliseconds until Kafka gives a silent worker's partitions to another."
    )
    log_level: str = setting("info", one_of(*LEVELS), f"What is logged: {', '.join(LEVELS)}.")
    log_format: str = setting("text", one_of(*LOG_FORMATS), "Log lines as text or as JSON objects.")


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Check and freeze what the environment says; raises BadSetting that names the variable."""
    given = [each for each in fields(Settings) if environment.get(variable_of(each))]
    return Settings(**{each.name: _read(each, environment[variable_of(each)]) for each in given})


def _read(each: "Field[Any]", value: str) -> Any:
    try:
        return each.metadata["read"](value)
    except ValueError as error:
        raise BadSetting(variable_of(each), str(error)) from error


def variable_of(each: "Field[Any]") -> str:
    """The name of its variable."""
    return PREFIX + each.name.upper()


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """SIEVE_* variables that no setting reads: most likely misspelt.

    >>> unknown_variables({"SIEVE_REDIS": "x", "SIEVE_REDIS_URL": "x", "SIEVE_TEST_KAFKA": "x", "PATH": "x"})
    ['SIEVE_REDIS']
    """
    known = {variable_of(each) for each in fields(Settings)}
    return sorted(
        name for name in environment if name.startswith(PREFIX) and name not in known and not FOREIGN.fullmatch(name)
    )


class Listed(NamedTuple):
    """One setting as `sieve settings` shows it; secrets are redacted."""

    name: str
    value: object
    default: object
    source: str
    help: str


def listing(settings: Settings, environment: Mapping[str, str]) -> list[Listed]:
    """All settings, in the order of the table."""
    return [_listed(each, getattr(settings, each.name), environment) for each in fields(Settings)]


def _listed(each: "Field[Any]", value: object, environment: Mapping[str, str]) -> Listed:
    source = "environment" if environment.get(variable_of(each)) else "default"
    public = HIDDEN if each.metadata["secret"] and value else redacted(value)
    return Listed(variable_of(each), public, redacted(each.metadata["default"]), source, each.metadata["help"])
