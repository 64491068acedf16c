import time
from pathlib import Path

import pytest

from broker.embedded import start_embedded
from broker.kafka_broker import KafkaBroker
from broker.memory import MemoryBroker
from tests.tools.running import called, refusal, sieve
from tools.progress import progress_bar
from tools.replay import outgoing, send

LINES = [b'{"y": 1, "x": ["a"]}', b"", b'{"y": -1, "x": ["b\xc3\xa9"]}']


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "samples.jsonl"
    path.write_bytes(b"\r\n".join(LINES) + b"\n")
    return path


@pytest.fixture(scope="module")
def kafka():
    embedded = start_embedded()
    yield embedded.bootstrap
    embedded.close()


def test_every_line_is_a_record_with_its_content_type(samples):
    broker = MemoryBroker()
    broker.ensure_topic("samples")
    with progress_bar("test") as bar:
        assert send(broker, outgoing(str(samples), "json", "samples", 0), None, bar) == 2
    records = broker.records("samples", 0)
    assert [record.value for record in records] == [LINES[0], LINES[2]]
    assert {tuple(record.headers) for record in records} == {(("content-type", b"application/json"),)}
    assert {record.key for record in records} == {None}


@pytest.mark.parametrize(
    ("file_format", "content_type"),
    [("vw", b"text/x-vw"), ("libsvm", b"text/x-libsvm"), ("ndjson", b"application/x-ndjson")],
)
def test_the_header_tells_the_format(samples, file_format, content_type):
    record = next(outgoing(str(samples), file_format, "samples", None))
    assert (record.headers, record.partition) == ([("content-type", content_type)], None)


def test_a_rate_is_kept(samples):
    broker = MemoryBroker()
    broker.ensure_topic("samples")
    samples.write_bytes(b'{"y": 1, "x": ["a"]}\n' * 30)
    start = time.monotonic()
    with progress_bar("test") as bar:
        send(broker, outgoing(str(samples), "json", "samples", 0), 100.0, bar)
    assert 0.3 <= time.monotonic() - start < 3


def test_the_command_sends_a_file_to_kafka(samples, kafka):
    run = sieve("replay", str(samples), "--topic", "samples", "--partition", "1", SIEVE_KAFKA_BOOTSTRAP=kafka)
    assert (run.returncode, run.stdout) == (0, b""), run.stderr
    assert run.stderr == b"sieve replay: 2 records sent to samples\n"
    broker = KafkaBroker(kafka)
    try:
        assert broker.watermarks("samples")[1].high == 2
        assert broker.watermarks("samples")[0].high == 0
    finally:
        broker.close()


def test_standard_input_to_kafka(kafka):
    run = sieve("replay", "-", "--topic", "piped", "--format", "vw", "--kafka", kafka, stdin=b"1 | a\n-1 | b\n")
    assert run.stderr == b"sieve replay: 2 records sent to piped\n"


def test_a_partition_that_is_not_there_is_one_line(samples, kafka):
    line = refusal(called("replay", str(samples), "--topic", "samples", "--partition", "9", "--kafka", kafka))
    assert line == "sieve replay: --partition 9: samples has 4 partitions, counted from 0"


def test_no_broker_is_one_line(samples):
    line = refusal(sieve("replay", str(samples), "--topic", "samples", "--kafka", "127.0.0.1:1"))
    assert line.startswith("sieve replay: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--topic", "a b"), "--topic a b: must match"),
        (("--topic", "t", "--rate", "0"), "argument --rate: must be a number > 0, not '0'"),
        (("--topic", "t", "--partition", "x"), "argument --partition: must be a whole number, not 'x'"),
        (("--topic", "t", "--format", "csv"), "samples.jsonl: csv has no lines to send; known: json, "),
        ((), "the following arguments are required: --topic"),
    ],
)
def test_bad_arguments_are_one_line(samples, words, message):
    assert message in refusal(called("replay", str(samples), *words))


def test_a_missing_file_is_one_line_before_anybody_is_asked(tmp_path):
    line = refusal(called("replay", str(tmp_path / "none.vw"), "--topic", "samples", "--kafka", "127.0.0.1:1"))
    assert line == f"sieve replay: {tmp_path / 'none.vw'}: there is no such file"
