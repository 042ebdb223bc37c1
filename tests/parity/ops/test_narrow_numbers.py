"""bfloat16 beside numbers, and at the ends of its range, here and in PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

HEAD = """
T, narrow = torch.tensor, torch.bfloat16
x, p = torch.linspace(-3, 3, 121).to(narrow), torch.linspace(0.05, 3, 121).to(narrow)
"""
PROGRAMS = {
    "division": """
for n in (0.1, 0.3, 100000., 7):
    for y in (x % n, torch.remainder(x, n), torch.fmod(x, n), x // n, torch.floor_divide(x, n), n % p, n // p,
              torch.remainder(n, p), x.clone().fmod_(n), x.clone().remainder_(n), x.clone().floor_divide_(n),
              torch.div(x, n, rounding_mode="floor"), torch.div(x, n, rounding_mode="trunc")):
        print(y.tolist())
""",
    "powers, differences and logarithms": """
for n in (0.1, 0.3, 1.7, 100000., 7):
    for y in (n - x, torch.rsub(x, n), n**x, torch.pow(n, x), torch.xlogy(p, n), torch.xlogy(n, p), torch.xlogy(p, p),
              torch.special.xlog1py(p, n), torch.special.xlog1py(n, p), p.clone().xlogy_(n)):
        print(y.tolist())
for n in (0.3, -0.7, 0.5, -1):
    print((p**n).tolist(), torch.pow(p, n).tolist(), p.clone().pow_(n).tolist())
""",
    "ends of the range": """
infinite = [float("inf"), -float("inf"), float("nan"), 1.]
for dtype in (narrow, torch.float16, torch.float32):
    i = T(infinite, dtype=dtype)
    for options in ({}, {"posinf": 2.}, {"neginf": -1e5}, {"nan": 1., "posinf": 2., "neginf": 3.}):
        print(torch.nan_to_num(i, **options), i.clone().nan_to_num_(**options))
a = T([3., 0., -0., float("inf"), 1., float("nan"), 2., -1.], dtype=narrow)
b = T([2., 1., -1., 0., 1., 1., float("inf"), 0.], dtype=narrow)
print(torch.nextafter(a, b), torch.nextafter(b, a), a.clone().nextafter_(b), torch.nextafter(a, T(2.)))
print(torch.nextafter(a, b.float()))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert transcript(retrograd, HEAD + PROGRAMS[name]) == transcript(torch, HEAD + PROGRAMS[name])
