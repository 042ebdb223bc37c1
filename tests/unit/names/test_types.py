"""What type checkers and editors know of a user's program: mypy and pyright say the same types, and the stubs are new.

pyright runs as `basedpyright`, a package that contains the checker and the program that runs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import retrograd
from needing import needs
from showing.stubs import stubs
from trying.flat import laid_out

# A user's program. Each comment is the type that both checkers must reveal, with their module names left out.
PROGRAM = '''
import retrograd as torch
import retrograd.nn.functional as F
from retrograd import nn
from retrograd.utils import data

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
w = torch.randn(2, 2)
reveal_type(x + w)  # Tensor
reveal_type(1 - x)  # Tensor
reveal_type(x @ w)  # Tensor
reveal_type(-x)  # Tensor
reveal_type(x == w)  # Tensor
reveal_type(x < 1)  # Tensor
reveal_type(x[0])  # Tensor
reveal_type([row for row in x])  # list[Tensor]
reveal_type(x.shape)  # Size
reveal_type(x.size(0))  # int
reveal_type(x.dtype)  # dtype
reveal_type(x.device)  # device
reveal_type(x.requires_grad)  # bool
reveal_type(x.grad)  # Tensor | None
reveal_type(x.T)  # Tensor
reveal_type(x.exp().sum(dim=0, keepdim=True))  # Tensor
reveal_type(x.sum(axis=0))  # Tensor
reveal_type(x.reshape(-1, 1).permute(1, 0))  # Tensor
reveal_type(x.add_(1))  # Tensor
reveal_type(x.split(1))  # tuple[Tensor, ...]
reveal_type(x.backward())  # None
reveal_type(torch.zeros(2, 3))  # Tensor
reveal_type(torch.cumsum(x, 0))  # Tensor
reveal_type(torch.max(x))  # Tensor
reveal_type(torch.max(x, w))  # Tensor
reveal_type(torch.max(x, 0))  # max
reveal_type(x.max(0).values)  # Tensor
values, indices = x.sort()
reveal_type(values)  # Tensor
reveal_type(indices)  # Tensor
reveal_type(torch.std_mean(x))  # tuple[Tensor, Tensor]
reveal_type(torch.equal(x, w))  # bool
reveal_type(torch.linalg.svd(x).Vh)  # Tensor
reveal_type(torch.linalg.inv(x))  # Tensor
reveal_type(torch.fft.rfft(x))  # Tensor
reveal_type(torch.special.xlogy(x, 2.0))  # Tensor
reveal_type(torch.float32)  # dtype
reveal_type(F.relu(x))  # Tensor
reveal_type(F.cross_entropy(x, w))  # Tensor
reveal_type(F.scaled_dot_product_attention(x, x, x))  # Tensor
reveal_type(x.sum().item() + 1)  # int | float
linear = nn.Linear(2, 2)
reveal_type(linear(x))  # Tensor
reveal_type(nn.Sequential(linear, nn.ReLU())(x))  # Tensor
reveal_type(nn.MSELoss()(x, w))  # Tensor
reveal_type(nn.Sequential(linear)[0])  # Module
reveal_type(nn.Sequential(linear)[0:1])  # Sequential
reveal_type(nn.ModuleList([linear])[0])  # Module
reveal_type(nn.ModuleDict({"a": linear})["a"])  # Module
reveal_type(linear.state_dict())  # dict[str, Any]
rows = data.TensorDataset(x, w)
some = data.DataLoader(data.Subset(rows, [0]))
reveal_type(some)  # DataLoader[tuple[Tensor, ...]]
reveal_type(data.DataLoader(data.random_split(rows, [1, 1])[0]))  # DataLoader[tuple[Tensor, ...]]
reveal_type(data.DataLoader([1, 2]))  # DataLoader[int]
for batch in some:
    reveal_type(batch)  # Any
print(len(some.dataset))


class Net(nn.Module):
    def forward(self, x: torch.Tensor, scale: float) -> tuple[torch.Tensor, float]:
        return x * scale, scale


reveal_type(Net()(x, 2.0))  # tuple[Tensor, float]


def loose(module: nn.Module) -> None:
    reveal_type(module(x))  # Any
'''
# The package as mypy sees it, in a place that stays: what mypy has read of the package once, it knows the next time.
INSTALLED = Path(__file__).parents[3] / "build" / "installed"
EXPECTED = {i: line.rpartition("# ")[2] for i, line in enumerate(PROGRAM.splitlines(), 1) if "reveal_type" in line}
# Four faults, one in each of the last lines. Both checkers must find them.
FAULTS = '''
import retrograd as torch

x = torch.ones(2)
torch.cumsum(x, "0")
torch.no_such_function(x)
x.sum(dimension=0)
torch.nn.Linear(2, 2)(x, x)
'''


def plain(revealed: str) -> str:
    """A revealed type without the names of modules, and with a named tuple as its class."""
    named = re.search(r"fallback=[\w.]*\b(\w+)\]$", revealed)
    return named.group(1) if named else re.sub(r"\b(\w+\.)+(?=\w)", "", revealed)


def by_mypy(program: Path) -> list[tuple[int, str, str]]:
    """Line, kind and text of each message."""
    config = program.parent / "mypy.ini"                     # as for an installed package: its own faults are no errors
    config.write_text(f"[mypy]\nstrict = True\nmypy_path = {laid_out(INSTALLED)}\ncache_dir = {INSTALLED / 'mypy'}\n"
                      "[mypy-retrograd.*]\nignore_errors = True\n")
    found = subprocess.run([sys.executable, "-m", "mypy", "--config-file", config, program],
                           capture_output=True, text=True, check=False, cwd=program.parent)
    messages = re.findall(rf"^{program.name}:(\d+): (\w+): (.*)$", found.stdout, re.MULTILINE)
    assert messages, found.stdout + found.stderr
    return [(int(line), kind, text) for line, kind, text in messages]


def by_pyright(program: Path) -> list[tuple[int, str, str]]:
    """Line, kind and text of each message."""
    (program.parent / "pyrightconfig.json").write_text(json.dumps({
        "typeCheckingMode": "standard", "extraPaths": [str(laid_out(program.parent / "installed"))]}))
    checker = Path(sysconfig.get_path("scripts")) / "basedpyright"
    found = subprocess.run([checker, "--outputjson", "--pythonpath", sys.executable, "-p", program.parent, program],
                           capture_output=True, text=True, check=False, cwd=program.parent)
    messages = json.loads(found.stdout)["generalDiagnostics"]
    return [(message["range"]["start"]["line"] + 1, message["severity"], message["message"]) for message in messages
            if Path(message["file"]).name == program.name]


@pytest.mark.parametrize("checker", [pytest.param(by_mypy, marks=needs("mypy")),
                                     pytest.param(by_pyright, marks=needs("basedpyright"))])
def test_a_checker_knows_the_types_of_a_users_program(checker, tmp_path: Path) -> None:
    """One run for the types and for the faults: most of its time is the reading of the package."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + FAULTS)
    messages = checker(program)
    revealed = {line: plain(re.search(r'(?:Revealed type|Type of ".*") is "(.*)"', text, re.DOTALL).group(1))
                for line, _, text in messages if "Revealed type" in text or text.startswith('Type of "')}
    assert revealed == EXPECTED
    last = (PROGRAM + FAULTS).count("\n")
    lines = [*range(last - 3, last + 1)]                     # the last four lines of the program
    assert sorted({line for line, kind, _ in messages if kind == "error"}) == lines


def test_the_stubs_are_as_new() -> None:
    for file, text in stubs().items():
        assert file.read_text() == text, f"{file.name} is not up to date: run make stubs"


def test_the_package_says_that_it_has_types() -> None:
    assert (Path(retrograd.__file__).parent / "py.typed").exists()
