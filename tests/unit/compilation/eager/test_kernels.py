"""Each kernel and rule that has machine code, beside the NumPy kernel that defines it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from needing import needs
from retrograd.kernels import sums
from retrograd.kernels.elementwise.elementary import log1p, rsqrt, sigmoid
from retrograd.kernels.elementwise.parts import in_parts, pair_in_parts, rule_in_parts
from retrograd.kernels.networks import activations, normalization, softmax, standardizing
from retrograd.kernels.special.normal import erf
from retrograd.ops.elementwise import elementary as elementary_ops
from retrograd.ops.networks import activations as ops

from .served_calls import both, check_alike

pytestmark = needs("llvmlite")

DTYPES = ("f", "d")
# Calls of elementwise kernels: the options, and the units in the last place of the largest result that they may be off.
ELEMENTWISE: dict[str, tuple[Any, tuple[Any, ...], float]] = {
    "gelu": (activations.gelu, (), 4), "gelu_tanh": (activations.gelu_tanh, (), 4), "silu": (activations.silu, (), 4),
    "mish": (activations.mish, (), 4), "elu": (activations.elu, (1.0, 1.0, 1.0), 4),
    "selu": (activations.elu, (1.67, 1.05, 1.0), 4), "softplus": (activations.softplus, (1.0, 20.0), 4),
    "log_sigmoid": (activations.log_sigmoid, (), 4), "hardswish": (activations.hardswish, (), 0),
    "hardsigmoid": (activations.hardsigmoid, (), 0)}
UFUNCS = {name: getattr(np, name) for name in (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "exp",
    "expm1", "log", "log2", "log10", "sqrt")} | {"log1p": log1p, "sigmoid": sigmoid, "rsqrt": rsqrt, "erf": erf}
# Rules of elementwise operators, and their options.
RULES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "gelu": (ops.gelu, ()), "gelu_tanh": (ops.gelu_tanh, ()), "silu": (ops.silu, ()), "mish": (ops.mish, ()),
    "elu": (ops.elu, (1.0, 1.0, 1.0)), "softplus": (ops.softplus, (1.0, 20.0)), "log_sigmoid": (ops.log_sigmoid, ()),
    "hardswish": (ops.hardswish, ()), "hardsigmoid": (ops.hardsigmoid, ()), "sigmoid": (ops.sigmoid, ()),
    "rsqrt": (elementary_ops.rsqrt, ()), "sin": (elementary_ops.sin, ()),
    "cos": (elementary_ops.cos, ()), "tanh": (elementary_ops.tanh, ())}


def numbers(shape: Any, dtype: str, seed: int = 0, scale: float = 3.0) -> Any:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


def special(dtype: str) -> Any:
    """Numbers of all sizes, zeros, infinities and nan."""
    found = numbers((257, 300), dtype)
    found[::7, ::5] = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e30, 60.0, -100.0, 700.0, 1e-3, 5.0],
                               dtype)[np.arange(found[::7, ::5].size).reshape(found[::7, ::5].shape) % 12]
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ELEMENTWISE)
@np.errstate(all="ignore")
def test_activations(name: str, dtype: str) -> None:
    kernel, options, ulps = ELEMENTWISE[name]
    for x in (numbers((40, 1000), dtype), special(dtype)):
        plain, served, count = both(kernel, x, *options)
        assert count == 1
        check_alike(plain, served, ulps)


@np.errstate(all="ignore")
@pytest.mark.parametrize("alpha", [0.0, -0.0, math.nan])
def test_options_that_compare_in_their_own_way(alpha: float) -> None:
    x = numbers((40, 1000), "f")
    plain, served, _ = both(activations.elu, x, alpha, 1.0, 1.0)
    np.testing.assert_array_equal(plain[0], served[0])
    np.testing.assert_array_equal(np.signbit(plain[0]), np.signbit(served[0]))


@np.errstate(all="ignore")
def test_options_that_are_the_numbers_that_stand_for_sizes() -> None:
    x, g = numbers((300, 130), "f"), numbers((300, 130), "f", 1)
    channels = x.reshape(10, 30, 130)
    calls: list[tuple[Any, ...]] = [
        *[(normalization.layer_norm, x, None, None, 1, eps) for eps in (251.0, 257.0, 251.0 * 257.0)],
        *[(normalization.batch_norm, x, None, None, eps) for eps in (251.0, 257.0)],
        *[(normalization.group_norm, channels, None, None, 3, eps) for eps in (17.0, 19.0, 23.0, 29.0, 37.0)],
        (rule_in_parts(ops.softplus.kernel, *ops.softplus.rules.values()), g, x, 65521.0, 20.0)]
    for kernel, *args in calls:
        plain, served, _ = both(kernel, *args)
        check_alike(plain, served, 32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UFUNCS)
@np.errstate(all="ignore")
@pytest.mark.sampled(3)
def test_elementary_functions(name: str, dtype: str) -> None:
    large = in_parts(UFUNCS[name])
    assert large is not None
    for x in (numbers((40, 1000), dtype, scale=0.7), special(dtype)):
        plain, served, count = both(large, x)
        assert count == 1
        check_alike(plain, served, 4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", RULES)
@np.errstate(all="ignore")
@pytest.mark.sampled(3)
def test_rules(name: str, dtype: str) -> None:
    op, options = RULES[name]
    (rule,) = op.rules.values()
    large = rule_in_parts(op.kernel, rule)
    g, x = numbers((40, 1000), dtype, 1), numbers((40, 1000), dtype)
    x = np.tanh(x) if name == "tanh" else x
    for cotangent in (g, np.broadcast_to(g[0, 0], g.shape)):
        plain, served, count = both(large, cotangent, x, *options)
        # A step of numbers alone has no rows, and NumPy computes the rule.
        assert count == (name != "hardsigmoid" or cotangent is g)
        check_alike(plain, served, 64 if name in ("gelu_tanh", "mish") else 8)      # which cancel far from 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4200, 64), (3000, 130), (300, 1024), (3, 90_000), (1, 300_000)])
@np.errstate(all="ignore")
def test_sums_of_rows(shape: tuple[int, ...], dtype: str) -> None:
    x = np.abs(numbers(shape, dtype))                       # so that the sums do not cancel
    odd = x.copy()
    for place, value in enumerate((0.0, np.inf, -np.inf, np.nan)):
        odd[place % len(x), 7 * place] = value
    for call, *args in [(sums.sum_dim, odd, (1,), False, None), (sums.mean_dim, odd, (1,), True, None),
                        (sums.sum_all, x, None), (sums.mean_all, x, None), (sums.sum_all, odd, None)]:
        plain, served, count = both(call, *args)
        assert count == 1
        check_alike(plain, served, 8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(300, 130), (1, 40_000), (40_000, 1), (5, 9000), (33, 3, 401)])
@np.errstate(all="ignore")
def test_softmax_along_rows(shape: tuple[int, ...], dtype: str) -> None:
    dim = len(shape) - 1
    x, g = numbers(shape, dtype), numbers(shape, dtype, 1)
    for kernel in (softmax.softmax, softmax.log_softmax):
        plain, served, count = both(kernel, x, dim)
        assert count == 1
        check_alike(plain, served, 16)
    for kernel, out in ((softmax.softmax_backward, softmax.softmax(x, dim)),
                        (softmax.log_softmax_backward, softmax.log_softmax(x, dim))):
        plain, served, count = both(kernel, g, out, dim)
        assert count == 1
        check_alike(plain, served, 64)


@pytest.mark.parametrize("dtype", DTYPES)
@np.errstate(all="ignore")
def test_softmax_along_other_dims_and_of_special_rows(dtype: str) -> None:
    x = numbers((37, 43, 41), dtype)
    plain, served, count = both(softmax.softmax, x, 1)
    assert count == 1
    check_alike(plain, served, 16)
    rows = numbers((300, 130), dtype)
    rows[0], rows[1, 3], rows[2, 5], rows[3, 7] = -np.inf, np.nan, np.inf, -np.inf
    rows[4], rows[5] = 1e4, rows[5] * 1e4
    for kernel in (softmax.softmax, softmax.log_softmax):
        plain, served, count = both(kernel, rows, 1)
        assert count == 1
        check_alike(plain, served, 16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(300, 130), (2, 40_000), (3, 50, 17, 19)])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(shape: tuple[int, ...], affine: bool, dtype: str) -> None:
    rank = 1 if len(shape) == 2 else 2
    x, g, inner = numbers(shape, dtype), numbers(shape, dtype, 1), shape[len(shape) - rank:]
    weight, bias = (numbers(inner, dtype, 2), numbers(inner, dtype, 3)) if affine else (None, None)
    plain, served, count = both(normalization.layer_norm, x, weight, bias, rank, 1e-5)
    assert count == 1
    check_alike(plain, served, 32)
    _, mean, rstd = plain
    for wanted in [(True, True, True), (True, False, True)] if affine else [(True, False, False)]:
        plain, served, count = both(standardizing.layer_norm_backward, g, x, weight, mean, rstd, rank, 1e-5, wanted)
        assert count == 1
        check_alike(plain, served, 64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(20, 30, 9, 11), (300, 200), (7, 3, 3000)])
def test_batch_norm(shape: tuple[int, ...], dtype: str) -> None:
    x, g, channels = numbers(shape, dtype), numbers(shape, dtype, 1), shape[1]
    weight, bias = numbers(channels, dtype, 2), numbers(channels, dtype, 3)
    plain, served, count = both(normalization.batch_norm, x, weight, bias, 1e-5)
    assert count == 1
    check_alike(plain, served, 32)
    row, axes = (1, -1, *[1] * (x.ndim - 2)), (0, *range(2, x.ndim))
    mean, rstd, weight = (a.reshape(row) for a in (*plain[1:3], weight))
    for kernel, args in ((standardizing.standardize_backward, (g, x, weight, mean, rstd, axes, 1e-5)),
                         (standardizing.standardized_sum, (g, x, mean, rstd, axes, axes, 1e-5))):
        plain, served, count = both(kernel, *args)
        assert count == 1
        check_alike(plain, served, 128)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(affine: bool, dtype: str) -> None:
    x, g = numbers((20, 12, 13, 17), dtype), numbers((20, 12, 13, 17), dtype, 1)
    weight, bias = (numbers(12, dtype, 2), numbers(12, dtype, 3)) if affine else (None, None)
    plain, served, count = both(normalization.group_norm, x, weight, bias, 4, 1e-5)
    assert count == 1
    check_alike(plain, served, 32)
    parts, gs = (a.reshape(20, 4, 3, -1) for a in (x, g))
    mean, rstd = (a.reshape(20, 4, 1, 1) for a in plain[1:])
    shaped = None if weight is None else weight.reshape(1, 4, 3, 1)
    for kernel, args in ((standardizing.standardize_backward, (gs, parts, shaped, mean, rstd, (2, 3), 1e-5)),
                         (standardizing.standardized_sum, (gs, parts, mean, rstd, (0, 3), (2, 3), 1e-5))):
        plain, served, count = both(kernel, *args)
        assert count == 1
        check_alike(plain, served, 128)


def layouts() -> dict[str, Any]:
    """Arrays of other layouts than row by row, and their like row by row."""
    x = numbers((200, 200, 2), "f")
    return {"transposed": x[:, :, 0].T, "sliced": x[:, :, 1], "reversed": x[::-1, ::-1, 0], "rows": x[::2, :, 0],
            "repeated": np.broadcast_to(x[0, :, 0], (200, 200)), "one number": np.broadcast_to(x[0, 0, 0], (200, 200))}


@pytest.mark.parametrize("name", layouts())
def test_other_layouts_have_the_results_of_numpy(name: str) -> None:
    x = layouts()[name]
    g = numbers(x.shape, "f", 5)
    calls: list[tuple[Any, ...]] = [
        (activations.silu, x), (in_parts(np.exp), x), (softmax.softmax, x, 1), (softmax.softmax, x, 0),
        (softmax.softmax_backward, g, x, 1), (normalization.layer_norm, x, None, None, 1, 1e-5),
        (normalization.batch_norm, x, None, None, 1e-5)]
    for kernel, *args in calls:
        plain, served, _ = both(kernel, *args)
        for want, got in zip(plain, served, strict=True):
            assert got.strides == want.strides or want.size <= 200
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("shape", [(0,), (1,), (0, 5), (5, 0), (1, 1), (70_000, 1), (1, 70_000)])
def test_no_and_few_elements(shape: tuple[int, ...]) -> None:
    x = numbers(shape, "f")
    calls: list[tuple[Any, ...]] = [(activations.gelu, x), (sigmoid, x), (softmax.softmax, x, len(shape) - 1)]
    if len(shape) == 2:
        calls.append((normalization.layer_norm, x, None, None, 1, 1e-5))
    for kernel, *args in calls:
        plain, served, _ = both(kernel, *args)
        for want, got in zip(plain, served, strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.int64, np.complex64])
def test_other_dtypes_have_the_results_of_numpy(dtype: Any) -> None:
    x = numbers((300, 200), "f").astype(dtype)
    for kernel in (softmax.softmax,) if np.dtype(dtype).kind == "f" else (np.square,):
        args = (x, 1) if kernel is softmax.softmax else (x,)
        plain, served, _ = both(kernel, *args)
        assert [a.dtype for a in plain] == [a.dtype for a in served]
        np.testing.assert_allclose(served[0], plain[0], rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.divide])
@np.errstate(all="ignore")
def test_pairs_of_large_arrays_have_the_bits_of_numpy(ufunc: Any, dtype: str) -> None:
    pair = pair_in_parts(ufunc)
    assert pair is not None
    x, y = numbers(600_000, dtype), numbers(600_000, dtype, 1)
    x[::1000], y[::777] = np.inf, 0.0
    for one, other in ((x, y), (x, np.array(3.0, dtype)), (x.reshape(600, 1000), y.reshape(600, 1000))):
        plain, served, count = both(pair, one, other)
        assert count == 1
        np.testing.assert_array_equal(plain[0].view(np.uint8), served[0].view(np.uint8))
    for one, other in ((x[::2], y[::2]), (x.reshape(600, 1000).T, y.reshape(600, 1000).T), (x, y[:1]),
                       (x[:1], y), (x.astype(np.int64), x.astype(np.int64)), (x[:9], y[:9])):
        plain, served, count = both(pair, one, other)
        assert count == 0
        np.testing.assert_array_equal(plain[0], served[0])
        assert (plain[0].dtype, plain[0].strides) == (served[0].dtype, served[0].strides)
