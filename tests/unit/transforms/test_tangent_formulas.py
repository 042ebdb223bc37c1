"""Tangents of factorizations and normalizations by formula: right to third order in nestings with other transforms."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import retrograd as torch
from comparing.curves import derivative
from comparing.nestings import allowed, nested, order, ways
from retrograd import linalg
from retrograd.nn import functional
from retrograd.tensors.transforms import forward

F64 = torch.float64
DRAW = torch.Generator().manual_seed(0)
A, B, C, P = [torch.randn(4, 4, dtype=F64, generator=DRAW) for _ in range(4)]
IMAGES = torch.randn(3, 4, 5, dtype=F64, generator=DRAW)
CHANNELS = torch.randn(4, dtype=F64, generator=DRAW)
ONE = torch.eye(4, dtype=F64)
POINT = 0.7


def matrix(x: Any) -> Any:
    return A + x * B + x.sin() * C + 3 * ONE


def positive(x: Any) -> Any:
    return matrix(x) @ matrix(x).mT + ONE


def images(x: Any) -> Any:
    return IMAGES * x + IMAGES.sin() * x * x


def total(*parts: Any) -> Any:
    """A number that each element of the parts counts for in its own way."""
    return sum((part * P[:part.shape[-2], :part.shape[-1]]).sin().sum() for part in parts)


def image_total(found: Any) -> Any:
    return (found * IMAGES).sin().sum()


CURVES: dict[str, Callable[[Any], Any]] = {
    "qr": lambda x: total(*linalg.qr(matrix(x))), "qr tall": lambda x: total(*linalg.qr(matrix(x)[:, :2])),
    "qr wide": lambda x: total(*linalg.qr(matrix(x)[:2])),
    "cholesky": lambda x: total(linalg.cholesky(positive(x))),
    "cholesky upper": lambda x: total(linalg.cholesky(positive(x), upper=True)),
    "lu": lambda x: total(*linalg.lu(matrix(x))[1:]), "lu tall": lambda x: total(*linalg.lu(matrix(x)[:, :2])[1:]),
    "lu wide": lambda x: total(*linalg.lu(matrix(x)[:3])[1:]),
    "lu_factor": lambda x: total(linalg.lu_factor(matrix(x))[0]),
    "lu_factor tall": lambda x: total(linalg.lu_factor(matrix(x)[:, :2])[0]),
    "lu_factor wide": lambda x: total(linalg.lu_factor(matrix(x)[:2])[0]),
    "slogdet": lambda x: linalg.slogdet(matrix(x))[1].sin(),
    "batch_norm": lambda x: image_total(functional.batch_norm(
        images(x), None, None, CHANNELS * x, CHANNELS.cos() * x * x, True)),
    "batch_norm by constants": lambda x: image_total(functional.batch_norm(images(x), None, None, training=True)),
    "batch_norm evaluating": lambda x: image_total(functional.batch_norm(
        images(x), CHANNELS, CHANNELS ** 2 + 1, CHANNELS * x, CHANNELS.cos() * x * x)),
    "group_norm": lambda x: image_total(functional.group_norm(images(x), 2, CHANNELS * x, CHANNELS.cos() * x * x)),
    "group_norm by constants": lambda x: image_total(functional.group_norm(images(x), 2)),
    "layer_norm": lambda x: image_total(functional.layer_norm(images(x), (5,), IMAGES[0, 0] * x, IMAGES[0, 1] * x * x)),
}
WAYS = ways(torch)
NESTINGS = [nesting for count in (1, 2, 3) for nesting in product(WAYS, repeat=count)
            if order(nesting) <= 3 and allowed(nesting)]
DRAWN = {1: 6, 2: 8, 3: 8}
NEAR = {1: 1e-7, 2: 1e-5, 3: 1e-3}


def number(value: float) -> Any:
    return torch.tensor(value, dtype=F64)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(2)
def test_every_nesting_gives_the_derivative(name: str) -> None:
    draw = random.Random(name)
    for degree, count in DRAWN.items():
        expected = derivative(lambda x: CURVES[name](number(x)).item(), POINT, degree)
        for nesting in draw.sample([each for each in NESTINGS if order(each) == degree], count):
            found = nested(WAYS, nesting, CURVES[name])(number(POINT)).item()
            assert found == pytest.approx(expected, rel=NEAR[degree], abs=NEAR[degree]), nesting


@pytest.mark.parametrize("name", CURVES)
def test_nothing_is_transposed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(op: Any, *rest: Any) -> Any:
        raise AssertionError(f"the gradient of {op.name} is transposed")

    monkeypatch.setattr(forward, "transposed", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.func.jvp(CURVES[name], (number(POINT),), (number(1.0),))
