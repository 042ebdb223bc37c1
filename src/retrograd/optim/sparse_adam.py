"""SparseAdam: Adam for sparse gradients, which do not exist here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..tensors.state.base import TensorBase
from .optimizer import Optimizer
from .stepping import check_betas

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam that changes only the elements of a sparse gradient. Since all gradients are dense, use Adam instead.

    Raises ValueError for an option out of range and for complex parameters. A step raises RuntimeError.
    """

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:
        if isinstance(lr, TensorBase) and lr._array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [[i, k] for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"])
                  if p.is_complex()]
        if places:
            raise ValueError(f"Complex params at indices {places}: SparseAdam does not support complex parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Returns the loss that `closure` computes. Raises RuntimeError if a parameter has a gradient."""
        loss = self._evaluated(closure)
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss
