import gzip
import json

import pytest

from streamsieve.snapshot import parse_canonical
from tests.tools.running import called, refusal, sieve
from tools.demo_stream import SpamStream

B_ARDA = ("--algorithm", "b-arda", "--budget", "3")
GOOD = b"".join(b'{"y": %d, "x": {"tell": %d, "noise": 1}}\n' % (sign, sign) for sign in (1, -1) * 20)


@pytest.fixture
def samples(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_bytes(GOOD)
    return path


def selected(*words: str, **more) -> dict:
    run = called("select", *map(str, words), **more)
    assert (run.returncode, run.stderr) == (0, b""), run.stderr
    return json.loads(run.stdout)


def test_json_output_is_the_contracts(samples):
    result = selected(samples, *B_ARDA)
    assert list(result) == ["algorithm", "applied", "rejected", "samples", "progressive", "features"]
    assert (result["algorithm"], result["applied"], result["rejected"], result["samples"]) == ("b-arda", 40, 0, 40)
    assert list(result["progressive"]) == ["accuracy", "loss", "auc"]
    assert 0.9 < result["progressive"]["accuracy"] <= 1
    assert [list(feature) for feature in result["features"]] == [["rank", "feature", "weight", "score"]] * 2
    assert [feature["rank"] for feature in result["features"]] == [1, 2]
    assert result["features"][0]["feature"] == "tell"


def test_a_process_prints_the_same(samples):
    run = sieve("select", str(samples), *B_ARDA)
    assert (run.returncode, run.stderr) == (0, b"")
    assert json.loads(run.stdout) == selected(samples, *B_ARDA)


def test_a_process_refuses_in_one_line(samples):
    line = refusal(sieve("select", str(samples), *B_ARDA, "--passes", "0"))
    assert line.startswith("sieve select: argument --passes: must be at least 1; try ")
    assert refusal(sieve("select", f"{samples}.none", *B_ARDA, "--format", "vw")).endswith("there is no such file")


def test_weights_are_b_ardas_to_the_last_bit(tmp_path):
    """One sample: g = -2, G = -2, H = 0.01 + 2, z = 0.5 * 2 / H, score = H z z."""
    path = tmp_path / "one.jsonl"
    path.write_bytes(b'{"y": 1, "x": {"a": 1}}')
    (feature,) = selected(path, *B_ARDA)["features"]
    weight = 0.5 * 2 / (0.01 + 2.0)
    assert feature == {"rank": 1, "feature": "a", "weight": weight, "score": (0.01 + 2.0) * weight * weight}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.vw", b"1 | tell:1\n-1 | tell:-1\n"),
        ("a.libsvm", b"+1 7:1\n-1 7:-1\n"),
        ("a.ndjson", b'{"y": 1, "x": ["tell"]}\n{"y": -1, "x": {"tell": -1}}\n'),
        ("a.csv", b"y,tell\n1,1\n-1,-1\n"),
        ("a.jsonl.gz", gzip.compress(b'{"y": 1, "x": ["tell"]}\n{"y": -1, "x": {"tell": -1}}\n')),
    ],
)
def test_formats_are_told_by_name(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    result = selected(path, *B_ARDA)
    assert result["applied"] == 2
    assert len(result["features"]) == 1


def test_standard_input_and_a_format():
    assert selected("-", *B_ARDA, stdin=GOOD)["applied"] == 40
    assert selected("-", *B_ARDA, "--format", "vw", stdin=b"1 | tell\n")["features"][0]["feature"] == "tell"


def test_passes_count_in_all_accounts(samples):
    result = selected(samples, *B_ARDA, "--passes", 3)
    assert (result["applied"], result["samples"]) == (120, 120)
    assert selected("-", *B_ARDA, "--passes", 3, stdin=GOOD) == result


def test_a_shuffle_is_repeatable_and_differs_from_the_files_order(samples):
    path = samples.with_name("demo.jsonl")
    path.write_bytes(b"\n".join(SpamStream(1).samples(300)))
    plain = selected(path, "--algorithm", "b-arda", "--budget", 10)
    one = selected(path, "--algorithm", "b-arda", "--budget", 10, "--shuffle", 1)
    assert one == selected(path, "--algorithm", "b-arda", "--budget", 10, "--shuffle", 1)
    assert one != selected(path, "--algorithm", "b-arda", "--budget", 10, "--shuffle", 2)
    assert one != plain
    assert one["samples"] == plain["samples"] == 300


def test_params_loss_and_intercept_reach_the_learner(samples):
    plain = selected(samples, *B_ARDA)
    logistic = selected(samples, *B_ARDA, "--loss", "logistic")
    assert logistic != plain
    assert selected(samples, *B_ARDA, "--param", "loss=logistic") == logistic
    assert selected(samples, *B_ARDA, "--param", "eta=0.1") != plain
    assert selected(samples, *B_ARDA, "--param", "eta=0.5", "--param", "delta=1e-2") == plain
    with_intercept = selected(samples, *B_ARDA, "--intercept")
    assert selected(samples, *B_ARDA, "--param", "intercept=true") == with_intercept


def test_rejected_records_are_told_and_counted_but_do_not_stop(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(GOOD + b'{"y": 1, "x": {"a": NaN}}\n{"x": {}}\n' + b"\x1b[31mbad\n" * 5)
    run = sieve("select", str(path), *B_ARDA)
    result = json.loads(run.stdout)
    assert (run.returncode, result["applied"], result["rejected"]) == (0, 40, 7)
    lines = run.stderr.decode().splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("sieve select: record 41 rejected: ")
    assert lines[1].startswith("sieve select: record 42 rejected: label")
    assert lines[5] == "sieve select: 7 rejected in all"
    assert "\x1b" not in run.stderr.decode()


def test_rejected_records_count_in_every_pass(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(GOOD + b"bad\n")
    for words in ([], ["--shuffle", "1"]):
        run = called("select", str(path), *B_ARDA, "--passes", "2", *words)
        result = json.loads(run.stdout)
        assert (result["applied"], result["rejected"]) == (80, 2)
        assert run.stderr.decode().splitlines()[0].startswith("sieve select: record 41 rejected: syntax")


def test_hostile_names_in_the_table(tmp_path):
    path = tmp_path / "hostile.jsonl"
    names = {"\x1b[2J\x07": 1.0, "\u202egnp.exe": 1.0, "[bold red]x[/]": 1.0, "a\nb": 1.0, "caf\u00e9": 1.0}
    path.write_text(json.dumps({"y": 1, "x": names}))
    run = called("select", str(path), "--algorithm", "b-arda", "--budget", "9", "--output", "table")
    lines = run.stdout.decode().splitlines()
    shown = {line.split(maxsplit=3)[3] for line in lines[1:]}
    assert shown == {"\\x1b[2J\\x07", "\\u202egnp.exe", "[bold red]x[/]", "a\\nb", "caf\u00e9"}
    assert lines[0].split() == ["rank", "weight", "score", "feature"]


def test_hostile_names_in_json_are_exact(tmp_path):
    path = tmp_path / "hostile.jsonl"
    path.write_text(json.dumps({"y": 1, "x": {"\x1b[2J\u202e\U0001f600": 1.0}}))
    run = called("select", str(path), *B_ARDA)
    assert run.stdout.isascii()
    assert b"\x1b" not in run.stdout
    assert json.loads(run.stdout)["features"][0]["feature"] == "\x1b[2J\u202e\U0001f600"


def test_saved_snapshots_are_equal_for_equal_runs(samples, tmp_path):
    for name in ("one", "two"):
        selected(samples, *B_ARDA, "--save", tmp_path / name)
    algorithm, chunks = parse_canonical((tmp_path / "one").read_bytes())
    assert algorithm == "b-arda"
    assert chunks
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--budget", "3"), "the following arguments are required: --algorithm"),
        (("--algorithm", "b-arda"), "the following arguments are required: --budget"),
        (("--algorithm", "magic", "--budget", "3"), "algorithm: unknown algorithm 'magic'; known: b-arda"),
        (("--algorithm", "b-arda", "--budget", "0"), "budget: must be a whole number from 1 to 1000000, not 0"),
        (("--algorithm", "b-arda", "--budget", "x"), "argument --budget: must be a whole number, not 'x'"),
        ((*B_ARDA, "--loss", "hinge"), "loss: must be one of squared_hinge, logistic, not 'hinge'"),
        ((*B_ARDA, "--param", "eta"), "--param eta: must be K=V"),
        ((*B_ARDA, "--param", "eta=fast"), "--param eta=fast: eta must be a number"),
        ((*B_ARDA, "--param", "eta=nan"), "params.eta: must be finite"),
        ((*B_ARDA, "--param", "eta=0"), "params.eta: must be > 0, not 0"),
        ((*B_ARDA, "--param", "speed=1"), "params.speed: b-arda has no such parameter"),
        ((*B_ARDA, "--param", "intercept=maybe"), "intercept: must be true or false, not 'maybe'"),
        ((*B_ARDA, "--param", "half_life=0.5"), "half_life: must be a finite number of samples, at least 1"),
        ((*B_ARDA, "--passes", "0"), "argument --passes: must be at least 1"),
        ((*B_ARDA, "--shuffle", "-1"), "argument --shuffle: "),
        ((*B_ARDA, "--format", "xml"), "argument --format: invalid choice: 'xml'"),
        ((*B_ARDA, "--output", "xml"), "argument --output: invalid choice: 'xml'"),
        ((*B_ARDA, "--save", "/no/such/folder/file"), "--save /no/such/folder/file: "),
        ((*B_ARDA, "--unknown"), "unrecognized arguments: --unknown"),
    ],
)
def test_bad_arguments_are_one_line(samples, words, message):
    assert refusal(called("select", str(samples), *words)).startswith(f"sieve select: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it holds no samples"),
        (b"\n\n", "it holds no samples"),
        (b"bad\nworse\n", "no sample could be used, 2 rejected; record 1 rejected: syntax"),
    ],
)
def test_a_file_without_a_usable_sample_is_one_line(tmp_path, content, message):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    for words in ([], ["--shuffle", "1"]):
        assert message in refusal(called("select", str(path), *B_ARDA, *words))


@pytest.mark.parametrize("name", ["missing.jsonl", "", "what.xyz"])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, name):
    path = tmp_path / name
    assert str(path) in refusal(called("select", str(path), *B_ARDA))
