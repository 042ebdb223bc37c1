"""Embeddings, padding and shuffling as layers, against PyTorch: text, state, results, gradients, errors, copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare
from comparing.same_text import same

draws = np.random.default_rng(7)

TABLES: list[Any] = [
    lambda nn, t: nn.Embedding(5, 3), lambda nn, t: nn.Embedding(5, 3, 0), lambda nn, t: nn.Embedding(5, 3, -1),
    lambda nn, t: nn.Embedding(5, 3, 5), lambda nn, t: nn.Embedding(5, 3, -6), lambda nn, t: nn.Embedding(0, 3),
    lambda nn, t: nn.Embedding(5, 3, 2, 1.0, 1, True), lambda nn, t: nn.Embedding(5, 3, dtype=t.float64),
    lambda nn, t: nn.Embedding(5, 3, max_norm=2, norm_type=float("inf")), lambda nn, t: nn.Embedding(0, 3, 0),
    lambda nn, t: nn.Embedding(5, 3, _weight=t.ones(5, 3), _freeze=True),
    lambda nn, t: nn.Embedding(5, 3, _freeze=True),
    lambda nn, t: nn.Embedding(5, 3, _weight=t.ones(3, 5)), lambda nn, t: nn.Embedding(5, 3, 1, _weight=t.ones(5, 3)),
    lambda nn, t: nn.Embedding(5, 3, dtype=t.int64), lambda nn, t: nn.Embedding(5, 3, _weight=t.ones(5, 3).long()),
    lambda nn, t: nn.Embedding.from_pretrained(t.ones(4, 2)), lambda nn, t: nn.Embedding.from_pretrained(t.ones(4)),
    lambda nn, t: nn.Embedding.from_pretrained(t.ones(4, 2), False, 1, 1.5, 3.0, True),
    lambda nn, t: nn.EmbeddingBag(5, 3), lambda nn, t: nn.EmbeddingBag(5, 3, padding_idx=-2),
    lambda nn, t: nn.EmbeddingBag(5, 3, 1.0, 1, True, "sum", False, None, True, 1),
    lambda nn, t: nn.EmbeddingBag(5, 3, mode="max", dtype=t.float64), lambda nn, t: nn.EmbeddingBag(5, 3, mode="no"),
    lambda nn, t: nn.EmbeddingBag(5, 3, padding_idx=5), lambda nn, t: nn.EmbeddingBag(5, 3, _weight=t.ones(3, 5)),
    lambda nn, t: nn.EmbeddingBag.from_pretrained(t.ones(4, 2)),
    lambda nn, t: nn.EmbeddingBag.from_pretrained(t.ones(4)),
    lambda nn, t: nn.EmbeddingBag.from_pretrained(t.ones(4, 2), False, 1.5, 3.0, True, "sum", False, True, 1),
]


def described(layer: Any) -> tuple[Any, ...]:
    options = {k: v for k, v in vars(layer).items() if k[0] != "_" and k != "training"}
    needed = [(name, p.requires_grad, p._version) for name, p in layer.named_parameters()]
    return layer, options, needed, layer.state_dict(), layer.state_dict()._metadata


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_tables_print_and_begin_alike(number: int) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        layer = TABLES[number](t.nn, t)
        begun = str(described(layer))
        layer.reset_parameters()
        return begun, layer.weight, t.rand(1)

    same(case)


def test_a_pretrained_table_is_the_given_memory() -> None:
    for make in ("Embedding", "EmbeddingBag"):
        def case(t: Any, make: str = make) -> Any:
            given = t.arange(6.0).reshape(3, 2)
            layer = getattr(t.nn, make).from_pretrained(given, freeze=False)
            given[1] = 7
            return layer.weight, layer.weight.is_leaf, layer.weight.data_ptr() == given.data_ptr()

        same(case)


def same_numbers(case: Any) -> None:
    """As `same`, but lists of numbers only have to be near."""
    try:
        theirs = case(torch)
    except Exception:
        same(case)
        return
    for ours, their in zip(case(retrograd), theirs, strict=True):
        if isinstance(their, list):
            np.testing.assert_allclose(ours, their, rtol=1e-12, atol=1e-12)
        else:
            assert str(ours).replace("retrograd", "torch") == str(their)


NUMBERS: list[tuple[Any, tuple[Any, ...]]] = [
    (lambda nn: nn.Embedding(5, 3), ([1, 4, 1],)), (lambda nn: nn.Embedding(5, 3), (3,)),
    (lambda nn: nn.Embedding(5, 3, 1, scale_grad_by_freq=True), ([[1, 4], [4, 0]],)),
    (lambda nn: nn.Embedding(5, 3, -1, 0.5, 1.0), ([[1, 4], [4, 0]],)), (lambda nn: nn.Embedding(5, 3), ([5],)),
    (lambda nn: nn.Embedding(5, 3), (np.zeros((2, 0), np.int64),)), (lambda nn: nn.Embedding(5, 3), ([1.0],)),
    (lambda nn: nn.Embedding(5, 3), ([-1],)), (lambda nn: nn.Embedding(5, 3), (np.array([2], np.int32),)),
    (lambda nn: nn.EmbeddingBag(5, 3), ([[1, 4], [4, 0]],)), (lambda nn: nn.EmbeddingBag(5, 3), ([1, 4, 4], [0, 2])),
    (lambda nn: nn.EmbeddingBag(5, 3, mode="sum"), ([1, 4, 4], [0, 2], np.array([1.0, 2.0, -1.0]))),
    (lambda nn: nn.EmbeddingBag(5, 3, mode="max", padding_idx=4), ([1, 4, 2], [0, 1])),
    (lambda nn: nn.EmbeddingBag(5, 3, 0.5, 1, True, include_last_offset=True), ([1, 4, 4], [0, 2, 3])),
    (lambda nn: nn.EmbeddingBag(5, 3), ([1, 4],)), (lambda nn: nn.EmbeddingBag(5, 3), ([[1, 4]], [0])),
    (lambda nn: nn.EmbeddingBag(5, 3), ([1, 4], [0], np.array([1.0, 2.0]))), (lambda nn: nn.EmbeddingBag(5, 3), (3,)),
    (lambda nn: nn.EmbeddingBag(5, 3, mode="no"), ([[1, 4]],)),
]


@pytest.mark.parametrize("number", range(len(NUMBERS)))
def test_rows_and_their_gradients(number: int) -> None:
    make, given = NUMBERS[number]

    def case(t: Any) -> Any:
        t.manual_seed(0)
        layer = make(t.nn).double()
        found = layer(*(t.tensor(numbers) for numbers in given))
        (found * found).sum().backward()
        numbers = [found.tolist(), layer.weight.tolist(), layer.weight.grad.tolist()]
        return type(found.grad_fn).__name__, found.shape, *numbers

    same_numbers(case)


KINDS = ["CircularPad", "ConstantPad", "ReflectionPad", "ReplicationPad", "ZeroPad"]
PADDINGS: list[Any] = [1, 0, 2, [1], (1, 0), range(2), (1, 0, -1, 1), (1, 0, 2, 1, 0, 1), (1, 0, 0, 0, 2, 1, 1, 1), 1.5]
SHAPES = [(2,), (3, 4), (2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 3, 4), (0, 2, 3), (2, 0, 3)]


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_padding(kind: str, dims: int) -> None:
    more = (0.5,) if kind == "ConstantPad" else ()
    for padding in PADDINGS:
        same(lambda t, p=padding: described(getattr(t.nn, f"{kind}{dims}d")(p, *more)))
        for shape in SHAPES:
            compare(lambda t, x, p=padding: getattr(t.nn, f"{kind}{dims}d")(p, *more)(x), draws.standard_normal(shape))


@pytest.mark.parametrize("name", ["PixelShuffle", "PixelUnshuffle", "ChannelShuffle"])
@pytest.mark.parametrize("by", [1, 2, 3, 0, -1, 1.5])
def test_shuffling(name: str, by: Any) -> None:
    same(lambda t: described(getattr(t.nn, name)(by)))
    shapes = [(1, 4, 2, 6), (4, 2, 6), (2, 6), (1, 18, 3, 6), (2, 3, 4, 4, 2)]
    # PyTorch returns what is empty as it came, in the shape that it had.
    for shape in shapes if name.startswith("Pixel") else [*shapes, (0, 4, 2, 2)]:
        compare(lambda t, x: getattr(t.nn, name)(by)(x), draws.standard_normal(shape))


COPIED: list[Any] = [
    lambda nn: nn.Embedding(5, 3, 1, _freeze=True), lambda nn: nn.EmbeddingBag(5, 3, mode="sum"),
    lambda nn: nn.ConstantPad2d(1, 0.5), lambda nn: nn.ZeroPad1d((1, 2)), lambda nn: nn.CircularPad3d(1),
    lambda nn: nn.ReflectionPad1d(2), lambda nn: nn.ReplicationPad2d(1), lambda nn: nn.PixelShuffle(2),
    lambda nn: nn.PixelUnshuffle(2), lambda nn: nn.ChannelShuffle(3),
]


@pytest.mark.parametrize("number", range(len(COPIED)))
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies(number: int, copied: Any) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        layer = copied(COPIED[number](t.nn))
        return *described(layer)[:2], layer.state_dict(), [p.requires_grad for p in layer.parameters()]

    same(case)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_zero_padding_is_a_kind_of_constant_padding(dims: int) -> None:
    same(lambda t: issubclass(getattr(t.nn, f"ZeroPad{dims}d"), getattr(t.nn, f"ConstantPad{dims}d")))


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("shape", [(2, 3), (5, 25), (0, 3)])
def test_bags_of_half_precision(shape: tuple[int, int], padding: int | None, mode: str) -> None:
    def case(t: Any) -> Any:
        t.manual_seed(0)
        table, index = t.randn(10, 50).half(), t.randint(10, shape)
        return t.nn.functional.embedding_bag(index, table, mode=mode, padding_idx=padding).tolist()

    assert case(retrograd) == case(torch)
