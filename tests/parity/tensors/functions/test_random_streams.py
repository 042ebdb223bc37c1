"""Random draws against real PyTorch, bit for bit: every distribution, from the same seed, with the state in step after.

What is compared is bytes, so NaN, the sign of zero and the dtype count. The machine's own PyTorch decides: it must run
with AVX2 at least, since it draws otherwise without.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from programs.random_draws import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    SEEDS,
    Array,
    Draw,
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
    rand,
    randint,
    randn,
    random_,
    randperm,
    same_bytes,
    same_state,
    torch,
    uniform,
)
from retrograd.kernels.layout import slowest_first
from retrograd.kernels.random import distributions as kernels
from retrograd.kernels.random.twister import Twister

SIZES = [0, 1, 2, 5, 15, 16, 17, 23, 24, 100, 623, 624, 625, 1000, 70000]
BOUNDS = [(0.0, 1.0), (-0.5, 0.5), (-0.3, 0.4), (2.0, 2.0), (1e-3, 1000.0), (-0.1, -1e-7)]


@pytest.mark.parametrize("size", SIZES)
def test_every_distribution_at_every_size(size: int) -> None:
    shape = (size,)
    for dtype in FLOATS + COMPLEX:
        check(rand(shape, dtype), SEEDS)
        check(randn(shape, dtype), SEEDS)
        check(uniform(shape, dtype, -0.3, 0.4), SEEDS[:3])
        check(normal(shape, dtype, 0.3, 0.7), SEEDS[:3])
    for dtype in FLOATS:
        check(exponential(shape, dtype, 1.7), SEEDS[:2])
        check(cauchy(shape, dtype, 0.3, 1.7), SEEDS[:2])
        check(log_normal(shape, dtype, 0.3, 0.7), SEEDS[:2])
    for dtype in FLOATS + INTEGERS:
        check(geometric(shape, dtype, 0.3), SEEDS[:1])
        check(bernoulli(shape, dtype, 0.3), SEEDS[:1])
        check(randint(shape, dtype, 3, 17), SEEDS[:1])
    for dtype in [*FLOATS, *INTEGERS, "bool"]:
        check(random_(shape, dtype), SEEDS[:3])
    check(randperm(size, "int64"), SEEDS)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_uniform_between_bounds(dtype: str, low: float, high: float) -> None:
    check(uniform((257, 13), dtype, low, high), SEEDS)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize(("mean", "std"), [(0.0, 0.02), (5.0, 1.0), (-0.3, 0.7), (1e3, 1e-3), (0.1, 0.0), (2.0, 0.5)])
def test_normal_with_mean_and_deviation(dtype: str, mean: float, std: float) -> None:
    for shape in [(7,), (3, 5, 11)]:
        check(normal(shape, dtype, mean, std), SEEDS)


def test_fused_steps_hold_on_random_bounds() -> None:
    numbers = random.Random(7)
    for dtype in FLOATS:
        for _ in range(60):
            a, b = (math.copysign(10 ** numbers.uniform(-4, 3), numbers.uniform(-1, 1)) for _ in range(2))
            check(uniform((3000,), dtype, min(a, b), max(a, b)), [3])
            check(normal((3000,), dtype, a, abs(b)), [3])
            check(cauchy((300,), dtype, a, abs(b)), [3])


def test_every_float32_word_gives_pytorch_normal_samples() -> None:
    # A state can be made for any words, so all radii and all angles can be asked for: here every 31st of each, the
    # radii at an angle of zero and the angles at a radius of about one.
    values = np.arange(0, 2**24, 31, dtype=np.uint32)
    for radii, angles in ((values, np.zeros_like(values)), (np.full_like(values, 0x64BA2C), values)):
        for start in range(0, values.size, 304):
            words = np.empty((38, 2, 8), np.uint32)
            words[:, 0] = np.resize(radii[start : start + 304], (38, 8))
            words[:, 1] = np.resize(angles[start : start + 304], (38, 8))
            state = state_before(words.ravel())
            ours, theirs = Twister(0), torch.Generator()
            ours.set_state(state)
            theirs.set_state(torch.from_numpy(state))
            if start == 0:
                np.testing.assert_array_equal(ours.clone().random32(608), words.ravel())
            same_bytes(kernels.normal(ours, (608,), "float32"), torch.randn(608, generator=theirs))


def state_before(words: Array) -> NDArray[np.uint8]:
    """A state whose next 608 words are these."""
    state = Twister(0).get_state()
    state[8:16].view(np.int32)[:] = 624, 1
    state[16:24].view(np.uint64)[0] = 1
    block = np.zeros(624, np.uint32)
    block[1:609] = untempered(words)
    state[24:5016].view(np.uint64)[:] = block
    return state


def untempered(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The word of the twister's state that is tempered into each word of its output."""
    y = words ^ (words >> 18)
    y ^= (y << 15) & np.uint32(0xEFC60000)
    for mask in (0x00001680, 0x000C4000, 0x0D200000, 0x90000000):  # 7 bits at a time, from the low end
        y ^= (y << 7) & np.uint32(mask)
    y ^= y >> 11
    return y ^ (y >> 22)


