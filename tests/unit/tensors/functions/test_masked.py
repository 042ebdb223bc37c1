"""torch.masked: facts recorded from PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch

_X = [[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]
_MASK = [[True, False, True], [False, False, False]]
_INF = float("inf")


@pytest.mark.parametrize(("name", "expected"), [
    ("sum", [4.0, 0.0]), ("prod", [3.0, 1.0]), ("amax", [3.0, -_INF]), ("amin", [1.0, _INF]), ("argmax", [2.0, 0.0]),
    ("argmin", [0.0, 0.0]), ("cumsum", [[1.0, 1.0, 4.0], [0.0, 0.0, 0.0]]),
    ("cumprod", [[1.0, 1.0, 3.0], [1.0, 1.0, 1.0]])])
def test_masked_elements_do_not_count(name: str, expected: Any) -> None:
    assert getattr(torch.masked, name)(torch.tensor(_X), 1, mask=torch.tensor(_MASK)).tolist() == expected


@pytest.mark.parametrize(("name", "expected"), [("mean", 2.0), ("var", 2.0), ("median", 1.0)])
def test_without_elements_the_result_is_nan(name: str, expected: float) -> None:
    found = getattr(torch.masked, name)(torch.tensor(_X), 1, mask=torch.tensor(_MASK))
    assert found[0].item() == expected
    assert found[1].isnan()


def test_no_dims_are_all_dims() -> None:
    x, mask = torch.tensor(_X), torch.tensor(_MASK)
    for name, expected in (("sum", 4.0), ("prod", 3.0), ("mean", 2.0), ("amax", 3.0), ("var", 2.0)):
        assert getattr(torch.masked, name)(x, (), mask=mask).tolist() == expected
    assert torch.masked.cumsum(x, (1, 0)).tolist() == [[1.0, 5.0, 3.0], [5.0, 7.0, 9.0]]


def test_complex_numbers_and_nan() -> None:
    x = torch.tensor([[1 + 1j, 2.0], [3j, 4.0]])
    found = torch.masked.logsumexp(x, 1, mask=torch.tensor([[True, False], [False, False]]))
    torch.testing.assert_close(found, torch.tensor([1 + 1j, complex(-_INF, 0)]))
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
        torch.masked.amax(x, 1)
    y = torch.tensor([[1.0, float("nan"), 3.0], [4.0, 5.0, float("nan")]])
    assert torch.masked.median(y, 1, mask=torch.tensor([[True, True, True], [True, True, False]])).tolist() == [1, 4]


def test_errors() -> None:
    x = torch.tensor(_X)
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        torch.masked.mean(x.long())
    with pytest.raises(ValueError, match="_input_mask expected broadcastable mask"):
        torch.masked.sum(x[0], mask=torch.tensor(_MASK))
    with pytest.raises(AttributeError, match="MaskedTensor"):
        torch.masked.MaskedTensor  # noqa: B018
