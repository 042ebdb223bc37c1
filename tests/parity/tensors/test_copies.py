"""Copies and pickles of tensors, here and in PyTorch: who shares memory with whom, and who may be written."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

PROGRAMS = {
    "elements that coincide": """
import copy, pickle
for copied in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), copy.copy):
    for x in (torch.ones(1).expand(3), torch.ones(2, 1).expand(2, 3), torch.arange(4.).unfold(0, 2, 1),
              torch.arange(4.).unfold(0, 2, 2), torch.ones(2, 3).t(), torch.ones(())):
        y = copied(x)
        attempt(lambda: y.add_(1))
        attempt(lambda: y[0].add_(1))
        print(y, y.stride(), y.clone().add_(1))
x = torch.arange(4.)
one, other = copy.deepcopy([x, x.unfold(0, 2, 1)])
one.add_(1)
print(other, other.add_(1), one)
""",
    "writes to a shallow copy": """
import copy
x = torch.ones(4, requires_grad=True)
y = x * x
for part in (copy.copy(x.detach()), copy.copy(x.detach()[1:])):
    part.add_(1)
    print(x._version, x, part, part._is_view(), part.storage_offset())
y.sum().backward()
print(x.grad, copy.copy(x).requires_grad)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert transcript(retrograd, PROGRAMS[name]) == transcript(torch, PROGRAMS[name])