def test_shapes_of_several_dimensions_and_none() -> None:
    for shape in [(), (1, 1), (3, 0, 2), (4, 4), (2, 3, 4, 5), (16, 1)]:
        for dtype in ["float32", "float64", "complex64"]:
            check(rand(shape, dtype), SEEDS[:3])
            check(randn(shape, dtype), SEEDS[:3])
        check(randint(shape, "int64", 0, 10), SEEDS[:3])


def test_bernoulli_with_numbers_and_with_arrays() -> None:
    weights = torch.rand(40, 7, generator=torch.Generator().manual_seed(8))
    for dtype in FLOATS:
        p = weights.to(of_name(dtype))
        check((bernoulli_of(p, (40, 7), dtype)[0], lambda g, p=p: torch.bernoulli(p, generator=g)), SEEDS)
        row = p[0].contiguous()
        for target in [*FLOATS, *INTEGERS, "bool"]:
            check(bernoulli_of(row, (40, 7), target), SEEDS[:2])
    for p in (0.0, 0.1, 0.5, 1.0):
        check(bernoulli((100,), "float32", p), SEEDS)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("p", [0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0])
def test_dropout_draws(dtype: str, p: float) -> None:
    for seed in SEEDS:
        for shape in [(3,), (100, 3)]:
            ours = Twister(seed)
            torch.manual_seed(seed)
            x = torch.linspace(1, 2, math.prod(shape)).reshape(shape).to(of_name(dtype))
            same_bytes(x.numpy() * kernels.dropout_mask(ours, shape, dtype, p), torch.nn.functional.dropout(x, p))
            same_state(ours, torch.default_generator)


@pytest.mark.parametrize("p", [1e-12, 1e-3, 0.5, 0.999])
def test_geometric_wraps_as_the_cast_does(p: float) -> None:
    for dtype in [*FLOATS, *INTEGERS]:
        check(geometric((300,), dtype, p), SEEDS[:3])


def test_extreme_parameters() -> None:
    for dtype in FLOATS:
        check(log_normal((300,), dtype, 0.0, 400.0), SEEDS[:3])
        check(exponential((300,), dtype, math.inf), SEEDS[:3])
        check(exponential((300,), dtype, 1e-6), SEEDS[:3])
        check(cauchy((300,), dtype, 0.0, 1e6), SEEDS[:3])
        for size in (5, 100):
            check(normal((size,), dtype, 0.0, 1e6), SEEDS[:3])
            check(normal((size,), dtype, math.inf, 1.0), SEEDS[:3])


def test_normal_with_arrays_of_means_and_deviations() -> None:
    generator = torch.Generator().manual_seed(2)
    for dtype in [*FLOATS, *COMPLEX]:
        mean = torch.randn(6, 5, dtype=of_name(dtype), generator=generator)
        for other in FLOATS:
            std = torch.rand(5, dtype=of_name(other), generator=generator)
            cases = [(mean, std), (mean, 0.7), (mean, std[0].clone()), (mean[0, 0].clone(), std)]
            cases += [(0.3, std), (0, std[:3].clone())]
            for m, s in cases:
                check(normal_around(m, s), SEEDS[:3])


