"""Stochastic gradient descent, with momentum as PyTorch defines it. This module must not know other optimizers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.versions import writing, written
from ..modes import local
from ..names import missing
from ..ops.framework import operator
from ..tensors.state.base import plain
from . import recorded_steps, stepping
from .option_memory import rate, step_numbers
from .saved_numbers import as_float, later
from .stepping import Scratch, SteppingOptimizer, blocks, changing, gradient, like, numbers

__all__ = ["SGD"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


class SGD(SteppingOptimizer):
    """`p -= lr * g`; with momentum `b = momentum * b + (1 - dampening) * g` and `p -= lr * b`.

    With `nesterov` the step is `p -= lr * (g + momentum * b)`. `weight_decay` adds that multiple of p to g. `maximize`
    changes the sign of g. `foreach` and `fused` make no difference. With `differentiable`, the graph records the step.

    >>> import retrograd as torch
    >>> w = torch.nn.Parameter(torch.tensor([1., 2.]))
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    Parameter containing:
    tensor([0., 0.], requires_grad=True)

    Raises ValueError for a negative option, for Nesterov's momentum without momentum or with dampening, and the errors
    of `Optimizer`; RuntimeError for `fused` with `foreach` or `differentiable`.
    """

    _later = later(nesterov=False, fused=False)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: Any = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
                 differentiable: bool = False, fused: bool | None = None) -> None:
        stepping.check_learning_rate(lr)
        stepping.check_number(momentum, "momentum value")
        stepping.check_number(weight_decay, "weight_decay value")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})
        stepping.check_modes(foreach, fused, differentiable)

    def _update(self, line: Any) -> None:
        scratch, through = self._scratch, local.thread.transform is not None
        for group in self.param_groups:
            momentum, decay = group["momentum"], as_float(group["weight_decay"])
            lr, factors = rate(group), _factors(momentum, group["dampening"], decay)
            simple = not (momentum or decay or group["maximize"] or through)
            for parameter in group["params"]:
                g = gradient(parameter)
                if g is None:
                    continue
                p = parameter._array
                writing(p)
                if simple:
                    factor, = numbers(p.real.dtype, lr)
                    for p_block, g_block in blocks((p, g)):
                        change = scratch.like(p_block)
                        np.multiply(g_block, factor, out=change)
                        np.subtract(p_block, change, out=p_block)
                else:
                    if through:
                        factors = step_numbers(group, p.dtype, _factors, *_FACTORS)
                    self._general(parameter, p, g, group, (lr, *factors))
                written(parameter._array, line)

    def _sparse_step(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        if group["fused"]:
            raise RuntimeError("`_fused_sgd` does not support sparse gradients. Remove fused=True.")
        recorded_steps.sgd(p, g, self.state[p] if group["momentum"] != 0 else {}, group)

    def _record(self, parameter: Any, g: Any, group: dict[str, Any]) -> None:
        recorded_steps.sgd(parameter, g, self.state[parameter] if group["momentum"] != 0 else {}, group)

    def _general(self, parameter: Any, p: Any, g: Any, group: dict[str, Any], rates: tuple[Any, ...]) -> None:
        """The step of one parameter with momentum, weight decay or `maximize`, or under a transform."""
        first, buffer = False, None
        if group["momentum"]:
            state = self.state[parameter]
            held = state.get("momentum_buffer")
            if held is None:
                first, held = True, plain(like(p))
                state["momentum_buffer"] = held
            buffer = held._array
        options = {name: bool(group[name]) for name in _OPTIONS}
        changing(_sgd)(p, g, buffer, options, rates, first, self._scratch)


_FACTORS = ("momentum", "dampening", "weight_decay")
_OPTIONS = (*_FACTORS, "nesterov", "maximize")


def _factors(momentum: float, dampening: float, decay: Any) -> tuple[float, ...]:
    return momentum, 1 - dampening, as_float(decay)


def _update(p: Any, g: Any, buffer: Any, options: dict[str, Any], rates: tuple[Any, ...], first: bool,
            scratch: Scratch) -> None:
    """Write the new values of a parameter and of its buffer, if there is one."""
    factor, *others = numbers(p.real.dtype, *map(as_float, rates))
    for block in blocks((p, g) if buffer is None else (p, g, buffer)):
        _step(block, options, factor, others, first, scratch)


_sgd = operator("_fused_sgd_", _update, tensors=3)


def _step(block: tuple[Any, ...], group: dict[str, Any], factor: Any, others: list[Any], first: bool,
          scratch: Scratch) -> None:
    """The step of a block of elements: parameter, gradient and, with momentum, buffer."""
    p, direction, *buffers = block
    momentum, undamped, decay = others
    spare, change = scratch.like(p, 1), scratch.like(p)
    if group["maximize"]:
        direction = np.negative(direction, out=spare)
    if group["weight_decay"]:
        np.multiply(p, decay, out=change)
        direction = np.add(direction, change, out=spare)
    if buffers:
        buffer = buffers[0]
        if first:
            np.copyto(buffer, direction)
        else:
            np.multiply(buffer, momentum, out=buffer)
            if group["dampening"]:
                np.add(buffer, np.multiply(direction, undamped, out=change), out=buffer)
            else:
                np.add(buffer, direction, out=buffer)
        if group["nesterov"]:
            np.multiply(buffer, momentum, out=change)
            direction = np.add(direction, change, out=change)
        else:
            direction = buffer
    np.subtract(p, np.multiply(direction, factor, out=change), out=p)
