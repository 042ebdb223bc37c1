"""`retrograd compare` runs a program with both packages, and names the first step whose result differs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograd.viz.explorer.page import document_in

BEGINNING = """import torch
OURS = hasattr(torch.version, "retrograd")
x = torch.linspace(0, 1, 6).reshape(2, 3).requires_grad_()
"""

AGREEING = """
import random, sys, numpy
from torch import nn
torch.manual_seed(random.randrange(9) + int(numpy.random.randint(9)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.2), nn.LayerNorm(8))
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]
net = Net()
steps = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(3):
    steps.zero_grad()
    loss = nn.functional.cross_entropy(net(Square.apply(x)), torch.tensor([0, 1])) + x.sum().item()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    steps.step()
x.data[0] = 7.
try:
    x @ x
except RuntimeError:
    print("refused", float(x.detach().sum()), sys.argv[1:])
sys.exit(3)
"""

# Programs that differ, with the lines of the report that say where.
DIFFERING = {
    "a value": ("y = x.exp() * (1.01 if OURS else 1.)\ny.sum().backward()",
                ["mul in File \"{file}\", line 4", "shape       [2, 3]", "The 4 steps before agree."]),
    "a gradient": ("if OURS: x.register_hook(lambda g: g * 2)\nx.sum().backward()",
                   ["backward in File \"{file}\", line 5", "at [0, 0]   1.0"]),
    "a dtype": ("y = x.sum(dtype=torch.float64 if OURS else None)",
                ["sum in File \"{file}\", line 4", "dtype   torch.float32"]),
    "a parameter": ("s = torch.optim.SGD([x], lr=0.1 if OURS else 0.2)\nx.sum().backward()\ns.step()",
                    ["SGD.step in File \"{file}\", line 6", "differ in   6 of 6"]),
    "an error": ("if OURS: raise KeyError(1)\nx.exp()",
                 ["From here on the two runs differ.", "PyTorch goes on with exp in File \"{file}\", line 5",
                  "retrograd ends with KeyError: 1"]),
}


def compared(folder: Path, program: str, *arguments: str, options: tuple[str, ...] = ()) -> (
        subprocess.CompletedProcess[str]):
    (folder / "train.py").write_text(BEGINNING + program)
    command = [sys.executable, "-m", "retrograd", "compare", *options, "train.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_a_program_that_does_the_same_agrees(tmp_path: Path) -> None:
    result = compared(tmp_path, AGREEING, "--rtol", "1")
    assert result.stderr.startswith("retrograd compare: --rtol stands behind train.py")
    assert len(result.stderr.splitlines()) == 1
    printed, said = result.stdout.splitlines()
    assert printed.startswith("refused ")
    assert printed.endswith(" ['--rtol', '1']")
    assert said.endswith(" Both runs ended with exit status 3")
    assert int(said.split()[1]) > 40
    assert result.returncode == 0


LOADING = """
torch.save(x.exp(), "x.pt")
torch.load("x.pt")
"""

COMPILING = """
layer = torch.nn.Linear(3, 1)
@torch.compile
def step(x):
    loss = layer(x).pow(2).mean()
    loss.backward()
    return loss
