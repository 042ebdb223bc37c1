"""The unique elements of an array, which PyTorch records and refuses to differentiate; and tests of membership."""

from __future__ import annotations

from typing import Any, NoReturn

from ...kernels.indexing import uniques as kernels
from ..framework import Op, Rule, constant, operator


def _refused(name: str) -> Rule:
    def rule(g: Any) -> NoReturn:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented. Take the gradient of the elements "
                                  "themselves, for example by their indices.")

    return rule


def _unique(name: str, kernel: Any) -> Op:
    return operator(name, kernel, outputs="values inverse counts", differentiable="values", x=_refused(name))


unique, unique_dim = _unique("_unique2", kernels.unique), _unique("unique_dim", kernels.unique_dim)
unique_consecutive = _unique("unique_consecutive", kernels.unique_consecutive)

isin = constant("isin", kernels.isin, "x tests")
