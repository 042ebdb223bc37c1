"""Kernels that go over rows in blocks, on several threads where there are many rows: as the plain formulas say.

The sizes are below and above those of a block, and of what threads share. Some rows are of another magnitude than the
rest, or hold what is not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.linalg import line_products
from retrograd.kernels.networks import channels as channels_kernels, moments, normalization, softmax, standardizing

SIZES = [(3, 5), (70, 100), (200, 100), (700, 100), (4, 70000), (70000, 4)]
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def smaller_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a size that some of the arrays here have several of, in each of several parts."""
    monkeypatch.setattr(softmax, "SOFTMAX_BLOCK", 1 << 16)
    monkeypatch.setattr(standardizing, "NORM_BLOCK", 1 << 16)


@pytest.fixture(params=SIZES, ids=str)
def rows(request: pytest.FixtureRequest) -> Array:
    """Rows of normal numbers; the first ones are large, small, far from 0, and constant."""
    x = np.asarray(np.random.default_rng(0).standard_normal(request.param))
    for row, (scale, shift) in zip(x, ((100.0, 0.0), (1e-9, 0.0), (0.01, 1e3), (0.0, 5.0), (1.0, -800.0))):
        row *= scale
        row += shift
    return x


@pytest.fixture
def cotangents(rows: Array) -> Array:
    return np.asarray(np.random.default_rng(1).standard_normal(rows.shape))


def shifted(x: Array) -> Array:
    return np.asarray(x - x.max(-1, keepdims=True))


def standard(x: Array, eps: float) -> Array:
    off = x - x.mean(-1, keepdims=True)
    return np.asarray(off / np.sqrt((off * off).mean(-1, keepdims=True) + eps))


def close(found: Array, expected: Array, accuracy: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=accuracy, atol=accuracy)


def test_softmax(rows: Array, cotangents: Array) -> None:
    e = np.exp(shifted(rows))
    y = e / e.sum(-1, keepdims=True)
    with np.errstate(over="ignore"):                       # by which a block finds what to do
        close(softmax.softmax(rows, 1), y)
        close(softmax.log_softmax(rows, 1), shifted(rows) - np.log(e.sum(-1, keepdims=True)))
    close(softmax.softmax_backward(cotangents, y, 1), y * (cotangents - (y * cotangents).sum(-1, keepdims=True)))
    close(softmax.log_softmax_backward(cotangents, np.log(y + 1e-300), 1),
          cotangents - (y + 1e-300) * cotangents.sum(-1, keepdims=True))


def test_softmax_along_another_axis(rows: Array, cotangents: Array) -> None:
    """In slabs it gives what rows give."""
    x, g = (np.stack([a.T, a[::-1].T]) for a in (rows, cotangents))
    with np.errstate(over="ignore"):
        for forward, backward in ((softmax.softmax, softmax.softmax_backward),
                                  (softmax.log_softmax, softmax.log_softmax_backward)):
            expected = forward(x.swapaxes(1, 2), 2)
            close(forward(x, 1), expected.swapaxes(1, 2))
            close(backward(g, expected.swapaxes(1, 2), 1), backward(g.swapaxes(1, 2), expected, 2).swapaxes(1, 2))


def test_softmax_of_what_is_not_finite() -> None:
    x = np.zeros((2000, 50))
    x[3, 1], x[4, 1], x[5], x[6, 1] = -np.inf, np.inf, -np.inf, np.nan
    with np.errstate(all="ignore"):
        found, logarithms, safe = softmax.softmax(x, 1), softmax.log_softmax(x, 1), softmax.safe_softmax(x, 1)
    close(found[3], np.where(np.arange(50) == 1, 0, 1 / 49))
    assert logarithms[3, 1] == -np.inf
    assert np.isnan(found[4:7]).all()
    assert np.isnan(logarithms[4:7]).all()
    assert (safe[5] == 0).all()
    close(np.delete(found, range(3, 7), 0), np.full((1996, 50), 0.02))


