"""Files that a command writes when its work is done."""

from pathlib import Path

from tools.failures import BadArgument


def check_place(option: str, path: Path | None) -> None:
    """Before the work, not after it: can such a file be there? Raises BadArgument."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise BadArgument(f"{option} {path}: there is no folder {path.parent}, or a folder is there already")


def save(option: str, path: Path, content: bytes) -> None:
    """Write the file. Raises BadArgument."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise BadArgument(f"{option} {path}: it can't be written: {error.strerror or error}") from None
