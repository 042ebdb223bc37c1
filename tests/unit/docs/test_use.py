"""The tables of names on the pages in docs/use: each cell on our side runs, and agrees with NumPy where that is beside.

What the page on deployment says of other programs and of compiled parts is held here, too.
"""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as torch
from showing import pages

FOLDER = pages.ROOT / "docs" / "use"
TABLE = re.compile(r"<!-- table: (both|ours) -->\n\n\|[^\n]*\n\|[-|]+\n(.*?)\n\n<!-- end -->", re.DOTALL)
CODE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """A row of a table of names: the text of its page before the table, what stands on either side, and the kind."""

    page: str
    before: str
    theirs: str
    ours: str
    kind: str

    def __str__(self) -> str:
        return f"{self.page}: {self.ours}"


def rows() -> list[Row]:
    found = []
    for path in sorted(FOLDER.glob("from-*.md")):
        text = pages.text_of(path)
        for table in TABLE.finditer(text):
            for line in table[2].splitlines():
                theirs, ours = (CODE.search(cell) for cell in line.strip("| ").split(" | "))
                assert theirs is not None
                assert ours is not None, line
                found.append(Row(path.stem, text[:table.start()], theirs[1], ours[1], table[1]))
    return found


ROWS = rows()


@pytest.fixture
def names(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the page has defined before its table."""
    found: dict[str, Any] = {"__name__": "__main__"}
    for program in pages.programs("page", request.node.callspec.params["row"].before):
        for block in program.blocks:
            said = pages.run(block.source, found)
            assert said.error is None
    return found


def value(code: str, names: dict[str, Any]) -> Any:
    """What an expression is; None for a statement or the head of one, which is run."""
    try:
        compiled = compile(code, "<cell>", "eval")
    except SyntaxError:
        exec(f"{code} pass" if code.endswith(":") else code, names)
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return eval(compiled, names)


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "ours"], ids=str)
def test_a_cell_runs(row: Row, names: dict[str, Any]) -> None:
    value(row.ours, names)


@pytest.mark.parametrize("row", [row for row in ROWS if row.kind == "both"], ids=str)
def test_both_sides_of_a_row_agree(row: Row, names: dict[str, Any]) -> None:
    theirs, ours = value(row.theirs, names), value(row.ours, names)
    if isinstance(ours, torch.Tensor):
        ours = ours.numpy()
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(np.asarray(ours, dtype=complex), np.asarray(theirs, dtype=complex), rtol=1e-12)


def test_the_tables_are_read() -> None:
    counts = {page: sum(row.page == page for row in ROWS) for page in {row.page for row in ROWS}}
    assert counts.keys() == {"from-numpy", "from-hips-autograd", "from-mygrad"}
    assert min(counts.values()) > 10


ALONE = """
import retrograd as torch

x = torch.tensor([1., 2.], requires_grad=True)
(x * x.exp()).sum().backward()

@torch.compile(backend="numpy")
def f(x):
    return (x.sin() * 2 + 1).sum()

print(x.grad, f(torch.zeros(3)), f(torch.zeros(3)))
"""


def test_nothing_but_python_and_numpy_is_needed(tmp_path: Path) -> None:
    """What docs/use/deployment.md says: no other program, no home, and no file is written."""
    (tmp_path / "alone.py").write_text(ALONE, encoding="utf-8")
    surroundings = {"PYTHONPATH": os.pathsep.join(map(str, (pages.ROOT / "src", Path(np.__file__).parents[1]))),
                    "PATH": "/nowhere", "HOME": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([sys.executable, "-S", "alone.py"], cwd=tmp_path, env=surroundings, capture_output=True,
                            text=True, timeout=120)
    assert (result.stdout, result.stderr) == ("tensor([ 5.4366, 22.1672]) tensor(3.) tensor(3.)\n", "")
    assert [path.name for path in tmp_path.iterdir()] == ["alone.py"]


def test_the_package_has_no_compiled_part() -> None:
    found = {path.suffix for path in (pages.ROOT / "src" / "retrograd").rglob("*")}
    assert ".py" in found
    assert not found & {".so", ".pyd", ".dylib", ".dll", ".c", ".cpp", ".pyx"}


def test_the_page_of_mistakes_has_as_many_as_it_says_and_notes_below_most() -> None:
    page = pages.of(FOLDER / "mistakes.md")
    assert len(page) == 78
    errors = [one.error for program in page for one in pages.said(program)]
    assert None not in errors
    assert sum([hasattr(error, "__notes__") for error in errors]) >= 60
