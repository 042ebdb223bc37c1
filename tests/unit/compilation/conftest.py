"""Compiled functions are compared with the same functions as NumPy computes them, bit for bit."""

from collections.abc import Iterator

import pytest

import retrograd


@pytest.fixture(autouse=True)
def by_numpy() -> Iterator[None]:
    """No machine code in kernels of programs that are not compiled."""
    with retrograd.backends.native.flags(enabled=False):
        yield
