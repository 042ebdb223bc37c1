"""Calls with unusual arguments, each of which once ended otherwise. The facts are recorded from PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch


@pytest.mark.parametrize(("pivots", "said"), [([5, 7], "<= LD.size"), ([0, 1], ">= 1"), ([-9, -9], "<= LD.size")])
def test_pivots_out_of_range_do_not_reach_the_routine(pivots: list[int], said: str) -> None:
    with pytest.raises(RuntimeError, match=rf"^Pivots given to ldl_solve must all satisfy \|pivot\| {said}"):
        torch.linalg.ldl_solve(torch.eye(2), torch.tensor(pivots, dtype=torch.int32), torch.ones(2, 1))


@pytest.mark.parametrize("pivots", [[1, 2, -3], [-1, 2, 3], [-2, -2, -3], [1, -2, 3]])
def test_half_a_block_does_not_reach_the_routine(pivots: list[int]) -> None:
    with pytest.raises(RuntimeError, match="^Pivots given to ldl_solve must be negative in pairs"):
        torch.linalg.ldl_solve(torch.eye(3), torch.tensor(pivots, dtype=torch.int32), torch.ones(3, 1))


def test_whole_blocks_are_solved() -> None:
    matrix = torch.tensor([[0., 1., 2., 1.], [1., 0., 3., 2.], [2., 3., 0., 1.], [1., 2., 1., 0.]])
    factors, pivots = torch.linalg.ldl_factor(matrix)
    assert (pivots < 0).any()
    assert torch.allclose(matrix @ torch.linalg.ldl_solve(factors, pivots, torch.ones(4, 1)), torch.ones(4, 1))


def test_numpy_makes_arrays_like_tensors() -> None:
    for made in (np.zeros_like(torch.ones(2)), np.ones_like(torch.ones(2)), np.full_like(torch.ones(2), 3)):
        assert type(made) is np.ndarray
        assert made.dtype == np.float32
    with pytest.raises(RuntimeError, match="^Can't call numpy"):
        np.zeros_like(torch.ones(2, requires_grad=True))


def test_a_rule_makes_tensors_like_tensors() -> None:
    seen: list[Any] = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(np.zeros_like(g))
            return 2 * g * ctx.saved_tensors[0] + seen[-1]

    x = torch.ones(2, requires_grad=True)
    y = Square.apply(x).sum()
    (g,) = torch.autograd.grad(y, x, torch.ones((), requires_grad=True), create_graph=True)
    assert isinstance(seen[0], torch.Tensor)
    assert g.tolist() == [2., 2.]


def test_channels_stay_last_in_resized_images() -> None:
    x = torch.arange(48.).reshape(1, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    y = torch.nn.functional.interpolate(x, scale_factor=2)
    assert y.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(y, torch.nn.functional.interpolate(x.contiguous(), scale_factor=2))
    assert torch.nn.functional.interpolate(x.contiguous(), scale_factor=2).is_contiguous()


def test_what_is_not_finite_is_not_positive_definite() -> None:
    matrix = torch.tensor([[[2., 1.], [1., float("nan")]], [[2., 1.], [1., 2.]], [[float("nan"), 1.], [1., 2.]]])
    assert torch.linalg.cholesky_ex(matrix).info.tolist() == [2, 0, 1]
    assert torch.linalg.slogdet(matrix).sign.tolist() == [0., 1., 0.]
    with pytest.raises(torch.linalg.LinAlgError, match="the leading minor of order 2 is not positive-definite"):
        torch.linalg.cholesky(matrix[0])


def test_dims_may_be_given_one_by_one() -> None:
    x = torch.ones(1, 2, 1)
    assert x.squeeze(0, 2).shape == (2,)
    assert x.squeeze_(0, -1).shape == (2,)
    with pytest.raises(IndexError, match="^Dimension out of range"):
        torch.ones(1, 1).squeeze(0, 1, 2)


def test_bounds_and_counts_may_be_tensors() -> None:
    torch.manual_seed(0)
    drawn = torch.zeros(99).random_(torch.tensor(2), torch.tensor(5))
    torch.manual_seed(0)
    assert torch.equal(drawn, torch.zeros(99).random_(2, 5))
    with pytest.raises(TypeError, match=r"^random_\(\) received an invalid combination of arguments - got \(float\)"):
        torch.zeros(3).random_(5.)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^group_norm\(\): argument 'num_groups' \(position 2\) must be int"):
        torch.group_norm(torch.ones(1, 2, 2), torch.tensor(1.))
