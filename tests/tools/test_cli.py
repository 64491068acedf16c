import signal
import subprocess
import sys

import pytest

from tests.tools.running import ROOT, clean_environment, refusal, sieve
from tools.cli import COMMANDS


def test_help_names_every_command_and_loads_no_compiler():
    script = (
        "import contextlib, sys\nfrom tools.cli import main\n"
        "with contextlib.suppress(SystemExit):\n    main(['--help'])\n"
        "heavy = {'numba', 'numpy', 'rich', 'httpx', 'confluent_kafka', 'redis', 'fastapi'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    for command in COMMANDS:
        assert f"    {command.name} ".encode() in run.stdout


def test_version():
    run = sieve("--version")
    assert (run.returncode, run.stdout) == (0, b"sieve 0.1.0\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "sieve: the following arguments are required: COMMAND; try 'sieve --help'"),
        (("--nonsense",), "sieve: the following arguments are required: COMMAND; try 'sieve --help'"),
        (("settings", "--jsn"), "sieve settings: unrecognized arguments: --jsn; try 'sieve settings --help'"),
        (("settings", "extra"), "sieve settings: unrecognized arguments: extra; try 'sieve settings --help'"),
    ],
)
def test_a_mistake_is_one_line(words, message):
    assert refusal(sieve(*words)) == message


def test_an_unknown_command_is_one_line_whatever_it_holds():
    line = refusal(sieve("fly\n\x1b[31m"))
    assert line.startswith("sieve: argument COMMAND: invalid choice: 'fly")
    assert "\x1b" not in line


def test_a_bad_setting_is_one_line():
    line = refusal(sieve("settings", SIEVE_HTTP_PORT="http"))
    assert line == "sieve settings: SIEVE_HTTP_PORT: must be a whole number from 0 to 65535, not 'http'"


def test_a_variable_that_nobody_reads_is_told_but_not_refused():
    run = sieve("settings", SIEVE_REDIS="redis://cache", SIEVE_TEST_KAFKA="x", SIEVE_DATA="x")
    assert run.returncode == 0
    assert run.stderr.decode() == "sieve: nobody reads SIEVE_REDIS; 'sieve settings' lists what is known\n"


def test_a_closed_pipe_is_quiet():
    with subprocess.Popen(
        [sys.executable, "-m", "tools", "settings"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=clean_environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_an_interrupt_is_quiet():
    script = "import tools.show_settings, os, signal\nfrom tools.cli import main\n"
    script += "tools.show_settings.run = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
    script += "raise SystemExit(main(['settings']))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (128 + signal.SIGINT, b"", b"")
