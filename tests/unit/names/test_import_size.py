"""How much of the package an import loads, and how much a first program loads.

The bounds are the numbers that were counted when the tests were written, and eight modules more: a file that is split
in two, because it became too long, must not fail a test. A family that is no longer loaded late has more modules.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

IMPORT = "import retrograd as torch\n"
STEP = IMPORT + """
from retrograd import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, labels = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(2):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
"""
COMPILED = IMPORT + """
a = torch.rand(10, requires_grad=True)

def step():
    a.grad = None
    (a.sin() * a + a.exp()).sum().backward()
    return a.grad

for _ in range(3):
    torch.compile(step, backend="numpy")()
"""
# What neither the import nor the step loads.
UNUSED = ("_C", "_functorch", "amp", "backends", "command", "compilation", "compiler", "cuda", "distributed",
          "distributions", "export", "fft", "func", "fx", "hub", "jit", "library", "linalg", "multiprocessing",
          "nn.functional.convolution", "nn.functional.loss", "nn.modules.conv", "nn.modules.loss", "nn.modules.rnn",
          "nn.modules.transformer", "nn.utils", "ops.images.convolution", "optim.adam", "optim.lr_scheduler",
          "overrides", "profiler", "serialization", "signal", "sparse", "special", "storage", "symbols",
          "tensors.meta", "tensors.sparse", "testing", "utils", "viz")
# What the import does not load beyond NumPy, but drawing numbers and transforms do.
OF_NUMPY = ("numpy.random", "numpy.fft")


@cache
def loaded(program: str) -> set[str]:
    """The modules that a program loads in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", program + "\nimport sys\nprint(*sys.modules)"], capture_output=True,
                          text=True, check=True, timeout=120)
    return set(done.stdout.split())


def of_the_package(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "retrograd"}


@pytest.mark.parametrize(("program", "counted"), [(IMPORT, 275), (STEP, 338)])
def test_a_program_loads_what_it_uses(program: str, counted: int) -> None:
    modules = of_the_package(loaded(program))
    assert len(modules) <= counted + 8
    assert {name for name in UNUSED if f"retrograd.{name}" in modules} == set()
    assert "retrograd.tensors.tensor" in modules


def test_the_first_call_of_a_compiled_function_loads_what_it_uses() -> None:
    """The walk over what a function can reach asks a module for no name that the module would have to import."""
    modules = of_the_package(loaded(COMPILED))
    assert len(modules) <= 499 + 8
    used = {name for name in UNUSED if f"retrograd.{name}" in modules}
    assert used == {"amp", "compilation", "ops.images.convolution"}


def test_a_program_that_imports_torch_loads_what_it_uses() -> None:
    begin = "import retrograd\nretrograd.as_torch()\nimport torch"
    as_torch = STEP.replace("import retrograd as torch", begin)
    as_torch = as_torch.replace("from retrograd import nn", "import torch.nn as nn")
    assert "import torch.nn as nn" in as_torch
    modules = of_the_package(loaded(as_torch))
    assert {name for name in UNUSED if f"retrograd.{name}" in modules} == {"command"}


def test_the_import_loads_little_beside_numpy_and_itself() -> None:
    """The standard library's share is what is left over: a few modules, whose number depends on the interpreter."""
    modules = loaded(IMPORT)
    others = modules - of_the_package(modules) - loaded("import numpy")
    assert not others.intersection(OF_NUMPY)
    assert len(others) <= 12, sorted(others)


def test_the_first_draw_loads_numpys_random_numbers() -> None:
    assert "numpy.random" in loaded(IMPORT + "torch.rand(1)")
    assert "numpy.random" not in loaded(IMPORT + "torch.manual_seed(0)\ntorch.zeros(1)")
