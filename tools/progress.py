"""A progress bar on stderr, where stderr is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tools.output import shown


class Bar:
    """Counts records; how many there will be may become known on the way."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def advance(self, records: int) -> None:
        """So many more are done."""
        self._progress.advance(self._task, records)

    def expect(self, records: int) -> None:
        """So many will be done at the end."""
        self._progress.update(self._task, total=records)


@contextmanager
def progress_bar(title: str) -> Iterator[Bar]:
    """A bar that goes away at the end; nothing at all where nobody watches."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield Bar(progress, progress.add_task(shown(title), total=None))