@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm(rows: Array, affine: bool) -> None:
    draws = np.random.default_rng(2)
    weight, bias = (draws.standard_normal(rows.shape[1:]) for _ in range(2)) if affine else (None, None)
    out, mean, rstd = normalization.layer_norm(rows, weight, bias, 1, 1e-5)
    expected = standard(rows, 1e-5)
    close(out, expected if weight is None else expected * weight + bias, 1e-7)
    close(mean[:, 0], rows.mean(-1))
    close(rstd[:, 0], 1 / np.sqrt(rows.var(-1) + 1e-5), 1e-7)


@pytest.mark.parametrize("bad", [None, np.nan, np.inf])
@pytest.mark.parametrize("shape", [(60, 40), (200, 30), (40, 200), (2000, 30)], ids=str)
def test_layer_norm_of_rows_near_zero(shape: tuple[int, int], bad: float | None) -> None:
    """Few rows, some, some that are long, and many. A row with nan or inf leaves the others as they are."""
    draws = np.random.default_rng(3)
    x, weight, bias = (draws.standard_normal(size) + 0.5 for size in (shape, shape[1], shape[1]))
    if bad is not None:
        x[7, 3] = bad
    with np.errstate(invalid="ignore"):
        out, mean, rstd = normalization.layer_norm(x, weight, bias, 1, 1e-5)
        expected = standard(x, 1e-5) * weight + bias
        close(rstd[:, 0], 1 / np.sqrt(x.var(-1) + 1e-5))
    close(out, expected)
    close(mean[:, 0], x.mean(-1))


@pytest.mark.parametrize("affine", [False, True])
def test_gradients_do_not_depend_on_which_axes_are_last(rows: Array, cotangents: Array, affine: bool) -> None:
    """Over the last axis the work is done row by row, over others at once."""
    weight = np.random.default_rng(2).standard_normal(rows.shape[1]) if affine else None
    mean, rstd = rows.mean(-1, keepdims=True), 1 / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    found = standardizing.standardize_backward(cotangents, rows, weight, mean, rstd, (1,), 1e-5)
    other = standardizing.standardize_backward(cotangents.T, rows.T, weight if weight is None else weight[:, None],
                                               mean.T, rstd.T, (0,), 1e-5)
    close(found / rstd, other.T / rstd, 1e-6)
    found = standardizing.standardized_sum(cotangents, rows, mean, rstd, (0,), (1,), 1e-5)
    close(found[0], (cotangents * standard(rows, 1e-5)).sum(0), 1e-6)
    close(moments.sum_over_rows(cotangents, 1), cotangents.sum(0))


@pytest.mark.parametrize("wanted", [(True, True, True), (True, False, True), (False, True, False)])
def test_gradients_of_layer_norm(rows: Array, cotangents: Array, wanted: tuple[bool, ...]) -> None:
    """All gradients are computed in one pass, and some of them one by one."""
    weight = np.random.default_rng(2).standard_normal(rows.shape[1])
    mean, rstd = rows.mean(-1, keepdims=True), 1 / np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    found = standardizing.layer_norm_backward(cotangents, rows, weight, mean, rstd, 1, 1e-5, wanted)
    assert [gradient is not None for gradient in found] == [*wanted]
    xhat, g = standard(rows, 1e-5), cotangents * weight
    expected = (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True),
                (cotangents * xhat).sum(0), cotangents.sum(0))
    for gradient, value, scale in zip(found, expected, (rstd, 1.0, 1.0)):
        if gradient is not None:
            close(gradient / scale, value, 1e-6)


