"""The one way this project compiles."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])

LIBRARY = Path(__file__).parents[1]


def _sources_digest() -> str:
    """numba's cache does not notice an edit in another file, so the cache folder is named after all with kernels."""
    digest = hashlib.sha256()
    for path in sorted(LIBRARY.rglob("*.py")):
        source = path.read_bytes()
        if b"kernel" in source:
            digest.update(source)
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    asked_for: str = vars(numba.config)["CACHE_DIR"]  # NUMBA_CACHE_DIR, else empty
    if asked_for:
        return Path(asked_for)
    beside = LIBRARY / "__pycache__"
    writable = os.access(beside if beside.exists() else LIBRARY, os.W_OK)
    return beside if writable else Path.home() / ".cache" / "streamsieve"


vars(numba.config)["CACHE_DIR"] = str(_cache_root() / f"kernels-{_sources_digest()}")


def kernel(function: Function) -> Function:
    """Compile the one way this project compiles: cached, no GIL, strict IEEE."""
    compiled: Function = numba.njit(function, cache=True, nogil=True, fastmath=False, error_model="numpy")
    return compiled


def lean_kernel(function: Function) -> Function:
    """The same for a function that allocates no array: it then need not count references to those it is given.

    Counting cost B-ARDA's round more than half of its time (0.24 s against 0.11 s for 50,000 samples of 69 features).
    """
    flags: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": False, "error_model": "numpy", "_nrt": False}
    compiled: Function = numba.njit(function, **flags)
    return compiled
