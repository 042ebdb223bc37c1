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
    with pytest.raises(IndexError, match="_input_mask expected broadcastable mask"):
        torch.masked.sum(x[0], mask=torch.tensor(_MASK))
    with pytest.raises(AssertionError, match="Only one of unbiased and correction may be given"):
        torch.masked.var(x, 0, True, correction=1)
    with pytest.raises(NotImplementedError, match=r"identity of amax on torch\.bool input"):
        torch.masked.amax(x > 0, mask=torch.tensor(_MASK))


def test_what_is_left_out_is_chosen_by_the_type_of_the_input() -> None:
    """The result is cast after it is computed. Running sums keep the type."""
    x, nothing = torch.tensor([1, 2], dtype=torch.int16), torch.tensor([False, False])
    assert torch.masked.amax(x, dtype=torch.float64, mask=nothing).item() == -2**15
    assert torch.masked.softmax(x, 0, dtype=torch.float64, mask=nothing).tolist() == [0.5, 0.5]
    assert torch.masked.cumsum(x, 0).dtype is torch.int16
    assert torch.masked.median(torch.ones(2), 0, dtype=torch.float64).dtype is torch.float32
    assert torch.masked.norm(torch.ones(2), -1, mask=torch.tensor([True, False])).item() == 0
    with pytest.raises(AttributeError, match="MaskedTensor"):
        torch.masked.MaskedTensor  # noqa: B018
