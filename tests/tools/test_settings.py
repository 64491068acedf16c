import dataclasses
import json

import pytest

from tests.tools.running import sieve
from tools.failures import BadSetting
from tools.redaction import redacted, redacted_url
from tools.settings import Settings, listing, read_settings


def test_nothing_set_gives_the_defaults():
    settings = read_settings({})
    assert settings == Settings()
    assert (settings.prefix, settings.commit_interval, dict(settings.kafka_config)) == ("sieve", 0.25, {})


def test_values_are_read_by_their_type():
    settings = read_settings(
        {
            "SIEVE_KAFKA_CONFIG": '{"security.protocol": "SASL_SSL", "retries": 3}',
            "SIEVE_COMMIT_INTERVAL": "1.5",
            "SIEVE_LOG_LEVEL": "DEBUG",
            "SIEVE_REDIS_URL": "rediss://me:secret@cache:6380/2",
            "SIEVE_METRICS_PORT": "",
        }
    )
    assert dict(settings.kafka_config) == {"security.protocol": "SASL_SSL", "retries": 3}
    assert (settings.commit_interval, settings.log_level, settings.metrics_port) == (1.5, "debug", 9100)
    assert settings.redis_url == "rediss://me:secret@cache:6380/2"


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        read_settings({}).prefix = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SIEVE_HTTP_PORT", "70000"),
        ("SIEVE_HTTP_PORT", "-1"),
        ("SIEVE_HTTP_PORT", "٣"),
        ("SIEVE_PREFIX", "Has Spaces"),
        ("SIEVE_PREFIX", "{tag}"),
        ("SIEVE_COMMIT_INTERVAL", "nan"),
        ("SIEVE_COMMIT_INTERVAL", "0"),
        ("SIEVE_LOG_LEVEL", "loud"),
        ("SIEVE_REDIS_URL", "http://hunter2@cache"),
        ("SIEVE_KAFKA_CONFIG", '{"sasl.password": "hunter2"'),
        ("SIEVE_KAFKA_CONFIG", '["hunter2"]'),
        ("SIEVE_KAFKA_CONFIG", '{"a": {"b": "hunter2"}}'),
        ("SIEVE_KAFKA_BOOTSTRAP", "  "),
        ("SIEVE_URL", "127.0.0.1:8000"),
    ],
)
def test_a_bad_value_names_its_variable_and_tells_no_secret(variable, value):
    with pytest.raises(BadSetting, match=f"^{variable}: must") as caught:
        read_settings({variable: value})
    assert "hunter2" not in str(caught.value)


def test_listing_tells_value_default_source_and_help():
    environment = {"SIEVE_HTTP_PORT": "8080"}
    listed = {each.name: each for each in listing(read_settings(environment), environment)}
    assert len(listed) == len(dataclasses.fields(Settings))
    port = listed["SIEVE_HTTP_PORT"]
    assert (port.value, port.default, port.source) == (8080, 8000, "environment")
    assert listed["SIEVE_PREFIX"].source == "default"
    assert all(each.help.endswith(".") for each in listed.values())


SECRETS = {
    "SIEVE_REDIS_URL": "redis://me:hunter2@cache:6379/0?password=hunter2",
    "SIEVE_KAFKA_CONFIG": json.dumps(
        {
            "sasl.password": "hunter2",
            "ssl.key.pem": "hunter2",
            "sasl.jaas.config": "password=hunter2",
            "https.proxy": "http://me:hunter2@proxy:80",
            "security.protocol": "SASL_SSL",
        }
    ),
    "SIEVE_API_KEYS": "hunter2",
    "SIEVE_URL": "http://me:hunter2@service:8000",
}


@pytest.mark.parametrize("words", [["settings"], ["settings", "--json"]])
def test_the_command_shows_no_secret(words):
    run = sieve(*words, **SECRETS)
    assert run.returncode == 0, run.stderr
    assert b"hunter2" not in run.stdout + run.stderr
    assert b"SASL_SSL" in run.stdout
    assert b"redis://me:***@cache:6379/0" in run.stdout


def test_json_listing():
    run = sieve("settings", "--json", SIEVE_PREFIX="two")
    listed = {each["name"]: each for each in json.loads(run.stdout)}
    assert listed["SIEVE_PREFIX"]["value"] == "two"
    assert set(listed["SIEVE_PREFIX"]) == {"name", "value", "default", "source", "help"}
    assert listed["SIEVE_API_KEYS"]["value"] == ""


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("redis://cache:6379/0", "redis://cache:6379/0"),
        ("redis://:p@ss:w@rd@cache/0", "redis://:***@cache/0"),
        ("unix:///run/redis.sock?password=x&db=2", "unix:///run/redis.sock?password=***&db=2"),
        ("redis://:p/s#s?w@cache/0", "redis://:***@cache/0"),
        ("redis://:pass@[::1]:6379/0", "redis://:***@[::1]:6379/0"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("no url: at all", "no url: at all"),
    ],
)
def test_passwords_leave_urls(url, public):
    assert redacted_url(url) == public


def test_redaction_leaves_the_original_alone():
    given = {"sasl.password": "hunter2"}
    assert redacted(given) == {"sasl.password": "***"}
    assert given == {"sasl.password": "hunter2"}
