"""The random streams against facts recorded from real PyTorch 2.13, and their arithmetic against exact rationals.

A digest stands for draws that rest on integers and IEEE arithmetic alone, which are the same everywhere. Where
logarithms and sines of doubles come in, which are the C library's, numbers are recorded and the last bits are free.
"""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrograd.kernels.layout import slowest_first
from retrograd.kernels.native import libm
from retrograd.kernels.native.fma import multiply_add
from retrograd.kernels.random import distributions as kernels, twister
from retrograd.kernels.random.sampling import multinomial, randint, randperm
from retrograd.kernels.random.twister import STATE_BYTES, Twister

Array = NDArray[Any]

SEED = 2147483647 * 3 + 12345


def digest(*arrays: Array) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def weights(n: int, dtype: str) -> Array:
    return np.full(n, 0.3, dtype)


# Name: a draw of n from a generator, and the digest of three such draws, of 16, 17 and 2000, and of the state after.
RECORDED: dict[str, tuple[Callable[[Twister, int], Array], str]] = {
    "rand float16": (lambda g, n: kernels.uniform(g, (n,), "float16"), "7a348f61a4c8cb8a"),
    "rand float32": (lambda g, n: kernels.uniform(g, (n,), "float32"), "badc94027affe4ed"),
    "rand float64": (lambda g, n: kernels.uniform(g, (n,), "float64"), "c597cb8d24de4cbe"),
    "rand complex64": (lambda g, n: kernels.uniform(g, (n,), "complex64"), "550ae0f741b5a49c"),
    "rand complex128": (lambda g, n: kernels.uniform(g, (n,), "complex128"), "337492940d8b10db"),
    "uniform_ float16": (lambda g, n: kernels.uniform(g, (n,), "float16", -0.3, 0.4), "dff214643fcf3c47"),
    "uniform_ float32": (lambda g, n: kernels.uniform(g, (n,), "float32", -0.3, 0.4), "2f06f93ffbfd104c"),
    "uniform_ float64": (lambda g, n: kernels.uniform(g, (n,), "float64", -0.3, 0.4), "81c468c290e63c06"),
    "randn float16": (lambda g, n: kernels.normal(g, (n,), "float16"), "69d6c5352b0abba2"),
    "randn float32": (lambda g, n: kernels.normal(g, (n,), "float32"), "0cd502eb0c801c0e"),
    "randn complex64": (lambda g, n: kernels.normal(g, (n,), "complex64"), "28d4a27fe20ddddd"),
    "normal_ float16": (lambda g, n: kernels.normal(g, (n,), "float16", 0.3, 0.7), "4eb89e04a654bcb4"),
    "normal_ float32": (lambda g, n: kernels.normal(g, (n,), "float32", 0.3, 0.7), "fed81fe219af9eaa"),
    "random_ uint8": (lambda g, n: randint(g, (n,), "uint8"), "6cea66f1f676fb74"),
    "random_ int8": (lambda g, n: randint(g, (n,), "int8"), "02502e4df1b6f740"),
    "random_ int16": (lambda g, n: randint(g, (n,), "int16"), "161b303f53e818bf"),
    "random_ int32": (lambda g, n: randint(g, (n,), "int32"), "8d1f2092334c5652"),
    "random_ int64": (lambda g, n: randint(g, (n,), "int64"), "5e5dbd4fecec1c2d"),
    "random_ float16": (lambda g, n: randint(g, (n,), "float16"), "63891e1d560ebb4d"),
    "random_ float32": (lambda g, n: randint(g, (n,), "float32"), "2bd771b893b3390d"),
    "random_ float64": (lambda g, n: randint(g, (n,), "float64"), "ddf2e507cb8719fd"),
    "random_ bool": (lambda g, n: randint(g, (n,), "bool"), "ea0927f522bcbd33"),
    "randint int64": (lambda g, n: randint(g, (n,), "int64", -5, 1000), "02ad88e03d502a2f"),
    "randint float32": (lambda g, n: randint(g, (n,), "float32", -5, 1000), "52bf2ab0348d3d66"),
    "randint 2**28": (lambda g, n: randint(g, (n,), "int64", 0, 2**28), "a090d348f7f673cd"),
    "randint 2**28 - 1": (lambda g, n: randint(g, (n,), "int64", 0, 2**28 - 1), "726d89f8e45e397d"),
    "randint 2**40 + 1": (lambda g, n: randint(g, (n,), "int64", 0, 2**40 + 1), "72b51c6cb285e601"),
    "randperm": (lambda g, n: randperm(g, n), "7feb1a442a0607f2"),
    "bernoulli_": (lambda g, n: kernels.bernoulli(g, (n,), "float32", 0.3), "cd646cb8082c1a91"),
    "bernoulli float32": (
        lambda g, n: kernels.bernoulli(g, (n,), "float32", weights(n, "float32")),
        "3218e91b0df065c4",
    ),
    "bernoulli float64": (
        lambda g, n: kernels.bernoulli(g, (n,), "float64", weights(n, "float64")),
        "f84c102719c35224",
    ),
    "multinomial": (
        lambda g, n: multinomial(g, np.arange(1, 9, dtype=np.float32), n, replacement=True),
        "0385e8c563b63dd3",
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_draws_are_those_recorded_from_pytorch(name: str) -> None:
    draw, expected = RECORDED[name]
    generator = Twister(SEED)
    drawn = [draw(generator, n) for n in (16, 17, 2000)]
    assert digest(*drawn, generator.get_state()) == expected


@pytest.mark.parametrize(
    ("seed", "fresh", "after_a_block", "later"),
    [
        (0, "1ccf17250133dec5", "484720ea4ef85e46", "f912cc5bd4fc9a7d"),
        (-1, "74c65bce05a4fcdd", "1580367be4a3199c", "53f7fce3eac6cccd"),
        (2**40 + 3, "2c29770cead03138", "170df8808e46cc07", "34095f422b13f958"),
    ],
)
def test_states_are_those_recorded_from_pytorch(seed: int, fresh: str, after_a_block: str, later: str) -> None:
    generator = Twister(seed)
    assert digest(generator.get_state()) == fresh
    generator.random32(624)
    assert digest(generator.get_state()) == after_a_block
    generator.random32(76)
    assert digest(generator.get_state()) == later


def test_the_first_numbers_of_seed_zero() -> None:
    generator = Twister(0)
    first = kernels.uniform(generator, (3,), "float32")
    assert first.tolist() == [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]


def test_the_weights_that_a_linear_layer_starts_from() -> None:
    # nn.Linear(10, 10) after manual_seed(0): kaiming_uniform_ with a = sqrt(5), then uniform_
    generator = Twister(0)
    bound = math.sqrt(3) * (math.sqrt(2 / (1 + math.sqrt(5) ** 2)) / math.sqrt(10))
    weight = kernels.uniform(generator, (10, 10), "float32", -bound, bound)
    bias = kernels.uniform(generator, (10,), "float32", -1 / math.sqrt(10), 1 / math.sqrt(10))
    assert weight[0, :3].tolist() == [-0.002367540495470166, 0.16963835060596466, -0.26026973128318787]
    assert digest(weight, bias) == "07da78a3ea62246c"


THROUGH_THE_C_LIBRARY: dict[str, tuple[Callable[[Twister], Array], list[float]]] = {
    "normal, fewer than 16": (
        lambda g: kernels.normal(g, (5,), "float64"),
        [-0.1467950974849952, 0.7861412987235358, 0.9468216090039564, -1.1143440212610307, 1.6907901257942333],
    ),
    "normal, 16": (
        lambda g: kernels.normal(g, (16,), "float64")[[0, 1, 8, 15]],
        [0.06626753966449943, 0.04699155524392409, -0.8067815436367963, -1.0492146121597965],
    ),
    "exponential": (
        lambda g: kernels.exponential(g, (4,), "float64", 1.7),
        [0.19273171940181116, 0.18810792417775202, 1.1653973260464425, 0.6288922814697192],
    ),
    "cauchy": (
        lambda g: kernels.cauchy(g, (4,), "float64", 0.3, 1.7),
        [-1.1119448174361983, -1.1640451948082176, 3.97521678746149, 1.2116816606210916],
    ),
    "log_normal": (
        lambda g: kernels.log_normal(g, (4,), "float64", 0.3, 0.7),
        [1.2180405143656683, 2.3403462982061907, 2.6189543270737237, 0.6187581367499688],
    ),
    "geometric": (lambda g: kernels.geometric(g, (8,), "float64", 0.3), [4, 4, 1, 2, 1, 1, 4, 2]),
}


@pytest.mark.parametrize("name", THROUGH_THE_C_LIBRARY)
def test_draws_through_the_c_library_are_those_recorded(name: str) -> None:
    draw, expected = THROUGH_THE_C_LIBRARY[name]
    np.testing.assert_array_max_ulp(draw(Twister(7)), np.array(expected), maxulp=4)


def test_small_normal_draws_are_alike_in_all_dtypes() -> None:
    wide = kernels.normal(Twister(7), (5,), "float64")
    for dtype in ("float32", "float16"):
        np.testing.assert_array_equal(kernels.normal(Twister(7), (5,), dtype), wide.astype(np.float32).astype(dtype))


def test_a_normal_sample_left_over_waits_for_the_next_small_draw() -> None:
    together = kernels.normal(Twister(3), (8,), "float64")
    generator = Twister(3)
    first = kernels.normal(generator, (3,), "float64")
    assert generator.next_double_normal == together[3]
    kernels.normal(generator.clone(), (16,), "float64")
    generator.clone().manual_seed(0)
    np.testing.assert_array_equal(np.concatenate((first, kernels.normal(generator, (5,), "float64"))), together)
    assert generator.next_double_normal is None


def test_a_draw_in_place_fills_memory_in_the_order_of_its_addresses() -> None:
    array = np.zeros((3, 4), np.float32).T
    view = array.transpose(slowest_first(array))
    view[...] = kernels.normal(Twister(3), view.shape, array.dtype, contiguous=False)
    # torch.zeros(3, 4).t().normal_() after manual_seed(3)
    expected = [0.8032760620117188, 0.04618244990706444, -1.435179352760315]
    np.testing.assert_array_max_ulp(array[0], np.array(expected, np.float32), maxulp=1)


def test_dropout_scales_what_it_keeps() -> None:
    mask = kernels.dropout_mask(Twister(3), (10,), "float32", 0.3)
    kept = 1.4285714626312256
    assert mask.tolist() == [kept, kept, 0, kept, 0, kept, kept, kept, kept, 0]
    generator = Twister(3)
    assert kernels.dropout_mask(generator, (2,), "float32", 0).tolist() == [1, 1]
    assert kernels.dropout_mask(generator, (2,), "float32", 1).tolist() == [0, 0]
    np.testing.assert_array_equal(generator.get_state(), Twister(3).get_state())


# The generator


def test_the_twister_is_the_published_one() -> None:
    # The C++ standard gives the 10000th output for the default seed.
    words = Twister(5489).random32(10000)
    assert (int(words[0]), int(words[-1])) == (3499211612, 4123659995)


def test_the_size_of_draws_does_not_matter() -> None:
    whole = Twister(9).random32(30000)
    generator = Twister(9)
    sizes = [1, 0, 622, 1, 624, 3, 5000, 1248, 7, 8112, 0, 14382]
    np.testing.assert_array_equal(np.concatenate([generator.random32(n) for n in sizes]), whole)
    high, low = whole[1::2].astype(np.uint64), whole[2::2].astype(np.uint64)
    generator = Twister(9)
    generator.random32(1)
    np.testing.assert_array_equal(generator.random64(14999), (high[:14999] << np.uint64(32)) | low)


@pytest.mark.parametrize("makes_pairs", [True, False])
@pytest.mark.parametrize("before", [0, 1, 2, 300, 624, 1247])
def test_pairs_follow_the_words_before(before: int, makes_pairs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether NumPy makes the pairs or this package; the words after them follow, too."""
    if not makes_pairs:
        monkeypatch.setattr(twister, "_makes_pairs", lambda: False)
    words = Twister(3).random32(20000).astype(np.uint64)
    for count in (0, 5, 312, 1248, 1500, 1560, 1872, 9000):
        generator = Twister(3)
        generator.random32(before)
        end = before + 2 * count
        expected = (words[before:end:2] << np.uint64(32)) | words[before + 1 : end : 2]
        np.testing.assert_array_equal(generator.random64(count), expected)
        np.testing.assert_array_equal(generator.random32(700), words[end : end + 700])


def test_what_is_drawn_belongs_to_the_caller() -> None:
    generator = Twister(1)
    generator.random32(3)[...] = 0
    np.testing.assert_array_equal(generator.random32(5), Twister(1).random32(8)[3:])


def test_a_state_can_be_saved_and_restored_anywhere() -> None:
    generator = Twister(4)
    for drawn in (0, 1, 623, 1, 700, 5):
        generator.random32(drawn)
        kernels.normal(generator, (1,), "float64")
        generator.next_float_normal = 0.5
        state = generator.get_state()
        assert state.shape == (STATE_BYTES,)
        copy = Twister(0)
        copy.set_state(state.tobytes())
        assert copy.initial_seed() == 4
        assert copy.next_float_normal == 0.5
        np.testing.assert_array_equal(copy.get_state(), state)
        expected = kernels.normal(copy, (3,), "float32"), copy.random32(1000)
        generator.set_state(state)
        np.testing.assert_array_equal(kernels.normal(generator, (3,), "float32"), expected[0])
        np.testing.assert_array_equal(generator.random32(1000), expected[1])


def test_a_clone_goes_its_own_way() -> None:
    generator = Twister(4)
    kernels.normal(generator, (7,), "float64")
    clone = generator.clone()
    np.testing.assert_array_equal(clone.get_state(), generator.get_state())
    clone.random32(10)
    assert clone.get_state().tobytes() != generator.get_state().tobytes()


def test_seeding_again_forgets_everything() -> None:
    generator = Twister(4)
    kernels.normal(generator, (701,), "float64", contiguous=False)
    np.testing.assert_array_equal(generator.manual_seed(4).get_state(), Twister(4).get_state())


def test_states_that_are_none() -> None:
    with pytest.raises(RuntimeError, match="^Expected a CPUGeneratorImplState of size 5056 but found .* to be 10$"):
        Twister().set_state(bytes(10))
    for position in (0, 625):
        state = Twister().get_state()
        state[8:24].view(np.int32)[:] = 7, 1, position, 0
        generator = Twister(5)
        with pytest.raises(RuntimeError, match="^Invalid mt19937 state$"):
            generator.set_state(state)
        np.testing.assert_array_equal(generator.get_state(), Twister(5).get_state())


def test_a_seed_from_the_system_is_new_each_time() -> None:
    generator = Twister()
    seeds = {generator.seed() for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert generator.initial_seed() in seeds


def test_each_process_starts_the_default_stream_elsewhere_and_other_generators_at_one_seed() -> None:
    program = "import retrograd as torch; print(torch.initial_seed(), torch.Generator().initial_seed())"
    command = [sys.executable, "-c", program]
    first, second = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in "12"]
    assert first[0] != second[0]
    assert first[1] == second[1] == "67280421310721"


def test_threads_share_a_generator_without_losing_or_repeating_a_word() -> None:
    generator = Twister(6)
    drawn: list[Array] = []

    def work() -> None:
        drawn.extend(generator.random32(n % 50) for n in range(300))
        drawn.append(generator.random64(1001).view(np.uint32))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(drawn)
    np.testing.assert_array_equal(np.sort(words), np.sort(Twister(6).random32(words.size)))


# The arithmetic


def rounded(exact: Fraction, digits: int) -> float:
    """To so many binary digits, halves to even. For numbers that are neither huge nor tiny."""
    if not exact:
        return 0.0
    exponent = digits - 1 - math.floor(math.log2(abs(exact)))
    return float(round(exact * Fraction(2) ** exponent) / Fraction(2) ** exponent)


@pytest.mark.parametrize(("dtype", "digits"), [("float32", 24), ("float64", 53)])
def test_multiply_add_rounds_once(dtype: str, digits: int) -> None:
    scalar: Any = np.dtype(dtype).type
    rng = np.random.default_rng(1)
    for scale, shift in [(0.7, -0.3), (1.0, 0.1), (0.3, 0.0), (2.0, 1 / 3), (1e-5, 1.0), (1e6, -1e-3), (-0.5, 7.0)]:
        x = rng.standard_normal(200).astype(dtype)
        factor, offset = Fraction(float(scalar(scale))), Fraction(float(scalar(shift)))
        expected = [rounded(Fraction(value) * factor + offset, digits) for value in x.tolist()]
        assert multiply_add(x.copy(), scale, shift).tolist() == expected


def test_multiply_add_next_to_a_tie() -> None:
    # The product is a little less than half of the last place of the shift: to double it looks like a half.
    x = np.array([2.0**-12 * (1 + 2.0**-23)], np.float32)
    scale, shift = 2.0**-12 * (1 - 2.0**-23), 1 + 2.0**-23
    assert np.float32(float(x[0]) * scale + shift) == 1 + 2.0**-22
    assert multiply_add(x, scale, shift)[0] == 1 + 2.0**-23


def test_multiply_add_makes_no_negative_zero_and_passes_the_infinite() -> None:
    assert math.copysign(1, multiply_add(np.array([-0.0]), 1.0, 0.0)[0]) == 1
    assert multiply_add(np.array([0.5, -0.5]), 3.0, math.inf).tolist() == [math.inf, math.inf]


@pytest.mark.parametrize("name", ["log", "log1p", "exp", "sin", "cos", "tan"])
def test_functions_have_the_bits_of_the_c_library(name: str) -> None:
    points = np.random.default_rng(5).random(20_000)
    if name == "log1p":
        points = -points
    function, scalar = getattr(libm, name), getattr(math, name)
    expected = np.array([scalar(x) for x in points.tolist()])
    np.testing.assert_array_equal(function(points), expected)
    np.testing.assert_array_equal(function(points[:6].reshape(2, 3)), expected[:6].reshape(2, 3))


def test_functions_answer_where_python_raises() -> None:
    for size in (1, 1000):
        np.testing.assert_array_equal(libm.log(np.zeros(size)), -np.inf)
        np.testing.assert_array_equal(libm.log1p(np.full(size, -1.0)), -np.inf)
        np.testing.assert_array_equal(libm.exp(np.full(size, 1000.0)), np.inf)
        assert np.isnan(libm.log(np.full(size, -1.0))).all()


@pytest.mark.parametrize("n", [0, 1, 2, 500, 501, 5000])
def test_permutations_hold_every_number_once(n: int) -> None:
    assert sorted(randperm(Twister(n), n).tolist()) == list(range(n))


def test_uniform_leaves_the_upper_bound_out() -> None:
    # Between two neighbors of float16, half of the numbers round to the upper one, and then become the lower.
    values = kernels.uniform(Twister(0), (2000,), "float16", 1.0, 1.0009765625)
    assert set(values.tolist()) == {1.0}
