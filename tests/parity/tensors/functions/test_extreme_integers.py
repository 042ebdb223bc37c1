"""The least and largest integers: divisors, and sums and products in a type that cannot hold the numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

TYPES = ("int8", "int16", "int32", "int64")


def extremes(package: Any, dtype: str) -> Any:
    """The numbers at both ends of a type, and those around 0."""
    kind = package.iinfo(getattr(package, dtype))
    return package.tensor([kind.min, kind.min + 1, -1, 0, 1, 2, 3, kind.max - 1, kind.max],
                          dtype=getattr(package, dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_divisors_beside_the_least_integer_have_pytorch_s_sign(dtype: str) -> None:
    results = []
    for package in (torch, retrograd):
        x = extremes(package, dtype)
        written = x.clone()
        written.gcd_(x.flip(0))
        results.append([x.gcd(x[:, None]).tolist(), x[0].gcd(x[1]).item(), written.tolist()])
        if dtype in ("int8", "int16"):                      # in wider types PyTorch's lcm ends the process
            results[-1].append(x.lcm(x[:, None]).tolist())
    assert results[0] == results[1]


# PyTorch multiplies float16 in float16 itself, so its products of all numbers overflow sooner.
@pytest.mark.parametrize(("name", "to"), [
    *[(name, to) for name in ("sum", "cumsum", "cumprod") for to in ("float16", "float32", "float64")],
    ("prod", "float32"), ("prod", "float64")])
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_are_rounded_to_the_type_of_the_result_before_they_are_added(dtype: str, name: str, to: str) -> None:
    results = []
    for package in (torch, retrograd):
        found = getattr(extremes(package, dtype), name)(0, dtype=getattr(package, to))
        results.append(found.double().numpy())
    torch.testing.assert_close(*map(torch.from_numpy, results), rtol=1e-6, atol=0.0, equal_nan=True)
