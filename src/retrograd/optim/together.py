"""The steps of small parameters in few calls: their elements lie side by side while the formula is computed.

A call of NumPy on a small array takes longer than its arithmetic. A formula that is computed element by element gives
the same numbers for the elements of many arrays, so it is computed once for all of them. This module must not know any
single optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import F32, F64
from ..kernels.layout import owner_of
from ..ops.framework import operator
from .option_memory import OptionMemory
from .saved_numbers import as_float

# Arrays of up to SMALL elements gain from being copied together. Up to _MOST elements are computed at once: with their
# state they stay in the processor's cache.
SMALL, _MOST = 1 << 10, 1 << 15

# In groups of fewer parameters the copies take as long as the calls that they save.
MANY = 8

Arrays = Sequence[Any]


def is_small(arrays: Arrays) -> bool:
    """Whether a parameter, its gradient and its state may be computed beside others.

    They are small, of one dtype, and lie row by row. The parameter owns its memory, so no other parameter lies there.
    """
    p = arrays[0]
    dtype = p.dtype
    if p.size > SMALL or p.base is not None or (dtype is not F32 and dtype is not F64):
        return False
    size = p.size
    for array in arrays:
        if array.dtype is not dtype or array.size != size or not array.flags.c_contiguous or (
                array is not arrays[1] and not array.flags.writeable):
            return False
    return True


def in_one(rows: Sequence[Arrays], step: Callable[[Arrays], object]) -> None:
    """Call `step` for the arrays of each row: (parameter, gradient, *state). It writes over all but the gradient.

    It is called with flat arrays that hold the elements of many rows.
    """
    if len({id(row[0]) for row in rows}) < len(rows):     # a parameter twice: its steps follow each other
        for row in rows:
            step([array.reshape(-1) for array in row])
        return
    at = 0
    while at < len(rows):
        end, bounds = at, [0]
        while end < len(rows) and bounds[-1] < _MOST:
            bounds.append(bounds[-1] + rows[end][0].size)
            end += 1
        if end == at + 1:
            step([array.reshape(-1) for array in rows[at]])    # views, since the arrays lie row by row
        else:
            _in_one(rows[at:end], bounds, step)
        at = end


def _in_one(rows: Sequence[Arrays], bounds: list[int], step: Callable[[Arrays], object]) -> None:
    roles = list(zip(*rows))
    flat = np.empty((len(roles), bounds[-1]), rows[0][0].dtype)
    for line, arrays in zip(flat, roles):
        np.concatenate(arrays, axis=None, out=line)
    step(tuple(flat))
    for role, arrays in enumerate(roles):
        if role != 1:
            line = flat[role]
            for array, start, stop in zip(arrays, bounds, bounds[1:]):
                array[...] = line[start:stop].reshape(array.shape)


def _compute(rows: list[tuple[tuple[str, ...], tuple[str, ...], list[Any], list[Any]]],
             optimizer: Any, options: OptionMemory | dict[str, Any], lr: tuple[Any, ...]) -> None:
    """Write the next values of parameters, from (names of the state, those that are missing, arrays, numbers) of each.

    `lr` is empty, or has the learning rate as an array.
    """
    group = options.options if isinstance(options, OptionMemory) else options
    group = {**group, "lr": as_float(lr[0])} if lr else group
    found: list[tuple[Any, list[Any]]] = []
    optimizer._scratch.ready.clear()
    for names, missing, arrays, held in rows:
        state = dict(zip(optimizer._numbers, held))
        if "step" in state:
            state["step"] += 1
        ready = optimizer._shared(arrays[0].dtype, names, missing, state, group)
        assert ready is not None
        for name, value in ready.following.items():
            state[name][...] = value
        found.append((ready, arrays))
    optimizer._scratch.ready.clear()
    owners = [owner_of(array) for _, _, _, held in rows for array in held]
    optimizer._scratch.written = owners, [1] * len(owners)
    optimizer._compute_rows(found, len(rows) >= MANY, group, *optimizer._scratch.written)


step_of_rows = operator("_fused_group_", _compute, tensors=1)
