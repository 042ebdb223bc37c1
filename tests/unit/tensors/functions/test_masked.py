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


def test_errors() -> None:
    x = torch.tensor(_X)
    with pytest.raises(ValueError, match="Could not infer output dtype"):
        torch.masked.mean(x.long())
    with pytest.raises(ValueError, match="_input_mask expected broadcastable mask"):
        torch.masked.sum(x[0], mask=torch.tensor(_MASK))
    with pytest.raises(AttributeError, match="MaskedTensor"):
        torch.masked.MaskedTensor  # noqa: B018
