"""Losses, means, variances and norms whose lines are machine code give the numbers of eager calls, with all gradients.

The programs are drawn at random: layouts with gaps, dims of one place, nan and infinity, weights that are broadcast,
gradients for some tensors only.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
import retrograd.nn.functional as F
from compiled.comparing import check, laid_out
from needing import needs

pytestmark = needs("llvmlite")

# Each with the functions that bring its input and its target to where they may be.
LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "smooth_l1": (lambda x, y, r: F.smooth_l1_loss(x, y, reduction=r), torch.clone, torch.clone),
    "smooth_l1 beta": (lambda x, y, r: F.smooth_l1_loss(x, y, reduction=r, beta=0.3), torch.clone, torch.clone),
    "smooth_l1 without beta": (lambda x, y, r: F.smooth_l1_loss(x, y, reduction=r, beta=0), torch.clone, torch.clone),
    "huber": (lambda x, y, r: F.huber_loss(x, y, reduction=r, delta=0.7), torch.clone, torch.clone),
    "soft_margin": (lambda x, y, r: F.soft_margin_loss(x * 40, y, reduction=r), torch.clone, torch.sign),
    "bce": (lambda x, y, r: F.binary_cross_entropy(x, y, reduction=r), torch.sigmoid, torch.sigmoid),
    "bce at the ends": (lambda x, y, r: F.binary_cross_entropy(x, y, reduction=r), lambda x: (x > 0).to(x.dtype),
                        lambda y: (y > 0).to(y.dtype)),
    "bce_with_logits": (lambda x, y, r: F.binary_cross_entropy_with_logits(x * 40, y, reduction=r), torch.clone,
                        torch.sigmoid)}


def shape_of(rng: random.Random, least: int = 0) -> tuple[int, ...]:
    return tuple([rng.choice((1, 2, 3, 5, 16, 33, 70)) for _ in range(rng.randint(least, 3))])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_losses(seed: int, name: str, reduction: str) -> None:
    rng, (loss, place, aim) = random.Random(f"{seed}{name}"), LOSSES[name]
    torch.manual_seed(seed)
    shape, dtype = shape_of(rng), rng.choice((torch.float32, torch.float64))
    x, y = [laid_out(rng, shape, dtype).nan_to_num(0, 3, -3).clamp(-5, 5) for _ in range(2)]
    count = len(x.flatten()) if reduction == "sum" else 1   # or the cosine of the loss, in `check`, is any number
    wanted = [True, rng.random() < 0.5 and name != "soft_margin"]
    check(lambda x, y: loss(x, y, reduction) / count, [place(x), aim(y)], wanted)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(30))
def test_weights_of_binary_cross_entropies(seed: int) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    shape, dtype = shape_of(rng, 1), rng.choice((torch.float32, torch.float64))
    x, y = [laid_out(rng, shape, dtype).nan_to_num(0, 3, -3).clamp(-5, 5).sigmoid() for _ in range(2)]
    weight, positive = [torch.rand([n if rng.random() < 0.6 else 1 for n in shape[rng.randint(0, len(shape)):]],
                                   dtype=dtype) + 0.5 for _ in range(2)]
    weight, positive = rng.choice((None, weight)), rng.choice((None, positive))
    reduction = rng.choice(("mean", "sum", "none"))
    if rng.random() < 0.5:
        check(lambda x, y: F.binary_cross_entropy(x, y, weight, reduction=reduction), [x, y], [True, False])
    else:
        check(lambda x, y: F.binary_cross_entropy_with_logits(x, y, weight, reduction=reduction, pos_weight=positive),
              [x, y], [True, rng.random() < 0.5])


@pytest.mark.parametrize("place", ["input", "target"])
@pytest.mark.parametrize("number", [-0.1, 1.1, float("nan")])
def test_an_element_that_is_no_probability_is_an_error(number: float, place: str) -> None:
    def loss(x: Any, y: Any) -> Any:
        return F.binary_cross_entropy(x, y) * 2

    compiled, given = torch.compile(loss, backend="llvm"), {"input": torch.rand(9), "target": torch.rand(9)}
    for _ in range(3):
        torch.testing.assert_close(compiled(*given.values()), loss(*given.values()))
    given[place][4] = number
    for function in (loss, compiled, compiled):
        with pytest.raises(RuntimeError, match=f"all elements of {place} should be between 0 and 1"):
            function(*given.values())
    given[place][4] = 0.5
    torch.testing.assert_close(compiled(*given.values()), loss(*given.values()))


STATISTICS: dict[str, Callable[..., Any]] = {
    "mean": torch.mean, "var": torch.var, "std": torch.std,
    "norm": lambda x, dim, keepdim: torch.norm(x, 2, dim, keepdim),
    "vector_norm": lambda x, dim, keepdim: torch.linalg.vector_norm(x, dim=dim, keepdim=keepdim),
    "var without correction": lambda x, dim, keepdim: torch.var(x, dim, correction=0, keepdim=keepdim),
    "std of a population that is too small": lambda x, dim, keepdim: torch.std(x, dim, correction=70, keepdim=keepdim)}


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore:(std|var).*degrees of freedom")
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("seed", range(12))
def test_statistics(seed: int, name: str) -> None:
    rng = random.Random(f"{seed}{name}")
    torch.manual_seed(seed)
    shape, keepdim = shape_of(rng, 1), rng.random() < 0.5
    dims = tuple(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    x = laid_out(rng, shape, rng.choice((torch.float32, torch.float64)))
    if x.isfinite().all() and x.abs().max() < 100:          # or the derivatives are far apart
        x = x + rng.choice((0, 100))
    check(lambda x: STATISTICS[name](x, dims, keepdim=keepdim), [x], [True])


@pytest.mark.parametrize("number", [0.1, 1e6, 123456.7, -3e20])
@pytest.mark.parametrize("size", [3, 7, 1000])
def test_equal_numbers_do_not_vary(size: int, number: float) -> None:
    x = torch.full((5, size), number)
    for function in (torch.var, torch.std):
        compiled = torch.compile(lambda x, function=function: function(x, 1) + 0, backend="llvm")
        for _ in range(3):
            assert torch.equal(compiled(x), torch.zeros(5))


def test_losses_and_statistics_have_plans_for_all_sizes() -> None:
    def function(x: Any, y: Any) -> Any:
        return (F.smooth_l1_loss(x, y) + F.binary_cross_entropy_with_logits(x, y) + x.mean(0).sum() + x.std(1).sum()
                + x.norm(dim=1).sum() + F.binary_cross_entropy(x.sigmoid(), y))

    compiled = torch.compile(function, backend="llvm")
    for rows in (3, 5, 8, 2, 13, 40):
        x, y = torch.randn(rows, 6), torch.rand(rows, 6)
        for _ in range(2):
            torch.testing.assert_close(compiled(x, y), function(x, y))


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("given", [lambda y: y, lambda y: y[2:8], lambda y: y[::2], lambda y: y.reshape(5, 2)[:, 1],
                                   lambda y: y[3:4].expand(4)])
def test_targets_of_each_row_are_looked_at_where_they_lie(given: Any, backend: str) -> None:
    """Inside of `vmap`, each target is a view. The plan looks at the tensor that it was given."""
    def loss(x: Any, target: Any) -> Any:
        return torch.vmap(lambda row, y: torch.nn.functional.cross_entropy(row, y))(x, target)

    compiled, whole = torch.compile(loss, backend=backend), torch.arange(10) % 4
    target = given(whole)
    x = torch.rand(len(target), 4, dtype=torch.float64)
    for bad in (None, None, None, -1, 4, None, -100, 7, None):
        whole.copy_(torch.arange(10) % 4)
        if bad is not None:
            whole[3] = bad
        assert outcome(compiled, x, target) == outcome(loss, x, target)


def outcome(function: Any, *args: Any) -> Any:
    try:
        return [f"{number:.9f}" for number in function(*args).tolist()]
    except IndexError as error:
        return str(error)
