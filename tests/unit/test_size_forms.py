"""The algebra of numbers that depend on sizes, and how they are found from values."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from retrograd.compilation.sized.forms import Count, Form, Points, Refused, at, divided, joined, plus, times, varies

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
    """If the points tell sizes apart, a product is found as a product, or not at all."""
    known, number = Points(points), times(by, 1)
    for place in places:
        number = times(number, N[place])
    if known.apart():
        try:
            assert known.fitted(known.values(number)) == number
        except Refused:
            assert len(points) == SYMBOLS + 1              # another product has the same values


@given(st.lists(st.tuples(st.integers(2, 60)), min_size=2, max_size=4, unique=True), counts(symbols=1))
def test_what_is_found_has_the_values(points: list[tuple[int]], number: Count) -> None:
    known = Points(points)
    values = known.values(number)
    with contextlib.suppress(Refused):
        assert known.values(known.fitted(values)) == values


def test_numbers_are_sums_only_if_they_cannot_be_products() -> None:
    two = Points([(16,), (32,)])
    assert two.fitted((16, 32)) == N[0]
    assert two.fitted((15, 31)) == plus(N[0], -1)
    assert two.fitted((7, 7)) == 7
    assert two.fitted((256, 1024)) == times(N[0], N[0])
    assert Points([(16,), (32,), (48,)]).fitted((34, 66, 98)) == plus(times(N[0], 2), 2)
    for numbers in ((8, 16), (120, 496), (4, 5), (240, 992)):
        with pytest.raises(Refused):
            two.fitted(numbers)
    two.add(times(N[0], plus(N[0], -1)))                    # since the program has made this product
    assert two.fitted((240, 992)) == times(N[0], plus(N[0], -1))


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


def test_strides_are_sums_in_elements() -> None:
    points = Points([(4, 7), (6, 11), (5, 20)])
    assert points.strides([(24, 4), (40, 4), (76, 4)]) == (plus(times(4, N[1]), -4), 4)
