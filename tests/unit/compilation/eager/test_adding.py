"""Rows added by machine code: the bits are those of NumPy, for all tables, rows and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from needing import needs
from retrograd.kernels.native import threads
from retrograd.kernels.networks.adding_rows import add_chosen_rows, add_rows, chosen_rows_added

from .served_calls import both, noted

pytestmark = needs("llvmlite")


def added(table: Any, rows: Any, values: Any, *chosen: Any) -> Any:
    """The table after the rows were added, or the chosen ones."""
    table = table.copy()
    (add_chosen_rows if chosen else add_rows)(table, rows, values, *chosen)
    return table


def check(table: Any, rows: Any, values: Any, *chosen: Any, served: int = 1) -> None:
    (plain,), (found,), count = both(added, table, rows, values, *chosen)
    assert count == served
    np.testing.assert_array_equal(plain.view(np.uint8), found.view(np.uint8))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.integers(4, 150), st.integers(0, 1 << 30), st.sampled_from("fd"), st.booleans())
def test_any_table(height: int, width: int, seed: int, dtype: str, few: bool) -> None:
    random = np.random.default_rng(seed)
    count = (1 << 14) // width + int(random.integers(1, 2000))
    rows = random.integers(0, min(height, 3) if few else height, count)
    table, values = (random.standard_normal((n, width)).astype(dtype) for n in (height, count))
    values[random.random(values.shape) < 0.05] = 0.0
    check(table, rows, values)
    check(table, rows, values, random.integers(0, count, count))
    check(table, rows, values[:7], np.sort(random.integers(0, 7, count)))


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_numbers_that_are_not_finite(dtype: str) -> None:
    random = np.random.default_rng(0)
    table, values = np.zeros((50, 24), dtype), random.standard_normal((4000, 24)).astype(dtype)
    values[::7, ::5] = np.array([np.inf, -np.inf, np.nan, -0.0, 1e-30], dtype)[np.arange(572 * 5).reshape(572, 5) % 5]
    (plain,), (found,), count = both(added, table, random.integers(0, 50, 4000), values)
    assert count == 1
    np.testing.assert_array_equal(plain, found)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_threads_share_the_rows_of_the_table(count: int) -> None:
    random, before = np.random.default_rng(1), threads.available()
    threads.use(count)
    try:
        for height in (3, 9, 1000):
            check(random.standard_normal((height, 64)).astype("f"), random.integers(0, height, 20_000),
                  random.standard_normal((20_000, 64)).astype("f"))
    finally:
        threads.use(before)


def test_what_numpy_adds() -> None:
    random = np.random.default_rng(2)
    rows = random.integers(0, 30, 3000)
    for table in (np.zeros((30, 16), "f2"), np.zeros((30, 16), "i8"), np.zeros((30, 16), "F"), np.zeros((30, 3), "f")):
        check(table, rows, random.integers(-3, 4, (3000, table.shape[1])).astype(table.dtype), served=0)
    values = np.arange(60_000, dtype="f").reshape(3000, 20)
    assert not is_served(values, rows)
    check(np.zeros((30, 20), "f"), rows[::-1], values, served=0)
    check(np.zeros((30, 20), "f"), rows[:4], values[:4], served=0)


def is_served(values: Any, rows: Any) -> bool:
    """Whether machine code adds values to a table that is a part of them."""
    with noted() as found:
        add_rows(values[:30], rows, values)
    return bool(found)


def test_gradients() -> None:
    functional = torch.nn.functional

    def gradients() -> list[Any]:
        torch.manual_seed(0)
        table, x = torch.randn(500, 32, requires_grad=True), torch.randn(4000, 12, requires_grad=True)
        index, rows = torch.randint(500, (40, 50)), torch.randint(90, (4000,))
        loss = functional.embedding(index, table).square().sum() + table[index].sin().sum()
        loss = loss + functional.embedding_bag(index, table).square().sum()
        (loss + torch.zeros(90, 12).index_add(0, rows, x).square().sum()).backward()
        return [table.grad.numpy(), x.grad.numpy()]

    with torch.backends.native.flags(enabled=False):
        plain = gradients()
    with noted() as found:
        served = gradients()
    assert (found.count(add_rows), found.count(chosen_rows_added)) == (3, 2)
    # The other kernels of the programs are NumPy's: sin of 64,000 numbers is not large.
    for one, other in zip(plain, served):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("kind", ["equal", "ragged", "weighted", "empty bags", "turned"])
def test_bags(mode: str, padding: int | None, kind: str) -> None:
    def gradients() -> list[Any]:
        torch.manual_seed(0)
        table = (torch.randn(32, 90).t() if kind == "turned" else torch.randn(90, 32)).requires_grad_()
        index, starts = torch.randint(90, (3000,)), torch.arange(0, 3000, 10)
        if kind == "ragged":
            starts[1:] += torch.randint(9, (299,))
        elif kind == "empty bags":
            starts[7:12] = starts[12].item()
        weights = torch.randn(3000, requires_grad=True) if kind == "weighted" and mode == "sum" else None
        out = torch.nn.functional.embedding_bag(
            index, table, starts, mode=mode, padding_idx=padding, per_sample_weights=weights,
            scale_grad_by_freq=kind == "ragged" and mode != "max")
        given = [table] if weights is None else [table, weights]
        first = torch.autograd.grad(out.square().sum(), given, create_graph=True)
        second = torch.autograd.grad(sum([each.square().sum() for each in first]), table)
        return [each.detach().numpy() for each in (out, *first, *second)]

    plain, found, count = both(lambda: tuple(gradients()))
    assert count >= (mode != "max")
    for want, got in zip(plain, found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * abs(want).max())
