"""Convolutions and pooling without PyTorch: against their definitions, in any geometry and in threads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.images import columns, convolution as kernels, samples_last
from retrograd.kernels.native import threads

F = torch.nn.functional
Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]


def by_definition(x: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Array:
    """Every output as the sum that the definition says."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    kernel = weight.shape[2:]
    outputs = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)]
    result = np.zeros((len(x), len(weight), *outputs))
    inner, outer = x.shape[1] // groups, len(weight) // groups
    for o, place in itertools.product(range(len(weight)), itertools.product(*map(range, outputs))):
        seen = tuple(slice(i * s, i * s + d * (k - 1) + 1, d)
                     for i, s, d, k in zip(place, stride, dilation, kernel, strict=True))
        first = o // outer * inner
        result[(slice(None), o, *place)] = (x[(slice(None), slice(first, first + inner), *seen)] * weight[o]).sum(
            tuple(range(1, x.ndim)))
    return result


@pytest.fixture(params=[(1, "columns"), (3, "columns"), (1, "rows"), (3, "rows")])
def workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """All work in one thread, and even the smallest in three, by a product for each sample and in strips.

    With columns, and with the samples last where this is possible.
    """
    before, (count, way) = threads.available(), request.param
    threads.use(count)
    monkeypatch.setattr(threads, "ENOUGH", 1)
    monkeypatch.setattr(samples_last, "SAMPLES_LAST_ROW", 1 if way == "rows" else 1 << 40)
    if way == "rows":
        monkeypatch.setattr(samples_last, "SAMPLES_LAST_BLOCK", 2)
        monkeypatch.setattr(samples_last, "SAMPLES_LAST_BLOCK_POSITIONS", 1)
        monkeypatch.setattr(samples_last, "COLLIDING_BYTES", 64)
    elif count > 1:
        monkeypatch.setattr(columns, "COLUMNS_POSITIONS", 1)
        monkeypatch.setattr(kernels, "COLUMNS_STRIP_BYTES", 1 << 11)
    yield count
    threads.use(before)


def geometries(count: int) -> list[tuple[Any, ...]]:
    """Convolutions of one to three dimensions, at random."""
    draws = np.random.default_rng(11)

    def sizes(low: int, high: int, dims: int) -> Sizes:
        return tuple(map(int, draws.integers(low, high, dims)))

    found = []
    while len(found) < count:
        dims, groups = int(draws.integers(1, 4)), int(draws.integers(1, 3))
        kernel, stride, padding, dilation = (sizes(1, 4, dims), sizes(1, 4, dims), sizes(0, 4, dims), sizes(1, 3, dims))
        space = sizes(3, 9, dims)
        if all(n + 2 * p > d * (k - 1) for n, p, d, k in zip(space, padding, dilation, kernel, strict=True)):
            x = draws.standard_normal((int(draws.integers(1, 6)), 2 * groups, *space))
            found.append((x, draws.standard_normal((3 * groups, 2, *kernel)), stride, padding, dilation, groups))
    return found


@pytest.mark.usefixtures("workers")
def test_a_convolution_is_what_its_definition_says() -> None:
    for x, weight, *geometry in geometries(40):
        found = kernels.convolution(x, weight, np.arange(len(weight)) * 1.0, *geometry[:3], False, (0,), geometry[3])
        expected = by_definition(x, weight, *geometry)
        expected += np.arange(len(weight)).reshape(-1, *[1] * (x.ndim - 2))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("workers")
def test_the_gradients_of_a_convolution_are_its_adjoints() -> None:
    """<conv(x, w), g> = <x, transposed(g, w)> = <w, by_weight(x, g)>."""
    draws = np.random.default_rng(2)
    for x, weight, stride, padding, dilation, groups in geometries(40):
        result = by_definition(x, weight, stride, padding, dilation, groups)
        g = draws.standard_normal(result.shape)
        window = kernels.Window(weight.shape[2:], stride, padding, dilation)
        rest = tuple(n - m for n, m in zip(x.shape[2:], window.inputs(g.shape[2:], (0,) * len(stride)), strict=True))
        back = kernels.convolution(g, weight, None, stride, padding, dilation, True, rest, groups)
        by_weight = kernels.weight_gradient(x, g, weight.shape, stride, padding, dilation, groups)
        expected = np.vdot(result, g)
        assert np.vdot(back, x) == pytest.approx(expected, rel=1e-11)
        assert np.vdot(by_weight, weight) == pytest.approx(expected, rel=1e-11)


GEOMETRIES = {"few channels": ((4, 1, 6, 6), (5, 1, 3, 3), (1, 1)), "rows": ((40, 8, 4, 4), (9, 8, 3, 3), (1, 1)),
              "no padding": ((4, 2, 6, 6), (9, 2, 3, 2), (0, 0)), "one row": ((4, 2, 1, 9), (3, 2, 1, 3), (0, 1))}


