import json
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from streamsieve.decode.decoder import Decoder
from streamsieve.learners.making import make_learner
from streamsieve.limits import Limits
from streamsieve.prediction import margins_of, quality_of
from streamsieve.spec import Spec
from tests.tools.running import called, refusal, sieve
from tools.demo_stream import SpamStream

B_ARDA = ("--algorithms", "b-arda", "--budgets", "2,20")
KEY = bytes(range(16))


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    path = tmp_path_factory.mktemp("compare") / "sam$ples$.jsonl"  # matplotlib would take this for a formula
    path.write_bytes(b"\n".join(SpamStream(1).samples(600)))
    return path


def compared(*words, **more) -> dict:
    run = called("compare", *map(str, words), "--output", "json", **more)
    assert (run.returncode, run.stderr) == (0, b""), run.stderr
    return json.loads(run.stdout)


def test_each_run_is_what_select_gives(samples):
    result = compared(samples, *B_ARDA)
    assert result["rejected"] == 0
    assert [(run["algorithm"], run["budget"]) for run in result["runs"]] == [("b-arda", 2), ("b-arda", 20)]
    for run in result["runs"]:
        words = ("select", str(samples), "--algorithm", run["algorithm"], "--budget", str(run["budget"]))
        alone = json.loads(called(*words).stdout)
        assert run["progressive"] == alone["progressive"]
        assert (run["samples"], run["selected"]) == (alone["samples"], len(alone["features"]))
        assert (run["loss"], run["test"], run["overflowed"]) == ("squared_hinge", None, 0)


def test_options_reach_every_run(samples):
    more = ("--loss", "logistic", "--intercept", "--passes", "2", "--shuffle", "3", "--param", "eta=0.1")
    (run,) = compared(samples, "--algorithms", "b-arda", "--budgets", "20", *more)["runs"]
    alone = json.loads(called("select", str(samples), "--algorithm", "b-arda", "--budget", "20", *more).stdout)
    assert run["progressive"] == alone["progressive"]
    assert run["samples"] == 1200
    own = (*more[:-1], "b-arda.eta=0.1")
    assert compared(samples, "--algorithms", "b-arda", "--budgets", "20", *own)["runs"] == [run]


def test_a_held_out_share_is_not_learnt_and_repeatable(samples):
    result = compared(samples, *B_ARDA, "--holdout", "0.25", "--seed", "4")
    for run in result["runs"]:
        assert (run["samples"], run["test"]["samples"]) == (450, 150)
        assert 0.5 < run["test"]["accuracy"] <= 1
    assert result == compared(samples, *B_ARDA, "--holdout", "0.25", "--seed", "4")
    assert result != compared(samples, *B_ARDA, "--holdout", "0.25", "--seed", "5")


def test_a_test_file_is_predicted_with_the_selected_features(samples, tmp_path):
    test = tmp_path / "test.jsonl"
    test.write_bytes(b"\n".join(SpamStream(2).samples(200)))
    run = compared(samples, *B_ARDA, "--intercept", "--test", test)["runs"][1]
    selected = json.loads(
        called("select", str(samples), "--algorithm", "b-arda", "--budget", "20", "--intercept").stdout
    )
    weights = {feature["feature"]: feature["weight"] for feature in selected["features"]}
    learner = learnt(samples.read_bytes().splitlines(), intercept=True)
    assert dict(zip(learner.selection().names, learner.selection().weights, strict=True)) == weights
    right, loss = 0, 0.0
    for line in test.read_bytes().splitlines():
        event = json.loads(line)
        y = 1 if event["y"] == 1 else -1
        x = event["x"] if isinstance(event["x"], dict) else dict.fromkeys(event["x"], 1.0)
        margin = sum(weights.get(name, 0.0) * value for name, value in x.items()) + learner.selection().intercept
        right += (1 if margin > 0 else -1) == y
        loss += max(0.0, 1 - y * margin) ** 2
    assert run["test"]["samples"] == 200
    assert run["test"]["accuracy"] == pytest.approx(right / 200)
    assert run["test"]["loss"] == pytest.approx(loss / 200)


def learnt(lines, **more):
    spec = Spec.parse({"name": "a", "topic": "a", "algorithm": "b-arda", "budget": 20, **more})
    learner = make_learner(spec, KEY)
    learner.learn(Decoder("json", "binary", Limits(), KEY).decode(lines).batch)
    return learner


def test_predictions_from_a_selection():
    decode = Decoder("json", "binary", Limits(), KEY).decode
    batch = decode([b'{"y": 1, "x": {"a": 2, "new": 5}}', b'{"y": 0, "x": {}, "w": 3}', b'{"y": 1, "x": ["b"]}']).batch
    none = learnt([]).selection()
    assert margins_of(batch, none, KEY).tolist() == [0.0, 0.0, 0.0]
    some = learnt([b'{"y": 1, "x": ["a"]}', b'{"y": -1, "x": ["b"]}'], intercept=True).selection()
    weights = dict(zip(some.names, some.weights.tolist(), strict=True))
    expected = np.array([2 * weights["a"], 0.0, weights["b"]]) + some.intercept
    np.testing.assert_allclose(margins_of(batch, some, KEY), expected)
    assert (expected > 0).tolist() == [True, False, False]
    assert quality_of(batch, some, KEY, "squared_hinge", binary=True).accuracy == pytest.approx(4 / 5)
    assert quality_of(batch, some, KEY, "squared_hinge", binary=False).accuracy is None
    assert quality_of(decode([]).batch, some, KEY, "logistic", binary=True) == (0, None, None)


