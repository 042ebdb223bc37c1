"""`vars(module)`, by which packages find all optimizers, layers or distributions: it has what PyTorch's has."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest
import torch

# Of these, PyTorch makes the names when it is imported, and packages go over them.
_NAMES = """
nn nn.functional nn.init nn.utils nn.modules nn.modules.activation nn.modules.loss nn.modules.conv nn.modules.rnn
nn.modules.pooling nn.modules.container nn.modules.linear nn.modules.normalization nn.modules.batchnorm nn.parallel
nn.parameter nn.utils.rnn nn.utils.parametrize nn.utils.prune nn.utils.parametrizations optim optim.lr_scheduler
optim.swa_utils optim.adam optim.sgd distributions distributions.transforms distributions.constraints autograd
autograd.functional autograd.graph func linalg fft special signal.windows utils utils.data utils.data.dataset
utils.data.sampler distributed distributed.optim fx testing cuda cpu amp sparse library overrides types
"""
MODULES = ["torch", *[f"torch.{name}" for name in _NAMES.split()]]
# In a fresh process, since other tests import what a module imports late.
_PROGRAM = """
import importlib, json, sys, warnings
import retrograd
retrograd.as_torch()
warnings.simplefilter("ignore")
found = {}
for name in json.loads(sys.argv[1]):
    module = importlib.import_module(name)
    found[name] = [[*vars(module)], dir(module)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def ours() -> dict[str, list[list[str]]]:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, json.dumps(MODULES)], capture_output=True, text=True,
                          check=True)
    found: dict[str, list[list[str]]] = json.loads(done.stdout)
    return found


@pytest.mark.filterwarnings("ignore:.torch.jit")              # of PyTorch's own imports
@pytest.mark.parametrize("name", MODULES)
def test_the_dictionary_has_each_name_that_the_module_has(name: str, ours: dict[str, list[list[str]]]) -> None:
    theirs = {each for each in vars(importlib.import_module(name)) if not each.startswith("_")}
    held, offered = map(set, ours[name])
    assert theirs & offered <= held


def test_a_package_finds_all_optimizers_and_layers() -> None:
    import retrograd

    for module, base in (("optim", "Optimizer"), ("nn", "Module"), ("distributions", "Distribution")):
        names = []
        for library in (torch, retrograd):
            space = getattr(library, module)
            kind = getattr(space, base)
            names.append([each for each, value in vars(space).items() if isinstance(value, type)
                          and issubclass(value, kind)])
        assert {*names[0]} <= {*names[1]}, module
