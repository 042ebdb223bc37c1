"""Sums, means and absolute values of all dtypes, written to an `out` of every dtype; and copies of parts."""

from __future__ import annotations

import itertools
import re
import warnings
from contextlib import nullcontext
from typing import Any

import pytest
import torch

import retrograd

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int8", "bool", "uint8", "complex64", "complex128"]
# The calls, and the size of `out`.
CALLS = {
    "t.sum(x, 1, out=out)": (2,), "t.sum(x, dim=None, out=out)": (), "t.prod(x, 1, out=out)": (2,),
    "t.cumsum(x, 1, out=out)": (2, 3), "t.cumprod(x, 1, out=out)": (2, 3), "t.mean(x, 1, out=out)": (2,),
    "t.mean(x, 0, True, out=out)": (1, 3), "t.mean(x, out=out)": (), "t.nansum(x, 1, out=out)": (2,),
    "t.nansum(x, out=out)": (), "t.abs(x, out=out)": (2, 3), "t.absolute(x, out=out)": (2, 3)}
# Where both refuse, for several reasons, and name another one first.
SEVERAL = {("t.abs(x, out=out)", "bool"), ("t.absolute(x, out=out)", "bool")}
_INTS = ("int64", "int8", "uint8")


def seen(t: Any, call: str, size: tuple[int, ...], dtype: str, of: str) -> Any:
    x = (4 * t.tensor([[0.5, -0.25, 0.75], [1, 0.75, -0.5]])).to(getattr(t, dtype))
    out = t.zeros(size, dtype=getattr(t, of))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = eval(call, {"t": t, "x": x, "out": out})
        except (RuntimeError, TypeError) as error:
            message = re.sub(r"0x\w+", "", str(error).split("\n")[0])
            return type(error), message, out._version
    told = [str(each.message).split("\n")[0].partition(" (Triggered")[0] for each in caught]
    return found is out, str(out.dtype), out.to(t.complex128).tolist(), out._version, told


def close(found: Any, expected: Any, of: str) -> bool:
    if not (isinstance(found[0], bool) and isinstance(expected[0], bool)):
        return bool(found == expected)
    tolerance = 1e-2 if "16" in of else 1e-6
    return found[:2] == expected[:2] and found[3:] == expected[3:] and bool(
        torch.allclose(torch.tensor(found[2]), torch.tensor(expected[2]), rtol=tolerance, atol=1e-6))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
def test_an_out_of_every_dtype(call: str, dtype: str) -> None:
    for of in DTYPES:
        found, expected = [seen(t, call, CALLS[call], dtype, of) for t in (retrograd, torch)]
        several = (call, dtype) in SEVERAL or (call == "t.mean(x, out=out)" and dtype in _INTS and of == "bool")
        if several and expected[0] is not True:
            assert found[0] is not True, of
            assert not found[2], of
        else:
            assert close(found, expected, of), (of, found, expected)


PARTS = {"t.unbind_copy(x, out=outs)": (3,), "t.split_copy(x, 1, out=outs)": (1, 3),
         "t.split_with_sizes_copy(x, [1, 1], out=outs)": (1, 3)}


def parts(t: Any, call: str, requires: tuple[bool, bool], wrong: str, grad: bool) -> Any:
    x = t.arange(6.0).reshape(2, 3).requires_grad_(requires[0])
    sizes = [(7,) if wrong == "size" and not i else (2, 3) if wrong == "wide" else PARTS[call]
             for i in range(3 if wrong == "count" else 2)]
    outs = [t.zeros(size, dtype=t.float64 if wrong == "dtype" else t.float32) for size in sizes]
    outs[-1].requires_grad_(requires[1])
    try:
        with nullcontext() if grad else t.no_grad():
            found = eval(call, {"t": t, "x": x, "outs": outs})
    except RuntimeError as error:
        return str(error).split("\n")[0], [out._version for out in outs]
    return found, [(out.tolist(), out.requires_grad, out.grad_fn, out.stride()) for out in outs]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("wrong", ["", "dtype", "size", "count", "wide"])
@pytest.mark.parametrize("call", PARTS)
def test_copies_of_parts(call: str, wrong: str) -> None:
    for requires, grad in itertools.product(itertools.product((False, True), repeat=2), (False, True)):
        given = call, requires, wrong, grad
        assert parts(retrograd, *given) == parts(torch, *given), given
