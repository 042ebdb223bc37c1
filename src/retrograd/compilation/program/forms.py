"""Numbers that depend on the sizes of the arguments: sums of products of sizes with whole factors.

A size that changes by itself is a symbol. `Points` are the sizes of several traces. They find the form of a number by
its values in these traces. As many traces as a sum of multiples of sizes has numbers prove nothing. So such a sum
counts only if it is not below zero for the sizes 0 by as much as the smallest size: then it is no product of sizes. A
product is found if there is one more trace, which shows that it is no sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations, combinations_with_replacement
from math import gcd, prod

# The sizes of a call, in the order of the symbols; and a product of sizes: the places of its factors, in order.
Sizes = tuple[int, ...]
Product = tuple[int, ...]
# The most factors of a product that is looked for without the program having made it.
DEGREE = 3


class Refused(Exception):
    """The traces do not show how a program depends on sizes; the text says why."""


class Unlike(Refused):
    """Traces differ in something else than sizes, in no size, or in too many sizes for so few traces."""


@dataclass(frozen=True, slots=True, order=True)
class Form:
    """A number for each choice of sizes. `terms` has the products with their factors, which are not 0, in order."""

    terms: tuple[tuple[Product, int], ...]

    def at(self, sizes: Sizes) -> int:
        """The number for sizes."""
        return sum([factor * prod([sizes[place] for place in product]) for product, factor in self.terms])

    def text(self) -> str:
        """The number as Python writes it, with the sizes n0, n1 and so on."""
        return f"({' + '.join([_text(*term) for term in self.terms])})"

    @property
    def symbols(self) -> frozenset[int]:
        """The places of the sizes that the number depends on."""
        return frozenset([place for product, _ in self.terms for place in product])

    @property
    def degree(self) -> int:
        """The most factors of a product."""
        return max([len(product) for product, _ in self.terms])


Count = int | Form


def _text(product: Product, factor: int) -> str:
    names = [f"n{place}" for place in product]
    return " * ".join([str(factor), *names] if factor != 1 or not names else names)


def _form(terms: Iterable[tuple[Product, int]]) -> Count:
    """The sum of terms. It is an int if it depends on no size."""
    found: dict[Product, int] = {}
    for product, factor in terms:
        found[product] = found.get(product, 0) + factor
    kept = sorted([(product, factor) for product, factor in found.items() if factor])
    if not kept or kept == [((), kept[0][1])]:
        return kept[0][1] if kept else 0
    return Form(tuple(kept))


def _terms(number: Count) -> tuple[tuple[Product, int], ...]:
    return number.terms if isinstance(number, Form) else (((), number),) if number else ()


def plus(one: Count, other: Count) -> Count:
    """The sum of two numbers."""
    return _form([*_terms(one), *_terms(other)])


def times(one: Count, other: Count) -> Count:
    """The product of two numbers."""
    return _form([(tuple(sorted(p + q)), a * b) for p, a in _terms(one) for q, b in _terms(other)])


def divided(one: Count, other: Count) -> Count | None:
    """The quotient of two numbers, if it is such a number, too: for all sizes, the division leaves no rest."""
    if not other:
        return None
    lead, factor = max(_terms(other), key=_rank)
    quotient: Count = 0
    while one:
        product, own = max(_terms(one), key=_rank)
        rest = list(product)
        for place in lead:
            if place not in rest:
                return None
            rest.remove(place)
        if own % factor:
            return None
        term = _form([(tuple(rest), own // factor)])
        quotient, one = plus(quotient, term), plus(one, times(times(term, other), -1))
    return quotient


def joined(shape: Sequence[Count]) -> list[Count]:
    """The sizes of dims, and of dims that are joined with their neighbors."""
    return [reduce(times, shape[first:last + 1]) for first in range(len(shape)) for last in range(first, len(shape))]


def _rank(term: tuple[Product, int]) -> tuple[int, Product]:
    """The order of products in which a product of leading terms is the leading term of the product."""
    return len(term[0]), tuple([-place for place in term[0]])


class Points:
    """The sizes of several traces, and the numbers that are known by their values in these traces.

    `products` are further forms whose multiples are looked for: products that the program has made.
    """

    def __init__(self, sizes: Sequence[Sizes], products: Iterable[Form] = ()) -> None:
        self.sizes, self.count = [*sizes], len(sizes[0])
        self.smallest = min(map(min, sizes))
        self.spare = len(self.sizes) > self.count + 1      # whether there are more traces than sums need
        self._known: dict[tuple[int, ...], Count | str] = {}
        self._chosen, self._inverse = self._system()
        self._products = {_form([(product, 1)]): self.values(_form([(product, 1)]))
                          for degree in range(2, DEGREE + 1)
                          for product in combinations_with_replacement(range(self.count), degree)}
        self.products: dict[Form, None] = {}
        for each in products:
            self.add(each)

    def values(self, number: Count) -> tuple[int, ...]:
        """What a number is in the traces."""
        return tuple([number.at(sizes) if isinstance(number, Form) else number for sizes in self.sizes])

    def add(self, number: Count) -> None:
        """Look for multiples of a product that the program has made."""
        if isinstance(number, Form) and number.degree > 1 and number not in self.products:
            self.products[number] = None
            self._products[number] = self.values(number)
            self._known.clear()

    def note_shape(self, shape: Sequence[Count]) -> None:
        """Look for the strides that memory of a shape has, and for the sizes of dims that are joined."""
        for number in joined(shape):
            self.add(number)

    def apart(self) -> bool:
        """Whether the sizes of the traces tell all sizes from each other, and their products from their sums."""
        if not self._chosen or any([len(set(column)) < 2 for column in zip(*self.sizes)]):
            return False
        return all([(found := self._plane(values)) is None or (found[0] <= -self.smallest and not self.spare)
                    for values in self._products.values()])

    def fitted(self, numbers: Sequence[int]) -> Count:
        """What gives these numbers in the traces. Raises Refused if nothing does, or more than one form; Unlike, if one
        more trace may show more.
        """
        if all([number == numbers[0] for number in numbers]):
            return numbers[0]
        key = tuple(numbers)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._found(key)
        if isinstance(found, str):
            raise Refused(found) if self.spare else Unlike(found)
        return found

    def whole(self, numbers: Sequence[float]) -> Count:
        """What gives these numbers in the traces, if they are whole. Raises Refused otherwise."""
        if not all([float(number).is_integer() for number in numbers]):
            raise Refused(f"the number {numbers[0]} is {numbers[-1]} for another size")
        return self.fitted([*map(int, numbers)])

    def strides(self, traces: Sequence[Sequence[int]], shape: Sequence[Count]) -> tuple[Count, ...]:
        """The strides of an array in bytes, from those in the traces.

        Most are as large as another dim. The others are in elements near sums of sizes.
        """
        unit, found = gcd(*[step for steps in traces for step in steps]) or 1, dict[int, Count]()
        for place in sorted(range(len(shape)), key=lambda place: (traces[0][place], -place)):
            steps = [each[place] for each in traces]
            whole = [times(shape[other], step) for other, step in found.items()]
            same = next((number for number in whole if [*self.values(number)] == steps), None)
            found[place] = self._stride(steps, unit) if same is None else same
        return tuple([found[place] for place in range(len(shape))])

    def _stride(self, steps: Sequence[int], unit: int) -> Count:
        try:
            return self.fitted(steps)
        except Refused:
            return times(self.fitted([step // unit for step in steps]), unit)

    def _found(self, numbers: tuple[int, ...]) -> Count | str:
        plane = self._plane(numbers)
        found = {times(product, numbers[0] // values[0]) for product, values in self._products.items()
                 if self.spare and values[0] and not numbers[0] % values[0] and all([
                     number * values[0] == numbers[0] * value for number, value in zip(numbers, values, strict=True)])}
        if plane is not None and not found and plane[0] > -self.smallest and all([p.denominator == 1 for p in plane]):
            return _form([((), int(plane[0])), *[((place,), int(by)) for place, by in enumerate(plane[1:])]])
        if plane is None and len(found) == 1:
            return found.pop()
        sizes = [sizes[0] if self.count == 1 else sizes for sizes in self.sizes]
        return f"a number is {[*numbers]} for the sizes {sizes}"

    def _plane(self, numbers: Sequence[int]) -> list[Fraction] | None:
        """The start and the factors of the sum of multiples of sizes that gives these numbers, if there is one."""
        if not self._chosen:
            return None
        chosen = [numbers[place] for place in self._chosen]
        plane = [sum([part * number for part, number in zip(row, chosen, strict=True)], start=Fraction())
                 for row in self._inverse]
        fits = all([plane[0] + sum([by * size for by, size in zip(plane[1:], sizes, strict=True)]) == number
                    for sizes, number in zip(self.sizes, numbers, strict=True)])
        return plane if fits else None

    def _system(self) -> tuple[tuple[int, ...], list[list[Fraction]]]:
        """The places of traces that decide a plane, and the inverse of their matrix; nothing if no traces do."""
        for places in combinations(range(len(self.sizes)), self.count + 1):
            inverse = _inverse([[1, *self.sizes[place]] for place in places])
            if inverse:
                return places, inverse
        return (), []


def _inverse(matrix: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """The inverse of a matrix; an empty list if it has none."""
    n = len(matrix)
    rows = [[*map(Fraction, row), *[Fraction(i == j) for j in range(n)]] for i, row in enumerate(matrix)]
    for i in range(n):
        lead = next((j for j in range(i, n) if rows[j][i]), None)
        if lead is None:
            return []
        rows[i], rows[lead] = rows[lead], rows[i]
        rows[i] = [part / rows[i][i] for part in rows[i]]
        for j in range(n):
            if j != i and rows[j][i]:
                rows[j] = [part - rows[j][i] * own for part, own in zip(rows[j], rows[i], strict=True)]
    return [row[n:] for row in rows]


def at(number: Count, sizes: Sizes) -> int:
    """A number for sizes."""
    return number.at(sizes) if isinstance(number, Form) else number


def varies(number: object) -> bool:
    """Whether a number depends on sizes."""
    return type(number) is Form
