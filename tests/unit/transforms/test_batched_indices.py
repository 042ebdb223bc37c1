"""Reading and writing by index inside of `vmap`: a batch gives what a loop over the samples gives.

The indices are random: numbers, slices, None, an ellipsis, masks and arrays, side by side or apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.func import grad, jacrev, jvp, vmap

SAMPLES = 3
Index = Callable[[list[Any]], tuple[Any, ...]]
APART = (
    lambda t, u, mask: (t, slice(None), u),
    lambda t, u, mask: (t, None, u),
    lambda t, u, mask: (slice(None), t, slice(1), u),
    lambda t, u, mask: (mask, slice(None), u),
    lambda t, u, mask: (t[None], 0, slice(None), u),
)


def number(rng: random.Random, size: int, shape: tuple[int, ...]) -> Any:
    return torch.tensor([rng.randint(-size, size - 1) for _ in range(torch.Size(shape).numel())]).reshape(shape)


def drawn(rng: random.Random, sizes: list[int]) -> tuple[list[Any], list[tuple[Any, bool]]]:
    """The items of an index, with the number of a tensor in brackets, and the tensors, batched or not."""
    items: list[Any] = []
    tensors: list[tuple[Any, bool]] = []
    by_sample, shape = rng.random() < 0.6, rng.choice([(), (2,), (2, 2), (1, 2)])
    for size in sizes:
        kind = rng.random()
        if kind < 0.15:
            items.append(None)
        if kind < 0.3:
            items.append(rng.randint(-size, size - 1))
        elif kind < 0.5:
            items.append(slice(rng.choice([None, 0, 1]), rng.choice([None, -1, size]), rng.choice([None, 1, 2])))
        elif kind < 0.6 and not by_sample:
            items.append(torch.arange(size) == rng.randrange(size))
        else:
            batched = by_sample and rng.random() < 0.6
            items.append([len(tensors)])
            tensors.append((number(rng, size, (SAMPLES, *shape) if batched else shape), batched))
    return items, tensors


def changed(x: Any, index: tuple[Any, ...], way: str) -> Any:
    """What a program makes of a sample and an index."""
    if way == "read":
        return x[index]
    if way == "gradient":
        return grad(lambda x: (x[index] ** 2 * 3).sum())(x)
    if way == "tangent":
        return jvp(lambda x: x[index] ** 2, (x,), (x * 2,))[1]
    y = x * 1
    if way == "written":
        y[index] = y[index] * 2 + 1
    else:
        y[index] += 1
    return y


@pytest.mark.parametrize("way", ["read", "gradient", "tangent", "written", "added"])
@pytest.mark.parametrize("seed", range(10))
def test_random_indices(way: str, seed: int) -> None:
    rng = random.Random(f"{way} {seed}")
    for _ in range(10):
        sizes = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
        x = torch.randn(SAMPLES, *sizes)
        items, tensors = drawn(rng, sizes)

        def each(x: Any, *given: Any, items: list[Any] = items) -> Any:
            index = tuple([given[item[0]] if isinstance(item, list) else item for item in items])
            return changed(x, index, way)

        found = vmap(each, in_dims=(0, *[0 if batched else None for _, batched in tensors]))(
            x, *[tensor for tensor, _ in tensors])
        wanted = [each(x[i], *[tensor[i] if batched else tensor for tensor, batched in tensors])
                  for i in range(SAMPLES)]
        torch.testing.assert_close(found, torch.stack(wanted), msg=f"{items} of {sizes}")


@pytest.mark.parametrize("which", range(len(APART)))
def test_the_derivatives_of_indices_that_stand_apart(which: int) -> None:
    index = APART[which](torch.tensor([0, 1]), torch.tensor([1, 1]), torch.tensor([True, True]))
    x = torch.arange(16.0).view(2, 2, 2, 2)
    torch.testing.assert_close(vmap(lambda x: x[index])(x[None]), x[index][None])
    found = jacrev(lambda x: x[index])(x)
    for place in range(found[..., 0, 0, 0, 0].numel()):
        row = found.reshape(-1, 16)[place]
        wanted = grad(lambda x, place=place: x[index].reshape(-1)[place])(x)
        torch.testing.assert_close(row, wanted.reshape(-1))


def test_numbers_of_a_batch_are_put_without_a_look_at_them() -> None:
    places, values = torch.tensor([[[0, 1]], [[2, 0]], [[1, 1]]]), torch.ones(1, 2, 4)
    found = vmap(lambda x, i: x.index_put((i,), values))(torch.zeros(3, 3, 4), places)
    assert found.sum((1, 2)).tolist() == [8.0, 8.0, 4.0]
    assert torch.zeros(3, device="meta").index_put((places.to("meta")[0],), torch.ones(1, 2, device="meta")).is_meta
