"""RAdam: Adam whose first steps are not scaled, until the mean of squares can be trusted (arXiv:1908.03265)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .elementwise import ElementsOptimizer, Rates
from .foreach_checks import check_betas_together
from .formula import check_numbers
from .saved_numbers import as_float, later
from .stepping import check_betas, check_learning_rate

__all__ = ["RAdam"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class RAdam(ElementsOptimizer):
    """Adam with a factor for the variance of the mean of squares. As long as there is no factor, `p -= lr * m`.

    `betas` are the weights of the past in the means of g and of g * g. `weight_decay` adds that multiple of p to g;
    with `decoupled_weight_decay` it shrinks p itself. `maximize` changes the sign of g. `foreach` makes no difference.
    Raises ValueError for an option out of range.
    """

    _zeros = ("exp_avg", "exp_avg_sq")
    _learned = ("lr",)

    _later = later(capturable=False, decoupled_weight_decay=False)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
                 foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:
        check_learning_rate(lr)
        check_numbers(epsilon=eps)
        check_betas(betas)
        check_numbers(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable})

    def _check_together(self, group: dict[str, Any]) -> None:
        check_betas_together(group, (False, True), ())

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        (first, second), t = group["betas"], as_float(state["step"])
        seen = 1 - second ** t
        most = 2 / (1 - second) - 1                          # the length of the mean of squares, in the end and now
        length, factor = most - 2 * t * second ** t / seen, None
        if length > 5.0:
            factor = ((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) ** 0.5
        return (1 - first ** t, seen ** 0.5, factor), {}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        (first, second), (seen, root, factor) = group["betas"], rates
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - first)
        square.mul_(second).addcmul_(g, g, value=1 - second)
        step = mean.div(seen).mul(group["lr"])
        if factor is not None:
            step = step.mul(square.sqrt().add(group["eps"]).reciprocal().mul(root)).mul(factor)
        p.add_(step, alpha=-1.0)
