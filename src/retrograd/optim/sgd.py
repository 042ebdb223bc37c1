"""Stochastic gradient descent, with momentum as PyTorch defines it. This module must not know other optimizers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.errors import noted
from ..foundations.names import missing
from ..tensors.tensor import Tensor
from .elementwise import ElementsOptimizer
from .formula import add_times
from .saved_numbers import later
from .stepping import check_modes, check_number, check_rate_tensor

__all__ = ["SGD"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class SGD(ElementsOptimizer):
    """`p -= lr * g`; with momentum `b = momentum * b + (1 - dampening) * g` and `p -= lr * b`.

    With `nesterov` the step is `p -= lr * (g + momentum * b)`. `weight_decay` adds that multiple of p to g. `maximize`
    changes the sign of g. `foreach` and `fused` make no difference. With `differentiable`, the graph records the step.

    >>> import retrograd as torch
    >>> w = torch.nn.Parameter(torch.tensor([1., 2.]))
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    Parameter containing:
    tensor([0., 0.], requires_grad=True)

    Raises ValueError for a negative option, for Nesterov's momentum without momentum or with dampening, and the errors
    of `Optimizer`; RuntimeError for `fused` with `foreach` or `differentiable`.
    """

    writes_lines = True
    _takes_sparse = True
    _made = ("momentum_buffer",)
    _numbers = ()
    _pairs = False
    _learned = ("lr", "weight_decay")
    _records_together = True

    _later = later(nesterov=False, fused=False)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: Any = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        check_rate_tensor(lr)
        check_number(lr, "learning rate", nan=True)
        check_number(momentum, "momentum value", nan=True)
        check_number(weight_decay, "weight_decay value", nan=True)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})
        check_modes(foreach, fused, differentiable)

    def _names(self, p: Any, group: dict[str, Any]) -> tuple[str, ...]:
        return self._made if group["momentum"] != 0 else ()

    def _step_of_sparse(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        if group["fused"]:
            raise noted(RuntimeError("`_fused_sgd` does not support sparse gradients"), because="remove fused=True")
        self._with_tensors(p, g, state, group, line)

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        if group["momentum"] != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = g.detach().clone()
            else:
                undamped = 1 - group["dampening"] if group["dampening"] != 0 else 1
                buffer.mul_(group["momentum"]).add_(g, alpha=undamped)
            g = g.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
        add_times(p, g, -group["lr"])
