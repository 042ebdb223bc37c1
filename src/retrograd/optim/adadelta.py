"""Adadelta: steps scaled by the running means of past steps and of past gradients (arXiv:1212.5701)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .elementwise import ElementsOptimizer
from .formula import ADD_TAKES_NUMBERS, check_numbers
from .saved_numbers import later
from .stepping import check_learning_rate

__all__ = ["Adadelta"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Adadelta(ElementsOptimizer):
    """`p -= lr * d`, with `d = g * sqrt(u + eps) / sqrt(v + eps)`. v and u are running means of g * g and of d * d.

    `rho` is the weight of the past in both means. `weight_decay` adds that multiple of p to g. `maximize` changes the
    sign of g. `foreach` makes no difference. Raises ValueError for an option out of range.
    """

    writes_lines = True
    _zeros = ("square_avg", "acc_delta")
    _rate_words = ADD_TAKES_NUMBERS
    _devices = ElementsOptimizer._devices[:-1]

    _later = later(capturable=False)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
                 weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
                 maximize: bool = False, differentiable: bool = False) -> None:
        check_learning_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_numbers(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        rho, eps, squares, steps = group["rho"], group["eps"], state["square_avg"], state["acc_delta"]
        squares.mul_(rho).addcmul_(g, g, value=1 - rho)
        step = steps.add(eps).sqrt().div(squares.add(eps).sqrt()).mul(g)
        steps.mul_(rho).addcmul_(step, step, value=1 - rho)
        p.add_(step, alpha=-group["lr"])
