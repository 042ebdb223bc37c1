"""Embeddings, padding and shuffling as layers: facts recorded from PyTorch, and what the layers promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch


@pytest.mark.parametrize("make", [torch.nn.Embedding, torch.nn.EmbeddingBag])
def test_a_table_starts_as_in_pytorch(make: Any) -> None:
    torch.manual_seed(0)
    table = make(3, 2, padding_idx=-1)
    assert table.padding_idx == 2
    expected = [[1.5410, -0.2934], [-2.1788, 0.5684], [0, 0]]
    np.testing.assert_allclose(table.weight.detach().numpy(), expected, atol=5e-5)


def test_the_row_of_the_padding_stays_as_it_is() -> None:
    words = torch.nn.Embedding(4, 3, padding_idx=1)
    words(torch.tensor([1, 2, 1, 2])).sum().backward()
    assert words.weight.grad.tolist() == [[0.0] * 3, [0.0] * 3, [2.0] * 3, [0.0] * 3]


@pytest.mark.parametrize("make", [torch.nn.Embedding, torch.nn.EmbeddingBag])
def test_a_pretrained_table_is_frozen_unless_told(make: Any) -> None:
    given = torch.arange(6.0).reshape(3, 2)
    assert not make.from_pretrained(given).weight.requires_grad
    assert make.from_pretrained(given, freeze=False).weight.requires_grad
    with pytest.raises(AssertionError, match="Embeddings parameter is expected to be 2-dimensional"):
        make.from_pretrained(given[0])


def test_long_rows_are_scaled_down_where_they_are_taken() -> None:
    words = torch.nn.Embedding(3, 2, max_norm=1.0, _weight=torch.full((3, 2), 5.0))
    assert words(torch.tensor([1])).norm().item() == pytest.approx(1, abs=1e-5)
    assert words.weight[0].tolist() == [5, 5]


@pytest.mark.parametrize("make", [torch.nn.Embedding, torch.nn.EmbeddingBag])
def test_sparse_gradients_store_the_rows_that_were_taken(make: Any) -> None:
    table = make(5, 3, sparse=True)
    table(torch.tensor([[4, 1, 4]])).sum().backward()
    assert table.weight.grad._indices().tolist() == [[4, 1, 4]]
    assert not table.weight.grad.is_coalesced()


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(("kind", "mode"), [
    ("Circular", "wrap"), ("Constant", "constant"), ("Reflection", "reflect"), ("Replication", "edge"),
    ("Zero", "constant")])
def test_padding_is_numpys(kind: str, mode: str, dims: int) -> None:
    x = np.arange(2 * 4**dims).reshape(2, *[4] * dims)
    options: dict[str, Any] = {"constant_values": 7} if kind == "Constant" else {}
    layer = getattr(torch.nn, f"{kind}Pad{dims}d")((2, 1) * dims, *options.values())
    expected = np.pad(x, [(0, 0), *[(2, 1)] * dims], mode, **options)      # type: ignore[call-overload]
    np.testing.assert_array_equal(layer(torch.from_numpy(x)).numpy(), expected)


def test_pixels_there_and_back() -> None:
    x = torch.arange(72).reshape(1, 18, 2, 2)
    assert torch.nn.PixelUnshuffle(3)(torch.nn.PixelShuffle(3)(x)).equal(x)
    assert torch.nn.ChannelShuffle(6)(torch.nn.ChannelShuffle(3)(x)).equal(x)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_a_padding_counted_from_the_end_is_left_out_of_bags(mode: str) -> None:
    table, index = torch.arange(12.0).reshape(4, 3), torch.tensor([0, 3, 2, 3])
    found, same, kept = [torch.nn.functional.embedding_bag(index[None], table, mode=mode, padding_idx=padding)[0]
                         for padding in (-1, 3, None)]
    rows = table[[0, 2]]
    assert found.tolist() == same.tolist() == (rows.amax(0) if mode == "max" else getattr(rows, mode)(0)).tolist()
    assert kept.tolist() != found.tolist()


@pytest.mark.parametrize(("shape", "side", "axis"), [((1, 2, 5, 6), "height", -2), ((1, 2, 6, 5), "width", -1)])
def test_pixels_that_do_not_divide(shape: tuple[int, ...], side: str, axis: int) -> None:
    with pytest.raises(RuntimeError) as error:
        torch.nn.functional.pixel_unshuffle(torch.ones(shape), 3)
    assert str(error.value).startswith(f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
                                       f"input.size({axis})=5 is not divisible by 3")
