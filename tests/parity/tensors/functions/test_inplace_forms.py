"""Which functions write over their argument, against PyTorch: the names, name by name, and those made last."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

# What PyTorch has and retrograd has not, and why.
METHODS: dict[str, str] = {}
FUNCTIONS: dict[str, str] = {}
FUNCTIONAL: dict[str, str] = {}


def _written(namespace: object) -> set[str]:
    return {name for name in dir(namespace)
            if name.endswith("_") and not name.startswith("_") and hasattr(namespace, name)}


@pytest.mark.parametrize(("theirs", "ours", "absent"), [
    (torch.Tensor, retrograd.Tensor, METHODS),
    (torch, retrograd, FUNCTIONS),
    (torch.nn.functional, retrograd.nn.functional, FUNCTIONAL),
], ids=["methods", "functions", "functional"])
def test_in_place_names_are_those_of_pytorch(theirs: object, ours: object, absent: dict[str, str]) -> None:
    assert _written(theirs) - _written(ours) == set(absent)


def test_operators_that_write() -> None:
    assert {n for n in dir(torch.Tensor) if n.startswith("__i")} <= set(dir(retrograd.Tensor))


_SETUP = """
f, d, i = torch.tensor([1.5, 2.0]), torch.tensor([1.5, 2.0], dtype=torch.float64), torch.tensor([1, 2])
r = torch.tensor([1.5, -2.0], requires_grad=True) * 1
q = torch.tensor([1.5, -2.0], dtype=torch.float64, requires_grad=True) * 1
m = torch.arange(6.0).view(2, 3)
n = m.clone().requires_grad_() * 1
"""
_CALLS = """
f.copysign_(-1)
r.copysign_(-1)
r.copysign_(f)
f.copysign_(r)
i.copysign_(f)
i.copysign_(-1)
f.float_power_(2)
d.float_power_(2)
d.float_power_(i)
d.float_power_(2 + 1j)
q.float_power_(2)
q.float_power_(i)
d.float_power_(r)
f.heaviside_(f)
type(r.heaviside_(f).grad_fn).__name__
(f.heaviside_(r).requires_grad, f.tolist())
f.heaviside_(d)
f.heaviside_(1)
i.heaviside_(i)
m.tril_()
m.triu_(1)
n.tril_()
n.triu_(diagonal=-1)
f.tril_()
m.tril_(diagonal=1.5)
m.t().tril_()
f.greater_(1)
r.greater_(1)
r.greater_equal_(1)
r.less_(f)
r.less_equal_(f)
f.not_equal_(f)
torch.addmv_(f, torch.eye(2), f)
torch.celu_(r)
torch.celu_(r, 2.0)
torch.celu_(f, 0)
torch.celu_(i)
torch.selu_(r)
torch.nn.functional.celu_(r, alpha=2.0)
torch.nn.functional.selu_(r)
torch.resize_as_(f, i[:1])
f.resize_as_(3)
f.resize_(1)
f.resize_([2, 1])
f.resize_(2, 1, memory_format=torch.contiguous_format)
f.resize_((2, 1), memory_format=torch.preserve_format)
f.resize_((2, 1), memory_format='x')
f.resize_((2, 1), memory_format=None)
f.resize_((2, 1), memory_format=torch.channels_last)
torch.arange(24.).resize_((2, 3, 2, 2), memory_format=torch.channels_last)
torch.arange(24).resize_(2, 3, 2, 2, memory_format=torch.channels_last)
torch.arange(24.).resize_((2, 3, 2, 2, 1), memory_format=torch.channels_last_3d)
torch.arange(24.).resize_((2, 3, 2, 2), memory_format=torch.channels_last_3d)
torch.arange(24.)[4:].resize_((1, 2, 2, 2), memory_format=torch.channels_last)
torch.arange(24.).view(2, 3, 2, 2).resize_((2, 3, 2, 2), memory_format=torch.channels_last)
torch.arange(24.).view(2, 2, 3, 2).transpose(1, 2).resize_((2, 3, 2, 2))
torch.arange(24.).view(2, 2, 3, 2).transpose(1, 2).resize_((2, 3, 2, 2), memory_format=torch.contiguous_format)
torch.arange(4.).resize_((2, 3, 2, 2), memory_format=torch.channels_last).stride()
torch.ones(4, requires_grad=True).resize_((2, 2), memory_format=torch.channels_last)
torch.arange(24.).resize_as_(torch.ones(2, 3, 2, 2), memory_format=torch.channels_last)
torch.arange(24.).resize_as_(torch.ones(2, 3, 2, 2).to(memory_format=torch.channels_last))
i.new_ones(24).resize_as_(i.new_ones(2,3,2,2).to(memory_format=torch.channels_last),memory_format=torch.preserve_format)
torch.arange(6.).resize_as_(torch.ones(2, 3).t(), memory_format=torch.preserve_format)
f.resize_()
f.resize_('a')
f.resize_(1.5)
r.resize_(3)
m.t().resize_(3, 2)
m.t().resize_(2, 3)
m[1].resize_(2)._base
(m.resize_(2, 2), m._version)
(f.resize_(2)._version, f.resize_(1)._version, f.add_(1)._version)
(f.add_(1)._version, f.resize_(5)._version, f[:2])
"""


@pytest.mark.parametrize("expression", _CALLS.split("\n")[1:-1])
def test_the_forms_made_last(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)


def test_a_saved_value_that_was_resized_is_stale() -> None:
    for library in (torch, retrograd):
        x, w = library.arange(3.0), library.ones(3, requires_grad=True)
        product = w * x
        x.resize_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()