@pytest.mark.parametrize("shape", [(6, 4, 50, 30), (3, 8, 5, 7), (300, 4)])
@pytest.mark.parametrize("shift", [0.0, 3e3])
def test_norms_over_channels(shape: tuple[int, ...], shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of channels are summed each for itself, long and short, near 0 and far from it: as layer_norm does."""
    monkeypatch.setattr(channels_kernels, "CHANNELS_BLOCK", 1 << 11)
    monkeypatch.setattr(channels_kernels, "CHANNELS_PASS_COST", 200.0)  # so dear that threads share it
    draws = np.random.default_rng(4)
    x = torch.from_numpy(draws.standard_normal(shape) + shift).requires_grad_()
    g = torch.from_numpy(draws.standard_normal(shape))
    count, channels = shape[:2]
    weight, bias = (torch.from_numpy(draws.standard_normal(channels)).requires_grad_() for _ in range(2))
    by_channel = (1, channels, *[1] * (len(shape) - 2))

    def rows_of(groups: int) -> Any:
        return torch.layer_norm(x.reshape(count * groups, -1), (x.numel() // count // groups,)).reshape(shape)

    def columns() -> Any:
        moved = x.transpose(0, 1)
        return torch.layer_norm(moved.reshape(channels, -1), (x.numel() // channels,)).reshape(moved.shape).transpose(
            0, 1)

    pairs: list[tuple[Any, Any]] = [
        (torch.group_norm(x, 2, weight, bias), rows_of(2) * weight.view(by_channel) + bias.view(by_channel)),
        (torch.nn.functional.batch_norm(x, None, None, weight, bias, True),
         columns() * weight.view(by_channel) + bias.view(by_channel))]
    mean, variance = torch.from_numpy(draws.standard_normal(channels) + shift), torch.from_numpy(draws.random(channels))
    standard = (x - mean.view(by_channel)) / (variance.view(by_channel) + 1e-5).sqrt()
    pairs.append((torch.nn.functional.batch_norm(x, mean, variance, weight, bias),
                  standard * weight.view(by_channel) + bias.view(by_channel)))
    for found, expected in pairs:
        close(found.detach().numpy(), expected.detach().numpy(), 1e-7)
        for mine, other in zip(*[torch.autograd.grad(out, (x, weight, bias), g) for out in (found, expected)]):
            close(mine.numpy(), other.numpy(), 1e-6)


def test_a_mean_far_from_zero_costs_no_digits() -> None:
    x = (np.random.default_rng(0).standard_normal((100, 64)) * 1e-2 + 1e2).astype(np.float32)
    found = torch.layer_norm(torch.from_numpy(x), (64,)).numpy()
    close(found, standard(x.astype(np.float64), 1e-5), 1e-5)


def test_floating_point_is_quiet_in_threads() -> None:
    """Warnings are errors here, and what is divided by 0 in another thread would warn."""
    x = torch.full((600, 1000), -float("inf"))
    assert torch.softmax(x, 1).isnan().all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 7, 2000, 2600])
def test_products_of_thin_matrices_are_made_and_added(dtype: type, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(3)
    lines, columns = draws.standard_normal((2, 200)).astype(dtype), draws.standard_normal((2, rows + 5)).astype(dtype)
    columns = columns[:, :rows]
    expected, rough = columns.T @ lines, 20 * np.finfo(dtype).eps
    out = np.full((rows, 200), np.nan, dtype)
    close(line_products.thin(lines, columns, out), expected, rough)
    close(line_products.add_thin(lines, columns, out), 2 * expected, rough)
    close(line_products.add_thin(lines[1:], columns[1:], out), 2 * expected + np.outer(columns[1], lines[1]), rough)
    monkeypatch.setattr(line_products.blas, "add_product", lambda *_: False)
    close(line_products.add_thin(lines, -columns, out), expected + np.outer(columns[1], lines[1]), rough)


@pytest.mark.parametrize("number", [0.1, 7.7, 123.456, 1000.1, 1e6 + 0.3])
@pytest.mark.parametrize("length", [3, 33, 100, 1000, 5000])
@pytest.mark.parametrize("count", [2, 60])
def test_equal_numbers_far_from_zero_are_standardized_to_zero(count: int, length: int, number: float) -> None:
    x = torch.full((count, length), number)
    one, zero = torch.ones(length), torch.zeros(length)
    for found in (torch.nn.functional.layer_norm(x, (length,)), torch.nn.functional.layer_norm(x, (length,), one, zero),
                  torch.nn.functional.group_norm(x[:, :, None], 1)):
        assert found.abs().max() < 2e-5
