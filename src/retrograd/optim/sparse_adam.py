"""SparseAdam: Adam for sparse gradients. This module must not know other optimizers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import no_grad
from ..foundations.names import missing
from ..tensors.arguments.options import strided
from ..tensors.functions.creation.creation import zeros_like
from ..tensors.state.base import TensorBase
from ..tensors.state.inside import is_sparse
from .optimizer import Optimizer
from .saved_numbers import as_float
from .sparse_steps import with_values
from .stepping import check_betas, check_rate_tensor

__all__ = ["SparseAdam"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class SparseAdam(Optimizer):
    """Adam that changes only the elements that a sparse gradient stores, such as those of `nn.Embedding(sparse=True)`.

    The averages of all other elements stay as they are.

    Raises ValueError for an option out of range and for complex parameters. A step raises
    RuntimeError for a dense gradient.
    """

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:
        check_rate_tensor(lr)
        if not 0.0 < lr:                                   # noqa: SIM300  PyTorch's order, which a TypeError names
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:                                  # noqa: SIM300
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        stored = [[i, k] for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"])
                  if p.layout is not strided]
        if stored:
            raise ValueError(f"Sparse params at indices {stored}: SparseAdam requires dense parameter tensors")
        places = [[i, k] for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"])
                  if p.is_complex()]
        if places:
            raise ValueError(f"Complex params at indices {places}: SparseAdam does not support complex parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. Returns the loss that `closure` computes; None without a closure.

        Raises RuntimeError for a dense gradient.
        """
        loss = self._evaluated(closure)
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        if not is_sparse(p.grad):
                            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam "
                                               "instead")
                        self._step_of(p, -p.grad if group["maximize"] else p.grad, group)
        return loss

    def _step_of(self, p: TensorBase, g: TensorBase, group: dict[str, Any]) -> None:
        state, g = self.state[p], g.coalesce()
        if not state:
            state.update(step=0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        state["step"] += 1
        values, (beta1, beta2) = g._values(), group["betas"]
        if not values.numel():
            return
        first = _averaged(state["exp_avg"], g, values, beta1)
        second = _averaged(state["exp_avg_sq"], g, values.pow(2), beta2)
        weights = 1 - beta1 ** state["step"], 1 - beta2 ** state["step"]
        rate = as_float(group["lr"]) * math.sqrt(weights[1]) / weights[0]
        p.add_(with_values(g, -rate * first.div_(second.sqrt_().add_(group["eps"]))))


def _averaged(average: TensorBase, g: TensorBase, values: TensorBase, beta: float) -> Any:
    """The new moving averages of the elements that `g` stores, which are also added to `average`."""
    held = average.sparse_mask(g)._values()
    change = values.sub(held).mul_(1 - beta)
    average.add_(with_values(g, change))
    return change.add_(held)
