"""What optimizers share whose step is a formula on tensors: the step around the formula, checks, and their state.

The formulas are written with the functions of tensors, so a step can be recorded and differentiated. This module must
not know any single optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import set_grad_enabled
from ..dtypes import default_floating, float32, float64
from ..tensors.functions.creation.creation import tensor, zeros_like
from ..tensors.functions.elementwise.elementary import view_as_real
from ..tensors.recording.overriding import Otherwise
from .optimizer import Optimizer
from .sparse_steps import refuse_sparse
from .stepping import as_float, check_number


def check_numbers(**options: Any) -> None:
    """Raises ValueError for an option that is negative or nan."""
    for name, value in options.items():
        check_number(value, f"{name} value")


def scalar(value: Any) -> Any:
    """A number as a 0-d tensor, in the dtype in which steps are counted: float64 if that is the default dtype."""
    return tensor(as_float(value), dtype=float64 if default_floating() is float64.dtype else float32)


def decayed(g: Any, p: Any, group: dict[str, Any]) -> Any:
    """The gradient with the weight decay, a multiple of the parameter, added. A decoupled decay shrinks p instead."""
    decay = group["weight_decay"]
    if decay == 0:
        return g
    if group.get("decoupled_weight_decay"):
        p.mul_(1 - group["lr"] * decay)
        return g
    return g.add(p, alpha=decay)


def parts(*tensors: Any) -> tuple[Any, ...]:
    """Views of complex tensors as pairs of real numbers; real tensors as they are."""
    return tuple([view_as_real(x) if x.is_complex() else x for x in tensors])


# The devices that can capture steps.
CAPTURABLE = ("cuda", "xpu", "hpu", "privateuseone", "xla")


def capturable_refusal(captured: str, devices: tuple[str, ...]) -> AssertionError:
    """The error about `capturable=True` on a CPU. `captured` are PyTorch's names of the tensors."""
    return AssertionError(f"If capturable=True, {captured} must be on supported devices: {[*devices]}.")


class FormulaOptimizer(Optimizer):
    """An optimizer whose step is a formula on tensors. A subclass defines `_update`, and names its state in `_zeros`.

    The state of a parameter is the count `step`, and zeros like the parameter for each name in `_zeros`. With
    `differentiable`, steps are recorded.
    """

    _zeros: tuple[str, ...] = ()
    _takes_sparse = False                                # whether `_update` takes sparse gradients
    # What the error about `capturable` says: PyTorch's names of the tensors, and its devices.
    _captured = "params and state_steps"
    _devices: tuple[str, ...] = CAPTURABLE

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. Returns the loss that `closure` computes; None without a closure.
        """
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            loss = self._evaluated(closure)
            if Otherwise.handler is not None and not self._takes_sparse:
                refuse_sparse(self)
            for group in self.param_groups:
                options = {**group, "lr": as_float(group["lr"])}
                for p in group["params"]:
                    if p.grad is not None:
                        self._step_of(p, p.grad, options)
        return loss

    def _step_of(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        if group.get("capturable"):
            raise capturable_refusal(self._captured, self._devices)
        state = self.state[p]
        if not state:
            self._start(state, p, group)
        if group.get("maximize"):
            g = -g
        if "step" in state:
            state["step"] += 1
        self._update(p, g, state, group)

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        """Make the state of a parameter before its first step."""
        state["step"] = scalar(0.0)
        state.update((name, zeros_like(p)) for name in self._zeros)

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Write the new values of a parameter and of its state, for a gradient and the options of its group."""
        raise NotImplementedError
