"""Kernels that take `out` write their result into it, for each dtype that they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.queries import stated_ops
from retrograd.ops.framework import Op, called_as_ufunc

DTYPES = (np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_, np.complex64)
OPTIONS: tuple[tuple[Any, ...], ...] = ((), (0.5,), (1,), (0, 1))
OPS = sorted([op for op in stated_ops() if called_as_ufunc(op.kernel) and not isinstance(op.kernel, np.ufunc)],
             key=lambda op: op.name)


def calls(op: Op) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Arguments that the kernel takes, and its results."""
    numbers = np.random.default_rng(0)
    for dtype in DTYPES:
        for options in OPTIONS:
            signed = [numbers.normal(size=(3, 3)) * 3 for _ in range(op.arity)]
            for part in (np.abs, np.positive):
                try:
                    arrays = [part(array).astype(dtype) for array in signed]
                    yield (*arrays, *options), np.asarray(op.kernel(*arrays, *options))
                except (IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError,
                        np.exceptions.ComplexWarning):
                    continue


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_the_result_is_written_into_out(op: Op) -> None:
    found = 0
    with np.errstate(all="ignore"):
        for args, expected in calls(op):
            out = ~expected if expected.dtype == bool else np.full_like(expected, 77)
            op.kernel(*args, out=out)
            assert np.array_equal(out, expected, equal_nan=expected.dtype.kind in "fc"), [a.dtype for a in args[:1]]
            found += 1
    assert found


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 7.5, 1e-40, 3e38])


@pytest.mark.parametrize("op", [op for op in OPS if op.kind == "elementwise"], ids=lambda op: op.name)
def test_the_result_may_be_written_over_an_operand(op: Op) -> None:
    with np.errstate(all="ignore"):
        for dtype in DTYPES:
            arrays = [part.ravel().astype(dtype) for part in np.meshgrid(*[SPECIAL] * op.arity)]
            try:
                expected = np.asarray(op.kernel(*[array.copy() for array in arrays]))
            except (IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError):
                continue
            for place, array in enumerate(arrays):
                if (array.dtype, array.shape) == (expected.dtype, expected.shape):
                    given = [each.copy() for each in arrays]
                    op.kernel(*given, out=given[place])
                    assert np.array_equal(given[place], expected, equal_nan=expected.dtype.kind in "fc"), (dtype, place)


def test_xlogy_of_shapes_that_are_broadcast() -> None:
    x, y = torch.tensor([[0.0], [2.0]]), torch.tensor([0.0, 1.0, torch.nan])
    for function in (torch.xlogy, torch.special.xlog1py):
        torch.testing.assert_close(function(x, y), function(x.expand(2, 3).clone(), y), equal_nan=True)
        assert function(x, y)[0].tolist()[:2] == [0.0, 0.0]
