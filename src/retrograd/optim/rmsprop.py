"""RMSprop: steps scaled by the running mean of the squared gradients (Hinton, 2012)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .elementwise import ElementsOptimizer
from .formula import ADD_TAKES_NUMBERS, ADDCDIV_TAKES_NUMBERS, check_numbers
from .saved_numbers import later
from .stepping import check_learning_rate

__all__ = ["RMSprop"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class RMSprop(ElementsOptimizer):
    """`p -= lr * g / (sqrt(v) + eps)`. v is a running mean of g * g, in which `alpha` is the weight of the past.

    With `centered`, the square of the mean of g is subtracted from v. With `momentum`, `b = momentum * b + g / ...` and
    `p -= lr * b`. `weight_decay` adds that multiple of p to g. `maximize` changes the sign of g. `foreach` makes no
    difference. Raises ValueError for a negative option.
    """

    writes_lines = True
    _rate_words = ADDCDIV_TAKES_NUMBERS

    _devices_together = ElementsOptimizer._devices

    _later = later(capturable=False, momentum=0, centered=False)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
                 weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None:
        check_learning_rate(lr)
        check_numbers(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable})

    def _check_learned_rate(self, group: dict[str, Any]) -> None:
        if group["momentum"] > 0 and group["differentiable"]:
            raise TypeError(ADD_TAKES_NUMBERS)
        super()._check_learned_rate(group)

    def _names(self, p: Any, group: dict[str, Any]) -> tuple[str, ...]:
        return ("square_avg", *(["momentum_buffer"] if group["momentum"] > 0 else ()),
                *(["grad_avg"] if group["centered"] else ()))

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        lr, alpha, square = group["lr"], group["alpha"], state["square_avg"]
        square.mul_(alpha).addcmul_(g, g, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(g, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        scale = square.sqrt().add(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(g, scale)
            p.add_(buffer, alpha=-lr)
        else:
            p.addcdiv_(g, scale, value=-lr)
