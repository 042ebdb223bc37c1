"""Samples of a batch by strides of their own: views stay within a sample, and gradients reach what was written."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.func import grad, jvp, vmap

PARTS = torch.arange(8.).reshape(2, 2, 2) * 10 + 0.5


def batch(dim: int) -> Any:
    """Two samples of six numbers."""
    return (torch.arange(12.).reshape(2, 6) + 1).movedim(0, dim).contiguous()


def cubes(x: Any, part: Any) -> Any:
    """The place of the second element lies between the elements of a sample, if the samples lie side by side."""
    step = x.stride(0)
    return (x.as_strided_scatter(part, (2, 2), (2 * step, step), step) ** 3).sum()


@pytest.mark.parametrize("in_dims", [(0, 0), (1, 0), (1, 1), (0, 2), (1, 2)])
def test_gradients_of_as_strided_scatter(in_dims: tuple[int, int]) -> None:
    x, parts = batch(in_dims[0]), PARTS.movedim(0, in_dims[1]).contiguous()
    by_x, by_part = vmap(grad(cubes, (0, 1)), in_dims)(x, parts)
    assert by_part.tolist() == (3 * PARTS ** 2).tolist()
    assert by_x.tolist() == [[3., 0., 0., 0., 0., 108.], [147., 0., 0., 0., 0., 432.]]
    pushed = vmap(lambda x, part: jvp(cubes, (x, part), (x, part))[1], in_dims)(x, parts)
    expected = (3 * PARTS ** 3).sum((1, 2)) + torch.tensor([3. + 108 * 6, 147 * 7 + 432 * 12])
    assert pushed.tolist() == pytest.approx(expected.tolist())
    x.requires_grad_()
    vmap(cubes, in_dims)(x, parts).sum().backward()
    assert x.grad.movedim(in_dims[0], 0).tolist() == by_x.tolist()


def test_what_is_written_between_the_elements_has_no_gradient() -> None:
    def function(x: Any, part: Any) -> Any:
        return (x.as_strided_scatter(part, (4,), (1,), 0) ** 2).sum()

    by_x, by_part = vmap(grad(function, (0, 1)), (1, 0))(batch(1), torch.tensor([[1., 2., 3., 4.], [5., 6., 7., 8.]]))
    assert by_part.tolist() == [[2., 0., 6., 0.], [10., 0., 14., 0.]]
    assert by_x.tolist() == [[0., 0., 6., 8., 10., 12.], [0., 0., 18., 20., 22., 24.]]


def test_views_stay_within_the_memory_of_a_sample() -> None:
    x = batch(1)
    assert vmap(lambda row: row.as_strided((2,), (4,), 2), 1)(x).tolist() == [[2., 4.], [8., 10.]]
    for size, stride, start in (((7,), (2,), 0), ((2,), (12,), 0), ((1,), (1,), 11)):
        with pytest.raises(RuntimeError, match=r"^result = tensor\.as_strided\(.*can access memory outside"):
            vmap(lambda row: row.as_strided(size, stride, start), 1)(x)  # noqa: B023
    with pytest.raises(RuntimeError, match=r"range \[2, 3\], but `tensor` .* in range \[6, 12\]"):
        vmap(lambda row: row.as_strided((1,), (1,), 2))(batch(0)[1:])


@pytest.mark.parametrize("shape", [(1, 0, 1, 5, 1), (2, 0), (0,), (0, 3), (0, 1, 2), (2, 1, 3)])
@pytest.mark.parametrize("function", [torch.squeeze, lambda x: x[...]])
def test_views_of_samples_are_views_of_the_batch(function: Any, shape: tuple[int, ...]) -> None:
    batch = torch.zeros(shape)
    assert torch.vmap(function)(batch)._base is batch
