"""The algebra of numbers that depend on sizes, and how they are found from values."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from retrograd.compilation.program.forms import (
    Count,
    Form,
    Points,
    Refused,
    Unlike,
    at,
    divided,
    joined,
    plus,
    times,
    varies,
)

SYMBOLS = 3
N = [Form((((place,), 1),)) for place in range(SYMBOLS)]
SIZES = st.tuples(*[st.integers(2, 60) for _ in range(SYMBOLS)])


@st.composite
def counts(draw: Any, symbols: int = SYMBOLS) -> Count:
    """A sum of some products."""
    found: Count = 0
    for _ in range(draw(st.integers(0, 3))):
        part: Count = draw(st.integers(-4, 4))
        for place in draw(st.lists(st.integers(0, symbols - 1), max_size=3)):
            part = times(part, N[place])
        found = plus(found, part)
    return found


@given(counts(), counts(), SIZES)
def test_sums_and_products(one: Count, other: Count, sizes: tuple[int, ...]) -> None:
    assert at(plus(one, other), sizes) == at(one, sizes) + at(other, sizes)
    assert at(times(one, other), sizes) == at(one, sizes) * at(other, sizes)
    assert plus(one, other) == plus(other, one)
    assert times(one, other) == times(other, one)
    assert not plus(one, times(one, -1))


@given(counts(), counts(), SIZES)
def test_quotients(one: Count, other: Count, sizes: tuple[int, ...]) -> None:
    """A product divided by a factor is the other factor. Where there is a quotient, it is that of the numbers."""
    product = times(one, other)
    assert divided(product, other) == (one if other else None)
    quotient = divided(one, other)
    if quotient is not None:
        assert at(times(quotient, other), sizes) == at(one, sizes)


@given(counts(), SIZES)
def test_the_text_is_the_number(one: Count, sizes: tuple[int, ...]) -> None:
    if isinstance(one, Form):
        assert eval(one.text(), {f"n{place}": size for place, size in enumerate(sizes)}) == one.at(sizes)


@given(st.lists(SIZES, min_size=4, max_size=6, unique=True), st.tuples(*[st.integers(0, 5)] * 4))
def test_sums_of_sizes_are_found(points: list[tuple[int, ...]], factors: tuple[int, ...]) -> None:
    known = Points(points)
    number: Count = factors[0]
    for by, size in zip(factors[1:], N):
        number = plus(number, times(by, size))
    if known.apart():
        assert known.fitted(known.values(number)) == number


@given(st.lists(SIZES, min_size=4, max_size=6, unique=True),
       st.lists(st.integers(0, SYMBOLS - 1), min_size=2, max_size=3), st.integers(1, 5))
def test_products_of_sizes_are_no_sums(points: list[tuple[int, ...]], places: list[int], by: int) -> None:
    """If the points tell sizes apart, a product is found as a product. It takes one more trace than sums do."""
    known, number = Points(points), times(by, 1)
    for place in places:
        number = times(number, N[place])
    if known.apart() and len(points) > SYMBOLS + 1:
        assert known.fitted(known.values(number)) == number
    elif known.apart():
        with pytest.raises(Unlike):
            known.fitted(known.values(number))


@given(st.lists(st.tuples(st.integers(2, 60)), min_size=2, max_size=4, unique=True), counts(symbols=1))
def test_what_is_found_has_the_values(points: list[tuple[int]], number: Count) -> None:
    known = Points(points)
    values = known.values(number)
    with contextlib.suppress(Refused):
        assert known.values(known.fitted(values)) == values


def test_numbers_are_sums_only_if_they_cannot_be_products() -> None:
    two, three = Points([(16,), (32,)]), Points([(16,), (32,), (48,)])
    assert two.fitted((16, 32)) == N[0]
    assert two.fitted((15, 31)) == plus(N[0], -1)
    assert two.fitted((7, 7)) == 7
    assert three.fitted((34, 66, 98)) == plus(times(N[0], 2), 2)
    for numbers in ((8, 16), (120, 496), (4, 5), (240, 992), (256, 1024)):
        with pytest.raises(Unlike):                         # a third trace may show more
            two.fitted(numbers)
    assert three.fitted((256, 1024, 2304)) == times(N[0], N[0])
    with pytest.raises(Refused, match="a number is"):
        three.fitted((240, 992, 2256))
    three.add(times(N[0], plus(N[0], -1)))                  # since the program has made this product
    assert three.fitted((240, 992, 2256)) == times(N[0], plus(N[0], -1))
    assert Points([(3,), (6,)]).fitted((1, 4)) == plus(N[0], -2)
    with pytest.raises(Unlike):
        Points([(3,), (6,)]).fitted((9, 36))                # 9 (n - 2), or n n


def test_points_that_do_not_tell_sizes_apart() -> None:
    assert Points([(4, 7), (6, 11), (5, 20)]).apart()
    assert not Points([(4, 7), (6, 11)]).apart()
    assert not Points([(4, 7), (6, 11), (8, 15)]).apart()   # one size follows the other
    assert not Points([(2, 9), (3, 6), (5, 4)]).apart()     # the product is nearly the same everywhere
    assert not Points([(4, 7), (4, 11), (4, 20)]).apart()   # a size stays the same


def test_joined_dims() -> None:
    assert joined((N[0], 3, N[1])) == [N[0], times(3, N[0]), times(3, times(N[0], N[1])), 3, times(3, N[1]), N[1]]
    assert varies(N[0])
    assert not varies(3)


def test_strides() -> None:
    points, n, m = Points([(4, 7), (6, 11), (5, 20)]), *N[:2]
    assert points.strides([(24, 4), (40, 4), (76, 4)], (n, 2)) == (plus(times(4, m), -4), 4)
    assert points.strides([(28 * 4, 4, 28), (66 * 4, 4, 44), (100 * 4, 4, 80)], (3, m, n)) == (
        times(4, times(n, m)), 4, times(4, m))
    assert points.strides([(0, 4)] * 3, (n, m)) == (0, 4)
