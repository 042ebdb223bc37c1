"""The unique elements of an array, which PyTorch records and refuses to differentiate; and tests of membership."""

from __future__ import annotations

from typing import Any, NoReturn

from ...kernels.indexing import sorting as kernels
from ..framework import Op, Rule, backward_name, constant, operator


def _refused(name: str) -> Rule:
    def rule(g: Any) -> NoReturn:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented. Take the gradient of the elements "
                                  "themselves, for example by their indices.")

    return rule


def _unique(name: str, kernel: Any, node: str) -> Op:
    return operator(name, kernel, node=node, outputs="values inverse counts", differentiable="values",
                    x=_refused(name))


unique = _unique("_unique2", kernels.unique, backward_name("unique2"))
unique_dim = _unique("unique_dim", kernels.unique_dim, backward_name("unique_dim"))
unique_consecutive = _unique("unique_consecutive", kernels.unique_consecutive, backward_name("unique_consecutive"))

isin = constant("isin", kernels.isin, "x tests")
