import gzip
import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from streamsieve.batch import Reason
from streamsieve.errors import BadFile
from tests.decode.unpacked import decoder, plain_records
from tools import files
from tools.files import guess_format, read_batches, read_records

JSON_LINES = b'{"y": 1, "x": {"a": 1}}\n\n{"y": -1, "x": {"b": 2}}\n'
EXAMPLES = {
    "json": JSON_LINES,
    "ndjson": JSON_LINES,
    "vw": b"1 | a\n\n-1 | b:2\n",
    "csv": b"y,a,b\n1,1,\n\n-1,,2\n",
}
SAMPLES = [[([("a", 1.0)], 1.0, 1.0)], [([("b", 2.0)], -1.0, 1.0)]]


def samples_of(path, file_format=None, labels="binary", **limits):
    """Accepted records and the reasons of the refused ones."""
    decoded = list(read_batches(str(path), file_format, decoder("json", labels, **limits)))
    records = [record for batch in decoded for record in plain_records(batch.batch)]
    return records, [reject.reason for batch in decoded for reject in batch.rejects]


def accepted(path, file_format=None, labels="binary", **limits):
    records, refused = samples_of(path, file_format, labels, **limits)
    assert refused == []
    return [(dict(sample.features), sample.label) for (sample,) in records]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_text_format_plain_and_zipped(tmp_path, name):
    plain, zipped = tmp_path / f"data.{name}", tmp_path / f"data.{name}.GZ"
    plain.write_bytes(EXAMPLES[name])
    zipped.write_bytes(gzip.compress(EXAMPLES[name]))
    assert samples_of(plain) == samples_of(zipped) == (SAMPLES, [])


def test_libsvm_with_comments(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"# made by hand\n+1 3:0.5\n \n -1 4:1 # why\n")
    assert accepted(path) == [({"3": 0.5}, 1.0), ({"4": 1.0}, -1.0)]


def test_a_byte_order_mark_and_windows_line_ends(tmp_path):
    for name, text in (("a.jsonl", '{"y": 1, "x": ["a"]}\r\n'), ("a.csv", "y,a\r\n1,1\r\n")):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert accepted(tmp_path / name) == [({"a": 1.0}, 1.0)]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(JSON_LINES)))
    assert samples_of("-") == (SAMPLES, [])


def test_the_format_given_goes_before_the_name(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(EXAMPLES["vw"])
    assert samples_of(path, "vw") == (SAMPLES, [])


def test_bad_lines_are_rejects_and_the_rest_is_read(tmp_path):
    path = tmp_path / "data.json"
    path.write_bytes(b"{}\n" + JSON_LINES + b"{")
    assert samples_of(path) == (SAMPLES, [Reason.LABEL, Reason.SYNTAX])


def test_long_files_come_in_pieces(tmp_path):
    path = tmp_path / "data.vw"
    path.write_bytes(b"1 | a\n" * 4500)
    assert [len(lines) for lines in read_records(str(path), "vw")] == [2000, 2000, 500]
    path.write_bytes((b"1 | " + b"a " * 1_000_000 + b"\n") * 5)
    assert [len(lines) for lines in read_records(str(path), "vw")] == [3, 2]


def test_a_line_without_end_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    path = tmp_path / "data.vw"
    path.write_bytes(b"1 | a\n" + b"x" * 101)
    with pytest.raises(BadFile, match="line 2 is longer than 100 bytes"):
        list(read_records(str(path), "vw"))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a.json", "json"), ("a.jsonl", "json"), ("a.b.ndjson", "ndjson"), ("A.VW", "vw"), ("a.svm", "libsvm"),
        ("a.libsvm.gz", "libsvm"), ("a.csv", "csv"), ("dir.vw/a.npz", "npz"), ("-", "json"),
    ],
)  # fmt: skip
def test_guessing(name, known):
    assert guess_format(name) == known


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz", "dir.vw/a", ""])
def test_guessing_in_vain(name):
    with pytest.raises(BadFile, match="does not tell its format"):
        guess_format(name)


