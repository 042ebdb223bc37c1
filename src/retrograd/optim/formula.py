"""What optimizers share whose step is a formula on tensors: the step around the formula, checks, and their state.

The formulas are written with the methods of tensors, so a step can be recorded and differentiated. A formula that
computes element by element also computes with `Elements`, which are quicker. This module must not know any single
optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..autograd.grad_mode import set_grad_enabled
from ..dtypes import C64, C128, F16, F32, F64
from ..errors import user_site
from ..graph.versions import writing, written
from ..modes import local
from ..ops.framework import operator
from ..tensors.functions.creation.creation import zeros_like
from ..tensors.functions.elementwise.elementary import view_as_real
from ..tensors.recording.overriding import Attention, Otherwise
from ..tensors.state.base import TensorBase
from .elements import Elements
from .optimizer import Optimizer
from .option_memory import OptionMemory, keep_values, memory_of
from .saved_numbers import as_float, scalar
from .sparse_steps import refuse_sparse
from .stepping import blocks, check_number, traced
from .together import MANY, in_one, is_small

# The numbers of a step, and the next values of numbers in the state, by name.
Rates: TypeAlias = tuple[Any, dict[str, float]]


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
                options = self._options(group)
                try:
                    for p in group["params"]:
                        g = p.grad
                        if g is not None:
                            self._step_of(p, g, options, line)
                finally:
                    self._finish(options, line)
        return loss

    def _options(self, group: dict[str, Any]) -> dict[str, Any]:
        """The options of a group for one step, with the learning rate as a number."""
        return {**group, "lr": as_float(group["lr"])}

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
    _numbers: tuple[str, ...] = ("step",)                # names of the numbers that `_rates` takes from the state
    _whole = False                                       # whether the formula needs whole parameters, not blocks
    writes_lines = False                                 # whether lines of a plan may compute the formula
    # Options that the first state of a parameter holds, and those of them that the formula does not read.
    _starting: tuple[str, ...] = ()
    _unread: tuple[str, ...] = ()

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        # The arrays of small parameters of the present group, which are computed together, by what they share.
        self._small: dict[Any, list[Any]] = {}
        # What is computed at the end of the present group, in one call on the seam.
        self._traced: list[tuple[tuple[str, ...], list[Any], list[Any]]] = []
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._small, self._traced = {}, []

    def _options(self, group: dict[str, Any]) -> dict[str, Any]:
        """The options of a group for one step. While a call is traced, this is the group itself."""
        return group if traced() else super()._options(group)

    def _names(self, p: Any, group: dict[str, Any]) -> tuple[str, ...]:
        """The names of the tensors in the state of a parameter."""
        return self._zeros

    def _start(self, state: dict[str, Any], p: Any, group: dict[str, Any]) -> None:
        state["step"] = scalar(0.0)
        state.update((name, zeros_like(p)) for name in self._names(p, group))

    def _step_of(self, p: Any, g: Any, group: dict[str, Any], line: Any) -> None:
        if not traced():
            super()._step_of(p, g, group, line)
            return
        state = self.state[p]
        if group.get("differentiable") or group.get("capturable") or p.is_complex():
            self._trace_formula(p, g, group, line)
            return
        if not state:
            keep_values(group, *self._starting)
            self._start(state, p, {**group, **{name: as_float(group[name]) for name in self._starting}})
        names = self._names(p, group)
        tensors, numbers = (p, g, *[state[name] for name in names]), [state[name] for name in self._numbers]
        if self._unread or not (_are_alike(tensors, not self._whole, "like")
                                and all([isinstance(x, TensorBase) for x in numbers])):
            self._trace_formula(p, g, group, line)
            return
        for x in (p, *tensors[2:], *numbers):
            writing(x._array)
            written(x._array, line)
        self._traced.append((names, [x._array for x in tensors], [x._array for x in numbers]))

    def _trace_formula(self, p: Any, g: Any, group: dict[str, Any], line: Any) -> None:
        """Have the trace keep the values of the options that the formula reads, and compute with tensors."""
        read = [name for name in group if name not in self._unread]
        keep_values(group, *read)
        super()._step_of(p, g, {**group, **({"lr": as_float(group["lr"])} if "lr" in read else {})}, line)

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        names = self._names(p, group)
        tensors = (p, g, *[state[name] for name in names])
        rates, following = self._rates(state, group)
        for name, value in following.items():
            put(state[name], value, line)
        if not group.get("differentiable") and _are_plain(tensors, not self._whole):
            arrays = [x._array for x in tensors]
            if not self._whole and len(group["params"]) >= MANY and is_small(arrays):
                self._small.setdefault((names, rates, arrays[0].dtype), []).append(arrays)
            else:
                local.thread.run(self._write, arrays, names, rates, group, line)
        else:
            self._compute(parts(*tensors), names, rates, group)

    def _write(self, arrays: list[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any], line: Any) -> None:
        """Compute with arrays, and count the writes as made on `line`."""
        p, _, *kept = arrays
        for array in (p, *kept):
            writing(array)
        for array, times in zip(arrays, self._change(arrays, names, rates, group)):
            for _ in range(times):
                written(array, line)

    def _change(self, arrays: list[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any]) -> list[int]:
        """Compute with arrays, in blocks. Returns how often each array was written."""
        if not arrays[0].ndim:
            arrays = [array.reshape(1) for array in arrays]
        for block in (arrays,) if self._whole else blocks(tuple(arrays)):
            elements = [Elements(array) for array in block]
            self._compute(elements, names, rates, group)
        return [each.writes for each in elements]

    def _finish(self, group: dict[str, Any], line: Any) -> None:
        if self._traced:
            rows, self._traced = self._traced, []
            memory, lr = memory_of(group), group["lr"]
            options = memory or {**group, "lr": None if isinstance(lr, TensorBase) else lr}
            rates = (lr._array,) if isinstance(lr, TensorBase) else ()
            _step_of_group.write(_step_of_group.kernel, rows, self, options, rates)
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
        for p, _, *kept in rows:
            for array in (p, *kept):
                writing(array)
        writes = self._change_together(rows, names, rates, group)
        for arrays in rows:
            for array, times in zip(arrays, writes):
                for _ in range(times):
                    written(array, line)

    def _change_together(self, rows: list[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any]) -> list[int]:
        """Compute with the arrays of several parameters at once. Returns how often each array of a row was written."""
        writes: list[int] = []

        def compute(arrays: Sequence[Any]) -> None:
            elements = [Elements(array) for array in arrays]
            self._compute(elements, names, rates, group)
            writes[:] = [each.writes for each in elements]

        in_one(rows, compute)
        return writes

    def _compute(self, values: Sequence[Any], names: tuple[str, ...], rates: Any, group: dict[str, Any]) -> None:
        p, g, *kept = values
        g = decayed(-g if group["maximize"] else g, p, group)
        self._formula(p, g, dict(zip(names, kept)), rates, group)

    def _rates(self, state: dict[str, Any], group: dict[str, Any]) -> Rates:
        """The numbers that the formula needs beside the options, and the next values of numbers in the state, by name.

        The state has the numbers `_numbers`, as tensors or as arrays.
        """
        return None, {}

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


def _step_rows(rows: list[tuple[tuple[str, ...], list[Any], list[Any]]], optimizer: ElementsOptimizer,
               options: OptionMemory | dict[str, Any], lr: tuple[Any, ...]) -> None:
    """Write the next values of parameters, from (names of the state, arrays, numbers) of each, as `step` does.

    `lr` is empty, or has the learning rate as an array.
    """
    group = options.options if isinstance(options, OptionMemory) else options
    group = {**group, "lr": as_float(lr[0])} if lr else group
    small: dict[Any, list[Any]] = {}
    for names, arrays, numbers in rows:
        state = dict(zip(optimizer._numbers, numbers))
        state["step"] += 1
        rates, following = optimizer._rates(state, group)
        for name, value in following.items():
            state[name][...] = value
        if not optimizer._whole and len(rows) >= MANY and is_small(arrays):
            small.setdefault((names, rates, arrays[0].dtype), []).append(arrays)
        else:
            optimizer._change(arrays, names, rates, group)
    for (names, rates, _), together in small.items():
        optimizer._change_together(together, names, rates, group)


_step_of_group = operator("_fused_group_", _step_rows, tensors=1)


def _are_plain(tensors: Iterable[Any], alike: bool = True) -> bool:
    """Whether `Elements` may stand for tensors: NumPy arrays of one dtype, and nothing looks at the calls.

    If they are `alike`, they also have one shape.
    """
    return local.thread.transform is None and _are_alike(tensors, alike)


def _are_alike(tensors: Iterable[Any], alike: bool, inner: str = "") -> bool:
    """Whether tensors are NumPy arrays of one dtype that can be written; `inner` names where others keep their array.
    """
    shape = dtype = None
    for x in tensors:
        array, meta = getattr(x._array, inner, x._array) if inner else x._array, x._meta
        if type(x) not in Attention.inert or type(array) is not np.ndarray or (meta is not None and meta.inference):
            return False
        if dtype is None:
            shape, dtype = array.shape, array.dtype
        elif array.dtype is not dtype or (alike and array.shape != shape):
            return False
        if not array.flags.writeable:
            return False
    return dtype in _COMPUTED
