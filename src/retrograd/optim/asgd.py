"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.dtypes import default_floating
from ..foundations.names import missing
from ..tensors.functions.creation.creation import zeros_like
from .elementwise import ElementsOptimizer, Rates
from .formula import check_numbers
from .saved_numbers import as_float, later, scalar
from .stepping import check_learning_rate

__all__ = ["ASGD"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class ASGD(ElementsOptimizer):
    """`p = (1 - lambd * eta) * p - eta * g`, with a rate that falls: `eta = lr / (1 + lambd * lr * t) ** alpha`.

    The state "ax" of a parameter is its mean over the steps from `t0` on. `weight_decay` adds that multiple of p to g.
    `maximize` changes the sign of g. `foreach` makes no difference. Raises ValueError for a negative option.
    """

    _zeros = ("ax",)
    _numbers = ("step", "eta", "mu")
    _starting = ("lr",)
    _captured = _captured_together = "params, mus, etas, and state_steps"

    _later = later(capturable=False)
    _were_floats = ("step", "eta", "mu")

    def __init__(self, params: Iterable[Any], lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
                 t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_learning_rate(lr)
        check_numbers(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        state.update(step=scalar(0.0), eta=scalar(group["lr"]), mu=scalar(1.0), ax=zeros_like(p))

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        lr, lambd, step = group["lr"], group["lambd"], as_float(state["step"])
        following = {"eta": lr / (1 + lambd * lr * step) ** group["alpha"], "mu": 1 / max(1, step - group["t0"])}
        rounded = default_floating().type           # as tensors of these numbers, which PyTorch copies to the state
        following = {name: float(rounded(value)) for name, value in following.items()}
        return (as_float(state["eta"]), as_float(state["mu"])), following

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        (eta, mu), mean = rates, state["ax"]
        p.mul_(1 - group["lambd"] * eta).add_(g, alpha=-eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_(p.sub(mean).mul(mu))
