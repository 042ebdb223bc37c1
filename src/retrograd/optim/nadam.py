"""NAdam: Adam with Nesterov's momentum (Dozat, 2016)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..tensors.state.base import TensorBase
from .elementwise import ElementsOptimizer, Rates
from .foreach_checks import check_betas_together, kind_of_gradients
from .formula import check_numbers
from .saved_numbers import as_float, later, scalar
from .stepping import check_betas, check_learning_rate

__all__ = ["NAdam"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class NAdam(ElementsOptimizer):
    """Adam whose step also uses the momentum of the next step. The weight of the momentum grows with the steps.

    `momentum_decay` says how fast. `betas` are the weights of the past in the means of g and of g * g. `weight_decay`
    adds that multiple of p to g; with `decoupled_weight_decay` it shrinks p itself. `maximize` changes the sign of g.
    `foreach` makes no difference. Raises ValueError for an option out of range.
    """

    _zeros = ("exp_avg", "exp_avg_sq")
    _learned = ("lr",)
    _numbers = ("step", "mu_product")
    _captured = "params, mu_products and state_steps"
    _captured_together = "params, mu_products, and state_steps"

    _later = later(capturable=False, decoupled_weight_decay=False)
    _were_floats = ("step", "mu_product")

    def __init__(self, params: Iterable[Any], lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, momentum_decay: float = 4e-3,
                 decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False) -> None:
        check_learning_rate(lr)
        check_numbers(epsilon=eps)
        check_betas(betas)
        check_numbers(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        state.update(step=scalar(0.0), mu_product=scalar(1.0))
        super()._start(state, p, group)

    def _check_together(self, group: dict[str, Any]) -> None:
        check_betas_together(group, (True, True), ["list", kind_of_gradients(group), "tuple", "list"])

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        lr, (first, second), step = group["lr"], group["betas"], as_float(state["step"])
        now, following = (first * (1.0 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        held = state["mu_product"]
        rounded = getattr(held, "_array", held).dtype.type
        product = float(rounded(as_float(held) * float(rounded(now))))           # a product of two float32 is exact
        rates = (1 - second ** step, -lr * (1.0 - now) / (1.0 - product),
                 -lr * following / (1.0 - product * following))
        return rates, {"mu_product": product}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        (first, second), (seen, of_gradient, of_mean) = group["betas"], rates
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(g, 1 - first)
        square.mul_(second).addcmul_(g, g, value=1 - second)
        scale = square.div(seen).sqrt().add(group["eps"])
        if isinstance(of_gradient, TensorBase):
            p.addcdiv_(g.mul(of_gradient), scale)
            p.addcdiv_(mean.mul(of_mean), scale)
            return
        p.addcdiv_(g, scale, value=of_gradient)
        # The graph keeps the mean, which the next step writes over.
        kept = mean.clone() if group["differentiable"] else mean
        p.addcdiv_(kept, scale, value=of_mean)
