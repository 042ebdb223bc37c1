"""`retrograd compare` runs a program with both packages, and names the first step whose result differs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
    print("refused", float(x.sum()), sys.argv[1:])
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


def compared(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(BEGINNING + program)
    command = [sys.executable, "-m", "retrograd", "compare", "train.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_a_program_that_does_the_same_agrees(tmp_path: Path) -> None:
    result = compared(tmp_path, AGREEING, "--rtol", "1")
    assert result.stderr == ""
    printed, said = result.stdout.splitlines()
    assert printed.startswith("refused ")
    assert printed.endswith(" ['--rtol', '1']")
    assert said.endswith(" Both runs ended with exit status 3.")
    assert int(said.split()[1]) > 40
    assert result.returncode == 0


@pytest.mark.parametrize("name", DIFFERING)
def test_the_first_difference_is_named(name: str, tmp_path: Path) -> None:
    program, lines = DIFFERING[name]
    result = compared(tmp_path, program)
    assert result.returncode == 1, result.stderr
    for line in lines:
        assert line.format(file=tmp_path / "train.py") in result.stdout, result.stdout
