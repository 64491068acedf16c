"""Runs `sieve` as a user does: as a process of its own, or, much faster, in this one."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from tools.cli import main

ROOT = Path(__file__).parents[2]


def clean_environment(**variables: str) -> dict[str, str]:
    """The test's environment without its SIEVE_* settings, plus these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIEVE_")}
    return {**kept, "PYTHONWARNINGS": "error::ResourceWarning", **variables}


def sieve(*words: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tools", *words]
    environment = clean_environment(**variables)
    return subprocess.run(command, input=stdin, capture_output=True, cwd=ROOT, env=environment, timeout=99, check=False)


def called(*words: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """The same, without a process: for whatever does not end on an exit code of its own."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with (
        patch.dict(os.environ, clean_environment(**variables), clear=True),
        patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
    out.flush()
    err.flush()
    return subprocess.CompletedProcess(words, code, out.buffer.getvalue(), err.buffer.getvalue())


def refusal(run: subprocess.CompletedProcess[bytes]) -> str:
    """The one line that a refused command must leave, with exit code 2 and no output."""
    assert run.returncode == 2, (run.returncode, run.stderr)
    assert run.stdout == b""
    lines = run.stderr.decode().splitlines()
    assert len(lines) == 1, lines[-5:]
    return lines[0]
