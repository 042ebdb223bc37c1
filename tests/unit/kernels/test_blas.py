"""How many threads the BLAS uses, while threads of our own call it and after."""

from __future__ import annotations

import numpy as np
import pytest

from retrograd.kernels.native import blas


@pytest.fixture
def control(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A BLAS that notes how many threads it was told to use; it starts with four."""
    told = [4]
    monkeypatch.setattr(blas, "_control", lambda: blas._Control(lambda: told[-1], told.append))
    return told


def test_within_the_blas_uses_one_thread_and_afterwards_as_many_as_before(control: list[int]) -> None:
    with blas.alone(), blas.alone():
        assert control == [4, 1]
    assert control == [4, 1, 4]


def test_an_error_within_leaves_it_as_before(control: list[int]) -> None:
    with pytest.raises(ValueError, match="within"), blas.alone():
        raise ValueError("within")
    assert control == [4, 1, 4]


def test_the_last_of_several_threads_puts_it_back(control: list[int]) -> None:
    first, second = blas.alone(), blas.alone()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert control == [4, 1]
    second.__exit__(None, None, None)
    assert control == [4, 1, 4]


def test_a_forked_process_starts_outside(control: list[int]) -> None:
    with blas.alone():
        blas._Use.forget()
        assert control == [4, 1, 4]
        with blas.alone():
            assert control == [4, 1, 4, 1]
        blas._Use.inside = 1    # as it is in the parent


def test_another_blas_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_control", lambda: None)
    assert not blas.can_be_alone()
    with blas.alone():
        assert blas._Use.inside == 0


def test_of_the_real_one_a_product_is_the_same_within() -> None:
    a, b = np.random.default_rng(0).standard_normal((2, 200, 200))
    control = blas._control()
    before = control.get() if control else None
    with blas.alone():
        np.testing.assert_allclose(a @ b, np.einsum("ij,jk->ik", a, b), rtol=1e-9, atol=1e-9)
        assert control is None or control.get() == 1
    assert control is None or control.get() == before
