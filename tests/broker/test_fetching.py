"""Fetching and starting a local Apache Kafka when something is missing: said clearly, and nothing half-done is left."""

from pathlib import Path

import pytest

from tests.fixtures import kafka_brokers
from tools.stack.apache_kafka import KafkaMissing, fetch_kafka, start_kafka


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH, apart from the shell's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def _maven(programs: Path, script: str) -> None:
    program = programs / "mvn"
    program.write_text(f"#!/bin/sh\nfor last; do :; done\nto=${{last#-DoutputDirectory=}}\n{script}\n")
    program.chmod(0o755)


def test_without_java_or_maven_it_says_so(programs: Path, tmp_path: Path) -> None:
    with pytest.raises(KafkaMissing, match="java is not on the PATH"):
        start_kafka(tmp_path)
    with pytest.raises(KafkaMissing, match="mvn is not on the PATH"):
        fetch_kafka(tmp_path / "cache")


def test_jars_are_fetched_once(programs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _maven(programs, '/bin/mkdir -p "$to" && echo jar > "$to/kafka.jar"')
    libs = fetch_kafka(tmp_path / "cache")
    assert [path.name for path in libs.iterdir()] == ["kafka.jar"]
    assert capsys.readouterr().err.startswith("fetching Apache Kafka 4.")
    _maven(programs, "exit 1")
    assert fetch_kafka(tmp_path / "cache") == libs
    assert capsys.readouterr().err == ""


def test_a_failed_download_leaves_nothing_that_looks_whole(programs: Path, tmp_path: Path) -> None:
    _maven(programs, '/bin/mkdir -p "$to" && echo half > "$to/kafka.jar"; echo no network; exit 1')
    with pytest.raises(KafkaMissing, match="no network"):
        fetch_kafka(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_missing_broker_is_a_skip_here_and_a_failure_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no java"):
        kafka_brokers.give_up("no java")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no java"):
        kafka_brokers.give_up("no java")