step(x)
"""


@pytest.mark.parametrize("program", [LOADING, COMPILING])
def test_what_the_packages_do_inside_is_no_step(program: str, tmp_path: Path) -> None:
    result = compared(tmp_path, program)
    assert result.returncode == 0, result.stdout
    assert " steps agree. Both runs ended with exit status 0\n" in result.stdout


@pytest.mark.parametrize("name", DIFFERING)
def test_the_first_difference_is_named(name: str, tmp_path: Path) -> None:
    program, lines = DIFFERING[name]
    result = compared(tmp_path, program)
    assert result.returncode == 1, result.stderr
    for line in lines:
        assert line.format(file=tmp_path / "train.py") in result.stdout, result.stdout


# The page of both passes


def page_of(folder: Path, program: str, status: int) -> dict[str, Any]:
    """The document of the page of a program."""
    result = compared(folder, program, options=("--page", "both.html"))
    assert result.returncode == status, result.stderr
    document = document_in((folder / "both.html").read_text("utf-8"))
    count = document["beside"]["differing"]
    assert f"wrote both.html: {count} of {len(document['nodes'])} gradients differ" in result.stdout.splitlines()[-1]
    assert document["beside"]["names"] == ["retrograd", "PyTorch"]
    return document


def test_the_page_has_the_gradients_of_both(tmp_path: Path) -> None:
    document = page_of(tmp_path, AGREEING.replace("sys.exit(3)", "").replace("nn.Dropout(0.2)", "nn.Identity()"), 0)
    assert document["beside"]["differing"] == 0
    assert document["beside"]["here"] == document["beside"]["there"] == []
    assert {node["label"] for node in document["nodes"] if node["kind"] == "leaf"} == {
        "x", "head.weight", "head.bias", "body.0.weight", "body.0.bias", "body.3.weight", "body.3.bias"}
    for node in document["nodes"]:
        assert node["other"]["name"] == node["name"]
        assert node["other"]["gradient"]["norm"] == pytest.approx(node["gradient"]["norm"], rel=1e-4)


def test_the_page_marks_what_differs(tmp_path: Path) -> None:
    document = page_of(tmp_path, "y = x.exp() * (1.5 if OURS else 1.)\n(y.sin() + x).sum().backward()", 1)
    changes = {node["name"]: node["change"] for node in document["nodes"]}
    assert changes["SumBackward0"] == changes["AddBackward0"] == changes["SinBackward0"] == 0
    assert min(changes[name] for name in ("MulBackward0", "ExpBackward0", "AccumulateGrad")) > 0.1
    mul = next(node for node in document["nodes"] if node["name"] == "MulBackward0")
    values = np.cos(np.exp(np.linspace(0, 1, 6)))
    assert mul["other"]["picture"]["values"] == pytest.approx(values, rel=1e-5)


def test_the_page_of_hooks_and_of_several_outputs(tmp_path: Path) -> None:
    program = """
a, b = x.unbind(1)[:2]
y = a * 2
y.register_hook(lambda g: g * (3 if OURS else 4))
torch.autograd.grad((y + b.exp()).sum(), [x])
"""
    document = page_of(tmp_path, program, 1)
    changes = {node["name"]: node["change"] for node in document["nodes"]}
    assert changes["AddBackward0"] == changes["ExpBackward0"] == 0
    assert changes["MulBackward0"] == pytest.approx(0.25)
    assert changes["UnbindBackward0"] > 0


@pytest.mark.parametrize("inputs", ["[x, w]", "[y]", "[a, w]"])
def test_the_page_has_the_gradients_that_a_pass_returns(inputs: str, tmp_path: Path) -> None:
    program = f"""
w = torch.ones(3, requires_grad=True)
a, b = (x * w).unbind(0)
y = a * b
torch.autograd.grad((y * w).sum(), {inputs})
"""
    document = page_of(tmp_path, program, 0)
    assert document["beside"]["differing"] == 0
    assert any(node["order"] is not None and node["gradient"] for node in document["nodes"])


def test_leaves_behind_the_graph_of_a_gradient(tmp_path: Path) -> None:
    """The graphs of gradients differ, so the order in which a walk finds the leaves does, too."""
    program = """
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
scale = torch.ones(1, requires_grad=True)
loss = (net(x) * scale).sum()
slope, = torch.autograd.grad(loss, x, create_graph=True)
(slope.norm() + loss).backward()
"""
    result = compared(tmp_path, program, options=("--rtol", "1e-3"))
    assert result.returncode == 0, result.stdout


def test_a_program_that_starts_processes(tmp_path: Path) -> None:
    program = """
import multiprocessing
def double(number): return float(torch.tensor(number) * 2)
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    with multiprocessing.Pool(1) as pool:
        numbers = pool.map(double, [1., 2.])
    print(torch.tensor(numbers).sum())
"""
    result = compared(tmp_path, program)
    assert result.stdout.splitlines() == ["tensor(6.)", "All 5 steps agree. Both runs ended with exit status 0"]
    assert result.returncode == 0


def test_without_a_pass_there_is_no_page(tmp_path: Path) -> None:
    result = compared(tmp_path, "x.exp()", options=("--page", "both.html"))
    assert result.returncode == 1
    assert "no page: there was no backward pass with PyTorch" in result.stderr
    assert not (tmp_path / "both.html").exists()
    result = compared(tmp_path, "x.exp().sum().backward()", options=("--page", "none/both.html"))
    assert result.returncode == 1
    assert "cannot write 'none/both.html': No such file" in result.stderr
