"""Adafactor: Adam for large matrices, whose mean of squares is kept by rows and columns only (arXiv:1804.04235)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from ..foundations.dtypes import dtype
from ..foundations.limits import finfo
from ..foundations.names import missing
from ..tensors.functions.creation.creation import zeros_like
from .elements import Elements
from .elementwise import ElementsOptimizer, Rates
from .quick_code import Ready
from .saved_numbers import as_float, scalar
from .stepping import SHOULD, check_number, check_rate_tensor

__all__ = ["Adafactor"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class Adafactor(ElementsOptimizer):
    """`p -= a * u`, with `u = g / sqrt(v)` shortened to a root mean square of `d` at most.

    v is a running mean of g * g. For a matrix, only the means over the rows and over the columns are kept. The weight
    of the newest gradient is `t ** beta2_decay`. The rate a is the smaller one of `lr` and `1 / sqrt(t)`, times the
    root mean square of p. `eps` are lower limits of v and of that root; None stands for the precision of the dtype.
    `weight_decay` shrinks p. `maximize` changes the sign of g. `foreach` makes no difference. Raises ValueError for an
    option out of range.
    """

    _later: ClassVar[Mapping[str, Any]] = {"foreach": None}
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-2, beta2_decay: float = -0.8,
                 eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
                 foreach: bool | None = None, maximize: bool = False) -> None:
        check_rate_tensor(lr)
        check_number(lr, "Learning rate", SHOULD)
        if not 0.0 >= beta2_decay:                         # noqa: SIM300  PyTorch's order, which a TypeError names
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            check_number(eps[0], "epsilon1", SHOULD)
        check_number(eps[1], "epsilon2", SHOULD)
        if not 1.0 <= d:                                   # noqa: SIM300
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        check_number(weight_decay, "weight_decay", SHOULD)
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize})

    _whole = True

    def _names(self, p: Any, group: dict[str, Any]) -> tuple[str, ...]:
        return ("row_var", "col_var") if p.ndim > 1 else ("variance",)

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        state["step"] = scalar(0.0)
        if p.ndim > 1:
            *stack, rows, columns = p.shape
            state["row_var"], state["col_var"] = p.new_zeros([*stack, rows, 1]), p.new_zeros([*stack, 1, columns])
        else:
            state["variance"] = zeros_like(p)

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        super()._update(p, g, state, group, line)

    def _compute_whole(self, arrays: Sequence[Any], ready: Ready,
                       group: dict[str, Any]) -> tuple[tuple[int, int], ...]:
        p, g, *kept = elements = [Elements(array) for array in arrays]
        self._compute(p, g, dict(zip(ready.names, kept)), ready.rates, group)
        return tuple([(place, each.writes) for place, each in enumerate(elements) if each.writes])

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        return as_float(state["step"]), {}

    def _compute(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: dict[str, Any]) -> None:
        g = -g if group["maximize"] else g
        lr, least = group["lr"], group["eps"][1]
        floor = _precision(p.dtype) if group["eps"][0] is None else group["eps"][0]
        rate = max(least, p.norm(2).item() / p.numel() ** 0.5) * min(lr, 1 / rates ** 0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        square = _squares(g, [*state.values()], rates ** group["beta2_decay"], floor)
        change = square.clamp(min=floor * floor).rsqrt().mul(g)
        size = change.norm(2).item() / (change.numel() ** 0.5 * group["d"])
        p.add_(change, alpha=-rate / max(1.0, size))


@lru_cache
def _precision(kind: dtype) -> float:
    """The distance from 1 to the next number."""
    return finfo(kind).eps


def _squares(g: Any, kept: list[Any], weight: float, floor: float) -> Any:
    """The running mean of g * g, with this weight of the newest gradient. The state holds the mean or its parts."""
    if g.ndim <= 1:
        return kept[0].lerp_(g.mul(g), weight)
    rows, columns = (part.lerp_(g.norm(2, dim, True).square().div(g.size(dim)), weight)
                     for part, dim in zip(kept, (-1, -2)))
    return rows.matmul(columns).div(rows.mean(-2, True).clamp(min=floor))
