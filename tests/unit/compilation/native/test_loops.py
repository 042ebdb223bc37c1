"""Machine code for loops gives what the ops' own kernels give: for each step, dtype, shape, stride and reduction."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from needing import absent, needs
from retrograd.compilation.native.host import host
from retrograd.compilation.native.lowering import lowers
from retrograd.compilation.native.machine import Placed, build
from retrograd.compilation.program.lines import Ref
from retrograd.compilation.program.loops import Loop, Operand, Output, Step
from retrograd.ops import basic, choosing, creation
from retrograd.ops.elementwise import arithmetic, comparison, elementary
from retrograd.ops.framework import Op
from retrograd.ops.networks import activations

pytestmark = needs("llvmlite")

if missing := absent("llvmlite"):
    pytest.skip(missing, allow_module_level=True)

F32, F64, I32, I64, BOOL = map(np.dtype, ("f4", "f8", "i4", "i8", "?"))
PLAIN = host()._replace(letters=())                         # without the vector library
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1e-40, -1e-40, 1e-310, 3.4e38, -3.4e38, 2.0,
           3.0, -3.0, 6.0, 20.0, -20.0, 88.8, -103.0, 1.5, 2.5, -2.5, 1e-5, 7.0, 0.1]
INTEGERS = [0, 1, -1, 2, 3, -3, 7, 100, -100, 12345, 1 << 20, -(1 << 20)]


def values(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """All sorts of numbers of the dtype."""
    if dtype.kind == "b":
        return np.array([True, False])
    with np.errstate(all="ignore"):
        return np.array(SPECIAL if dtype.kind == "f" else INTEGERS).astype(dtype)


def operand(array: np.ndarray[Any, Any], shape: tuple[int, ...]) -> Operand:
    return Operand(array.dtype, np.broadcast_to(array, shape).strides)


def table(arrays: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return np.array([array.__array_interface__["data"][0] for array in arrays], np.uintp)


def step_of(op: Op, args: tuple[Any, ...], dtype: np.dtype[Any]) -> Step:
    """The step of a call: its arrays are values 0, 1, ..."""
    refs = itertools.count()
    return Step(op, tuple([Ref(next(refs)) if isinstance(arg, np.ndarray) else arg for arg in args]), dtype)


def run_steps(calls: list[tuple[Op, tuple[Any, ...], np.ndarray[Any, Any]]], target: Any = None
              ) -> list[np.ndarray[Any, Any]]:
    """The results of calls of ops, each in a loop of its own, with the dtypes that are expected."""
    arrays: list[np.ndarray[Any, Any]] = []
    placed, results = [], []
    for op, args, expected in calls:
        given = [arg for arg in args if isinstance(arg, np.ndarray)]
        step = step_of(op, args, expected.dtype)
        assert lowers(step, tuple([array.dtype for array in given]), target)
        out = np.empty(expected.shape, expected.dtype)
        loop = Loop(out.shape, tuple([operand(array, out.shape) for array in given]), (step,),
                    (Output(len(given), operand(out, out.shape)),), ())
        placed.append(Placed(loop, tuple(range(len(arrays), len(arrays) + len(given) + 1))))
        arrays += [*given, out]
        results.append(out)
    build(placed, len(arrays), target)(table(arrays))
    return results


def eager(op: Op, args: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    with np.errstate(all="ignore"):
        return op.compute(*args)


def same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """The same numbers: the bits may differ in zeros' signs of minimum and maximum, and in nans."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        defined = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[defined]), np.signbit(expected[defined]))


