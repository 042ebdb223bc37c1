"""Adam: steps scaled by running means of the gradient and of its square.

This module must not know other optimizers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import F32, F64, default_floating
from ..graph.versions import writing, written
from ..modes import local
from ..names import missing
from ..ops.creation import full_beside
from ..ops.framework import operator
from ..tensors.state.base import TensorBase, plain
from . import recorded_steps, stepping
from .formula import CAPTURABLE, capturable_refusal
from .option_memory import OptionMemory, memory_of, rate, step_numbers
from .saved_numbers import as_float, later
from .stepping import Scratch, SteppingOptimizer, blocks, changing, gradient, like, numbers
from .together import MANY, in_one, is_small

__all__ = ["Adam"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)


class Adam(SteppingOptimizer):
    """`p -= lr * m / (sqrt(v) + eps)`. m and v are running means of g and g * g, corrected for their start at 0.

    `betas` are the weights of the past in both means. `weight_decay` adds that multiple of p to g; with
    `decoupled_weight_decay` it shrinks p itself, as in AdamW. `amsgrad` uses the largest v so far. `maximize` changes
    the sign of g. `foreach` and `fused` make no difference.

    >>> import retrograd as torch
    >>> w = torch.nn.Parameter(torch.tensor([1., 2.]))
    >>> optimizer = torch.optim.Adam([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    Parameter containing:
    tensor([0.5000, 1.5000], requires_grad=True)

    With `differentiable`, the graph records the step. Raises ValueError for an option out of range, the errors of
    `Optimizer`, and RuntimeError for `fused` with `foreach` or `differentiable`. A step with `capturable` raises
    AssertionError, since there are no CUDA graphs.
    """

    _later = later(capturable=False, amsgrad=False, decoupled_weight_decay=False, fused=None)
    _were_floats = ("step",)

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
                 decoupled_weight_decay: bool = False) -> None:
        if isinstance(lr, TensorBase) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        stepping.check_learning_rate(lr)
        stepping.check_number(eps, "epsilon value")
        stepping.check_betas(betas)
        stepping.check_number(weight_decay, "weight_decay value")
        _check_kinds(betas, foreach and not capturable)
        super().__init__(params, {
            "lr": lr, "betas": tuple(map(recorded_steps.squeezed, betas)), "eps": eps,
            "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay})
        stepping.check_modes(foreach, fused, differentiable)

    def _sparse_step(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _update(self, line: Any) -> None:
        change, through = changing(_adam), local.thread.transform is not None
        for group in self.param_groups:
            small: dict[tuple[Any, float], list[Any]] = {}   # by dtype and count of steps
            memory, options = memory_of(group), (rate(group), *step_numbers(group, F64, _options, *_OPTIONS))
            joining = not through and len(group["params"]) >= MANY
            for parameter in group["params"]:
                g = gradient(parameter)
                if g is None:
                    continue
                state = self.state[parameter]
                if not state:
                    _start(state, parameter._array, group["amsgrad"])
                if group["capturable"]:
                    _check_capturable(group)
                largest = state["max_exp_avg_sq"]._array if group["amsgrad"] else None
                p, first, second = parameter._array, state["exp_avg"]._array, state["exp_avg_sq"]._array
                writing(p)
                step = state["step"]._array
                if joining and is_small(arrays := _block(p, g, first, second, largest)):
                    step += 1
                    small.setdefault((p.dtype, step.item()), []).append(arrays)
                else:
                    factors = step_numbers(group, p.dtype, _factors, *_OPTIONS) if through else ()
                    change(p, g, first, second, largest, step, _ways(group), options, factors, memory,
                           self._scratch)
                written(p, line)
            for (dtype, count), rows in small.items():
                scale = _Scale(dtype, count, *options)
                in_one(rows, lambda block, scale=scale, group=group: _step(  # type: ignore[misc]
                    block, group["maximize"], group["decoupled_weight_decay"], scale, self._scratch))

    def _record(self, parameter: Any, g: Any, group: dict[str, Any]) -> None:
        if group["capturable"]:
            _check_capturable(group)
        recorded_steps.adam(parameter, g, self.state[parameter], group)


def _check_kinds(betas: tuple[Any, Any], together: Any) -> None:
    """Raises ValueError unless the betas are two floats, or two tensors of one element; `together` allows floats alone.
    """
    kinds = {TensorBase if isinstance(beta, TensorBase) else type(beta) for beta in betas}
    if kinds != {TensorBase} and not all(isinstance(beta, float) for beta in betas):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if isinstance(beta, TensorBase) and together:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if isinstance(beta, TensorBase) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")


def _check_capturable(group: dict[str, Any]) -> None:
    """Raises AssertionError for a step that only CUDA graphs allow."""
    if not group["fused"]:
        raise capturable_refusal("params and state_steps", CAPTURABLE[:-1] if group["foreach"] else CAPTURABLE)


def _start(state: dict[str, Any], p: Any, amsgrad: bool) -> None:
    """The state of a parameter before its first step."""
    state["step"] = plain(full_beside(p, (), F64 if default_floating() is F64 else F32, 0))
    state["exp_avg"] = plain(like(p))
    state["exp_avg_sq"] = plain(like(p))
    if amsgrad:
        state["max_exp_avg_sq"] = plain(like(p))


_OPTIONS = ("betas", "eps", "weight_decay")


def _options(betas: tuple[Any, Any], eps: float, decay: float) -> tuple[float, ...]:
    """The options but for the learning rate."""
    return as_float(betas[0]), as_float(betas[1]), eps, decay


def _factors(betas: tuple[Any, Any], eps: float, decay: float) -> tuple[float, ...]:
    """The factors of both means and of their changes, and that of the parameter in its gradient."""
    first, second = map(as_float, betas)
    return first, 1 - first, second, 1 - second, decay


def _ways(group: dict[str, Any]) -> tuple[bool, bool, bool, bool]:
    """How the formula computes: for a maximum, with decoupled decay, with any decay, with a slow first mean."""
    return (group["maximize"], group["decoupled_weight_decay"], bool(group["weight_decay"]),
            1 - as_float(group["betas"][0]) < 0.5)


def _update(p: Any, g: Any, first: Any, second: Any, largest: Any, step: Any, ways: tuple[bool, ...],
            options: tuple[Any, ...], factors: tuple[Any, ...], memory: OptionMemory | None, scratch: Scratch) -> None:
    """Count a step, and write the next values of a parameter and of its means."""
    step += 1
    scale = _Scale(p.real.dtype, step.item(), *map(as_float, options))
    for block in blocks(_block(p, g, first, second, largest)):
        _step(block, ways[0], ways[1], scale, scratch)


def _block(p: Any, g: Any, first: Any, second: Any, largest: Any) -> tuple[Any, ...]:
    return (p, g, first, second) if largest is None else (p, g, first, second, largest)


_adam = operator("_fused_adam_", _update, tensors=6)


class _Scale:
    """The numbers of one step, as arrays of the parameter's dtype."""

    __slots__ = ("decay", "decays", "eps", "new_first", "new_second", "old_first", "old_second", "rate", "shrink",
                 "slow")

    def __init__(self, dtype: np.dtype[Any], step: float, lr: float, first: float, second: float, eps: float,
                 decay: float) -> None:
        # One factor makes both corrections, since
        # (m / c1) / (sqrt(v / c2) + eps) = m / (sqrt(v) + eps * sqrt(c2)) * sqrt(c2) / c1.
        correction = math.sqrt(1 - second**step)
        self.slow, self.decays = 1 - first < 0.5, bool(decay)
        (self.old_first, self.new_first, self.old_second, self.new_second, self.decay, self.eps, self.rate,
         self.shrink) = numbers(dtype, *_factors((first, second), eps, decay), eps * correction,
                                lr * correction / (1 - first**step), 1 - lr * decay)


def _step(block: tuple[Any, ...], maximize: bool, decoupled: bool, scale: _Scale, scratch: Scratch) -> None:
    """The step of a block of elements: parameter, gradient, both means and, for AMSGrad, the largest second mean."""
    p, g, first, second, *largest = block
    work = scratch.like(p)
    if maximize:
        g = np.negative(g, out=scratch.like(p, 1))
    if scale.decays:
        if decoupled:
            np.multiply(p, scale.shrink, out=p)
        else:
            np.multiply(p, scale.decay, out=work)
            g = np.add(g, work, out=scratch.like(p, 1))
    np.subtract(g, first, out=work)
    if scale.slow:
        np.multiply(work, scale.new_first, out=work)
        np.add(first, work, out=first)
    else:
        np.multiply(work, scale.old_first, out=work)
        np.subtract(g, work, out=first)
    np.multiply(second, scale.old_second, out=second)
    np.multiply(g, g, out=work)
    np.multiply(work, scale.new_second, out=work)
    np.add(second, work, out=second)
    if largest:
        second = np.maximum(largest[0], second, out=largest[0])
    np.sqrt(second, out=work)
    np.add(work, scale.eps, out=work)
    np.divide(first, work, out=work)
    np.multiply(work, scale.rate, out=work)
    np.subtract(p, work, out=p)
