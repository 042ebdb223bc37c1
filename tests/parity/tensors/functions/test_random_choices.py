"""Random integers, permutations and choices against real PyTorch, bit for bit, and what every draw refuses."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from programs.random_draws import (
    FLOATS,
    INTEGERS,
    SEEDS,
    Draw,
    Shape,
    bernoulli,
    bernoulli_of,
    cauchy,
    check,
    exponential,
    geometric,
    log_normal,
    multinomial,
    normal,
    normal_around,
    of_name,
    randint,
    random_,
    randperm,
    same_state,
    torch,
    uniform,
)
from retrograd.kernels.random.twister import Twister

RANGES = [
    *[(0, 2**k) for k in (1, 8, 27, 28, 31, 32, 40, 62)],
    *[(0, 2**k + 1) for k in (8, 27, 28, 32, 40)],
    *[(0, 2**k - 1) for k in (28, 32, 63)],
    *[(-5, 7), (-(2**40), 2**41), (-(2**63), 2**63 - 1), (-(2**62), 2**62 + 7), (7, 8)],
]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_integers_from_any_range(low: int, high: int) -> None:
    check(randint((1001,), "int64", low, high), SEEDS)
    check(random_((1001,), "int64", low, high), SEEDS[:1])
    for dtype in ["uint8", "int8", "int16", "int32"]:
        limits = np.iinfo(dtype)
        if limits.min <= low and high - 1 <= limits.max:
            check(randint((1001,), dtype, low, high), SEEDS[:3])


FLOAT_BOUNDS: list[tuple[int, int | None]] = [
    *[(0, 10), (-5000, 5000), (-2049, -2047), (60000, 65504), (0, 65504)],
    *[(2048, 2049), (2048, 2050), (2049, 2050), (2049, 2051)],
    *[(2**24, 2**24 + 1), (2**24 + 1, 2**24 + 2), (2**24 + 1, 2**24 + 3), (2**30, 2**31), (2**62, 2**63 - 1)],
    *[(2047, None), (-2049, None), (2**24 - 1, None), (-(2**63), None), (-(2**53) - 1, 2**53 + 1), (70000, 70001)],
]


@pytest.mark.filterwarnings("ignore:.*Due to precision limitations:UserWarning")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bounds", FLOAT_BOUNDS)
def test_integers_as_floats(dtype: str, bounds: tuple[int, int | None]) -> None:
    draw = random_((500,), dtype, *bounds)
    try:
        draw[1](None)
    except (RuntimeError, NotImplementedError) as refusal:
        with pytest.raises(type(refusal), match=f"^{re.escape(str(refusal))}$"):
            draw[0](Twister(0))
    else:
        check(draw, SEEDS[:3])


def test_integers_beyond_a_float_warn_as_pytorch_does() -> None:
    ours, theirs = random_((3,), "float32", 0, 2**25)
    for warned in (lambda: ours(Twister(0)), lambda: theirs(None)):
        with pytest.warns(UserWarning, match=r"^to - 1 is out of bounds \[-\(2\^24\), 2\^24\]\. Due to precision"):
            warned()


def test_integers_from_a_number_to_the_largest_of_the_dtype() -> None:
    for dtype in [*INTEGERS, "bool"]:
        for low in (0, 1):
            check(random_((300,), dtype, low, None), SEEDS[:3])
    check(random_((300,), "int64", -(2**63), None), SEEDS)
    check(random_((300,), "int8", -128, None), SEEDS)
    check(random_((300,), "bool", 0, 2), SEEDS)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 100, 127, 499, 500, 501, 502, 1000, 2048, 30001, 200_000])
def test_permutations(n: int) -> None:
    for dtype in [*FLOATS, *INTEGERS]:
        if n <= (np.finfo(dtype).max if dtype in FLOATS[1:] else 2048 if dtype == "float16" else np.iinfo(dtype).max):
            check(randperm(n, dtype), SEEDS[:2])
    if n < 100_000:
        check(randperm(n, "int64"), list(range(20)))


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (5, 11), (1, 3), (1000,), (30, 200)])
def test_multinomial(shape: Shape) -> None:
    for dtype in FLOATS:
        weights = torch.rand(shape, generator=torch.Generator().manual_seed(9)).to(of_name(dtype))
        for count in (1, 2, 3, shape[-1], 50):
            for replacement in (True, False):
                # float16 has ties, which only a single choice decides as PyTorch does.
                if replacement or count == 1 or (count <= shape[-1] and dtype != "float16"):
                    check(multinomial(weights, count, replacement), SEEDS)


def test_multinomial_over_many_categories_and_with_zero_weights() -> None:
    weights = torch.rand(70_000, generator=torch.Generator().manual_seed(1))
    weights[::3] = 0
    for replacement in (True, False):
        check(multinomial(weights, 200, replacement), SEEDS[:3])
    check(multinomial(torch.tensor([0.0, 1.0, 0.0, 2.0]), 20, True), SEEDS)


REFUSED: dict[str, Draw] = {
    "uniform order": uniform((3,), "float32", 2, 1),
    "uniform bound": uniform((3,), "float16", 0, 1e6),
    "uniform range": uniform((3,), "float16", -60000, 60000),
    "uniform nan": uniform((3,), "float64", math.nan, 1),
    "uniform dtype": uniform((3,), "int32", 0, 1),
    "uniform empty": uniform((0,), "float32", 2, 1),
    "normal std": normal((3,), "float32", 0, -1.5),
    "normal nan": normal((3,), "float32", 0, math.nan),
    "normal dtype": normal((3,), "int64", 0, 1),
    "exponential rate": exponential((3,), "float32", 0),
    "exponential dtype": exponential((3,), "int32", 1),
    "geometric p": geometric((3,), "float32", 1.0),
    "geometric dtype": geometric((3,), "bool", 0.5),
    "cauchy sigma": cauchy((3,), "float32", 0, 0),
    "cauchy dtype": cauchy((3,), "int64", 0, 1),
    "log_normal std": log_normal((3,), "float32", 0, 0),
    "log_normal dtype": log_normal((3,), "int8", 0, 1),
    "bernoulli p": bernoulli((3,), "float32", 1.1),
    "bernoulli dtype": bernoulli((3,), "complex64", 0.5),
    "randint order": randint((3,), "int64", 5, 5),
    "randint uint8": randint((3,), "uint8", 0, 300),
    "randint negative": randint((3,), "uint8", -1, 3),
    "randint bool": random_((3,), "bool", 0, 5),
    "randint complex": randint((3,), "complex64", 0, 5),
    "random complex": random_((3,), "complex64"),
    "random int8": random_((3,), "int8", 200, None),
    "random int8 all": random_((3,), "int8", -(2**63), None),
    "random half all": random_((3,), "float16", -(2**63), None),
    "random bool all": random_((3,), "bool", -(2**63), None),
    "randperm negative": randperm(-1, "int64"),
    "randperm uint8": randperm(300, "uint8"),
    "randperm half": randperm(3000, "float16"),
    "randperm float": randperm(2**24 + 2, "float32"),
    "randperm bool": randperm(3, "bool"),
    "multinomial dtype": multinomial(torch.tensor([1, 2]), 1, False),
    "multinomial too many": multinomial(torch.ones(3), 4, False),
    "multinomial none": multinomial(torch.ones(3), 0, False),
    "multinomial dimensions": multinomial(torch.ones(2, 2, 2), 1, True),
    "multinomial zeros": multinomial(torch.tensor([[1.0, 1.0], [0.0, 0.0]]), 2, False),
    "multinomial negative": multinomial(torch.tensor([1.0, -1.0]), 1, False),
    "multinomial nan": multinomial(torch.tensor([1.0, math.nan]), 2, False),
    "multinomial zeros, replaced": multinomial(torch.zeros(3), 2, True),
    "multinomial negative, replaced": multinomial(torch.tensor([1.0, -1.0]), 2, True),
    "multinomial infinite, replaced": multinomial(torch.tensor([1.0, math.inf]), 2, True),
    "bernoulli array": bernoulli_of(torch.tensor([1.1]), (1,), "float32"),
    "bernoulli integer array": bernoulli_of(torch.tensor([1]), (1,), "float32"),
    "normal deviations": normal_around(0.0, torch.tensor([1.0, -1.0])),
    "normal complex deviations": normal_around(0.0, torch.tensor([1j])),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_have_pytorch_type_and_words_and_draw_nothing(case: str) -> None:
    ours, theirs = REFUSED[case]
    with pytest.raises(Exception) as expected:  # noqa: PT011
        theirs(None)
    generator = Twister(1)
    with pytest.raises(expected.type) as refused:
        ours(generator)
    assert str(expected.value) == str(refused.value)
    same_state(generator, torch.Generator().manual_seed(1))
