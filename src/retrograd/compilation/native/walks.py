"""The steps of an LSTM layer in machine code, in the place of those that its kernels walk with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...kernels.layout import address
from ...kernels.networks.lstm import CACHED_BYTES
from ...ops.networks.recurrent import lstm_layer, lstm_layer_backward
from ..execution.python_source import plain_call
from ..program.lines import Line, Ref, Value
from .machine import Builder, Native
from .recurrent import Steps

Array = np.ndarray[Any, Any]


def steps_of(line: Line, values: list[Value]) -> Steps | None:
    """The steps of a line, if machine code may walk them: those of one direction over sequences of one length."""
    back = line.op is lstm_layer_backward
    if not back and (line.op is not lstm_layer or not plain_call(line, values)):
        return None
    x, _, _, bias, _, _, c, *rest = line.args[3 if back else 0:]
    projection, sizes = (rest[0], rest[-3]) if back else (None, rest[-2])
    if projection is not None or sizes is not None:
        return None
    likes = [values[arg.number].like for arg in line.args if type(arg) is Ref]
    steps, batch, features = values[x.number].like.shape
    size, dtype = values[c.number].like.shape[1], values[x.number].like.dtype
    factors = features + (bias is not None) + size
    if dtype.char not in "fd" or any([like.dtype != dtype for like in likes]) or not (
            steps and batch) or 4 * size * factors * dtype.itemsize > CACHED_BYTES:
        return None
    return Steps(back, steps, size, batch, factors, back and line.args[0] is not None, dtype)


def with_native_steps(line: Line, steps: Steps, builder: Builder) -> tuple[Line, Native]:
    """The line with a kernel whose steps machine code walks, and the machine code."""
    native = builder.add([steps], steps.slots)
    walk = partial(_walk_back if steps.back else _walk, native, np.zeros(steps.slots, np.uintp))
    kernel = partial(line.op.kernel, walk=walk)
    return line._replace(call=partial(_present, kernel) if steps.back else kernel), native


def _present(kernel: Callable[..., Any], *args: Any) -> tuple[Array, ...]:
    """The results of a kernel that are not None, since a line has no others."""
    return tuple([np.asarray(part) for part in kernel(*args) if part is not None])


def _walk(native: Native, table: Array, weight: Array, w_hr: Any, factors: Array, states: Array, gates: Array,
          terms: Array, absent: dict[int, int]) -> None:
    table[:] = [address(array) for array in (weight, factors, gates, terms)]
    native(table)


def _walk_back(native: Native, table: Array, slopes: Array, by_state: Array, arriving: Any, g_h: Array, g_c: Array,
               weight: Array, w_hr: Any, absent: dict[int, int]) -> list[Array]:
    back = np.ascontiguousarray(weight.T)
    arrays = [back, slopes, by_state, g_h, g_c, *([] if arriving is None else [arriving])]
    table[:] = [address(array) for array in arrays]
    native(table)
    return []
