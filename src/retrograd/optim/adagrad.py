"""Adagrad: steps scaled by the root of the sum of all squared gradients (Duchi, Hazan and Singer, 2011)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.errors import noted
from ..foundations.names import missing
from ..tensors.functions.creation.creation import full_like
from .elementwise import ElementsOptimizer, Rates
from .formula import ADDCDIV_TAKES_NUMBERS, check_numbers
from .saved_numbers import as_float, later, scalar
from .sparse_steps import with_values
from .stepping import check_learning_rate, check_modes

__all__ = ["Adagrad"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Adagrad(ElementsOptimizer):
    """`p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)`. s is the sum of g * g over all t steps.

    s begins at `initial_accumulator_value`. `weight_decay` adds that multiple of p to g. `maximize` changes the sign of
    g. `foreach` and `fused` make no difference. Raises ValueError for a negative option.
    """

    _later = later(fused=None)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
                 initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
                 maximize: bool = False, differentiable: bool = False, fused: bool | None = None) -> None:
        check_learning_rate(lr)
        check_numbers(lr_decay=lr_decay, weight_decay=weight_decay,
                      initial_accumulator_value=initial_accumulator_value, epsilon=eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        check_modes(foreach, fused, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._begun(p, group)

    _zeros = ("sum",)
    _rate_words = ADDCDIV_TAKES_NUMBERS
    _takes_sparse = True

    def share_memory(self) -> None:
        """Move the sums to memory that processes share."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        start = self.defaults["initial_accumulator_value"]
        state["step"] = scalar(0.0)
        state["sum"] = full_like(p, complex(start, start) if p.is_complex() else start)

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        return group["lr"] / (1 + (as_float(state["step"]) - 1) * group["lr_decay"]), {}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        total = state["sum"].addcmul_(g, g, value=1)
        p.addcdiv_(g, total.sqrt().add(group["eps"]), value=-rates)

    def _step_of_sparse(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        """The step for the elements that a sparse gradient stores."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        if group["fused"]:
            raise noted(
                RuntimeError("`fused` does not support sparse grad or complex param"), because="remove fused=True")
        total, g = state["sum"], (-g if group["maximize"] else g).coalesce()
        values = g._values()
        total.add_(with_values(g, values.pow(2)))
        root = total.sparse_mask(g)._values().sqrt_().add_(group["eps"])
        p.add_(with_values(g, values / root), alpha=-self._rates(state, group)[0])
