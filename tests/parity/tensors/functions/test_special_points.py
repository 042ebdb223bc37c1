"""Element-wise operators and their gradients at special numbers, against PyTorch.

Where the vector instructions of PyTorch and its loop over single numbers differ, either is right.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.special_points import BINARY, CASES, complex_points, faults, pairs, points

DTYPES = ("float64", "float32", "float16", "bfloat16", "complex128", "complex64")
TOLERANCE = {"float64": 1e-9, "float32": 2e-4, "float16": 8e-3, "bfloat16": 2e-2, "complex128": 1e-7, "complex64": 1e-2}
TINY = {"float16": 2e-6, "float64": 1e-300, "complex128": 1e-14, "complex64": 1e-5}


def results(library: Any, dtype: str, case: Any, operands: list[list[Any]]) -> list[Any]:
    """The value and the gradients, or the error."""
    leaves = [library.tensor(operand, dtype=getattr(library, dtype)).requires_grad_() for operand in operands]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = case(library, *leaves)
            if value.requires_grad:
                value.backward(library.ones(value.shape, dtype=value.dtype))
            return [None if x is None else np.array(x.clone().tolist(), complex if x.is_complex() else float)
                    for x in (value, *[leaf.grad for leaf in leaves])]
    except (RuntimeError, NotImplementedError) as error:
        return [f"{type(error).__name__}: {error}".split("\n")[0]]


def alike(a: Any, b: Any, dtype: str) -> Any:
    """Where two arrays agree. Signs of zeros count for real numbers. Numbers below the normal ones do not differ."""
    if a.dtype.kind == "c":
        return alike(a.real, b.real, dtype) & alike(a.imag, b.imag, dtype)
    same = (a == b) & ((a != 0) | (np.signbit(a) == np.signbit(b)) | (dtype[0] == "c")) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        near = (a != 0) & (np.abs(a - b) <= TOLERANCE[dtype] * np.maximum(np.abs(a), np.abs(b)))
    small = (np.maximum(np.abs(a), np.abs(b)) < TINY.get(dtype, 1e-37)) & ((a != 0) & (b != 0) | (dtype[0] == "c"))
    return same | (np.isfinite(a) & np.isfinite(b) & (near | small))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*CASES, *BINARY])
def test_values_and_gradients(name: str, dtype: str) -> None:
    case = CASES.get(name) or BINARY[name]
    given: list[list[Any]] = [complex_points() if dtype[0] == "c" else points(dtype)]
    if name in BINARY:
        given = [*pairs(dtype)]
    ours, theirs = results(retrograd, dtype, case, given), results(torch, dtype, case, given)
    if isinstance(theirs[0], str) or isinstance(ours[0], str):
        assert ours == theirs or faults(name, dtype, *[operand[0] for operand in given])
        return
    single = [results(torch, dtype, case, [[operand[i]] for operand in given]) for i in range(len(given[0]))]
    wrong = []
    for k, (found, vector) in enumerate(zip(ours, theirs, strict=True)):
        assert (found is None) == (vector is None)
        if found is not None:
            alone = np.concatenate([result[k] for result in single])
            for i in (~(alike(found, vector, dtype) | alike(found, alone, dtype))).nonzero()[0]:
                at = [operand[i] for operand in given]
                wrong += [] if faults(name, dtype, *at) else [(k, *at, found[i], vector[i])]
    assert not wrong
