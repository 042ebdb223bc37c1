"""Windows of torch.signal: facts, and what holds for all of them."""

from __future__ import annotations

import pytest

import retrograd as torch
from retrograd.signal import windows

NAMES = [name for name in windows.__all__ if name != "general_cosine"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("points", [2, 5, 8])
def test_a_window_is_symmetric_or_the_longer_window_without_its_last_point(name: str, points: int) -> None:
    window = getattr(windows, name)(points, dtype=torch.float64)
    torch.testing.assert_close(window, window.flip(0))
    periodic = getattr(windows, name)(points, sym=False, dtype=torch.float64)
    torch.testing.assert_close(periodic, getattr(windows, name)(points + 1, dtype=torch.float64)[:-1])


@pytest.mark.parametrize(("name", "facts"), [
    ("bartlett", [0., 0.5, 1., 0.5, 0.]), ("hann", [0., 0.5, 1., 0.5, 0.]), ("hamming", [0.08, 0.54, 1., 0.54, 0.08]),
    ("blackman", [0., 0.34, 1., 0.34, 0.]), ("nuttall", [0.0003628, 0.2269824, 1., 0.2269824, 0.0003628]),
    ("cosine", [0.309017, 0.809017, 1., 0.809017, 0.309017]),
    ("gaussian", [0.1353353, 0.6065307, 1., 0.6065307, 0.1353353]),
    ("exponential", [0.1353353, 0.3678794, 1., 0.3678794, 0.1353353]),
    ("kaiser", [5.2773e-05, 0.2156727, 1., 0.2156727, 5.2773e-05])])
def test_five_points(name: str, facts: list[float]) -> None:
    torch.testing.assert_close(getattr(windows, name)(5), torch.tensor(facts), atol=1e-6, rtol=1e-6)


def test_wrong_lengths_and_dtypes_are_refused() -> None:
    with pytest.raises(ValueError, match="gaussian requires non-negative window length, got M=-1"):
        windows.gaussian(-1)
    with pytest.raises(ValueError, match=r"cosine expects float32 or float64 dtypes, got: torch.int64"):
        windows.cosine(3, dtype=torch.int64)
    with pytest.raises(ValueError, match="Center must be None for symmetric windows"):
        windows.exponential(3, center=1)


def test_a_window_of_one_point_is_computed() -> None:
    """The point need not be the middle of the window."""
    torch.testing.assert_close(windows.exponential(1, center=1, sym=False), torch.tensor([0.3678794]))
    assert windows.gaussian(1, std=float("nan")).isnan().all()
    assert windows.cosine(1, sym=False, requires_grad=True).grad_fn.name() == "SinBackward0"
