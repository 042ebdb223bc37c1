"""Former orders of arguments, with numbers before the tensors they scale, end as in PyTorch."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import pytest
import torch

import retrograd
from comparing.same_expression import said

CALLS = """
torch.add(a, 2., b)  torch.add(2., a, b)  torch.sub(a, 2, b)  torch.rsub(a, 2, b)  torch.add(a, 2, 3)  a.add(2, 3)
torch.addcmul(a, .5, b, c)  torch.addcdiv(a, .5, b, c)  torch.add(a, torch.tensor(2.), b)  torch.add(a, True, b)
torch.add(a, 2j, b)  torch.add(input=a, alpha=2, other=b)  torch.add(a, b, 2)  torch.add(a, 2, b, alpha=3)
torch.addmm(2, m, 3, n, n)  torch.addmm(2, m, n, n)  torch.addmm(2, m, 3, n, mat2=n)
torch.addmm(2, m, 3, n, n, out=torch.ones(2, 2))  torch.add(a, 2, b, out=c)  torch.add([1], 2, b)
torch.addmv(2, a, 3, m, b)  torch.addmv(2, a, m, b)  torch.addmv_(2, a, 3, m, b)  torch.addr(2, m, 3, a, b)
torch.addbmm(2, m, 3, s, s)  torch.baddbmm(2, s, 3, s, s)
a.add_(2., b)  a.sub_(2, b)  a.addcmul_(.5, b, c)  a.addcdiv_(.5, b, c)
m.addmm(2, 3, n, n)  m.addmm(3, n, n)  m.addmm_(2, 3, n, n)  m.addmm_(3, n, n)
a.addmv(2, 3, m, b)  a.addmv(3, m, b)  a.addmv_(2, 3, m, b)  a.addmv_(3, m, b)
m.addr(2, 3, a, b)  m.addr(3, a, b)  m.addr_(2, 3, a, b)  m.addr_(3, a, b)
m.addbmm(2, 3, s, s)  m.addbmm_(3, s, s)  s.baddbmm(2, 3, s, s)  s.baddbmm(3, s, s)
a.addr_(2.5, 3, a, b)  torch.addcmul(a, b, c, .5)  torch.addmm(m, m)
"""


def _end(library: ModuleType, call: str) -> Any:
    torch = library
    space = {"torch": torch, "a": torch.ones(2), "b": torch.tensor([3., 4.]), "c": torch.tensor([5., 7.]),
             "m": torch.eye(2), "n": torch.ones(2, 2) * 2, "s": torch.ones(2, 2, 2)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = eval(call, space).tolist()
        except Exception as error:
            found = f"{type(error).__name__}: {said(error)}"
    return found, [str(each.message).partition(" (Triggered")[0] for each in caught]


@pytest.mark.parametrize("call", [call for line in CALLS.split("\n") for call in line.split("  ") if call])
def test_a_former_order_ends_as_in_pytorch(call: str) -> None:
    (theirs, said), (ours, we_said) = _end(torch, call), _end(retrograd, call)
    assert ours == theirs
    if call.startswith("a.add(") and said:                        # a method shows the function's order here
        said, we_said = ([text.partition(":")[0] for text in texts] for texts in (said, we_said))
    assert we_said == said