def bad_file(path, file_format=None):
    with pytest.raises(BadFile) as caught:
        samples_of(path, file_format)
    (line,) = str(caught.value).splitlines()
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.npz", "a.vw.gz"])
def test_no_such_file(tmp_path, name):
    assert bad_file(tmp_path / name) == "there is no such file"
    (tmp_path / name).mkdir()
    assert bad_file(tmp_path / name) == "it is a folder, not a file"


def test_an_unknown_format(tmp_path):
    assert bad_file(tmp_path / "a.vw", "xml").startswith("unknown format 'xml'; known: json,")


@pytest.mark.parametrize("damaged", [b"not gzip", gzip.compress(JSON_LINES)[:-9], gzip.compress(JSON_LINES) + b"tail"])
def test_damaged_gzip(tmp_path, damaged):
    (tmp_path / "a.json.gz").write_bytes(damaged)
    assert bad_file(tmp_path / "a.json.gz").startswith("it is not a whole gzip file")


def csv(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    return path


def test_csv_numbers_words_and_gaps(tmp_path):
    path = csv(tmp_path, 'age,city,y,note\n31, Rome ,1,"a, ""b"""\n0,,0,\n')
    assert accepted(path) == [({"age": 31.0, "city=Rome": 1.0, 'note=a, "b"': 1.0}, 1.0), ({"age": 0.0}, -1.0)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,label,b\n1,-1,2\n", [({"a": 1.0, "b": 2.0}, -1.0)]),
        ("label,y\n1,-1\n", [({"label": 1.0}, -1.0)]),
        ("a,b\n1,-1\n", [({"a": 1.0}, -1.0)]),
        ("5,6,1\n7,8,-1\n", [({"f0": 5.0, "f1": 6.0}, 1.0), ({"f0": 7.0, "f1": 8.0}, -1.0)]),
        ("5,,1\n", [({"f0": 5.0}, 1.0)]),
        ("a,a,y\n1,2,1\n", [({"a": 3.0}, 1.0)]),
        ("y,a\n", []),
    ],
)
def test_csv_labels_and_headers(tmp_path, text, rows):
    assert accepted(csv(tmp_path, text)) == rows


def test_csv_rows_that_are_refused(tmp_path):
    text = "y,a\n1,1,1\n1\n,3\nyes,1\n2,1\n1,nan\n1,1e9\n1,\udcff\n1,2\n"
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    records, refused = samples_of(path)
    assert len(records) == 1
    label, number = Reason.LABEL, Reason.NUMBER
    assert refused == [Reason.LENGTH, Reason.LENGTH, label, label, label, number, number, Reason.NAME]


def test_csv_real_labels(tmp_path):
    assert accepted(csv(tmp_path, "a,price\n1,2.5\n"), labels="real") == [({"a": 1.0}, 2.5)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the table is empty"),
        (",a,y\n0,1,1\n", "column 1 of the header has no name"),
        ('y,a\n1,"b\n', "line 2 is not CSV: unexpected end of data"),
    ],
)
def test_csv_that_cannot_be_used(tmp_path, text, sentence):
    assert bad_file(csv(tmp_path, text)) == sentence


def npz(tmp_path, **arrays):
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    return path


def csr_parts(matrix):
    return {part: getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}


DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
CSR = csr_parts(scipy.sparse.csr_matrix(DENSE))


def test_npz_dense_keeps_zeros(tmp_path):
    rows = [({"f0": 1.0, "f1": 0.0, "f2": 2.0}, 1.0), ({"f0": 0.0, "f1": 0.0, "f2": 3.0}, -1.0)]
    assert accepted(npz(tmp_path, X=DENSE, y=[1, 0])) == rows
    assert accepted(npz(tmp_path, X=DENSE.astype(np.int8), y=np.array([True, False]))) == rows


def test_npz_dense_wider_than_a_sample_may_be_drops_zeros(tmp_path):
    path = npz(tmp_path, X=DENSE, y=[1, 0])
    assert accepted(path, max_features=2) == [({"f0": 1.0, "f2": 2.0}, 1.0), ({"f2": 3.0}, -1.0)]


def test_npz_sparse_with_names(tmp_path):
    path = npz(tmp_path, **CSR, y=[1, -1], names=["a", "b", "é"])
    assert accepted(path) == [({"a": 1.0, "é": 2.0}, 1.0), ({"é": 3.0}, -1.0)]