def layouts(dtype: str) -> list[Any]:
    """Arrays of all kinds of strides."""
    real = of_name(dtype)
    return [
        torch.zeros(6, 5, dtype=real).t(),
        torch.zeros(6, 5, dtype=real)[:, ::2],
        torch.zeros(4, 3, 5, 2, dtype=real).permute(2, 0, 3, 1),
        torch.zeros(2, 3, 4, 4, dtype=real).to(memory_format=torch.channels_last),
        torch.zeros(40, dtype=real)[3:25],
        torch.zeros(5, 1, 7, dtype=real).transpose(0, 2),
        torch.zeros(3, 2, dtype=real).t(),
        torch.zeros(30, 2, dtype=real)[:, 1],
    ]


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_draws_in_place_fill_any_layout_in_its_order(dtype: str) -> None:
    for index in range(len(layouts(dtype))):
        for seed in SEEDS[:4]:
            theirs = layouts(dtype)[index]
            ours = layouts(dtype)[index].numpy()
            contiguous = ours.flags.c_contiguous
            theirs_generator, generator = torch.Generator().manual_seed(seed), Twister(seed)
            view = ours.transpose(slowest_first(ours))
            view[...] = kernels.uniform(generator, view.shape, ours.dtype, -1, 2)
            same_bytes(ours, theirs.uniform_(-1, 2, generator=theirs_generator))
            view[...] = kernels.normal(generator, view.shape, ours.dtype, 0.5, 3, contiguous=contiguous)
            same_bytes(ours, theirs.normal_(0.5, 3, generator=theirs_generator))
            if dtype in FLOATS:
                view[...] = kernels.bernoulli(generator, view.shape, ours.dtype, 0.4)
                same_bytes(ours, theirs.bernoulli_(0.4, generator=theirs_generator))
            same_state(generator, theirs_generator)


def any_draw(numbers: random.Random) -> Draw:
    size = numbers.choice([1, 2, 3, 5, 15, 16, 17, 40, 300, 700])
    dtype, integer = numbers.choice(FLOATS), numbers.choice(INTEGERS)
    shape = (size,)
    return numbers.choice(
        [
            rand(shape, numbers.choice(FLOATS + COMPLEX)),
            randn(shape, numbers.choice(FLOATS + COMPLEX)),
            normal(shape, dtype, 0.1, 0.9),
            log_normal(shape, dtype, 0.1, 0.9),
            exponential(shape, dtype, 0.5),
            cauchy(shape, dtype, 0.5, 2.0),
            geometric(shape, integer, 0.2),
            bernoulli(shape, dtype, 0.6),
            randint(shape, integer, 0, 100),
            random_(shape, integer),
            randperm(size, "int64"),
            multinomial(torch.linspace(0.1, 1, size, dtype=of_name("float32")), size, False),
        ]
    )


@pytest.mark.parametrize("seed", range(12))
def test_a_long_mixture_of_draws_stays_in_step(seed: int) -> None:
    numbers = random.Random(seed)
    ours, theirs = Twister(seed), torch.Generator().manual_seed(seed)
    for _ in range(150):
        draw = any_draw(numbers)
        if numbers.random() < 0.1:
            # The one goes on from the state of the other.
            theirs.set_state(torch.from_numpy(ours.get_state()))
            ours = Twister(99)
            ours.set_state(theirs.get_state().numpy())
        same_bytes(draw[0](ours), draw[1](theirs))
        same_state(ours, theirs)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    draws = [rand((300_000,), "float32"), randn((300_001,), "float32"), bernoulli((300_000,), "float32", 0.3)]
    threads = torch.get_num_threads()
    try:
        for count in (1, 4):
            torch.set_num_threads(count)
            for draw in draws:
                check(draw, [5])
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_and_states(seed: int) -> None:
    ours, theirs = Twister(), torch.Generator()
    assert ours.initial_seed() == theirs.initial_seed()
    same_state(ours, theirs)
    assert ours.manual_seed(seed).initial_seed() == theirs.manual_seed(seed).initial_seed()
    same_state(ours, theirs)
    kernels.normal(ours, (3,), "float64")
    theirs_copy = torch.Generator()
    theirs_copy.set_state(torch.from_numpy(ours.get_state()))
    assert torch.randn(2, generator=theirs_copy).tolist() == kernels.normal(ours, (2,), "float32").tolist()


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_that_are_refused(seed: int) -> None:
    with pytest.raises(ValueError) as theirs:  # noqa: PT011
        torch.Generator().manual_seed(seed)
    with pytest.raises(ValueError) as ours:  # noqa: PT011
        Twister(seed)
    assert str(ours.value) == str(theirs.value)


def test_weights_of_a_linear_layer() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(10, 10)
    generator = Twister(0)
    bound = 1 / math.sqrt(10)  # kaiming_uniform_ with a=sqrt(5): sqrt(3) * sqrt(2 / (1 + 5)) / sqrt(fan_in)
    gain = math.sqrt(2.0 / (1 + math.sqrt(5) ** 2))
    weight_bound = math.sqrt(3.0) * (gain / math.sqrt(10))
    same_bytes(kernels.uniform(generator, (10, 10), "float32", -weight_bound, weight_bound), layer.weight.detach())
    same_bytes(kernels.uniform(generator, (10,), "float32", -bound, bound), layer.bias.detach())
    same_state(generator, torch.default_generator)
