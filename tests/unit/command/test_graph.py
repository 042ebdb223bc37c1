"""`retrograd graph`: a program runs as it would, and the graph of its first backward pass is drawn."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from forked import ran

TRAINING = """
import sys
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
scale = torch.ones(1, requires_grad=True)
for i in range(2):
    loss = (model(torch.ones(16, 4)) * scale).square().mean()
    model.zero_grad()
    loss.backward()
    print(i, loss.item(), sys.argv[1:])
sys.exit(int(sys.argv[1]) if sys.argv[1:] else 0)
"""
TREE = """\
MeanBackward0 []
└─ PowBackward0 [16, 1]
   └─ MulBackward0 [16, 1]
      ├─ AddmmBackward0 [16, 1]
      │  ├─ 2.bias [1]
      │  ├─ TanhBackward0 [16, 8]
      │  │  └─ AddmmBackward0 [16, 8]
      │  │     ├─ 0.bias [8]
      │  │     └─ TBackward0 [4, 8]
      │  │        └─ 0.weight [8, 4]
      │  └─ TBackward0 [8, 1]
      │     └─ 2.weight [1, 8]
      └─ scale [1]
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran("-m", "retrograd", *arguments, cwd=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAINING)
    return tmp_path


def test_the_picture_of_the_first_pass(folder: Path) -> None:
    plain = run(folder, "run", "train.py", "0", "-o", "x")
    drawn = run(folder, "graph", "train.py", "0", "-o", "x")
    assert (drawn.stdout, drawn.returncode) == (plain.stdout, 0)
    assert drawn.stderr.splitlines() == [
        "retrograd graph: -o stands behind train.py, so the program gets it; options of retrograd stand before the "
        "program", "retrograd: wrote graph.svg: the graph of the first backward pass"]
    root = ElementTree.fromstring((folder / "graph.svg").read_text(encoding="utf-8"))
    words = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"scale", "0.weight", "2.bias", "TanhBackward0", "0 Linear", "2 Linear", "Sequential"} <= {*words}


def test_the_graph_as_text(folder: Path) -> None:
    plain = run(folder, "run", "train.py")
    found = run(folder, "graph", "--text", "train.py")
    assert (found.stdout, found.stderr, found.returncode) == (TREE + plain.stdout, "", 0)
    in_file = run(folder, "graph", "--text", "-o", "graph.txt", "-m", "train")
    assert (folder / "graph.txt").read_text(encoding="utf-8") == TREE
    assert in_file.stdout == plain.stdout


def test_exit_statuses(folder: Path) -> None:
    (folder / "none.py").write_text("print('nothing')\n")
    none = run(folder, "graph", "none.py")
    assert (none.stdout, none.returncode) == ("nothing\n", 1)
    assert none.stderr == "retrograd: no graph: the program ran no backward pass in its main thread\n"
    own = run(folder, "graph", "train.py", "5")
    assert own.returncode == 5
    assert (folder / "graph.svg").exists()
    refused = run(folder, "graph", "-o", "missing/graph.svg", "train.py")
    assert refused.returncode == 1
    assert refused.stderr == "retrograd: cannot write 'missing/graph.svg': No such file or directory\n"
    for name, more in (("x.png", "not .png"), ("x.html", "not .html; a page is written by retrograd explore")):
        other = run(folder, "graph", "-o", name, "train.py")
        assert (other.returncode, other.stdout) == (2, "")
        assert other.stderr == f"retrograd: the picture is an .svg file, {more}\n"
    (folder / "fails.py").write_text("import torch\ntorch.ones(1, requires_grad=True).exp().backward()\n1 / 0\n")
    fails = run(folder, "graph", "fails.py")
    assert fails.returncode == 1
    assert fails.stderr.startswith("retrograd: wrote graph.svg")
    assert fails.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert run(folder, "graph", "no_such.py").returncode == 2
    assert run(folder, "graph").returncode == 2


def test_help_has_examples(folder: Path) -> None:
    found = run(folder, "graph", "--help")
    assert found.returncode == 0
    assert "retrograd graph --text train.py" in found.stdout
