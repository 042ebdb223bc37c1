"""Rprop: steps that follow only the signs of the gradients (Riedmiller and Braun, 1993)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..tensors.functions.creation.creation import full_like
from .elementwise import ElementsOptimizer
from .saved_numbers import later
from .stepping import check_learning_rate

__all__ = ["Rprop"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Rprop(ElementsOptimizer):
    """`p -= sign(g) * s`. Each element has a step size s, which begins at `lr`.

    `etas` are two factors: the step size shrinks by the first if the sign of g has changed, and then the step is left
    out; it grows by the second if the sign has stayed. `step_sizes` are the limits of the step size. `maximize` changes
    the sign of g. `foreach` makes no difference. Raises ValueError for an option out of range.
    """

    _zeros = ("prev", "step_size")
    _starting = ("lr",)
    _unread = ("lr",)

    _devices_together = ElementsOptimizer._devices

    _later = later(capturable=False)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
                 step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None:
        check_learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        super()._start(state, p, group)
        lr = group["lr"]
        state["step_size"] = full_like(p, complex(lr, lr) if p.is_complex() else lr)

    def _check_learned_rate(self, group: dict[str, Any]) -> None:
        raise TypeError("full_like(): argument 'fill_value' (position 2) must be Number, not Tensor")

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        (shrink, grow), before, size = group["etas"], state["prev"], state["step_size"]
        trend = g.mul(before)
        turned = trend.lt(0)
        size.mul_(trend.new_ones(trend.shape).masked_fill(trend.gt(0), grow).masked_fill(turned, shrink))
        size.clamp_(*group["step_sizes"])
        g = g.masked_fill(turned, 0)
        p.addcmul_(g.sign(), size, value=-1)
        before.copy_(g)
