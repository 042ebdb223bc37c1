"""Muon: steps along the gradient's momentum made orthogonal, for matrices of weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..tensors.functions.linalg.accumulating import addmm
from ..tensors.tensor import Tensor
from .formula import FormulaOptimizer
from .saved_numbers import as_float
from .stepping import SHOULD, check_number, check_rate_tensor

__all__ = ["Muon"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

EPS = 1e-7
DEFAULT_A, DEFAULT_B, DEFAULT_C = 3.4445, -4.7750, 2.0315
DEFAULT_NS_STEPS = 5


def _zeropower_via_newtonschulz(grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int,
                                eps: float) -> Any:
    """The nearest orthogonal matrix, roughly, in bfloat16: a few steps of a Newton-Schulz iteration of fifth order."""
    if ns_steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if grad.ndim != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(ns_coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = ns_coefficients
    turned = grad.size(0) > grad.size(1)
    x = grad.bfloat16()
    x = x.T if turned else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(ns_steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if turned else x


def _adjust_lr(lr: float, adjust_lr_fn: str | None, param_shape: Any) -> float:
    """The learning rate for a matrix of this shape."""
    rows, columns = param_shape[:2]
    if adjust_lr_fn == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))


class Muon(FormulaOptimizer):
    """`p -= a * orthogonal(u)`, where u is a running mean of the gradients, for parameters that are matrices.

    The newest gradient has the weight `1 - momentum` in the mean. With `nesterov`, u is the mean one step ahead.
    `orthogonal` takes `ns_steps` steps in bfloat16 with `ns_coefficients`; `eps` is the least norm to divide by. The
    rate a is `lr`, adjusted to the shape: by "original" (the default) or "match_rms_adamw". `weight_decay` shrinks p.
    Raises ValueError for an option out of range and for a parameter that is no matrix. It needs the package
    `ml_dtypes`.
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
                 nesterov: bool = True,
                 ns_coefficients: tuple[float, float, float] = (DEFAULT_A, DEFAULT_B, DEFAULT_C), eps: float = EPS,
                 ns_steps: int = DEFAULT_NS_STEPS, adjust_lr_fn: str | None = None) -> None:
        check_rate_tensor(lr)
        check_number(lr, "Learning rate", SHOULD)
        check_number(momentum, "momentum", SHOULD)
        check_number(weight_decay, "weight decay", SHOULD)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                     f"{p.size()}")

    def _start(self, state: dict[str, Any], p: Tensor, group: dict[str, Any]) -> None:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state["momentum_buffer"] = p.new_zeros(p.shape)

    def _update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        lr, momentum = as_float(group["lr"]), group["momentum"]
        mean = state["momentum_buffer"].lerp_(g, 1 - momentum)
        change = _zeropower_via_newtonschulz(g.lerp(mean, momentum) if group["nesterov"] else mean,
                                             group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(change, alpha=-_adjust_lr(lr, group["adjust_lr_fn"], p.shape))
