"""Values brought together at places, embeddings, padding and copies of views: facts recorded from PyTorch, and those
where PyTorch has none or errs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.nn import functional as F


def leaf(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def gradients(reduce: str, x: Any, src: Any, index: list[int], include_self: bool) -> tuple[list[float], list[float]]:
    out = x.scatter_reduce(0, torch.tensor(index), src, reduce, include_self=include_self)
    by_self, by_source = torch.autograd.grad(out.sum(), (x, src))
    same = x.index_reduce(0, torch.tensor(index), src, reduce, include_self=include_self)
    np.testing.assert_array_equal(same.detach().numpy(), out.detach().numpy())
    return by_self.tolist(), by_source.tolist()


def test_imaginary_numbers_are_true() -> None:
    x, mask, number = torch.tensor([False, False]), torch.tensor([True, False]), torch.tensor(3j)
    assert torch.fill(x, number).tolist() == x.clone().fill_(number).tolist() == [True, True]
    assert x.index_put((mask,), number).tolist() == x.masked_fill(mask, number).tolist() == [True, False]


def test_extremes_share_a_gradient_evenly() -> None:
    assert gradients("amax", leaf(2, 1), leaf(2, 2, 1), [0, 0, 1], True) == ([1 / 3, 0.5], [1 / 3, 1 / 3, 0.5])


def test_what_does_not_count_has_no_share() -> None:
    assert gradients("amin", leaf(2, 1), leaf(2, 2, 3), [0, 0, 0], False) == ([0, 1], [0.5, 0.5, 0])


def test_where_a_nan_is_the_extreme_the_gradient_is_nan() -> None:
    by_self, by_source = gradients("amax", leaf(1, 2), leaf(math.nan), [0], True)
    assert math.isnan(by_self[0])
    assert by_self[1] == 1
    assert math.isnan(by_source[0])


def test_products_with_zeros_have_the_product_of_the_others() -> None:
    assert gradients("prod", leaf(2), leaf(0, 3, 5), [0, 0, 0], True) == ([0], [30, 0, 0])
    assert gradients("prod", leaf(2), leaf(0, 0, 5), [0, 0, 0], True) == ([0], [0, 0, 0])
    assert gradients("prod", leaf(0), leaf(4, 3), [0, 0], True) == ([12], [0, 0])


def test_products_of_several_zeros_have_derivatives_of_any_order() -> None:
    x, src = leaf(2, 7), leaf(0, 5, 0, 0)
    found: Any = x.scatter_reduce(0, torch.tensor([0, 1, 0, 0]), src, "prod")[0]
    for place in (0, 2, 3):
        found = torch.autograd.grad(found, src, create_graph=True)[0][place]
    assert found.item() == 2
    assert torch.autograd.grad(found, x)[0].tolist() == [1, 0]


def test_means_of_integers_are_rounded_down() -> None:
    x = torch.tensor([-1, 2])
    assert x.scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([-4, 0]), "mean").tolist() == [-2, 2]


def test_a_larger_source_has_zeros_where_it_is_not_read() -> None:
    x, src = torch.zeros(2, 2, requires_grad=True), torch.ones(3, 2, requires_grad=True)
    x.scatter_reduce(0, torch.tensor([[1, 0]]), src, "sum").sum().backward()
    assert src.grad.tolist() == [[1, 1], [0, 0], [0, 0]]


@pytest.mark.parametrize("call", [
    lambda x, i: x.scatter_reduce_(0, i, torch.ones(2), "prod"),
    lambda x, i: x.index_reduce_(0, i, torch.ones(2), "mean"),
    lambda x, i: x.put_(i, torch.ones(2)),
    lambda x, i: torch.embedding_renorm_(x.view(3, 1), i, 0.1, 2.0),
    lambda x, i: x.masked_scatter_(x > 0, torch.ones(2)),
])
def test_what_is_refused_changes_nothing(call: Any) -> None:
    x = torch.tensor([1., 2., 3.])
    with pytest.raises((IndexError, RuntimeError)):
        call(x, torch.tensor([0, 7]))
    assert (x.tolist(), x._version) == ([1, 2, 3], 0)


@pytest.mark.parametrize(("name", "sizes", "offsets"), [
    ("unsafe_split", 2, [0, 2]), ("unsafe_split_with_sizes", [1, 3], [0, 1]), ("unsafe_chunk", 2, [0, 2])])
def test_the_parts_of_an_unsafe_split_lie_in_the_memory_of_the_whole(name: str, sizes: Any, offsets: Any) -> None:
    x = torch.arange(8.0).view(2, 4)
    parts = getattr(torch, name)(x, sizes, 1)
    assert [part.data_ptr() - x.data_ptr() for part in parts] == [4 * offset for offset in offsets]
    assert [part.stride() for part in parts] == [(4, 1)] * 2
    assert not any(part._is_view() for part in parts)


def test_the_parts_of_an_unsafe_split_count_their_own_writes() -> None:
    base = torch.arange(4.)
    parts = base.unsafe_split(2)
    parts[0].add_(1)
    assert (parts[0]._version, parts[1]._version, base._version) == (1, 0, 0)
    assert base.tolist() == [1, 2, 2, 3]
    assert parts[0]._base is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("rows", ["even", "skewed", "few"])
def test_rows_are_added_in_the_order_of_the_index(rows: str, dtype: str) -> None:
    draws = np.random.default_rng(0)
    index = {"even": draws.integers(0, 300, 9000), "skewed": np.minimum(draws.zipf(1.3, 9000) - 1, 299),
             "few": draws.integers(0, 300, 400)}[rows]
    values = draws.standard_normal((len(index), 64)).astype(dtype)
    expected = draws.standard_normal((300, 64)).astype(dtype)
    table = torch.tensor(expected)
    wide = expected.astype("float32") if dtype == "float16" else expected       # halves are rounded once
    np.add.at(wide, index, values)
    np.testing.assert_array_equal(table.index_add(0, torch.tensor(index), torch.tensor(values)).numpy(),
                                  wide.astype(dtype))


# Embeddings

def test_a_table_is_renormed_where_rows_are_taken() -> None:
    table = torch.tensor([[3., 4.], [0.3, 0.4], [6., 8.]])
    taken = F.embedding(torch.tensor([0, 1, 0]), table, max_norm=1.0)
    np.testing.assert_allclose(table.numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)
    np.testing.assert_array_equal(taken.numpy(), table.numpy()[[0, 1, 0]])


def test_the_gradient_of_a_row_is_divided_by_its_count() -> None:
    table = torch.ones(3, 1, requires_grad=True)
    F.embedding(torch.tensor([0, 0, 2, 1]), table, padding_idx=1, scale_grad_by_freq=True).sum().backward()
    assert table.grad.tolist() == [[1], [0], [1]]


def test_bags_have_second_derivatives() -> None:
    table, weights = leaf(1, 2, 3).detach().view(3, 1).requires_grad_(), leaf(2, 5, 7)
    index, offsets = torch.tensor([0, 2, 2]), torch.tensor([0, 2])
    bags = F.embedding_bag(index, table, offsets, mode="sum", per_sample_weights=weights)
    by_table, = torch.autograd.grad((bags ** 2).sum(), table, create_graph=True)
    assert by_table.tolist() == [[2 * 2 * 17], [0], [2 * 5 * 17 + 2 * 7 * 21]]
    assert torch.autograd.gradgradcheck(lambda t, w: F.embedding_bag(
        index, t, offsets, mode="sum", per_sample_weights=w), (table, weights))


def test_the_padding_counts_for_nothing_in_a_bag() -> None:
    table = torch.tensor([[1.], [9.], [3.]], requires_grad=True)
    bags = F.embedding_bag(torch.tensor([[0, 1, 2], [1, 1, 1]]), table, padding_idx=1)
    assert bags.tolist() == [[2], [0]]
    bags.sum().backward()
    assert table.grad.tolist() == [[0.5], [0], [0.5]]


def test_sparse_gradients_store_what_was_taken() -> None:
    table = torch.ones(3, 2, requires_grad=True)
    F.embedding(torch.tensor([0, 2, 1]), table, padding_idx=2, sparse=True).sum().backward()
    assert table.grad._indices().tolist() == [[0, 1]]
    bags = torch.ones(3, 2, requires_grad=True)
    F.embedding_bag(torch.tensor([[0, 2]]), bags, sparse=True).sum().backward()
    assert bags.grad._indices().tolist() == [[0, 2]]
    assert bags.grad._values().tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_an_index_that_is_written_over_is_noticed() -> None:
    table, index = torch.ones(3, 2, requires_grad=True), torch.tensor([0, 1])
    taken = F.embedding(index, table)
    index.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        taken.sum().backward()


# Other derivatives that PyTorch has not, or has wrong

def test_powers_have_gradients() -> None:
    x = leaf(0, 2)
    by_x, = torch.autograd.grad(torch.vander(x, 4).sum(), x, create_graph=True)
    assert by_x.tolist() == [1, 1 + 4 + 12]
    assert torch.autograd.grad(by_x.sum(), x)[0].tolist() == [2, 2 + 12]


def test_a_copy_from_the_end_on_has_gradients() -> None:
    x = leaf(1, 2, 3)
    torch.narrow_copy(x, 0, -2, 2).sum().backward()
    assert x.grad.tolist() == [0, 1, 1]
