"""Orthogonal polynomials with a degree for each element, by their recurrences.

The recurrences, and the closed forms within (-1, 1), are those of Abramowitz and Stegun, 22.3 and 22.7. A degree is
truncated to an integer. For a negative degree the polynomial is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from .expansions import in_double_of_two, where_so

# A recurrence to a higher degree takes hours. Whether it is needed shows after so many steps: most values are nan then.
_HIGHEST_DEGREE, _FIRST_STEPS = 1 << 30, 1 << 12
_LARGEST_HERMITE = {8: 512, 4: 128}     # by bytes per element; a higher degree gives nan, as in PyTorch


def _degrees(n: Array) -> Any:
    return np.where(np.isfinite(n), np.trunc(n), -1.0)


def _recurrence(x: Array, n: Array, first: Array, following: Callable[..., Any]) -> Any:
    """The polynomials of these degrees; degree 0 gives 1. `following(k, x, q, p)` is the polynomial after p and q."""
    n = _degrees(n)
    if n.size and n.min() == n.max():
        return _of_one_degree(x, int(n[0]), first, following)
    value = np.where(n < 0, 0.0, np.where(n == 0, 1.0, first))
    before, last, k = np.ones_like(x), first, 1
    while True:
        going = (n > k) & ~np.isnan(last)
        if not going.any():
            return value
        if k == _FIRST_STEPS:
            _refuse_endless(float(n[going].max()))
        before, last = last, following(k, x, last, before)
        value = np.where(n > k, last, value)
        k += 1


def _refuse_endless(degree: float) -> None:
    """Raise RuntimeError for a degree that the recurrence would not reach in hours. PyTorch does not return either."""
    if degree > _HIGHEST_DEGREE:
        raise RuntimeError(f"the recurrence would take hours for degree {degree:.0f}. Degrees above {_HIGHEST_DEGREE} "
                           "are refused.")


def _of_one_degree(x: Array, n: int, first: Array, following: Callable[..., Any]) -> Any:
    """The polynomials for one common degree, without a choice at each step."""
    if n < 1:
        return np.full_like(x, float(n == 0))
    before, last = np.ones_like(x), first
    for k in range(1, n):
        if k % 64 == 0 and np.isnan(last).all():
            break
        if k == _FIRST_STEPS:
            _refuse_endless(n)
        before, last = last, following(k, x, last, before)
    return last


def _chebyshev(first: Callable[[Any], Any], at_ends: Callable[[Any, Any], Any], by_angle: Callable[[Any, Any], Any],
               beyond: int) -> Callable[[Any, Any], Any]:
    """One of the four kinds: by its values at 1 and -1, and within by the angle for degrees above `beyond`."""

    def function(x: Array, n: Array) -> Any:
        whole = _degrees(n)
        closed = (np.abs(x) < 1) & (whole > beyond)
        ends = (np.abs(x) == 1) & (whole > 0)
        result = np.empty_like(x)
        where_so(closed, lambda x, n: by_angle(np.arccos(x), n), result, x, whole)
        where_so(ends, lambda x, n: at_ends(np.sign(x), (n, n % 2 == 0)), result, x, whole)
        where_so(~(closed | ends), lambda x, n: _recurrence(x, n, first(x), lambda k, x, q, p: 2 * x * q - p),
                 result, x, whole)
        return result

    return function


def _alternating(sign: Array, even: Array) -> Any:
    """1 at 1. At -1 it is 1 for an even degree and -1 for an odd degree."""
    return np.where((sign > 0) | even, 1.0, -1.0)


_t = _chebyshev(lambda x: x, lambda sign, n: _alternating(sign, n[1]), lambda angle, n: np.cos(n * angle), 6)
_u = _chebyshev(lambda x: 2 * x, lambda sign, n: _alternating(sign, n[1]) * (n[0] + 1),
                lambda angle, n: np.sin((n + 1) * angle) / np.sin(angle), 8)
_v = _chebyshev(lambda x: 2 * x - 1,
                lambda sign, n: np.where(sign > 0, 1.0, _alternating(sign, n[1]) * (2 * n[0] + 1)),
                lambda angle, n: np.cos((n + 0.5) * angle) / np.cos(angle / 2), 8)
_w = _chebyshev(lambda x: 2 * x + 1,
                lambda sign, n: np.where(sign > 0, 2 * n[0] + 1, _alternating(sign, n[1])),
                lambda angle, n: np.sin((n + 0.5) * angle) / np.sin(angle / 2), 8)


chebyshev_t = in_double_of_two(_t, "Chebyshev's polynomial of the first kind, of degree n, at x.")
chebyshev_u = in_double_of_two(_u, "Chebyshev's polynomial of the second kind, of degree n, at x.")
chebyshev_v = in_double_of_two(_v, "Chebyshev's polynomial of the third kind, of degree n, at x.")
chebyshev_w = in_double_of_two(_w, "Chebyshev's polynomial of the fourth kind, of degree n, at x.")
shifted_chebyshev_t = in_double_of_two(lambda x, n: _t(2 * x - 1, n), "The polynomial of the first kind at 2 x - 1.")
shifted_chebyshev_u = in_double_of_two(lambda x, n: _u(2 * x - 1, n), "The polynomial of the second kind at 2 x - 1.")
shifted_chebyshev_v = in_double_of_two(lambda x, n: _v(2 * x - 1, n), "The polynomial of the third kind at 2 x - 1.")
shifted_chebyshev_w = in_double_of_two(lambda x, n: _w(2 * x - 1, n), "The polynomial of the fourth kind at 2 x - 1.")


@in_double_of_two
def laguerre_l(x: Array, n: Array) -> Any:
    """Laguerre's polynomial of degree n at x."""
    return _recurrence(x, n, 1 - x, lambda k, x, q, p: ((2 * k + 1 - x) * q - k * p) / (k + 1))


@in_double_of_two
def legendre_p(x: Array, n: Array) -> Any:
    """Legendre's polynomial of degree n at x."""
    return _recurrence(x, n, x, lambda k, x, q, p: ((2 * k + 1) * x * q - k * p) / (k + 1))


def _hermite(first: Callable[[Any], Any], following: Callable[..., Any], text: str) -> Callable[..., Any]:
    """One of the two kinds, with nan for degrees whose values overflow the dtype."""
    kernel = in_double_of_two(lambda x, n: _recurrence(x, n, first(x), following))

    def call(x: Array, n: Array, *, out: Any = ...) -> Any:
        high = n > _LARGEST_HERMITE[x.dtype.itemsize]
        result = kernel(x, np.where(high, 0.0, n).astype(n.dtype), out=out)
        np.copyto(result, np.nan, where=high)
        return result

    call.__doc__ = text
    return call


hermite_h = _hermite(lambda x: 2 * x, lambda k, x, q, p: 2 * x * q - 2 * k * p,
                     "The physicists' Hermite polynomial of degree n at x.")
hermite_he = _hermite(lambda x: x, lambda k, x, q, p: x * q - k * p,
                      "The probabilists' Hermite polynomial of degree n at x.")