def near(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], ulps: float = 8, zero: float = 0) -> None:
    """The same to some units in the last place, or `zero` units in that of 1."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    precise = np.finfo(found.dtype)
    np.testing.assert_allclose(found, expected, rtol=ulps * float(precise.eps),
                               atol=max(float(precise.smallest_normal) * 4, zero * float(precise.eps)))


# Each op with options, and the number of arrays. What is exact has the bits of the kernel.
EXACT: list[tuple[Op, int, tuple[Any, ...]]] = [
    *[(op, 2, ()) for op in (
        arithmetic.add, arithmetic.sub, arithmetic.mul, arithmetic.div, arithmetic.copy, arithmetic.fill_tensor,
        comparison.eq, comparison.ne, comparison.lt, comparison.le, comparison.gt, comparison.ge,
        comparison.logical_and, comparison.logical_or, comparison.logical_xor, comparison.maximum,
        comparison.minimum, comparison.fmax,
        comparison.fmin, comparison.clamp_min, comparison.clamp_max, comparison.heaviside, comparison.copysign,
        comparison.bitwise_and, comparison.bitwise_or, comparison.bitwise_xor, activations.prelu)],
    *[(op, 1, ()) for op in (
        arithmetic.neg, arithmetic.positive, arithmetic.reciprocal, arithmetic.square, arithmetic.zero,
        arithmetic.dequantize, basic.real, creation.fresh, elementary.sqrt, elementary.rsqrt, elementary.sgn,
        elementary.sign, elementary.abs, elementary.ceil, elementary.floor, elementary.trunc, elementary.round,
        elementary.frac, elementary.conj, elementary.deg2rad, elementary.rad2deg, elementary.angle,
        comparison.logical_not, comparison.bitwise_not, comparison.isnan, comparison.isinf, comparison.isfinite,
        comparison.isposinf, comparison.isneginf, comparison.isreal, comparison.signbit, activations.relu,
        activations.hardsigmoid, activations.hardswish, activations.hardswish_slope)],
    *[(op, 2, (alpha,)) for op in (arithmetic.add_scaled, arithmetic.sub_scaled, arithmetic.rsub_scaled)
      for alpha in (1, 2, 0.3)],
    (arithmetic.rsub, 1, (1, 1)), (arithmetic.rsub, 1, (0.1, 0.7)), (arithmetic.rsub, 1, (2, 3)),
    *[(op, 1, (number,)) for op in (arithmetic.add_number, arithmetic.sub_number, arithmetic.mul_number,
                               arithmetic.div_number)
      for number in (2, 0.1, -1e-3)],
    *[(arithmetic.power, 1, (exponent,)) for exponent in (0.5, -1, 2, 1, 3, -2, -0.5)],
    *[(arithmetic.lerp_number, 2, (weight,)) for weight in (0.2, 0.5, 0.9)], (arithmetic.lerp, 3, ()),
    *[(op, 3, (value,)) for op in (arithmetic.addcmul, arithmetic.addcdiv) for value in (1, 0.3, -2)],
    (arithmetic.fill, 1, (0.1,)), (arithmetic.fill, 1, (3,)),
    *[(basic.cast, 1, (dtype,)) for dtype in (F32, F64, I32, I64, BOOL)],
    (basic.clone, 1, ("C",)), (basic.copy, 1, ("C",)),
    *[(op, 1, (number,)) for op in comparison.WITH_NUMBER.values() for number in (0, 0.1, 2)],
    *[(comparison.clamp_number, 1, limits) for limits in ((0, 1), (-0.5, None), (None, 2), (3, 1), (0.1, 0.7))],
    (comparison.copysign_number, 1, (-2,)),
    (comparison.isclose, 2, (0.1, 1e-3, True)), (comparison.isclose, 2, (0.0, 0.0, False)),
    (activations.threshold_backward, 2, ()), (activations.leaky_relu, 1, (0.1,)), (activations.leaky_relu, 1, (2.0,)),
    (activations.hardtanh, 1, (-1.0, 1.0)), (activations.hardshrink, 1, (0.5,)), (activations.softshrink, 1, (0.5,)),
    (activations.threshold, 1, (0.3, 7)), (activations.rrelu, 2, (0.1, 0.3)), (activations.rrelu_even, 1, (0.1, 0.3)),
    (activations.at_most, 1, (2.0,)),
    (elementary.round_decimals, 1, (2,)), (elementary.round_decimals, 1, (-1,)),
    (elementary.nan_to_num, 1, (None, None, None)), (elementary.nan_to_num, 1, (1.0, 2.0, -3.0)),
]
NEAR: list[tuple[Op, int, tuple[Any, ...]]] = [
    *[(op, 1, ()) for op in (
        elementary.exp, elementary.exp2, elementary.expm1, elementary.log, elementary.log2, elementary.log10,
        elementary.log1p, elementary.sin, elementary.cos, elementary.tan, elementary.sinh, elementary.cosh,
        elementary.tanh, elementary.erf, elementary.sinc, activations.sigmoid, activations.silu, activations.mish,
        activations.log_sigmoid, activations.gelu, activations.gelu_tanh, activations.twice_ndtr)],
    (elementary.logaddexp, 2, ()), (elementary.logaddexp2, 2, ()), (elementary.xlogy, 2, ()),
    (elementary.logit, 1, (None,)), (elementary.logit, 1, (0.1,)),
    (activations.elu, 1, (1.0, 1.0, 1.0)), (activations.elu, 1, (1.6, 1.05, 0.5)),
    (activations.softplus, 1, (1.0, 20.0)), (activations.softplus, 1, (2.0, 3.0)),
    *[(op, 1, ()) for op in (
        elementary.asin, elementary.acos, elementary.atan, elementary.asinh, elementary.acosh, elementary.atanh,
        elementary.erfc)],
    (elementary.atan2, 2, ()), (elementary.hypot, 2, ()), (arithmetic.pow_, 2, ()), (arithmetic.power, 1, (2.7,)),
    (arithmetic.power, 1, (5,)), (arithmetic.number_to_power, 1, (2.0,)), (elementary.ldexp, 2, ()),
]


def named(case: tuple[Op, int, tuple[Any, ...]]) -> str:
    op, count, options = case
    return f"{op.name}{count}{options}"


def arguments(case: tuple[Op, int, tuple[Any, ...]], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Arrays of all sorts of numbers, each beside each, and the options."""
    _, count, options = case
    one = values(dtype)
    shapes = [(1,) * i + (-1,) + (1,) * (count - 1 - i) for i in range(count)]
    arrays = [one[: 14 if count == 3 else None].reshape(shape) for shape in shapes]
    return (*[np.ascontiguousarray(np.broadcast_to(array, np.broadcast_shapes(*[a.shape for a in arrays])))
              for array in arrays], *options)