def test_the_table(samples):
    run = sieve("compare", str(samples), *B_ARDA)
    assert (run.returncode, run.stderr) == (0, b"")
    lines = [line.split() for line in run.stdout.decode().splitlines()]
    assert lines[0] == ["algorithm", "budget", "selected", "accuracy", "loss", "auc"]
    assert [line[:3] for line in lines[1:]] == [["b-arda", "2", "2"], ["b-arda", "20", "20"]]
    exact = compared(samples, *B_ARDA)["runs"][0]["progressive"]
    assert lines[1][3:] == [f"{exact[name]:.4f}" for name in ("accuracy", "loss", "auc")]
    held_out = called("compare", str(samples), *B_ARDA, "--holdout", "0.5").stdout.decode().splitlines()
    assert held_out[0].endswith("auc     test accuracy  test loss")


@pytest.mark.parametrize("held_out", [(), ("--holdout", "0.3")])
def test_a_png_and_an_svg(samples, tmp_path, held_out):
    image, points = pytest.importorskip("matplotlib.image"), tmp_path / "plot.svg"
    for path in (tmp_path / "plot.PNG", points, tmp_path / "again.svg"):
        compared(samples, *B_ARDA, *held_out, "--plot", path)
    pixels = image.imread(tmp_path / "plot.PNG")
    assert pixels.shape == (675, 1050, 4)
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 10
    texts = [text.text for text in ElementTree.parse(points).iter("{http://www.w3.org/2000/svg}text")]
    value = "held-out accuracy" if held_out else "progressive accuracy"
    assert {"b-arda", "budget", "2", "20", value, "sam$ples$.jsonl"} <= set(texts)
    assert points.read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_no_plot_without_matplotlib(samples, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = refusal(called("compare", str(samples), *B_ARDA, "--plot", str(tmp_path / "plot.png")))
    assert line == "sieve compare: --plot: matplotlib is not installed; pip install 'streamsieve[plot]' brings it"


def test_standard_input_and_rejected_records(samples):
    run = called("compare", "-", *B_ARDA, "--output", "json", stdin=samples.read_bytes() + b"\nbad\n")
    result = json.loads(run.stdout)
    assert result["rejected"] == 1
    assert result["runs"] == compared(samples, *B_ARDA)["runs"]
    assert run.stderr.decode().startswith("sieve compare: -: record 601 rejected: syntax")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--algorithms", "b-arda"), "the following arguments are required: --budgets"),
        (("--algorithms", "b-arda,magic", "--budgets", "3"), "algorithm: unknown algorithm 'magic'; known: b-arda"),
        (("--algorithms", "b-arda,", "--budgets", "3"), "argument --algorithms: must be names with commas between"),
        (("--algorithms", "b-arda,b-arda", "--budgets", "3"), "argument --algorithms: must be names with commas"),
        (("--algorithms", "b-arda", "--budgets", "3,x"), "argument --budgets: must be a whole number, not 'x'"),
        (("--algorithms", "b-arda", "--budgets", "0"), "argument --budgets: must be at least 1"),
        (("--algorithms", "b-arda", "--budgets", "3,3"), "argument --budgets: must be different numbers"),
        (("--algorithms", "b-arda", "--budgets", "1000001"), "budget: must be a whole number from 1 to 1000000"),
        ((*B_ARDA, "--loss", "l0"), "loss: must be one of squared_hinge, logistic, not 'l0'"),
        ((*B_ARDA, "--param", "speed=1"), "params.speed: b-arda has no such parameter"),
        ((*B_ARDA, "--param", "ofs.eta=1"), "--param ofs.eta=1: ofs is none of the algorithms compared"),
        ((*B_ARDA, "--param", "b-arda.eta"), "--param eta: must be K=V"),
        ((*B_ARDA, "--holdout", "1.5"), "argument --holdout: must be a number between 0 and 1, not '1.5'"),
        ((*B_ARDA, "--holdout", "0.00001"), "--holdout 1e-05: leaves 600 records to learn and 0 to predict"),
        ((*B_ARDA, "--holdout", "0.1", "--test", "x.vw"), "argument --test: not allowed with argument --holdout"),
        ((*B_ARDA, "--test", "missing.vw"), "missing.vw: there is no such file"),
        ((*B_ARDA, "--plot", "plot.pdf"), "--plot plot.pdf: its name must end in .png or .svg"),
        ((*B_ARDA, "--plot", "/no/such/folder/a.png"), "--plot /no/such/folder/a.png: there is no folder"),
        ((*B_ARDA, "--output", "xml"), "argument --output: invalid choice: 'xml'"),
    ],
)
def test_bad_arguments_are_one_line(samples, words, message):
    assert refusal(called("compare", str(samples), *words)).startswith(f"sieve compare: {message}")


def test_a_file_without_a_usable_sample_is_one_line(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"bad\n")
    assert "no sample could be used, 1 rejected" in refusal(called("compare", str(path), *B_ARDA))
