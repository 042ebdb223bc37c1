"""Lines that are taken apart into simpler lines, which can join loops. The numbers stay the same, bit for bit.

A mean, a loss, the step of an optimizer: their kernels are compositions, and `EXPANSIONS` says of what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...foundations.dtypes import RARE, is_narrow
from ...ops.elementwise.arithmetic import add, div, mul, sub
from ...ops.framework import Op
from ...ops.linalg.matrix import addmm, mm
from ...ops.networks.attention import attention, attention_weights
from ...ops.networks.losses import mse_loss
from ...ops.networks.normalization import layer_norm_backward
from ...ops.reductions import mean_all, sum_all
from ..program.lines import Line, Program, Ref, Value
from .line_writer import LineWriter


def _addmm(w: LineWriter, x: Ref, mat1: Ref, mat2: Ref, beta: Any, alpha: Any) -> bool:
    like = w.result
    if beta != 1 or alpha != 1 or w.like(x).dtype != like.dtype or not like.flags.c_contiguous:
        return False
    w.last(add, w.call(mm, mat1, mat2, like=like), x)
    return True


def _mean_all(w: LineWriter, x: Any, dtype: Any) -> bool:
    like = w.like(x)
    if dtype is not None or like.dtype.char not in "fd" or not like.size:
        return False
    w.last(div, w.call(sum_all, x, None, like=w.result), w.constant(like.size, like.dtype))
    return True


def _mse_loss(w: LineWriter, x: Any, y: Any, reduction: str) -> bool:
    like = w.like(x)
    if reduction == "none" or not w.like(y).dtype == like.dtype == w.result.dtype or w.like(y).shape != like.shape:
        return False
    off = w.call(sub, x, y, like=np.empty(like.shape, like.dtype))
    squares = w.call(mul, off, off, like=np.empty(like.shape, like.dtype))
    if reduction == "mean":
        return _mean_all(w, squares, None)
    w.last(sum_all, squares, None)
    return True


EXPANSIONS: dict[Op, Callable[..., bool]] = {addmm: _addmm, mean_all: _mean_all, mse_loss: _mse_loss}
# Operators whose parts give results that lie row by row, however the operands lie.
_STRIDED = (addmm, attention, attention_weights, layer_norm_backward)


def _is_plain(line: Line, values: list[Value]) -> bool:
    """Whether the parts of a line give its numbers and its layout: no narrow types, which round at other places, and no
    operands of the shape of the result that lie otherwise than row by row, as factors of a product may.
    """
    shapes = [] if line.op in _STRIDED else [values[number].like.shape for number in line.results]
    likes = [values[number].like for number in (*line.reads, *line.results)]
    return not any([like.dtype in RARE or is_narrow(like.dtype)
                    or (like.shape in shapes and not like.flags.c_contiguous) for like in likes])


def expanded(program: Program, table: Mapping[Op | str, Callable[..., bool]], native: bool,
             constants: dict[Any, Ref]) -> Program:
    """The program with lines taken apart. The table has the operators of lines, and the names of operators that write.

    `native` says whether the loops will be machine code. `constants` are the constants that exist, by their numbers.
    """
    lines: list[Line] = []
    for line in program.lines:
        expand = table.get(line.op.name if line.write else line.op)
        if expand is not None and _is_plain(line, program.values):
            writer = LineWriter(program.values, line, native, constants)
            lines += writer.lines if expand(writer, *line.args) else [line]
        else:
            lines.append(line)
    return program._replace(lines=lines)
