"""What optimizers share whose step is a formula on tensors: the step around the formula, checks, and their state.

The formulas are written with the methods of tensors, so a step can be recorded and differentiated. `elementwise` has
quicker ways to compute a formula. This module must not know any single optimizer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..foundations.errors import user_site
from ..foundations.inherited import named_copy
from ..foundations.modes import local, tape
from ..tensors.functions.elementwise.elementary import view_as_real
from ..tensors.state.base import TensorBase
from ..tensors.state.dispatch import DISPATCH
from .optimizer import Optimizer
from .saved_numbers import as_float
from .sparse_steps import refuse_sparse
from .stepping import check_number


def check_numbers(**options: Any) -> None:
    """Raises ValueError for an option that is negative or nan."""
    for name, value in options.items():
        check_number(value, f"{name} value")


def decayed(g: Any, p: Any, group: dict[str, Any]) -> Any:
    """The gradient with the weight decay, a multiple of the parameter, added. A decoupled decay shrinks p instead."""
    decay = group.get("weight_decay", 0)
    if decay == 0:
        return g
    if group.get("decoupled_weight_decay"):
        p.mul_(1 - group["lr"] * decay)
        return g
    if is_learned(decay):                                # the graph keeps the parameter, which the step writes over
        return g.addcmul(p.clone(), decay)
    return g.add(p, alpha=as_float(decay))


def is_learned(option: Any) -> bool:
    """Whether an option is a tensor that gradients are computed for."""
    return isinstance(option, TensorBase) and option.requires_grad


def without_dimensions(option: Any) -> Any:
    """An option without dimensions."""
    return option.squeeze() if isinstance(option, TensorBase) and option.ndim else option


def add_times(p: Any, g: Any, factor: Any) -> None:
    """Add a multiple of `g` to a parameter."""
    if is_learned(factor):
        p.addcmul_(g, factor)
    else:
        p.add_(g, alpha=as_float(factor))


def parts(*tensors: Any) -> tuple[Any, ...]:
    """Views of complex tensors as pairs of real numbers; real tensors as they are."""
    return tuple([view_as_real(x) if x.is_complex() else x for x in tensors])


def _has_work(group: dict[str, Any]) -> bool:
    return any(p.grad is not None for p in group["params"])


# The texts of errors about tensors with gradients in the place of a number.
ADD_TAKES_NUMBERS = "add_(): argument 'alpha' must be Number, not Tensor"
ADDCDIV_TAKES_NUMBERS = "addcdiv_(): argument 'value' must be Number, not Tensor"
# The option that may be a tensor in all optimizers.
_RATE = ("lr",)
# The devices that can capture steps.
CAPTURABLE = ("cuda", "xpu", "hpu", "privateuseone", "xla")


def capturable_refusal(captured: str, devices: tuple[str, ...]) -> AssertionError:
    """The error about `capturable=True` on a CPU. `captured` are PyTorch's names of the tensors."""
    return AssertionError(f"If capturable=True, {captured} must be on supported devices: {[*devices]}.")


class FormulaOptimizer(Optimizer):
    """An optimizer whose step is a formula on tensors. A subclass defines `_start` and `_update`.

    With `differentiable`, steps are recorded.
    """

    _takes_sparse = False                                # whether `_update` takes sparse gradients
    _sparse_words = ""                                   # the error about sparse gradients, if it is an own one
    # Options that may be tensors with gradients, if the step is differentiable.
    _learned: tuple[str, ...] = ()
    _rate_words = ""                                     # the error about `lr` with gradients, if the step takes none
    _records_together = False                            # whether a differentiable step may have the option `foreach`
    # What the error about `capturable` says, without and with `foreach`: PyTorch's names of tensors, and its devices.
    _captured = _captured_together = "params and state_steps"
    _devices: tuple[str, ...] = CAPTURABLE
    _devices_together: tuple[str, ...] = CAPTURABLE[:-1]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if cls.__module__.partition(".")[0] == __name__.partition(".")[0] and "step" not in vars(cls):
            cls.step = named_copy(inspect.unwrap(cls.step), f"{cls.__qualname__}.step")   # type: ignore[method-assign]
        super().__init_subclass__(**kwargs)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. Returns the loss that `closure` computes; None without a closure.
        """
        thread = local.thread
        before = thread.grad
        thread.grad = bool(self.defaults.get("differentiable")) and not thread.inference
        try:
            loss = None if closure is None else self._evaluated(closure)
            if DISPATCH.fallback is not None and not self._takes_sparse:
                refuse_sparse(self, self._sparse_words)
            line = user_site(2)
            if thread.levels and (written := tape()) is not None:
                written.leave("the program makes a step of an optimizer inside of vmap or forward mode")
            for group in self.param_groups:
                self._step_of_group(group, line)
        finally:
            thread.grad = before
        return loss

    def _step_of_group(self, group: dict[str, Any], line: Any) -> None:
        options = self._options(group)
        try:
            for p in group["params"]:
                g = p.grad
                if g is not None:
                    self._step_of(p, g, options, line)
        finally:
            self._finish(options, line)

    def _options(self, group: dict[str, Any]) -> dict[str, Any]:
        """The options of a group for one step: numbers, except for tensors that may get gradients."""
        changed = {}
        if group.get("differentiable") and group.get("foreach") and not self._records_together and _has_work(group):
            raise AssertionError("_foreach ops don't support autograd")
        if group.get("foreach") and not group.get("capturable"):
            self._check_together(group)
        for name in self._learned or _RATE:
            value: Any = group.get(name)
            kind = type(value)
            if kind is float or kind is int or (kind is tuple and type(value[0]) is float):
                continue
            if is_learned(value) and _has_work(group):
                self._check_learned_rate(group)
            take = without_dimensions if self._learned and group.get("differentiable") else as_float
            changed[name] = tuple(map(take, value)) if kind is tuple else take(value)
        return {**group, **changed} if changed else group

    def _check_together(self, group: dict[str, Any]) -> None:
        """Raises PyTorch's error for options that a step with `foreach` does not take."""

    def _check_learned_rate(self, group: dict[str, Any]) -> None:
        """Raises TypeError for a rate with gradients that a differentiable step hands on as a number."""
        if self._rate_words and group.get("differentiable"):
            raise TypeError(self._rate_words)

    def _finish(self, group: dict[str, Any], line: Any) -> None:
        """Compute what `_update` has put off to the end of a group."""

    def _step_of(self, p: TensorBase, g: TensorBase, group: dict[str, Any], line: Any) -> None:
        if group.get("capturable"):
            self._refuse_capturable(group)
        self._update(p, g, self._begun(p, group), group, line)

    def _begun(self, p: TensorBase, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter. It begins all at once, so that no interrupt leaves a part of it."""
        state: dict[str, Any] = self.state[p]
        if not state:
            begun: dict[str, Any] = {}
            self._start(begun, p, group)
            state.update(begun)
        return state

    def _refuse_capturable(self, group: dict[str, Any]) -> None:
        """Raises AssertionError for a step that only CUDA graphs allow, if the optimizer has this option."""
        if "capturable" not in self.defaults:
            return
        if group["foreach"]:
            raise capturable_refusal(self._captured_together, self._devices_together)
        raise capturable_refusal(self._captured, self._devices)

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        """Make the state of a parameter before its first step."""
        raise NotImplementedError

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        """Write the new values of a parameter and of its state, for a gradient and the options of its group.

        A later error about these writes names `line`.
        """
        raise NotImplementedError
