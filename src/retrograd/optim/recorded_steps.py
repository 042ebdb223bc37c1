"""The steps of SGD and Adam as formulas on tensors: for `differentiable=True`, and for bfloat16.

The graph records the steps for `differentiable=True`, and the options of a group may be tensors that require grad.
"""

from __future__ import annotations

import math
from typing import Any

from ..tensors.functions.creation.creation import zeros_like
from ..tensors.functions.elementwise.comparison import maximum
from ..tensors.state.base import TensorBase
from .formula import parts
from .saved_numbers import as_float, scalar


def _requires_grad(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.requires_grad


def squeezed(value: Any) -> Any:
    """An option without dimensions."""
    return value.squeeze() if isinstance(value, TensorBase) and value.ndim else value


def _decayed(g: Any, p: Any, decay: Any) -> Any:
    """The gradient with a multiple of the parameter added. The formula writes over the parameter later."""
    if _requires_grad(decay):
        return g.addcmul(p.clone(), decay)
    return g.add(p, alpha=as_float(decay)) if decay != 0 else g


def sgd(p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    """Write the next value of a parameter, and of its momentum."""
    lr, momentum = squeezed(group["lr"]), group["momentum"]
    g = _decayed(-g if group["maximize"] else g, p, group["weight_decay"])
    if momentum != 0:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = g.detach().clone()
        else:
            buffer.mul_(momentum).add_(g, alpha=1 - group["dampening"])
        g = g.add(buffer, alpha=momentum) if group["nesterov"] else buffer
    if _requires_grad(lr):
        p.addcmul_(g, lr, value=-1)
    else:
        p.add_(g, alpha=-as_float(lr))


def _start(state: dict[str, Any], p: Any, amsgrad: bool) -> None:
    state["step"] = scalar(0.0)
    state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
    if amsgrad:
        state["max_exp_avg_sq"] = zeros_like(p)


def _correction(beta: Any, step: Any) -> Any:
    """What corrects a mean for its start at 0. A later step writes over the count."""
    return 1 - beta ** (step.clone() if _requires_grad(beta) else step)


def adam(p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    """Write the next values of a parameter and of its means."""
    if not state:
        _start(state, p, group["amsgrad"])
    if state["step"].requires_grad:
        raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
    lr, (first, second) = squeezed(group["lr"]), map(squeezed, group["betas"])
    decay, eps = group["weight_decay"], group["eps"]
    g = -g if group["maximize"] else g
    state["step"] += 1
    if decay != 0 and group["decoupled_weight_decay"]:
        p.mul_(1 - lr * decay)
    elif decay != 0:
        g = _decayed(g, p, decay)
    p, g, mean, squares = parts(p, g, state["exp_avg"], state["exp_avg_sq"])
    mean.lerp_(g, 1 - (first.to(p.dtype) if isinstance(first, TensorBase) else first))
    if _requires_grad(second):
        squares.lerp_(g.square(), 1 - second)
    else:
        squares.mul_(second).addcmul_(g, g, value=as_float(1 - second))
    rate = -(lr / _correction(first, state["step"]))
    if group["amsgrad"]:
        largest, = parts(state["max_exp_avg_sq"])
        largest.copy_(maximum(largest.clone(), squares))
        squares = largest
    if not group["differentiable"]:
        step = state["step"].item()
        root = (squares.sqrt() / math.sqrt(1 - as_float(second) ** step)).add_(eps)
        p.addcdiv_(mean, root, value=-as_float(lr) / (1 - as_float(first) ** step))
        return
    # p + rate * mean / (sqrt(squares) / correction + eps), with the rate divided into both terms below.
    scale = squares.sqrt().div(_correction(second, state["step"]).sqrt() * rate).add_(eps / rate)
    p.addcdiv_(mean.clone(), scale)
