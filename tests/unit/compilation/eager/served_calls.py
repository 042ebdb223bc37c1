"""Calls whose results are computed twice, by NumPy and by machine code; and how far the results may be apart."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from retrograd import backends
from retrograd.foundations.names import reached
from retrograd.kernels.native.served import Served


@contextmanager
def noted() -> Iterator[list[Any]]:
    """A list of the kernels and rules that machine code computes inside the block."""
    found: list[Any] = []
    compute = reached("compilation.eager.serving").compute

    def noting(kernel: Any, args: tuple[Any, ...]) -> Any:
        result = compute(kernel, args)
        if result is not None and threading.current_thread() is threading.main_thread():
            found.append(kernel)
        return result

    before = Served.__dict__["compute"]
    Served.compute = staticmethod(noting)
    try:
        with backends.native.flags(enabled=True, wait=True):
            yield found
    finally:
        Served.compute = before


def both(call: Callable[..., Any], *args: Any) -> tuple[list[Any], list[Any], int]:
    """The arrays that a call returns by NumPy, those that it returns with machine code, and how often that computed."""
    with backends.native.flags(enabled=False):
        plain = call(*args)
    with noted() as found:
        served = call(*args)
    return _listed(plain), _listed(served), len(found)


def _listed(found: Any) -> list[Any]:
    return [a for a in (found if isinstance(found, tuple) else (found,)) if a is not None]


def check_alike(plain: list[Any], served: list[Any], ulps: float) -> None:
    """Compare results: shape, dtype, layout, nan and infinities are the same, and numbers are near.

    The distance is counted in units in the last place of the largest number of the result, or of 1, since sums cancel.
    """
    assert len(plain) == len(served)
    for want, got in zip(plain, served, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        assert got.flags.c_contiguous == want.flags.c_contiguous
        finite = np.isfinite(want)
        np.testing.assert_array_equal(np.where(finite, 0, want), np.where(finite, 0, got))
        largest = np.abs(want[finite]).max(initial=0)
        far = np.abs(got[finite].astype(np.float64) - want[finite]).max(initial=0)
        assert far <= ulps * np.finfo(want.dtype).eps * max(largest, 1.0)
