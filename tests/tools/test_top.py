import json
import signal
import socket
import subprocess
import sys

import pytest

from tests.tools.running import ROOT, called, clean_environment, refusal, sieve
from tests.tools.serving import Script, http_server, top_set

NOT_MODIFIED = (304, {"ETag": '"1"'}, b"")
UNKNOWN = (404, {}, b'{"title": "No such selector", "detail": "spam: no\\nsuch"}')


def test_table():
    script = Script(top_set(1, "free", "\x1b[2J[red]\u202e"))
    with http_server(script) as url:
        run = sieve("top", "spam", "-k", "5", "--url", url)
    assert (run.returncode, run.stderr) == (0, b"")
    lines = run.stdout.decode().splitlines()
    assert lines[0] == "spam: algorithm b-arda, version 1, applied 10, samples 10"
    assert lines[2:] == ["1     0.5     2      free", "2     0.5     2      \\x1b[2J[red]\\u202e"]
    assert script.asked == [("/features/top?selector=spam&k=5", None)]


def test_json_is_what_the_service_says():
    with http_server(Script(top_set(1, "free"))) as url:
        run = called("top", "spam", "--output", "json", SIEVE_URL=url)
    assert json.loads(run.stdout) == json.loads(top_set(1, "free")[2])


def test_a_name_with_an_ampersand_stays_a_value():
    script = Script(UNKNOWN)
    with http_server(script) as url:
        refusal(called("top", "a&k=1", "--url", url))
    assert script.asked[0][0] == "/features/top?selector=a%26k%3D1&k=20"


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        line = refusal(sieve("top", "spam", "--url", url))
    assert line.startswith(f"sieve top: {url} does not answer: ")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (UNKNOWN, "answers 404: spam: no such"),
        ((200, {}, b"<html>"), "answers 200: it is no StreamSieve service"),
        ((200, {}, b"[1]"), "answers 200: it is no StreamSieve service"),
        ((200, {}, b'{"features": [1]}'), "answers 200: it is no StreamSieve service"),
        ((503, {}, b'{"title": "Redis does not answer"}'), "answers 503: Redis does not answer"),
    ],
)
def test_an_answer_that_cannot_be_shown_is_one_line(answer, message):
    with http_server(Script(answer)) as url:
        assert refusal(called("top", "spam", "--url", url)) == f"sieve top: {url} {message}"


@pytest.mark.parametrize(
    "words", [["-k", "0"], ["-k", "10001"], ["-k", "x"], ["--url", "ftp://x"], ["--url", "x"], ["--output", "xml"]]
)
def test_bad_arguments_are_one_line(words):
    assert refusal(called("top", "spam", *words)).startswith("sieve top: ")


def test_watch_shows_each_new_set_and_stops_quietly():
    script = Script(top_set(1, "free"), NOT_MODIFIED, top_set(2, "money"))
    with (
        http_server(script) as url,
        subprocess.Popen(
            [sys.executable, "-m", "tools", "top", "spam", "--watch", "--output", "json", "--url", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=clean_environment(),
        ) as process,  # fmt: skip
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        versions = [json.loads(process.stdout.readline())["version"] for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == b""
    assert versions == [1, 2]
    assert [etag for _, etag in script.asked[:3]] == [None, '"1"', '"1"']