@pytest.mark.parametrize("case", EXACT, ids=named)
@pytest.mark.sampled(3)
def test_an_exact_step_gives_the_kernels_bits(case: Any) -> None:
    op, _, _ = case
    calls = []
    for dtype in (F32, F64, I32, I64, BOOL):
        args = arguments(case, dtype)
        try:
            expected = eager(op, args)
        except (RuntimeError, NotImplementedError, TypeError):
            continue                                        # the kernel refuses the dtype
        dtypes = tuple([arg.dtype for arg in args if isinstance(arg, np.ndarray)])
        if dtype.kind == "f" or lowers(step_of(op, args, expected.dtype), dtypes):
            calls.append((op, args, expected))
    for found, (_, _, expected) in zip(run_steps(calls), calls, strict=True):
        if op in (comparison.fmax, comparison.fmin):        # NumPy's choice between zeros depends on the place
            np.testing.assert_array_equal(found, expected)
        else:
            same(found, expected)


@pytest.mark.parametrize("target", [host(), PLAIN], ids=["library", "polynomials"])
@pytest.mark.parametrize("case", NEAR, ids=named)
@pytest.mark.sampled(3)
def test_a_step_with_vector_functions_is_near_the_kernel(case: Any, target: Any) -> None:
    op, _, _ = case
    calls = [(op, args, eager(op, args)) for args in (arguments(case, dtype) for dtype in (F32, F64))]
    cancelling = op in (activations.gelu, activations.gelu_tanh, activations.twice_ndtr)
    for found, (_, _, expected) in zip(run_steps(calls, target), calls, strict=True):
        near(found, expected, zero=4 * cancelling)


def test_numbers_beyond_the_dtype_are_infinite_as_in_numpy() -> None:
    x = np.array([1.0, -2.0, 0.0], F32)
    calls = [(op, args, eager(op, args)) for op, args in (
        (arithmetic.rsub, (x, 1e300, 1)), (comparison.clamp_number, (x, -np.inf, np.inf)))]
    for found, (_, _, expected) in zip(run_steps(calls), calls, strict=True):
        same(found, expected)


def test_what_has_no_machine_code_is_said() -> None:
    for op, args, dtype, dtypes in (
            (arithmetic.add, (Ref(0), Ref(1)), np.dtype("c8"), (np.dtype("c8"),) * 2),
            (arithmetic.sub, (Ref(0), Ref(1)), BOOL, (BOOL, BOOL)),
            (arithmetic.floor_divide, (Ref(0), Ref(1)), F32, (F32, F32)),
            (arithmetic.add, (Ref(0), 1 << 40), I32, (I32,)),
            (arithmetic.add_number, (Ref(0), 1), I32, (I32,)),
            (arithmetic.add, (Ref(0), Ref(1)), F32, (F32, F64)),
            (elementary.exp, (Ref(0),), np.dtype("f2"), (np.dtype("f2"),))):
        assert not lowers(Step(op, args, dtype), dtypes), op


def test_constants_may_be_arrays_without_dims() -> None:
    x, out, made = np.arange(5, dtype=F32), np.empty(5, F32), np.empty(3, F64)
    less = Step(comparison.lt, (Ref(0), np.array(2.5, F64)), BOOL)
    choice = Step(choosing.choose, (Ref(1), Ref(0), np.array(0.5, F32)), F32)
    chosen = Loop((5,), (operand(x, (5,)),), (less, choice), (Output(2, operand(out, (5,))),), ())
    full = Step(creation.new_full, (None, (3,), F64, 0.25), F64)
    filled = Loop((3,), (), (full,), (Output(0, operand(made, (3,))),), ())
    build([Placed(chosen, (0, 1)), Placed(filled, (2,))], 3)(table([x, out, made]))
    np.testing.assert_array_equal(out, [0, 1, 2, 0.5, 0.5])
    np.testing.assert_array_equal(made, [0.25] * 3)


@pytest.mark.parametrize("target", [host(), PLAIN], ids=["library", "polynomials"])
def test_powers_of_two_beyond_the_dtype(target: Any) -> None:
    args = np.array([1e-30, 1e10, 1e-44, 3e38], F32), np.array([130, -130, 270, -250], F32), True
    expected = np.array([1e-30 * 2.0 ** 130, 1e10 * 2.0 ** -130, 2.0 ** (270 - 149) * 7, 3e38 * 2.0 ** -250], F32)
    near(eager(elementary.ldexp, args), expected)
    near(run_steps([(elementary.ldexp, args, expected)], target)[0], expected)
