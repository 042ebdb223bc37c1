"""Adamax: Adam with the largest of the past gradients in place of the mean of their squares (arXiv:1412.6980)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .elementwise import ElementsOptimizer, Rates
from .foreach_checks import check_betas_together
from .formula import ADDCDIV_TAKES_NUMBERS, check_numbers
from .saved_numbers import as_float, later
from .stepping import check_betas, check_learning_rate

__all__ = ["Adamax"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Adamax(ElementsOptimizer):
    """`p -= lr / (1 - beta1 ** t) * m / u`, with a running mean m of g, and `u = max(beta2 * u, abs(g) + eps)`.

    `betas` are the weights of the past. `weight_decay` adds that multiple of p to g. `maximize` changes the sign of g.
    `foreach` makes no difference. Raises ValueError for an option out of range.
    """

    _zeros = ("exp_avg", "exp_inf")
    _rate_words = ADDCDIV_TAKES_NUMBERS

    _later = later(capturable=False)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:
        check_learning_rate(lr)
        check_numbers(epsilon=eps)
        check_betas(betas)
        check_numbers(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def _check_together(self, group: dict[str, Any]) -> None:
        check_betas_together(group, (True, False), ["list"] * 4)

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        return group["lr"] / (1 - group["betas"][0] ** as_float(state["step"])), {}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        (first, second), largest = group["betas"], state["exp_inf"]
        mean = state["exp_avg"].lerp_(g, 1 - first)
        largest.copy_(largest.mul(second).maximum(g.abs().add(group["eps"])))
        p.addcdiv_(mean, largest, value=-rates)
