"""Losses of machine code count rows in a type that holds the count exactly: float32 stops at 2 ** 24."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd.compilation.passes.line_writer import LineWriter
from retrograd.compilation.passes.losses import LOSSES
from retrograd.compilation.program.lines import Line, Ref, Value
from retrograd.ops.basic import cast
from retrograd.ops.framework import Op
from retrograd.ops.networks.losses import binary_cross_entropy, nll_loss, nll_loss_backward
from retrograd.ops.reductions import sum_all

ROWS = 2 ** 25 + 1


def geometry(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """An array that takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def counting_types(op: Op, result: tuple[int, ...], likes: list[Any], options: tuple[Any, ...]) -> list[Any]:
    """The types of the sums of bools among the lines that a loss becomes."""
    values = [Value(i, like, i, "outside") for i, like in enumerate(likes)]
    values.append(Value(len(likes), geometry(result, np.float32), len(likes), "line"))
    line = Line(op, op.compute, (*map(Ref, range(len(likes))), *options), (len(likes),), False, False, None)
    writer = LineWriter(values, line, True, {})
    assert LOSSES[op](writer, *line.args)
    bools = {each.results[0] for each in writer.lines
             if each.op is cast and values[each.args[0].number].like.dtype == bool}
    return [values[each.results[0]].like.dtype for each in writer.lines
            if each.op is sum_all and each.args[0].number in bools]


X, ROW = geometry((ROWS, 2), np.float32), geometry((ROWS,), np.float32)
TARGET = geometry((ROWS,), np.int64)
CASES: dict[str, tuple[Op, tuple[int, ...], list[Any], tuple[Any, ...], int]] = {
    "nll_loss": (nll_loss, (), [X, TARGET], (None, "mean", -100), 2),
    "the gradient of a mean": (nll_loss_backward, X.shape, [ROW[0], TARGET], (None, X.shape, "mean", -100), 1),
    "the gradients of all rows": (nll_loss_backward, X.shape, [ROW, TARGET], (None, X.shape, "none", -100), 2),
    "binary_cross_entropy": (binary_cross_entropy, (), [ROW, ROW], (None, "mean"), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_counts_are_exact(name: str) -> None:
    *case, sums = CASES[name]
    found = counting_types(*case)
    assert len(found) == sums
    assert all(int(dtype.type(ROWS)) == ROWS for dtype in found)
