"""Optimizers that state their step as a formula. The formula stands once, and computes in three ways.

With `differentiable`, it computes with tensors, and the graph records the step; so do steps that a mode must see. All
other steps run code that the formula has written (`quick_code`). In a compiled function, it writes lines of the plan.
This module must not know any single optimizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from operator import is_not
from typing import Any, TypeAlias

import numpy as np

from ..foundations.dtypes import F32, Array
from ..foundations.modes import local
from ..graph import versions
from ..kernels.layout import owner_of
from ..tensors.functions.creation.creation import zeros_like
from ..tensors.functions.elementwise.elementary import view_as_complex
from ..tensors.state.base import TensorBase
from ..tensors.state.dispatch import DISPATCH
from ..tensors.state.inside import is_sparse
from .formula import FormulaOptimizer, decayed, is_learned, parts
from .option_memory import keep_values, memory_of
from .plain_arrays import COMPUTED, are_alike, arrays_of, have_tangents, put, row_of
from .quick_code import Code, Ready, is_closed, write_code
from .saved_numbers import as_float, is_stand_in, scalar
from .stepping import Scratch, blocks, check_fused, numbers
from .together import MANY, SMALL, in_one, is_small, step_of_rows

# The numbers of a step, and the next values of numbers in the state, by name.
Rates: TypeAlias = tuple[Any, dict[str, float]]


class ElementsOptimizer(FormulaOptimizer):
    """An optimizer that states its step as a formula. A subclass defines `_formula`, and its options in `__init__`.

    The state of a parameter is the count `step`, numbers, and tensors like the parameter, whose names `_names` returns.
    The options `maximize`, `weight_decay` and `decoupled_weight_decay` are applied before the formula, if it has them.
    """

    _zeros: tuple[str, ...] = ()                         # names of tensors that begin as zeros
    _made: tuple[str, ...] = ()                          # names of tensors that the formula makes in the first step
    _numbers: tuple[str, ...] = ("step",)                # names of the numbers that `_rates` takes from the state
    _closed = False                                      # whether the formula computes with its arguments alone
    _quick = False                                       # whether steps of plain parameters need no calls of their own
    _whole = False                                       # whether the formula needs whole parameters, not blocks
    _pairs = True                                        # whether tensors of complex numbers are pairs of real ones
    writes_lines = False                                 # whether lines of a plan may compute the formula and its rates
    # Options that the first state of a parameter holds, and those of them that the formula does not read.
    _starting: tuple[str, ...] = ()
    _unread: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._closed = all(map(is_closed, (cls._formula, cls._rates, cls._compute)))
        cls._quick = cls._closed and not cls._whole and cls._numbers in _COUNTS and (
            cls._update is ElementsOptimizer._update)

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self._scratch = Scratch()
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._scratch = Scratch()

    def give_back(self) -> None:
        """Give the memory back that steps compute in. A program whose steps are compiled does not need it."""
        self._scratch.clear()

    def _names(self, p: TensorBase, group: dict[str, Any]) -> tuple[str, ...]:
        """The names of the tensors in the state of a parameter."""
        return self._zeros

    def _options(self, group: dict[str, Any]) -> dict[str, Any]:
        """The options of a group for one step. While a transform is on the seam, this is the group itself."""
        return group if local.thread.transform is not None else super()._options(group)

    def _start(self, state: dict[str, Any], p: TensorBase, group: dict[str, Any]) -> None:
        if "step" in self._numbers:
            state["step"] = scalar(0.0)
        state.update((name, zeros_like(p)) for name in self._names(p, group) if name not in self._made)

    # A step of a group

    def _step_of_group(self, group: dict[str, Any], line: Any) -> None:
        options = self._options(group)
        if options.get("fused"):
            check_fused(options["params"])
        try:
            if self._quick and local.thread.transform is None and not (
                    options.get("differentiable") or options.get("capturable")):
                self._gather(options, line)
            else:
                for p in options["params"]:
                    if p.grad is not None:
                        self._step_of(p, p.grad, options, line)
        finally:
            self._finish(options, line)

    def _gather(self, group: dict[str, Any], line: Any) -> None:
        """Put the arrays of plain parameters off to the end of the group, and make the steps of all others."""
        inert, states, scratch, params = DISPATCH.inert, self.state, self._scratch, group["params"]
        names, counts = self._names(params[0], group) if params else (), bool(self._numbers)
        stateless, state, seen, count, ready = not (counts or names), {}, None, 0.0, None
        for p in params:
            meta = p._grad_meta
            if meta is None or meta.grad is None:
                continue
            if not stateless:
                state = states.get(p, _NOTHING)
            arrays = row_of(p, meta, state, names, counts, inert)
            if arrays is None:
                self._step_of(p, meta.grad, group, line)
                continue
            if counts:
                step = state["step"]._array
                versions.writing(step)
                step[...] = now = step.item() + 1
                scratch.counted.append(step)
            else:
                now = 0.0
            if seen is not arrays[0].dtype or now != count:
                seen, count = arrays[0].dtype, now
                ready = self._shared(seen, names, (), state, group) if counts else self._again(seen, names, group)
            if ready is None:
                self._with_tensors(p, meta.grad, state, group, line)
            else:
                scratch.rows.append((ready, arrays))

    # A step of a parameter

    def _step_of(self, p: TensorBase, g: TensorBase, group: dict[str, Any], line: Any) -> None:
        if local.thread.transform is not None:
            if self._put_off(p, g, group, line):
                return
            group = super()._options(group)
        if group.get("capturable"):
            self._refuse_capturable(group)
        state = self._begun(p, group) if self._numbers or self._names(p, group) else {}
        if "step" in state:
            self._count(state, group)
        self._update(p, g, state, group, line)

    def _count(self, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Count a step."""
        step = state["step"]
        if group.get("differentiable") and is_learned(step):
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        if isinstance(step, TensorBase) and arrays_of((step,), True) is not None:
            array = step._array
            versions.writing(array)
            array[...] = array.item() + 1
            self._scratch.counted.append(array)
        else:
            state["step"] += 1

    def _update(self, p: TensorBase, g: TensorBase, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        if self._takes_sparse and is_sparse(g):
            self._step_of_sparse(p, g, state, group, line)
            return
        names = self._names(p, group)
        missing = self._missing(names, state)
        ready, arrays = None, None
        if not group.get("differentiable"):
            arrays = arrays_of((p, g, *[state[name] for name in names if name not in missing]), not self._whole)
            if arrays is not None:
                ready = self._shared(arrays[0].dtype, names, missing, state, group)
        if ready is None or arrays is None:
            self._with_tensors(p, g, state, group, line)
            return
        for name in missing:
            state[name] = zeros_like(g)                      # laid out as what the formula makes of the gradient
            arrays.insert(2 + names.index(name), state[name]._array)
        for name, value in ready.following.items():
            put(state[name], value, line)
        self._scratch.rows.append((ready, arrays))

    def _step_of_sparse(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any], line: Any) -> None:
        """The step for a sparse gradient, if the optimizer takes sparse gradients."""
        raise NotImplementedError

    def _missing(self, names: tuple[str, ...], state: dict[str, Any]) -> tuple[str, ...]:
        """The names of the tensors that the formula has yet to make."""
        return tuple([name for name in names if state.get(name) is None]) if self._made else ()

    def _with_tensors(self, p: TensorBase, g: TensorBase, state: dict[str, Any], group: dict[str, Any],
                      line: Any) -> None:
        """Compute a step with tensors."""
        rates, following = self._rates(state, group)
        for name, value in following.items():
            put(state[name], value, line)
        names = self._names(p, group)
        missing = self._missing(names, state)
        tensors = {name: state[name] for name in names if name not in missing}
        pairs = self._pairs and p.is_complex()
        p, g, *held = parts(p, g, *tensors.values()) if pairs else (p, g, *tensors.values())
        tensors = dict(zip(tensors, held))
        self._compute(p, g, tensors, rates, group)
        for name in missing:
            state[name] = view_as_complex(tensors[name]) if pairs else tensors[name]

    def _again(self, dtype: np.dtype[Any], names: tuple[str, ...], group: dict[str, Any]) -> Ready | None:
        """`_shared` for a formula that takes no numbers from the state, which needs the same until options change."""
        options, known = group.values(), self._scratch.known.get(names)
        if known is None or known[0] is not dtype or len(known[1]) != len(options) or any(
                map(is_not, known[1], options)):
            known = self._scratch.known[names] = dtype, [*options], self._shared(dtype, names, (), {}, group)
        return known[2]

    def _shared(self, dtype: np.dtype[Any], names: tuple[str, ...], missing: tuple[str, ...], state: dict[str, Any],
                group: dict[str, Any]) -> Ready | None:
        """What the step shares with those of other parameters; None if the formula cannot be written as code.

        The state has numbers as tensors or as arrays.
        """
        key = names, missing, dtype, *[as_float(state[name]) for name in self._numbers]
        found = self._scratch.ready.get(key, self)
        if found is self:
            rates, following = self._rates(state, group)
            found = self._scratch.ready[key] = self._made_ready(dtype, names, missing, rates, following, group)
        return found

    def _made_ready(self, dtype: np.dtype[Any], names: tuple[str, ...], missing: tuple[str, ...], rates: Any,
                    following: dict[str, float], group: dict[str, Any]) -> Ready | None:
        if dtype not in COMPUTED:
            return None
        if self._whole:
            return Ready(names, None, None, (), rates, following)
        code = self._code(names, missing, group, rates) if self._closed else None
        if code is None:
            return None
        real = np.empty((), dtype).real.dtype
        given = numbers(real, *code.numbers(group, rates))
        return Ready(names, partial(code.alone, *given) if real is dtype else None, code, given, rates, following)

    def _code(self, names: tuple[str, ...], missing: tuple[str, ...], group: dict[str, Any], rates: Any) -> Code | None:
        """The formula as code for a state with these names."""
        codes = self._scratch.codes.setdefault((names, missing), [])
        for code in codes:
            if code.serves(group, rates)[0]:
                return code
        made = write_code(self._compute, names, missing, group, rates)
        if made is not None:
            codes.insert(0, made)
        return made

    # The end of a group

    def _finish(self, group: dict[str, Any], line: Any) -> None:
        scratch = self._scratch
        if scratch.traced:
            self._step_on_seam(group, line)
        rows, owners = scratch.rows, [*map(owner_of, scratch.counted)] if scratch.counted else []
        if scratch.ready:
            scratch.ready.clear()
        if rows or owners:
            times = [1] * len(owners)
            scratch.rows, scratch.counted = [], []
            if versions.before_write:
                for _, (p, _, *kept) in rows:
                    for array in (p, *kept):
                        versions.writing(array)
            local.thread.quietly(self._compute_rows, rows, len(group["params"]) >= MANY, group, owners, times)
            versions.written_all(owners, line, times)

    def _compute_rows(self, rows: Sequence[tuple[Ready, list[Array]]], many: bool, group: dict[str, Any],
                      owners: list[Array], times: list[int]) -> None:
        """Compute with the arrays of parameters. `owners` gets what owns the memory that is written, `times` how often.

        If there are `many`, small parameters are computed together, unless the code is short.
        """
        small: dict[int, tuple[Ready, list[list[Array]]]] = {}
        for ready, arrays in rows:
            alone, p, code = ready.alone, arrays[0], ready.code
            if alone is None or p.size > SMALL or not p.ndim:
                changed = self._change(ready, group, arrays)
            else:
                changed = code.writes  # type: ignore[union-attr]
                if many and code.long and is_small(arrays):  # type: ignore[union-attr]
                    small.setdefault(id(ready), (ready, []))[1].append(arrays)
                else:
                    alone(*arrays)
            for place, count in changed:
                owners.append(owner_of(arrays[place]))
                times.append(count)
        for ready, together in small.values():
            in_one(together, partial(self._change, ready, group))

    def _change(self, ready: Ready, group: dict[str, Any], arrays: Sequence[Array]) -> tuple[tuple[int, int], ...]:
        """Compute with arrays, in blocks. Returns the places of the written arrays, and how often each was written."""
        if not arrays[0].ndim:
            arrays = [array.reshape(1) for array in arrays]
        code = ready.code
        if code is None:
            return self._compute_whole(arrays, ready, group)
        run, like, slots = partial(code.run, *ready.numbers), self._scratch.like, range(code.slots)
        for block in blocks(tuple(arrays)):
            run(*block, *[like(block[0], slot) for slot in slots])
        return code.writes

    def _compute_whole(self, arrays: Sequence[Array], ready: Ready,
                       group: dict[str, Any]) -> tuple[tuple[int, int], ...]:
        """Compute a formula of whole parameters with arrays. Returns what `_change` does."""
        raise NotImplementedError

    # On the seam

    def _put_off(self, p: TensorBase, g: TensorBase, group: dict[str, Any], line: Any) -> bool:
        """Put a step off to the end of the group, for one call on the seam. If the call cannot compute the step, this
        returns False, and the trace keeps the values of the options that the formula reads.
        """
        names = self._names(p, group)
        stateful = bool(self._numbers or names)
        state = self.state[p] if stateful else {}
        tensors = [group[name] for name in self._learned if name != "lr"]
        apart = group.get("differentiable") or group.get("capturable") or any(map(_has_tensors, tensors))
        if stateful and not state and not apart:
            keep_values(group, *self._starting)
            self._begun(p, {**group, **{name: as_float(group[name]) for name in self._starting}})
        missing = self._missing(names, state)
        held = [state[name] for name in self._numbers if name in state]
        tensors = [p, g, *[state[name] for name in names if name not in missing]] if state else [p, g]
        if apart or self._unread or not all([isinstance(x, TensorBase) for x in held]) or not (
                are_alike(tensors, not self._whole) and not have_tangents(tensors)) or not (
                self._whole or self._is_written(names, missing, group)):
            keep_values(group, *[name for name in group if name not in self._unread])
            return False
        for name in missing:
            state[name] = zeros_like(p)
        arrays = [x._array for x in (p, g, *[state[name] for name in names])]
        self._scratch.traced.append((names, missing, arrays, [x._array for x in held]))
        return True

    def _is_written(self, names: tuple[str, ...], missing: tuple[str, ...], group: dict[str, Any]) -> bool:
        """Whether the formula can be written as code. The numbers in the state do not matter."""
        known = self._scratch.known.get((names, missing))
        if known is None:
            ones = {name: np.ones((), F32) for name in self._numbers}
            lr = group["lr"]
            options = {**group, "lr": 1.0 if isinstance(lr, TensorBase) or is_stand_in(lr) else lr}
            known = self._closed and write_code(
                self._compute, names, missing, options, self._rates(ones, options)[0]) is not None
            self._scratch.known[names, missing] = known
        return bool(known)

    def _step_on_seam(self, group: dict[str, Any], line: Any) -> None:
        """Compute the steps that were put off."""
        rows, self._scratch.traced = self._scratch.traced, []
        for _, _, (p, _, *kept), held in rows:
            for array in (p, *kept, *held):
                versions.writing(array)
        memory, lr = memory_of(group), group["lr"]
        options = memory or {**group, "lr": None if isinstance(lr, TensorBase) else as_float(lr)}
        step_of_rows.write(step_of_rows.kernel, rows, self, options,
                             (lr._array,) if isinstance(lr, TensorBase) else ())
        for array, times in zip(*self._scratch.written):
            for _ in range(times):
                versions.written(array, line)

    # What a subclass states

    def _compute(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        g = decayed(-g if group.get("maximize") else g, p, group)
        self._formula(p, g, state, rates, group)

    def _rates(self, state: dict[str, Any], group: Any) -> Rates:
        """The numbers that the formula needs beside the options, and the next values of numbers in the state, by name.

        The state has the numbers `_numbers`, as tensors or as arrays.
        """
        return None, {}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        """Write the new values of a parameter and of its state, with the methods of tensors. All values are real."""
        raise NotImplementedError


# What a formula may read of the numbers in the state, if the steps of a group are gathered.
_COUNTS: tuple[tuple[str, ...], ...] = ((), ("step",))
_NOTHING: dict[str, Any] = {}


def _has_tensors(option: Any) -> bool:
    return any([isinstance(part, TensorBase) for part in (option if type(option) is tuple else (option,))])