def gradients(x: Array, weight: Array, padding: Sizes) -> list[Array]:
    """A convolution, and its gradients for a cotangent that is the result."""
    one = (1, 1)
    result = kernels.convolution(x, weight, None, one, padding, one, False, (0, 0), 1)
    return [result, kernels.weight_gradient(x, result, weight.shape, one, padding, one, 1),
            kernels.convolution(result, weight, None, one, padding, one, True, (0, 0), 1)]


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_memory_that_is_kept_between_calls_holds_nothing_of_the_last_call(geometry: str) -> None:
    shape, kernel, padding = GEOMETRIES[geometry]
    draws = np.random.default_rng(5)
    x, weight = draws.standard_normal(shape), draws.standard_normal(kernel)
    first = gradients(x, weight, padding)
    gradients(np.full(shape, math.nan), weight, padding)
    assert all(map(np.array_equal, gradients(x, weight, padding), first))


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_threads_that_convolve_at_once_do_not_share_memory(geometry: str) -> None:
    shape, kernel, padding = GEOMETRIES[geometry]
    draws = np.random.default_rng(5)
    weight, images = draws.standard_normal(kernel), [draws.standard_normal(shape) for _ in range(4)]
    expected = [gradients(x, weight, padding) for x in images]

    def again(number: int) -> bool:
        return all(all(map(np.array_equal, gradients(images[number], weight, padding), expected[number]))
                   for _ in range(40))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(again, range(4)))


def test_columns_overlap_where_windows_do() -> None:
    ones = torch.ones(1, 1, 4, 4)
    counted = F.fold(F.unfold(ones, 3, padding=1), 4, 3, padding=1)[0, 0]
    assert counted.tolist() == [[4, 6, 6, 4], [6, 9, 9, 6], [6, 9, 9, 6], [4, 6, 6, 4]]


def test_of_equal_maxima_the_first_gets_the_gradient_and_of_nans_the_last() -> None:
    x = torch.zeros(1, 4, 4, requires_grad=True)
    F.max_pool2d(x, 2).sum().backward()
    assert x.grad[0].tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]
    _, indices = F.max_pool2d(torch.full((1, 2, 2), math.nan), 2, return_indices=True)
    assert indices.item() == 3
    assert F.max_pool2d(torch.full((1, 2, 2), -math.inf), 2, return_indices=True)[1].item() == 0


def test_zeros_around_count_in_a_mean_unless_they_are_not_to() -> None:
    x = torch.ones(1, 2, 2)
    assert F.avg_pool2d(x, 2, 1, 1)[0].tolist() == [[0.25, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 0.25]]
    assert F.avg_pool2d(x, 2, 1, 1, count_include_pad=False).unique().tolist() == [1.0]
    assert F.avg_pool2d(x, 2, divisor_override=1).item() == 4.0


def test_maxima_go_back_where_they_were() -> None:
    x = torch.arange(16.0).view(1, 1, 4, 4)
    values, indices = torch.nn.MaxPool2d(2, return_indices=True)(x)
    assert torch.nn.MaxUnpool2d(2)(values, indices)[0, 0, 1].tolist() == [0, 5, 0, 7]


def test_a_layer_starts_with_the_weights_that_pytorch_draws() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(1, 1, 2)
    assert layer.weight.flatten().tolist() == pytest.approx([-0.0037434, 0.2682218, -0.4115226, -0.3679695], abs=1e-7)
    assert layer.bias.item() == pytest.approx(-0.1925772, abs=1e-7)


@pytest.mark.parametrize("call", [
    lambda x: F.conv2d(x, 2), lambda x: F.conv2d(2, x), lambda x: F.conv2d(x, x, padding=1.5),
    lambda x: F.conv2d(x, x, 1.5),
    lambda x: F.conv2d(x, x, 2), lambda x: torch.convolution(x, x, None, 1, 0, 1, False, 0, 1),
    lambda x: F.max_pool2d(x, 2.0), lambda x: F.avg_pool2d(x, 2.0), lambda x: F.max_pool2d(x, 2, ceil_mode=1),
])
def test_arguments_of_another_type_are_refused(call: Any) -> None:
    with pytest.raises(TypeError):
        call(torch.ones(1, 1, 3, 3))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("kernel", [(2, 2), (1, 3), (2, 1), (3, 4), (6, 1)])
def test_means_of_windows_side_by_side(kernel: tuple[int, int], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 6, 12, dtype=dtype, requires_grad=True)
    means = F.avg_pool2d(x, kernel)
    windows = x.detach().unflatten(3, (-1, kernel[1])).unflatten(2, (-1, kernel[0]))
    torch.testing.assert_close(means, windows.mean((3, 5)))
    g = torch.randn(means.shape, dtype=dtype)
    means.backward(g)
    spread = g.repeat_interleave(kernel[0], 2).repeat_interleave(kernel[1], 3) / math.prod(kernel)
    torch.testing.assert_close(x.grad, spread)


@pytest.mark.parametrize("size", [2, 4, 32])
def test_a_mean_of_negative_zeros_is_positive(size: int) -> None:
    x = torch.full((1, size, size), -0.0, requires_grad=True)
    means = F.avg_pool2d(x, 2)
    means.backward(-torch.zeros_like(means))
    assert x.grad is not None
    assert not torch.signbit(means).any()
    assert not torch.signbit(x.grad).any()
