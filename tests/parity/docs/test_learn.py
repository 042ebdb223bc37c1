"""The tutorials say of PyTorch what PyTorch does: their cells print the same with `import torch`.

Cells with the tag `retrograd` show what PyTorch has not, and are left out.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from showing import notebooks, pages

pytestmark = pytest.mark.usefixtures("forward_mode")

TUTORIALS = [path for path in notebooks.TUTORIALS if path.stem != "reading"]    # its subject is retrograd's source


def shared(script: str) -> str:
    """The script without the cells that only retrograd can run."""
    pieces = re.split(r"^(?=# %%)", script, flags=re.MULTILINE)
    return "".join(piece for piece in pieces if f'"{notebooks.RETROGRAD}"' not in piece.partition("\n")[0])


def as_pytorch(source: str) -> str:
    return source.replace("import retrograd as torch", "import torch")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_the_same_with_pytorch(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = shared(pages.text_of(path))
    for cell, printed in notebooks.said(script, path.name, as_pytorch):
        assert printed == cell.output, cell.source
    plt.close("all")


def test_most_cells_are_compared() -> None:
    found = [cell for path in TUTORIALS for cell in notebooks.cells(pages.text_of(path)) if not cell.text]
    assert sum(notebooks.RETROGRAD in cell.tags for cell in found) < 0.2 * len(found)