def test_npz_as_scipy_saves_it_with_labels_added(tmp_path):
    scipy.sparse.save_npz(tmp_path / "saved.npz", scipy.sparse.csr_matrix(DENSE))
    path = npz(tmp_path, **np.load(tmp_path / "saved.npz"), y=[1, -1])
    assert accepted(path) == [({"f0": 1.0, "f2": 2.0}, 1.0), ({"f2": 3.0}, -1.0)]


def test_npz_through_a_pipe_and_zipped(tmp_path, monkeypatch):
    path = npz(tmp_path, X=DENSE, y=[1, 0])
    expected = accepted(path)
    (tmp_path / "data.npz.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert accepted(tmp_path / "data.npz.gz") == expected
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    assert accepted("-", "npz") == expected


def test_npz_rows_that_are_refused(tmp_path):
    bad = np.array([[np.nan, 1.0], [np.inf, 1.0], [1.0, 1.0], [1.0, 1.0]])
    _, refused = samples_of(npz(tmp_path, X=bad, y=[1, 1, 2, np.nan]))
    assert refused == [Reason.NUMBER, Reason.NUMBER, Reason.LABEL, Reason.NUMBER]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": DENSE}, "no array y"),
        ({"y": [1]}, "neither an array X nor all of data, indices, indptr, shape"),
        ({"X": DENSE, "y": [1]}, "2 rows, but 1 labels in y"),
        ({"X": DENSE, "y": ["a", "b"]}, "y holds no real numbers but <U1"),
        ({"X": DENSE[0], "y": [1]}, "X has 1 dimensions, not 2"),
        ({"X": DENSE * 1j, "y": [1, 0]}, "X holds no real numbers but complex128"),
        ({"X": DENSE, "y": [1, 0], "names": ["a"]}, "1 names, 3 columns"),
        ({"X": DENSE, "y": [1, 0], "names": [1, 2, 3]}, "names holds no text but int64"),
        ({**CSR, "y": [1, 0], "indices": [0, 2, 3]}, "an index is outside of the matrix"),
        ({**CSR, "y": [1, 0], "indices": [0, -1, 2]}, "an index is outside of the matrix"),
        ({**CSR, "y": [1, 0], "indptr": [0, 4, 3]}, "indptr does not rise from 0 to the number of entries"),
        ({**CSR, "y": [1, 0], "indptr": [0, 3]}, "data, indices, indptr and shape do not fit each other"),
        ({**CSR, "y": [1, 0], "indptr": [0.0, 2.0, 3.0]}, "indptr holds no whole numbers but float64"),
        ({**CSR, "y": [1, 0], "format": np.array(b"csc")}, "the sparse matrix is not in CSR format"),
    ],
)
def test_npz_that_cannot_be_used(tmp_path, arrays, sentence):
    assert bad_file(npz(tmp_path, **arrays)) == sentence


def test_files_that_are_no_npz(tmp_path):
    path = tmp_path / "data.npz"
    whole = npz(tmp_path, X=DENSE, y=[1, 0]).read_bytes()
    for content in (b"", b"garbage", whole[:-30], whole.replace(b"\x93NUMPY", b"\x93nothi")):
        path.write_bytes(content)
        assert bad_file(path).startswith("it is not an npz archive of plain arrays")
    with path.open("wb") as stream:
        np.save(stream, DENSE)
    assert bad_file(path) == "it is one array, not an npz archive"


def test_pickles_are_never_opened(tmp_path):
    path = npz(tmp_path, X=DENSE, y=[1, 0], names=np.array([{"a": 1}, 2, 3], dtype=object))
    assert bad_file(path).startswith("it is not an npz archive of plain arrays")


def test_wide_rows_come_in_smaller_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_CELLS", 6)
    path = npz(tmp_path, X=np.ones((5, 3)), y=[1] * 5)
    decoded = read_batches(str(path), None, decoder("json"))
    assert [one.batch.record_count for one in decoded] == [2, 2, 1]


def test_json_numbers_survive_the_way_through_a_file(tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"y": 1, "x": {"a": 0.1 + 0.2}}))
    assert accepted(path) == [({"a": 0.1 + 0.2}, 1.0)]
