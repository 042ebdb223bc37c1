"""The tests of machine code in kernels have it."""

import pytest


@pytest.fixture
def by_numpy() -> None:
    """Kernels are not those of NumPy alone here."""
