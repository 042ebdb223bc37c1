"""What a program may not ask of a tensor inside of `vmap`, what it prints, and random numbers there.

The sentences, texts and rules are PyTorch's, recorded from it. A remedy follows each sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from noting import whole
from retrograd.tensors.transforms.batching import BatchLevel
from retrograd.tensors.transforms.crossing import enter_batch, entered, leave_batch

X = torch.arange(6.0).reshape(2, 3)
P = torch.linspace(0.1, 0.9, 40).reshape(2, 20)
F = torch.nn.functional


def mapped(function: Callable[[Any], Any], x: Any = X, randomness: str = "error", dim: int = 0) -> Any:
    level = BatchLevel(x.shape[dim], randomness)
    with entered(level):
        y = function(enter_batch(level, x, dim))
    return leave_batch(level, y, 0)


ITEM = "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item()"
BOOL = "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support"
DATA = "Cannot access data pointer of Tensor that doesn't have storage"
SHAPE = "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}. "
WRITE = "vmap: {}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more"


@pytest.mark.parametrize(("function", "sentence"), [
    (lambda a: a.sum().item(), ITEM), (lambda a: int(a.sum()), ITEM), (lambda a: float(a.sum()), ITEM),
    (lambda a: a[:int(a[0])], ITEM), (lambda a: f"{a.sum():.2f}", ITEM), (lambda a: 1.0 in a, ITEM),
    (lambda a: a if a.sum() > 0 else -a, BOOL), (lambda a: torch.is_nonzero(a.sum()), BOOL),
    (lambda a: a.tolist(), DATA), (lambda a: a.numpy(), DATA), (lambda a: np.asarray(a), DATA),
    (lambda a: a.data_ptr(), DATA),
    (lambda a: a.nonzero(), SHAPE.format("nonzero")), (lambda a: a.unique(), SHAPE.format("_unique2")),
    (lambda a: a.unique_consecutive(), SHAPE.format("unique_consecutive")),
    (lambda a: torch.where(a > 1), SHAPE.format("where")),
    (lambda a: a.masked_select(a > 1), "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We "),
    (lambda a: a[a > 1], "vmap: We do not support batching operators that can support dynamic shape. Attempting to "
                         "batch over indexing with a boolean mask."),
])
def test_numbers_are_refused_with_a_remedy(function: Callable[[Any], Any], sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        mapped(function)
    assert str(caught.value).startswith(sentence)
    assert 'vmap(..., fallback="loop")' in whole(caught.value)


@pytest.mark.parametrize(("write", "sentence"), [
    (lambda a: torch.ones(3).mul_(a), WRITE.format("inplace arithmetic")),
    (lambda a: torch.ones(3).copy_(a), WRITE.format("inplace arithmetic")),
    (lambda a: torch.zeros(3).__setitem__(0, a[0]), WRITE.format("inplace arithmetic")),
    (lambda a: torch.ones(3).pow_(a), WRITE.format("aten::pow_")),
    (lambda a: torch.ones(3).fill_(a[0]), WRITE.format("fill_")),
    (lambda a: torch.ones(3).index_put_((torch.tensor([0, 1, 2]),), a), WRITE.format("index_put_")),
    (lambda a: torch.ones(3).add_(a), "output with shape [3] doesn't match the broadcast shape [2, 3]"),
])
def test_what_differs_is_not_written_over_what_does_not(write: Callable[[Any], Any], sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        mapped(write)
    assert str(caught.value).startswith(sentence)


def test_memory_and_classes_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="^Cannot access storage of BatchedTensorImpl"):
        mapped(lambda a: a.untyped_storage())
    with pytest.raises(RuntimeError, match="^When vmap-ing torch.nn.functional.one_hot, please provide an explicit"):
        mapped(lambda a: F.one_hot(a.long()))
    assert mapped(lambda a: F.one_hot(a.long(), 7)).tolist() == F.one_hot(X.long(), 7).tolist()


def test_the_text_of_a_batch() -> None:
    texts: list[str] = []
    mapped(lambda a: (texts.append(str(a)), mapped(lambda b: (texts.append(repr(b)), b)[1], a), a)[2])
    assert texts == [
        "BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[0., 1., 2.],\n            [3., 4., 5.]])\n)",
        "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n        "
        "tensor([[0., 1., 2.],\n                [3., 4., 5.]])\n    )\n)"]
    mapped(lambda a: (texts.append(str(a * 2)), a)[1], X.clone().requires_grad_())
    assert texts[-1].endswith("[ 6.,  8., 10.]], grad_fn=<MulBackward0>)\n)")


@pytest.mark.parametrize(("function", "shape"), [
    (lambda a: a @ a.T, (3, 3)), (lambda a: a.sum(0), (2,)), (lambda a: torch.linalg.inv(a.T @ a), (2, 2)),
    (lambda a: F.conv1d(a.T[None], torch.ones(4, 2, 1)), (1, 4, 3)), (lambda a: torch.histc(a, 4), (4,)),
    (lambda a: a.clone().index_add_(0, torch.tensor([0, 2]), a[:2]), (3, 2)), (lambda a: a.sort(0)[1], (3, 2)),
])
def test_a_batch_without_samples_has_shapes(function: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    assert mapped(function, torch.ones(0, 3, 2)).shape == (0, *shape)
    assert mapped(torch.rand_like, torch.ones(0, 3, 2), "different").shape == (0, 3, 2)


# Random numbers: those of one call for the whole batch, or one sample's numbers for all samples

DRAWS = {
    "rand": (lambda a: torch.rand(3), lambda: torch.rand(2, 3), lambda: torch.rand(3)),
    "randn": (lambda a: torch.randn(20), lambda: torch.randn(2, 20), lambda: torch.randn(20)),
    "randint": (lambda a: torch.randint(2, 9, (20,)), lambda: torch.randint(2, 9, (2, 20)),
                lambda: torch.randint(2, 9, (20,))),
    "randperm": (lambda a: torch.randperm(7), lambda: torch.stack([torch.randperm(7), torch.randperm(7)]),
                 lambda: torch.randperm(7)),
    "rand_like": (torch.rand_like, lambda: torch.rand(2, 20), lambda: torch.rand(20)),
    "randn_like": (torch.randn_like, lambda: torch.randn(2, 20), lambda: torch.randn(20)),
    "normal_": (lambda a: a.clone().normal_(), lambda: torch.empty(2, 20).normal_(), lambda: torch.empty(20).normal_()),
    "bernoulli_": (lambda a: a.clone().bernoulli_(0.3), lambda: torch.empty(2, 20).bernoulli_(0.3),
                   lambda: torch.empty(20).bernoulli_(0.3)),
    "dropout": (lambda a: F.dropout(torch.ones_like(a), 0.4), lambda: F.dropout(torch.ones(2, 20), 0.4),
                lambda: F.dropout(torch.ones(20), 0.4)),
    "dropout of a constant": (lambda a: F.dropout(torch.ones(20)), lambda: F.dropout(torch.ones(2, 20)),
                              lambda: F.dropout(torch.ones(20))),
    "dropout2d": (lambda a: F.dropout2d(torch.ones_like(a).reshape(1, 4, 5, 1)),
                  lambda: F.dropout2d(torch.ones(2, 4, 5, 1)).reshape(2, 1, 4, 5, 1),
                  lambda: F.dropout2d(torch.ones(1, 4, 5, 1))),
}
FROM = {                                                    # with the distribution from the tensor
    "bernoulli": torch.bernoulli, "multinomial": lambda a: a.multinomial(5), "poisson": torch.poisson,
    "normal": lambda a: torch.normal(a, 1.0), "binomial": lambda a: torch.binomial(torch.ones_like(a) * 9, a),
    "bernoulli_": lambda a: torch.empty_like(a).bernoulli_(a),
}


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_of_a_batch(name: str) -> None:
    function, of_batch, of_sample = DRAWS[name]
    with pytest.raises(RuntimeError, match="^vmap: called random operation while in randomness error mode. Please "):
        mapped(function, P)
    for randomness, expected in (("different", of_batch), ("same", of_sample)):
        torch.manual_seed(7)
        found = mapped(function, P, randomness)
        torch.manual_seed(7)
        assert torch.equal(found, expected().expand(found.shape)), randomness


@pytest.mark.parametrize("name", FROM)
def test_random_numbers_from_the_numbers_of_a_batch(name: str) -> None:
    torch.manual_seed(7)
    found = mapped(FROM[name], P, "different")
    torch.manual_seed(7)
    assert torch.equal(found, FROM[name](P))
    with pytest.raises(RuntimeError, match="^Vmap does not currently support same randomness with a batched tensor"):
        mapped(FROM[name], P, "same")


def test_different_numbers_are_not_drawn_over_a_constant() -> None:
    with pytest.raises(RuntimeError, match="^vmap: Cannot ask for different inplace randomness on an unbatched tensor"):
        mapped(lambda a: torch.ones(20).normal_(), P, "different")
