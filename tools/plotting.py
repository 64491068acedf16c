"""The plot of `sieve compare`. matplotlib is an extra, loaded only when a plot is asked for."""

import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from tools.failures import BadArgument
from tools.saving import check_place

FORMATS = (".png", ".svg")
MARKS = "osD^vP*X<>"


class Lines(NamedTuple):
    """What a plot shows: for each name the points (budget, value), and what the values are."""

    title: str
    value: str
    points: Mapping[str, Sequence[tuple[int, float]]]


def check_plot(path: Path | None) -> None:
    """Before the work: can a plot go there, in that format, and is matplotlib installed? Raises BadArgument."""
    if path is None:
        return
    if path.suffix.lower() not in FORMATS:
        raise BadArgument(f"--plot {path}: its name must end in {' or '.join(FORMATS)}")
    check_place("--plot", path)
    if find_spec("matplotlib") is None:
        raise BadArgument("--plot: matplotlib is not installed; pip install 'streamsieve[plot]' brings it")


def drawn(lines: Lines, suffix: str) -> bytes:
    """The picture's bytes, the same for the same lines; no display is needed."""
    import matplotlib  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    _draw(figure.add_subplot(), lines)
    image = io.BytesIO()
    kind = suffix.lower().removeprefix(".")
    with matplotlib.rc_context({"svg.hashsalt": "streamsieve", "svg.fonttype": "none"}):
        figure.savefig(image, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return image.getvalue()


def _draw(axes: Any, lines: Lines) -> None:
    for place, (name, points) in enumerate(lines.points.items()):
        axes.plot(*zip(*points, strict=True), marker=MARKS[place % len(MARKS)], label=name)
    budgets = sorted({budget for points in lines.points.values() for budget, _ in points})
    axes.set_xscale("log")
    axes.set_xticks(budgets, [str(budget) for budget in budgets])
    axes.minorticks_off()
    axes.set_xlabel("budget")
    axes.set_ylabel(lines.value)
    axes.set_title(lines.title, parse_math=False)  # a file's name may hold dollar signs
    axes.grid(alpha=0.3)
    if lines.points:
        axes.legend()
