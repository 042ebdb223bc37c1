"""How elementwise results lie in memory if the operands lie there in different orders. Facts recorded from PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch

ROWS, COLUMNS = torch.arange(12.0).view(3, 4), torch.arange(12.0).view(4, 3).t()
CUBE = torch.arange(24.0).view(2, 3, 4)
TURNED = torch.arange(24.0).view(4, 2, 3).permute(1, 2, 0)
OTHER = torch.arange(24.0).view(3, 4, 2).permute(2, 0, 1)

FACTS: list[tuple[Any, tuple[int, ...]]] = [
    (lambda: COLUMNS.maximum(ROWS), (1, 3)),
    (lambda: ROWS.maximum(COLUMNS), (4, 1)),
    (lambda: COLUMNS + ROWS, (1, 3)),
    (lambda: ROWS + COLUMNS, (4, 1)),
    (lambda: COLUMNS + COLUMNS, (1, 3)),
    (lambda: COLUMNS * 2, (1, 3)),
    (lambda: 2 - COLUMNS, (1, 3)),
    (lambda: COLUMNS < ROWS, (1, 3)),
    (lambda: COLUMNS + ROWS.double(), (1, 3)),
    (lambda: COLUMNS.exp() + ROWS, (1, 3)),                          # a result lies as its operand does
    (lambda: COLUMNS.clone() + ROWS, (1, 3)),
    (lambda: torch.from_numpy(np.asfortranarray(np.ones((3, 4), np.float32))) + ROWS, (1, 3)),
    (lambda: torch.empty_strided((3, 4), (1, 3)) + ROWS, (1, 3)),
    (lambda: torch.where(COLUMNS > 3, ROWS, ROWS), (1, 3)),
    (lambda: torch.where(ROWS > 3, COLUMNS, COLUMNS), (4, 1)),
    (lambda: torch.lerp(COLUMNS, ROWS, ROWS), (1, 3)),
    (lambda: torch.addcmul(ROWS, COLUMNS, COLUMNS), (4, 1)),
    (lambda: torch.mul(COLUMNS, ROWS, out=torch.empty(0)), (1, 3)),
    (lambda: torch.nn.functional.mse_loss(COLUMNS, ROWS, reduction="none"), (1, 3)),
    (lambda: torch.complex(COLUMNS, ROWS), (1, 3)),
    (lambda: TURNED + OTHER, (3, 1, 6)),
    (lambda: OTHER + TURNED, (1, 8, 2)),
    (lambda: TURNED + CUBE, (3, 1, 6)),
    (lambda: TURNED[0] + CUBE, (12, 1, 3)),                          # the second operand orders the rest
    (lambda: CUBE[:, :, :1].expand(2, 3, 4) + TURNED, (3, 1, 6)),
    (lambda: TURNED[:, :1].expand(2, 3, 4).neg(), (1, 2, 6)),
    (lambda: torch.ones(4) + TURNED, (3, 1, 6)),
    (lambda: ROWS[:, ::2].t() + torch.ones(2, 3), (1, 2)),
]


@pytest.mark.parametrize(("call", "strides"), FACTS)
@pytest.mark.parametrize("grad_mode", [torch.enable_grad, torch.no_grad])
def test_strides(call: Any, strides: tuple[int, ...], grad_mode: Any) -> None:
    with grad_mode():
        assert call().stride() == strides


def test_values_are_those_of_rows() -> None:
    for x in (CUBE, TURNED, OTHER):
        for y in (CUBE, TURNED, OTHER):
            np.testing.assert_array_equal((x * y).numpy(), x.contiguous().numpy() * y.contiguous().numpy())


def test_a_recorded_result_keeps_its_gradient() -> None:
    x = torch.ones(4, 3, requires_grad=True)
    result = x.t() * ROWS
    assert result.stride() == (1, 3)
    assert type(result.grad_fn).__name__ == "MulBackward0"
    (result * result.exp().detach()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (ROWS * ROWS.exp()).numpy().T, rtol=1e-6)
