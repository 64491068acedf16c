import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NEEDED = ("sklearn", "river")


@pytest.mark.parametrize("name", [path.name for path in sorted(DOCS.rglob("*.md")) if ">>> " in path.read_text()])
def test_examples_on_the_pages_run(name):
    for package in NEEDED:
        pytest.importorskip(package)
    result = doctest.testfile(str(next(DOCS.rglob(name))), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
