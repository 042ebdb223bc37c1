"""How far the vector functions of machine code are off, in units in the last place, for each source of functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from needing import absent, needs
from retrograd.compilation.native.host import Host, host
from retrograd.compilation.native.machine import Placed, build
from retrograd.compilation.program.lines import Ref
from retrograd.compilation.program.loops import Loop, Operand, Output, Step
from retrograd.ops.elementwise import arithmetic, elementary
from retrograd.ops.framework import Op

pytestmark = needs("llvmlite")

if missing := absent("llvmlite"):
    pytest.skip(missing, allow_module_level=True)

F32, F64 = np.dtype("f4"), np.dtype("f8")
Array = np.ndarray[Any, Any]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e38, -1e38, 1.0, -1.0, 1e22, 3e5, -3e5]

# What the functions are off by at most: the polynomials in single and double precision, then the vector library.
TABLE: dict[str, tuple[float, float, float]] = {
    "exp": (0.6, 1, 4), "exp2": (0.6, 2, 4), "expm1": (0.6, 2, 4), "log": (0.6, 1, 4), "log2": (0.6, 2, 4),
    "log10": (0.6, 3, 4), "log1p": (0.6, 2, 4), "sin": (0.6, 1, 4), "cos": (0.6, 1, 4), "tan": (0.6, 3, 4),
    "sinh": (0.6, 3, 4), "cosh": (0.6, 3, 4), "tanh": (0.6, 3, 4)}
# In single precision with fused multiplication, these are computed in single precision throughout.
SINGLE = {"exp": 1.0, "log": 1.0, "tanh": 1.6, "sin": 1.6, "cos": 1.6, "erf": 1.6}


def sources() -> list[Any]:
    """The polynomials, with and without fused multiplication, and the library at each width of vectors."""
    own = host()
    found = [pytest.param(own._replace(letters=(), fma=fma), id=f"polynomials-{fma}") for fma in {own.fma, False}]
    return found + [pytest.param(own._replace(bits=bits, letters=own.letters[i:]), id=f"library-{bits}")
                    for i, (bits, _) in enumerate(own.letters)]


def arguments(dtype: np.dtype[Any], count: int) -> Array:
    """Random bit patterns, random numbers of ordinary ranges, and special numbers."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2 ** (8 * dtype.itemsize - 1), count, np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    parts = [bits, -bits, rng.uniform(-1, 1, count), rng.uniform(-30, 30, count), rng.uniform(-800, 800, count),
             rng.uniform(-1, 1, count) * 1e-3 + 1]
    return np.concatenate([part.astype(dtype) for part in [*parts, np.array(SPECIAL)]])


def by_machine(op: Op, x: Array, target: Host) -> Array:
    out = np.empty_like(x)
    own = Operand(x.dtype, x.strides)
    loop = Loop(x.shape, (own,), (Step(op, (Ref(0),), x.dtype),), (Output(1, own),), ())
    build([Placed(loop, (0, 1))], 2, target)(np.array([x.ctypes.data, out.ctypes.data], np.uintp))
    return out


@np.errstate(all="ignore")
def units_off(found: Array, exact: Array) -> Array:
    """The distance in units in the last place of the exact number. Where it is not finite: 0, or inf if they differ."""
    dtype = found.dtype
    nearest = exact.astype(dtype)
    unit = np.maximum(np.abs(np.spacing(np.abs(nearest))), np.finfo(dtype).smallest_subnormal).astype(exact.dtype)
    same = (found == nearest) | (np.isnan(found) & np.isnan(nearest))
    finite = np.isfinite(nearest) & np.isfinite(found)
    return np.where(finite, np.abs(found.astype(exact.dtype) - exact) / unit, np.where(same, 0, np.inf))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs a type that is more precise than double")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("target", sources())
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", TABLE)
def test_a_function_is_off_by_no_more_than_the_table_says(name: str, dtype: np.dtype[Any], target: Host) -> None:
    x = arguments(dtype, 20_000)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(F64 if dtype == F32 else np.longdouble))
        off = units_off(by_machine(getattr(elementary, name), x, target), exact)
    worst = int(off.argmax())
    allowed = TABLE[name][2] if target.letters else TABLE[name][int(dtype == F64)]
    if dtype == F32 and target.fma and name in SINGLE:
        allowed = SINGLE[name]
    assert off[worst] <= allowed, (x[worst], off[worst])


@pytest.mark.parametrize("target", sources())
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_erf_is_near_the_c_librarys(dtype: np.dtype[Any], target: Host) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([arguments(dtype, 2000), rng.uniform(-5, 5, 50_000).astype(dtype)])
    exact = np.array([math.erf(number) for number in x.tolist()])
    allowed = 4 if target.letters else 2 if dtype == F64 else 0.6
    if dtype == F32 and target.fma:
        allowed = SINGLE["erf"]
    found = by_machine(elementary.erf, x, target)
    assert units_off(found, exact).max() <= allowed
    assert not (np.abs(found) > 1).any()
    np.testing.assert_array_equal(np.signbit(found), np.signbit(exact))


@pytest.mark.parametrize("target", sources())
@pytest.mark.parametrize("exponent", [2.7, -1.3, 5, 0, -7, 0.1, math.inf, -math.inf])
@pytest.mark.sampled(3)
def test_powers_in_single_precision(exponent: float, target: Host) -> None:
    x = arguments(F32, 2000)
    out = np.empty_like(x)
    own = Operand(F32, x.strides)
    loop = Loop(x.shape, (own,), (Step(arithmetic.power, (Ref(0), exponent), F32),), (Output(1, own),), ())
    build([Placed(loop, (0, 1))], 2, target)(np.array([x.ctypes.data, out.ctypes.data], np.uintp))
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(F64), float(F32.type(exponent)))
    assert units_off(out, exact).max() <= (4 if target.letters else 0.6)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", TABLE)
def test_zeros_keep_their_signs(name: str, dtype: np.dtype[Any]) -> None:
    x = np.array([0.0, -0.0], dtype)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x)
    for target in (host(), host()._replace(letters=())):
        np.testing.assert_array_equal(np.signbit(by_machine(getattr(elementary, name), x, target)), np.signbit(exact))


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "atanh"])
def test_what_the_polynomials_lack_comes_from_the_c_library(name: str, dtype: np.dtype[Any]) -> None:
    x = arguments(dtype, 1000)
    with np.errstate(all="ignore"):
        exact = getattr(np, f"arc{name[1:]}")(x.astype(F64 if dtype == F32 else np.longdouble))
    assert units_off(by_machine(getattr(elementary, name), x, host()._replace(letters=())), exact).max() < 1.5
