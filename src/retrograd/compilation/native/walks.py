"""The steps of recurrent layers in machine code. They replace the steps that the kernels make with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address
from ...kernels.thresholds import CACHED_WEIGHT_BYTES
from ...ops.framework import Op
from ...ops.networks import recurrent as ops
from ..program.lines import Line, Ref, Value, plain_call
from .cells import GRU, LSTM, RNN_RELU, RNN_TANH
from .machine import Builder, Native
from .recurrent import Cell, Steps

FORWARD: dict[Op, Cell] = {ops.lstm_layer: LSTM, ops.gru_layer: GRU, ops.rnn_tanh_layer: RNN_TANH,
                            ops.rnn_relu_layer: RNN_RELU}
BACKWARD: dict[Op, Cell] = {ops.lstm_layer_backward: LSTM, ops.gru_layer_backward: GRU,
                             ops.rnn_tanh_layer_backward: RNN_TANH, ops.rnn_relu_layer_backward: RNN_RELU}


def steps_of(line: Line, values: list[Value]) -> Steps | None:
    """The steps of a line, if machine code may walk them: those of one direction over sequences of one length."""
    back = line.op in BACKWARD
    cell = BACKWARD.get(line.op) or FORWARD.get(line.op)
    if cell is None or not (back or plain_call(line, values)):
        return None
    args = dict(zip(line.op.arguments, line.args, strict=True))
    if args.get("w_hr") is not None or args["sizes"] is not None:
        return None
    likes = {name: values[arg.number].like for name, arg in args.items() if type(arg) is Ref}
    (steps, batch, features), dtype = likes["x"].shape, likes["x"].dtype
    if dtype.char not in "fd" or any([like.dtype != dtype for like in likes.values()]) or not (
            steps and batch) or likes["w_ih"].nbytes + likes["w_hh"].nbytes > CACHED_WEIGHT_BYTES:
        return None
    arriving = back and args["g_out"] is not None
    return Steps(cell, back, steps, likes["h"].shape[1], batch, features, args["b_ih"] is not None, arriving, dtype)


def with_native_steps(line: Line, steps: Steps, builder: Builder) -> tuple[Line, Native]:
    """The line with a kernel whose steps machine code walks, and the machine code."""
    native = builder.add([steps], steps.slots)
    kernel = partial(line.op.kernel, walk=partial(_walk, native, np.zeros(steps.slots, np.uintp)))
    return line._replace(call=partial(_present, kernel) if steps.back else kernel), native


def _present(kernel: Callable[..., Any], *args: Any) -> tuple[Array, ...]:
    """The results of a kernel that are not None, since a line has no others."""
    return tuple([np.asarray(part) for part in kernel(*args) if part is not None])


def _walk(native: Native, table: Array, *given: Any) -> None:
    """Have machine code walk over the arrays among what a kernel gives its walk."""
    table[:] = [address(array) for array in given if isinstance(array, np.ndarray)]
    native(table)
