"""Transforms of functions of tensors that are no NumPy arrays: on the device meta they are refused in words, and the
gradient by a sparse tensor is found whether the tensor requires grad or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import func
from retrograd.autograd import forward_ad


def dual(x: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.make_dual(x, x)


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "vmap": lambda x: torch.vmap(lambda v: v * 2)(x), "vmap, the last dim": lambda x: torch.vmap(torch.sum, -1)(x),
    "grad": func.grad(lambda x: (x * x).sum()), "vjp": lambda x: func.vjp(torch.sin, x),
    "jacrev": func.jacrev(torch.sin),
    "jvp": lambda x: func.jvp(torch.sin, (x,), (x,)), "vmap of grad": torch.vmap(func.grad(lambda x: x.sin().sum())),
    "make_dual": dual}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_tensors_on_meta_are_refused_in_words(name: str, requires_grad: bool) -> None:
    x = torch.ones(3, 2, device="meta", requires_grad=requires_grad)
    with pytest.raises(NotImplementedError, match="^transforms of functions take no tensors on the device meta"):
        TRANSFORMS[name](x)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_gradient_by_a_sparse_tensor(requires_grad: bool) -> None:
    x = torch.tensor([[0., 2.], [3., 0.]]).to_sparse().requires_grad_(requires_grad)
    found = func.grad(lambda x: (x * x).sum())(x)
    assert (found.is_sparse, found.requires_grad) == (True, requires_grad)
    assert found.to_dense().tolist() == [[0., 4.], [6., 0.]]
