"""The address of an array is the one that NumPy tells, for arrays of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd.kernels.layout import address


class Special(np.ndarray[Any, Any]):
    """Another class of arrays."""


whole = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("array", [
    whole, whole[1], whole[:, ::-1, 1:], whole.T, whole[0, 0, 0:0], np.array(1), np.array([True, False])[1:],
    np.empty(0),
    np.broadcast_to(whole[1, 2], (5, 4)), np.frombuffer(b"abcdefgh", np.uint8)[3:], whole.view(Special)[1],
    np.ones((3, 4), np.complex64).real, np.array(["text"], object), np.zeros(3, [("a", "i4"), ("b", "f8")])["b"],
], ids=str)
def test_the_address_is_numpys(array: np.ndarray[Any, Any]) -> None:
    assert address(array) == array.__array_interface__["data"][0] == array.ctypes.data


def test_what_is_no_array_has_no_address() -> None:
    with pytest.raises(AttributeError):
        address(object())  # type: ignore[arg-type]
