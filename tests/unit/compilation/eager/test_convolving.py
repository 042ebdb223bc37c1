"""Convolutions by machine code: the numbers are those of NumPy, but for roundings, for all shapes and layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from needing import needs
from retrograd.compilation.eager import convolving, convolving_weight
from retrograd.compilation.native.host import host
from retrograd.compilation.native.objects import Linked, object_code
from retrograd.kernels.images import convolution, served_convolution
from retrograd.kernels.native import threads

from .served_calls import both, check_alike, noted

pytestmark = needs("llvmlite")


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code computes small convolutions, too."""
    monkeypatch.setattr(served_convolution, "CONVOLUTION_SERVED", 0)
    monkeypatch.setattr(served_convolution, "CONVOLUTION_SHARE", 0)


@pytest.fixture(params=[1, 2, 3, 5])
def several(request: Any) -> Iterator[int]:
    before = threads.available()
    threads.use(request.param)
    yield request.param
    threads.use(before)


def drawn(random: np.random.Generator, shape: Any, dtype: str) -> Any:
    return random.standard_normal(shape).astype(dtype)


def options(random: np.random.Generator, dims: int, most: int = 1) -> tuple[tuple[int, ...], ...]:
    """Sizes of the input, the kernel, strides, the padding and the dilation, which fit."""
    kernel = tuple(random.integers(1, 5, dims).tolist())
    dilation = tuple(random.integers(1, 4, dims).tolist())
    padding = tuple(random.integers(0, 4, dims).tolist())
    sizes = tuple([max(1, d * (k - 1) + 1 - 2 * p) + int(random.integers(0, 20))
                   for k, d, p in zip(kernel, dilation, padding)])
    return sizes, kernel, tuple(random.integers(1, most + 1, dims).tolist()), padding, dilation


def check(function: Any, *args: Any, depth: int, served: int = 1) -> None:
    plain, found, count = both(function, *args)
    assert count == served
    check_alike(plain, found, 4 * depth ** 0.5 + 4)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from("fd"), st.sampled_from([1, 2]), st.booleans(), st.booleans())
def test_any_convolution(seed: int, dtype: str, dims: int, biased: bool, turned: bool) -> None:
    random = np.random.default_rng(seed)
    sizes, kernel, stride, padding, dilation = options(random, dims)
    groups, inner, rows = int(random.integers(1, 4)), int(random.integers(1, 9)), int(random.integers(4, 20))
    x = drawn(random, (int(random.integers(2, 6)), groups * inner, *sizes), dtype)
    if turned:
        x = np.ascontiguousarray(x.swapaxes(0, -1)).swapaxes(0, -1)
    weight = drawn(random, (groups * rows, inner, *kernel), dtype)
    bias = drawn(random, groups * rows, dtype) if biased else None
    trivial = not any(padding) and max(kernel) == 1
    check(convolution.convolution, x, weight, bias, stride, padding, dilation, False, (0,) * dims, groups,
          depth=weight[0].size, served=0 if trivial else 1)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from("fd"), st.sampled_from([1, 2]), st.booleans())
def test_any_gradient_by_weight(seed: int, dtype: str, dims: int, expanded: bool) -> None:
    random = np.random.default_rng(seed)
    sizes, kernel, stride, padding, dilation = options(random, dims, most=3)
    count, channels, rows = [int(random.integers(low, 20)) for low in (2, 4, 4)]
    shape = rows, channels, *kernel
    outputs = convolution.Window(kernel, stride, padding, dilation).outputs(sizes)
    g = drawn(random, (count, rows, *outputs), dtype)
    if expanded:
        g = np.broadcast_to(g[:1, :, :1], g.shape)
    check(convolution.weight_gradient, drawn(random, (count, channels, *sizes), dtype), g, shape, stride, padding,
          dilation, 1, depth=count * g[0, 0].size)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from(["float32", "float64"]), st.sampled_from([1, 2]), st.booleans())
def test_a_function_with_its_gradients(seed: int, dtype: str, dims: int, transposed: bool) -> None:
    random = np.random.default_rng(seed)
    sizes, kernel, _, padding, dilation = options(random, dims)
    padding = tuple([min(p, d * (k - 1)) for p, k, d in zip(padding, kernel, dilation)])
    sizes = tuple([n + d * (k - 1) for n, k, d in zip(sizes, kernel, dilation)])
    given = [drawn(random, (3, 8, *sizes), dtype), drawn(random, (8, 8, *kernel), dtype), drawn(random, 8, dtype)]
    function = getattr(torch, f"conv{'_transpose' * transposed}{dims}d")

    def computed() -> Any:
        x, weight, bias = leaves = [torch.from_numpy(a).requires_grad_() for a in given]
        y = function(x, weight, bias, padding=padding, dilation=dilation)
        first = torch.autograd.grad((y * y.detach().sin()).sum(), leaves, create_graph=True)
        second = torch.autograd.grad(first[0].square().sum() + first[1].sum(), leaves[:2])
        return tuple([a.detach().numpy() for a in (y, *first, *second)])

    plain, found, _ = both(computed)
    check_alike(plain, found, 200.0)


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_numbers_that_are_not_finite_go_where_they_belong(dtype: str, padding: int) -> None:
    """A number that is not finite is in the sums of the positions that see it, and in no others."""
    random = np.random.default_rng(0)
    for place in [(0, 0, 0, 0), (1, 3, 4, 6), (2, 7, 8, 0), (1, 2, 0, 10), (2, 0, 8, 10)]:
        x, weight = drawn(random, (3, 8, 9, 11), dtype), drawn(random, (5, 8, 3, 3), dtype)
        x[place] = np.inf
        options = (1, 1), (padding, padding), (1, 1)
        check(convolution.convolution, x, weight, None, *options, False, (0, 0), 1, depth=72)
        g = drawn(random, (3, 5, 7 + 2 * padding, 9 + 2 * padding), dtype)
        g[0, 1, 2, 3] = np.nan
        check(convolution.weight_gradient, x, g, weight.shape, *options, 1, depth=300)


