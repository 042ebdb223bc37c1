"""The line search of L-BFGS under the names by which packages import it. The expected numbers are PyTorch's."""

from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd.functional import _construct_standard_basis_for, _grad_postprocess, _tuple_postprocess
from retrograd.optim.lbfgs import _cubic_interpolate, _strong_wolfe


def test_a_search_along_a_line() -> None:
    def valley(x: Any, t: Any, d: Any) -> tuple[float, Any]:
        y = x + t * d
        return float((y ** 4).sum()), 4 * y ** 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    f, g = valley(x, 0.0, x)
    d = -g
    loss, gradient, t, count = _strong_wolfe(valley, x, 1.0, d, f, g, g.dot(d))
    assert (float(loss), float(t), count) == (pytest.approx(0.29925517009205044), pytest.approx(0.07918822637064711), 4)
    assert gradient.tolist() == pytest.approx([1.2758316509648617, -0.6091727569782727])


def test_the_minimum_of_a_cubic() -> None:
    one = torch.tensor(1.0)
    assert float(_cubic_interpolate(0.0, 1.0, -one, 1.0, 1.0, one)) == 0.5
    assert float(_cubic_interpolate(0.0, 1.0, -one, 1.0, 1.0, one, bounds=(0.6, 0.8))) == pytest.approx(0.6)


def test_units_for_a_jacobian() -> None:
    tensors = torch.zeros(1), torch.zeros(2, dtype=torch.float64)
    first, second = _construct_standard_basis_for(tensors, (1, 2))
    assert first.tolist() == [[1.0], [0.0], [0.0]]
    assert second.tolist() == [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    assert second.dtype is torch.float64
    x = torch.ones(1, requires_grad=True)
    assert not _grad_postprocess(((x * 2,),), create_graph=False)[0][0].requires_grad
    assert _grad_postprocess(x, create_graph=True) is x
    assert _tuple_postprocess(((x,),), (False, False)) is x
    assert _tuple_postprocess((x,), to_unpack=True) == (x,)
