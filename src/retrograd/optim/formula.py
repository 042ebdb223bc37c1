"""What optimizers share whose step is a formula on tensors: the step around the formula, checks, and their state.

The formulas are written with the methods of tensors, so a step can be recorded and differentiated. A formula that
computes element by element also computes with `Elements`, which are quicker. This module must not know any single
optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..autograd.grad_mode import set_grad_enabled
from ..dtypes import C64, C128, F16, F32, F64, default_floating, float32, float64
from ..errors import user_site
from ..graph.versions import writing, written
from ..modes import local
from ..tensors.functions.creation.creation import tensor, zeros_like
from ..tensors.functions.elementwise.elementary import view_as_real
from ..tensors.recording.overriding import Attention, Otherwise
from ..tensors.state.base import TensorBase
from .elements import Elements
from .optimizer import Optimizer
from .sparse_steps import refuse_sparse
from .stepping import as_float, blocks, check_number
from .together import MANY, in_one, is_small


def check_numbers(**options: Any) -> None:
    """Raises ValueError for an option that is negative or nan."""
    for name, value in options.items():
        check_number(value, f"{name} value")


def scalar(value: Any) -> Any:
    """A number as a 0-d tensor, in the dtype in which steps are counted: float64 if that is the default dtype."""
    return tensor(as_float(value), dtype=float64 if default_floating() is float64.dtype else float32)


def decayed(g: Any, p: Any, group: dict[str, Any]) -> Any:
    """The gradient with the weight decay, a multiple of the parameter, added. A decoupled decay shrinks p instead."""
    decay = group.get("weight_decay", 0)
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
    """An optimizer whose step is a formula on tensors. A subclass defines `_start` and `_update`.

    With `differentiable`, steps are recorded.
    """

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
            line = user_site(2)
            for group in self.param_groups:
                options = {**group, "lr": as_float(group["lr"])}
                try:
                    for p in group["params"]:
                        g = p.grad
                        if g is not None:
                            self._step_of(p, g, options, line)
                finally:
                    self._finish(options, line)
        return loss

    def _finish(self, group: dict[str, Any], line: Any) -> None:
        """Compute what `_update` has put off to the end of a group."""

    def _step_of(self, p: Any, g: Any, group: dict[str, Any], line: Any) -> None:
        if group.get("capturable"):
            raise capturable_refusal(self._captured, self._devices)
        state = self.state[p]
        if not state:
            self._start(state, p, group)
        if "step" in state:
            _count(state, line)
        self._update(p, g, state, group, line)

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        """Make the state of a parameter before its first step."""
        raise NotImplementedError

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        """Write the new values of a parameter and of its state, for a gradient and the options of its group.

        A later error about these writes names `line`.
        """
        raise NotImplementedError


class ElementsOptimizer(FormulaOptimizer):
    """An optimizer whose formula also computes with `Elements`: element by element. A subclass defines `_formula`.

    The state of a parameter is the count `step`, numbers, and tensors like the parameter, whose names `_names` returns.
    """

    _zeros: tuple[str, ...] = ()                         # names of tensors that begin as zeros
    _whole = False                                       # whether the formula needs whole parameters, not blocks

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        # The arrays of small parameters of the present group, which are computed together, by what they share.
        self._small: dict[Any, list[Any]] = {}
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._small = {}

    def _names(self, p: Any, group: dict[str, Any]) -> tuple[str, ...]:
        """The names of the tensors in the state of a parameter."""
        return self._zeros

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        state["step"] = scalar(0.0)
        state.update((name, zeros_like(p)) for name in self._names(p, group))

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        names = self._names(p, group)
        tensors, rates = (p, g, *[state[name] for name in names]), self._rates(state, group, line)
        if not group.get("differentiable") and _are_plain(tensors, not self._whole):
            arrays = [x._array for x in tensors]
            if not self._whole and len(group["params"]) >= MANY and is_small(arrays):
                self._small.setdefault((names, rates, arrays[0].dtype), []).append(arrays)
            else:
                local.thread.run(self._write, arrays, names, rates, group, line)
        else:
            self._compute(parts(*tensors), names, rates, group)

    def _write(self, arrays: list[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any], line: Any) -> None:
        """Compute with arrays, in blocks, and count the writes as made on `line`."""
        p, _, *kept = arrays
        for array in (p, *kept):
            writing(array)
        if not p.ndim:
            arrays = [array.reshape(1) for array in arrays]
        for block in (arrays,) if self._whole else blocks(tuple(arrays)):
            elements = [Elements(array) for array in block]
            self._compute(elements, names, rates, group)
        for array, written_to in zip(arrays, elements):
            for _ in range(written_to.writes):
                written(array, line)

    def _finish(self, group: dict[str, Any], line: Any) -> None:
        if not self._small:
            return
        small, self._small = self._small, {}
        for (names, rates, _), rows in small.items():
            if len(rows) == 1:
                local.thread.run(self._write, rows[0], names, rates, group, line)
            else:
                local.thread.run(self._write_together, rows, names, rates, group, line)

    def _write_together(self, rows: list[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any],
                        line: Any) -> None:
        """Compute with the arrays of several small parameters at once."""
        writes: list[int] = []

        def compute(arrays: Sequence[Any]) -> None:
            elements = [Elements(array) for array in arrays]
            self._compute(elements, names, rates, group)
            writes[:] = [each.writes for each in elements]

        for p, _, *kept in rows:
            for array in (p, *kept):
                writing(array)
        in_one(rows, compute)
        for arrays in rows:
            for array, times in zip(arrays, writes):
                for _ in range(times):
                    written(array, line)

    def _compute(self, values: Sequence[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any]) -> None:
        p, g, *kept = values
        g = decayed(-g if group["maximize"] else g, p, group)
        self._formula(p, g, dict(zip(names, kept)), rates, group)

    def _rates(self, state: dict[str, Any], group: dict[str, Any], line: Any) -> Any:
        """The numbers that the formula needs beside the options, by the count of the step; write those in the state."""

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: dict[str, Any]) -> None:
        """Write the new values of a parameter and of its state. All values are real tensors, or all are `Elements`."""
        raise NotImplementedError


_COMPUTED = frozenset((F16, F32, F64, C64, C128))


def _count(state: dict[str, Any], line: Any) -> None:
    """Count a step."""
    step = state["step"]
    if isinstance(step, TensorBase) and _are_plain((step,)):
        put(step, as_float(step) + 1, line)
    else:
        state["step"] += 1


def put(held: Any, value: float, line: Any) -> None:
    """Write a number over a tensor without dimensions that a state holds."""
    if _are_plain((held,)):
        writing(held._array)
        held._array[...] = value
        written(held._array, line)
    else:
        held.fill_(value)


def _are_plain(tensors: Iterable[Any], alike: bool = True) -> bool:
    """Whether `Elements` may stand for tensors: NumPy arrays of one dtype, and nothing looks at the calls.

    If they are `alike`, they also have one shape.
    """
    if local.thread.transform is not None:
        return False
    shape = dtype = None
    for x in tensors:
        array, meta = x._array, x._meta
        if type(x) not in Attention.inert or type(array) is not np.ndarray or (meta is not None and meta.inference):
            return False
        if dtype is None:
            shape, dtype = array.shape, array.dtype
        elif array.dtype is not dtype or (alike and array.shape != shape):
            return False
        if not array.flags.writeable:
            return False
    return dtype in _COMPUTED