def test_threads_share_the_samples(several: int) -> None:
    random = np.random.default_rng(1)
    weight = drawn(random, (9, 6, 3, 3), "f")
    for count in (2, 3, 7):
        x, g = drawn(random, (count, 6, 10, 12), "f"), drawn(random, (count, 9, 10, 12), "f")
        check(convolution.convolution, x, weight, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1, depth=54)
        check(convolution.weight_gradient, x, g, weight.shape, (1, 1), (1, 1), (1, 1), 1, depth=1000)


def test_a_result_does_not_depend_on_the_threads() -> None:
    random, before, found = np.random.default_rng(2), threads.available(), []
    x, weight = drawn(random, (7, 6, 10, 12), "f"), drawn(random, (9, 6, 3, 3), "f")
    for count in (1, 2, 3):
        threads.use(count)
        with noted() as calls:
            y = convolution.convolution(x, weight, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
            found.append((y, convolution.weight_gradient(x, y, weight.shape, (1, 1), (1, 1), (1, 1), 1)))
        assert len(calls) == 2
    threads.use(before)
    for pair in found[1:]:
        for one, other in zip(found[0], pair, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_other_processors(bits: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller registers have other tiles."""
    other = host()._replace(bits=bits, letters=())
    for module in (convolving, convolving_weight):
        monkeypatch.setattr(module, "host", lambda: other)

    def made(module: Any, called: Any) -> Any:
        linked = Linked(object_code(module.text_of(np.dtype(dtype))), ("run", "help"))
        return called(linked.addresses["run"], linked)

    forward, weight_gradient = made(convolving, convolving.Convolving), made(
        convolving_weight, convolving_weight.ConvolvingWeight)
    random = np.random.default_rng(4)
    for channels, rows in ((4, 5), (9, 16), (16, 21)):
        window = convolution.Window((3, 2), (1, 1), (1, 0), (1, 2))
        x, weight = drawn(random, (3, channels, 9, 13), dtype), drawn(random, (rows, channels, 3, 2), dtype)
        with torch.backends.native.flags(enabled=False):
            plain = convolution.gathered(x, weight, None, window, 1)
            by_weight = convolution.weight_gradient(x, plain, weight.shape, *window[1:], 1)
        found = forward([x, weight, np.zeros(rows, dtype)], (window, 1), [plain.shape])
        check_alike([plain], found, 100.0)
        check_alike([by_weight], weight_gradient([x, plain], (window,), [weight.shape]), 400.0)


def test_what_numpy_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)

    def one(shape: Any, weight: Any, dtype: str = "f", stride: int = 1, groups: int = 1, served: int = 0) -> None:
        dims = len(shape) - 2
        x, w = drawn(random, shape, dtype), drawn(random, weight, dtype)
        ones = (1,) * dims
        check(convolution.convolution, x, w, None, (stride,) * dims, ones, ones, False, (0,) * dims, groups,
              depth=w[0].size, served=served)

    one((3, 4, 6, 6), (8, 4, 3, 3), served=1)
    one((3, 4, 6, 6), (8, 4, 3, 3), stride=2)
    one((3, 4, 6, 6), (3, 4, 3, 3))                         # too few channels
    one((3, 4, 6, 6), (8, 1, 3, 3), groups=4)
    one((3, 4, 6, 6, 6), (8, 4, 3, 3, 3))
    one((3, 4, 6, 6), (8, 4, 3, 3), dtype="F")
    one((1, 4, 6, 6), (8, 4, 3, 3), served=int(threads.available() == 1))
    monkeypatch.setattr(served_convolution, "CONVOLUTION_ROOM", 12 * 64 * 4 - 1)
    one((3, 4, 6, 6), (8, 4, 3, 3))
    monkeypatch.setattr(served_convolution, "CONVOLUTION_ROOM", 12 * 64 * 4)
    one((3, 4, 6, 6), (8, 4, 3, 3), served=1)
    monkeypatch.setattr(served_convolution, "CONVOLUTION_SERVED", 3 * 36 * 288 + 1)
    one((3, 4, 6, 6), (8, 4, 3, 3))
