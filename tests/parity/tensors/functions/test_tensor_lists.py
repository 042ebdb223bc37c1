"""torch._foreach_*, and the sorting of tensors for these functions."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check
from retrograd.tensors.functions import lists

_SETUP = """
x = [torch.tensor([0.25, 0.5]), torch.tensor([[0.875], [0.625], [0.75]])]
y = [torch.tensor([2., 3.]), torch.tensor([[1.], [1.], [4.]])]
half = [torch.tensor([0.5, 1.], dtype=torch.float16)]
whole = [torch.tensor([1, 2]), torch.tensor([3])]
g = [a.clone().requires_grad_() for a in x]
groups = torch.utils._foreach_utils._group_tensors_by_device_and_dtype
"""
_PAIRS = "add sub mul div maximum minimum clamp_min clamp_max pow"
_EXPRESSIONS = [
    *(f"str(torch.{name}(x)), str(x)" for name in vars(lists) if name.startswith("_foreach_")
      and name[9:].rstrip("_") not in (*_PAIRS.split(), "addcmul", "addcdiv", "lerp", "mm", "copy")),
    *(f"str(torch._foreach_{op}{end}(x, {other})), str(x)" for op in _PAIRS.split() for end in ("", "_")
      for other in ("y", "1.5", "[1.5, 2.]", "torch.tensor(2.)")),
    *(f"torch._foreach_{op}{end}(x, y, y{factor}), x" for op in ("addcmul", "addcdiv") for end in ("", "_")
      for factor in ("", ", 2", ", value=0.5", ", [1., 2.]", ", scalars=[1., 2.]", ", torch.tensor([1., 2.])")),
    *(f"torch._foreach_lerp{end}(x, y, {share}), x" for end in ("", "_") for share in ("0.25", "[0.25, 1.]", "y")),
    "torch._foreach_add(x, y, alpha=2), torch._foreach_sub_(x, y, alpha=2), x",
    "torch._foreach_add(self=x, other=y), torch._foreach_add(x, scalar=2), torch._foreach_add(x, scalars=[1, 2])",
    "torch._foreach_add(whole, 1.5), torch._foreach_mul(whole, 2), torch._foreach_mul_(half, torch.tensor(2.))",
    "torch._foreach_add(x, torch.tensor(2.), alpha=3), torch._foreach_pow(2., x)",
    "torch._foreach_norm(x, 1), torch._foreach_norm(x, float('inf')), torch._foreach_norm(x, 2, torch.float64)",
    "torch._foreach_mm([torch.ones(1, 2)], [torch.ones(2, 1)]), torch._foreach_copy_(x, y), x",
    "torch._foreach_add_(x, 1) is x, type(torch._foreach_add_(tuple(x), 1)), type(torch._foreach_add(x, 1))",
    "str(torch.autograd.grad(sum(a.sum() for a in torch._foreach_mul(torch._foreach_exp(g), y)), g))",
    *(f"str(torch.autograd.grad(torch._foreach_{name}(g, {other})[0].sum(), g[0]))"
      for name in ("maximum", "minimum", "clamp_min", "clamp_max") for other in ("0.5", "[0.25, 1]", "x")),
    "torch._foreach_maximum(whole, 1.5), torch._foreach_minimum(half, 0.75), torch._foreach_maximum(whole, half * 2)",
    *(f"torch._foreach_add(whole, whole, alpha={alpha})" for alpha in ("1.0", "True", "2.5")),
    "torch._foreach_add_(g, 1)",
    "torch._foreach_exp([])",
    "torch._foreach_exp([1])",
    "torch._foreach_exp(x[0])",
    "torch._foreach_exp(x, 1)",
    "torch._foreach_add(x, (1, 2, 3))",
    "torch._foreach_add(x, [y[0]])",
    "torch._foreach_add(x, [y[0], 1])",
    "torch._foreach_sub(x, 1, alpha=2)",
    "torch._foreach_add(x, [1, 2], alpha=2)",
    "torch._foreach_mul(x, torch.tensor([1., 2.]))",
    "torch._foreach_addcmul(x, y, [y[0]])",
    "torch._foreach_addcmul(x, y, y, [1.])",
    "torch._foreach_addcmul(x, y, y, torch.tensor([1.]))",
    "torch._foreach_addcmul(x, y, y, torch.tensor(1.))",
    "torch._foreach_copy_(x, y[:1])",
    "torch._foreach_norm(x, 'fro')",
    "sorted(groups([x + half, [None, *y]], True).items(), key=str)",
    "sorted(groups([whole, []]).items(), key=str)",
    "groups([[None, *x]])",
]


@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_it_is_as_in_pytorch(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)


def test_the_names_are_those_of_pytorch() -> None:
    theirs = {name for name in dir(torch) if name.startswith("_foreach_")} - {"_foreach_powsum"}
    assert {name for name in vars(lists) if name.startswith("_foreach_")} == theirs
    assert all(getattr(retrograd, name) is getattr(lists, name) for name in theirs)


def test_a_refused_write_changes_no_tensor() -> None:
    for library in (torch, retrograd):
        first, leaf = library.ones(2), library.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            library._foreach_mul_([first, leaf], 2)
        assert first.tolist() == [1., 1.]
