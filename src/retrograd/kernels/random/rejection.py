"""Random samples drawn by rejection, with PyTorch's bits: Poisson, binomial, gamma, Dirichlet.

Each sample takes as many numbers from the stream as it needs, one sample after the other in C order. So the samples are
computed in a loop with Python's numbers, which are doubles, as PyTorch's are here. The algorithms are published: the
transformed rejections PTRS and BTRS of Hörmann (1993) for large means, products and sums of waiting times for small
means, and Marsaglia and Tsang (2000) for gamma.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import is_half, letter, require
from ...foundations.errors import noted
from .drawing import rounded, unit64
from .twister import Twister

Array = np.ndarray[Any, np.dtype[Any]]


class Lookahead:
    """Uniform and normal numbers one at a time, read ahead in blocks.

    Use it in a `with` statement: at the end, the generator has advanced by the numbers that were taken.
    """

    def __init__(self, generator: Twister) -> None:
        self.generator, self.ahead = generator, generator.clone()
        self.numbers: list[float] = []
        self.blocks = 0

    def __enter__(self) -> Lookahead:
        self.generator.lock.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        taken = self.blocks - len(self.numbers)
        if taken:
            self.generator.random64(taken)
        self.generator.next_double_normal = self.ahead.next_double_normal
        self.generator.lock.release()

    def uniform(self) -> float:
        """A number from [0, 1)."""
        if not self.numbers:
            size = 32 if not self.blocks else 4096
            self.numbers = unit64(self.ahead, size)[::-1].tolist()
            self.blocks += size
        return self.numbers.pop()

    def normal(self) -> float:
        """A standard normal number. Numbers come in pairs; the second number of a pair waits in the generator."""
        kept = self.ahead.next_double_normal
        if kept is not None:
            self.ahead.next_double_normal = None
            return kept
        turn, depth = self.uniform(), self.uniform()
        radius, angle = math.sqrt(-2 * math.log1p(-depth)), 2 * math.pi * turn
        self.ahead.next_double_normal = radius * math.sin(angle)
        return radius * math.cos(angle)


def _log(x: float) -> float:
    """The logarithm, also of 0."""
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def _each(generator: Twister, draw: Callable[..., float], *parameters: Array) -> Array:
    """A sample for each element of the parameters, as doubles."""
    shape = parameters[0].shape
    with Lookahead(generator) as stream:
        values = [draw(stream, *row) for row in zip(*(p.astype(np.float64).ravel().tolist() for p in parameters))]
    return np.array(values, np.float64).reshape(shape)


def poisson(generator: Twister, rates: Array) -> Array:
    """Poisson-distributed numbers with these rates."""
    require(letter(rates.dtype) == "f", "poisson_cpu", rates.dtype)
    return rounded(_each(generator, _poisson, rates), rates.dtype)


def _poisson(stream: Lookahead, rate: float) -> float:
    if not rate >= 0:
        raise noted(
            RuntimeError("invalid Poisson rate, expected rate to be non-negative"), given=f"the rate {rate}")
    if rate == math.inf:
        raise RuntimeError("invalid Poisson rate: it is infinite")
    if rate >= 10:
        return _poisson_by_rejection(stream, rate)
    limit, product, count = math.exp(-rate), 1.0, 0
    while rate:
        product *= stream.uniform()
        if product <= limit:
            break
        count += 1
    return count


def _poisson_by_rejection(stream: Lookahead, rate: float) -> float:
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = stream.uniform() - 0.5, stream.uniform()
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= v_r:
            return k if k < 2**63 else -(2.0**63)           # the value of the conversion to an integer
        if k < 0 or (us < 0.013 and v > us):
            continue
        scaled = _log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if scaled <= -rate + k * log_rate - math.lgamma(k + 1):
            return k if k < 2**63 else -(2.0**63)


def binomial(generator: Twister, counts: Array, chances: Array) -> Array:
    """The number of successes in `counts` trials with these chances. Both arrays have one shape and dtype."""
    require(not is_half(counts.dtype), "binomial_cpu", counts.dtype)
    return rounded(_each(generator, _binomial, counts, chances), counts.dtype)


def _binomial(stream: Lookahead, count: float, chance: float) -> float:
    if count <= 0 or chance <= 0:
        return 0.0
    if chance >= 1:
        return count
    if not chance <= 1:
        return math.nan
    if not count < math.inf:                                # the waiting for more than nan would not end
        return count if chance <= 0.5 else math.nan
    rare = chance if chance <= 0.5 else 1 - chance
    draw = _binomial_by_rejection if count * rare >= 10 else _binomial_by_waiting
    successes = draw(stream, count, rare)
    return successes if chance <= 0.5 else count - successes


def _binomial_by_waiting(stream: Lookahead, count: float, chance: float) -> float:
    trials, successes, log_failure = 0.0, 0, math.log1p(-chance)
    while True:
        wait = _log(stream.uniform()) / log_failure
        trials += math.ceil(wait) if wait < math.inf else wait
        if trials > count:
            return successes
        successes += 1


def _binomial_by_rejection(stream: Lookahead, count: float, chance: float) -> float:
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    c, v_r, odds = count * chance + 0.5, 0.92 - 4.2 / b, chance / (1 - chance)
    alpha, m = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * chance)
    while True:
        u, v = stream.uniform() - 0.5, stream.uniform()
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + c)
        if k < 0 or k > count:
            continue
        if us >= 0.07 and v <= v_r:
            return k
        bound = ((m + 0.5) * _log((m + 1) / (odds * (count - m + 1)))
                 + (count + 1) * _log((count - m + 1) / (count - k + 1))
                 + (k + 0.5) * _log(odds * (count - k + 1) / (k + 1))
                 + _beyond_stirling(m) + _beyond_stirling(count - m)
                 - _beyond_stirling(k) - _beyond_stirling(count - k))
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return k


# log(k!) minus Stirling's formula for k + 1, for small k.
_SMALL = [math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi)) for k in range(10)]


def _beyond_stirling(k: float) -> float:
    if k <= 9:
        return _SMALL[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def standard_gamma(generator: Twister, shapes: Array) -> Array:
    """Gamma-distributed numbers with these shapes and a scale of 1. Each is at least the smallest normal number."""
    require(letter(shapes.dtype) == "f" and not is_half(shapes.dtype), "gamma_cpu", shapes.dtype)
    samples = rounded(_gammas(generator, shapes), shapes.dtype)
    return np.asarray(np.fmax(samples, np.finfo(shapes.dtype).tiny))


_SQUEEZE = float(np.float32(0.0331))         # PyTorch has these constants in single precision, even for doubles


def _gammas(generator: Twister, shapes: Array) -> Array:
    """The samples as doubles. Values that depend only on the shape are computed in the shape's dtype."""
    one = shapes.dtype.type(1)
    with np.errstate(all="ignore"):
        larger = np.where(shapes < 1, shapes + one, shapes)
        return _each(generator, _gamma, shapes, larger - np.float32(1) / np.float32(3), one / shapes)


def _gamma(stream: Lookahead, alpha: float, d: float, inverse: float) -> float:
    """A sample for the shape alpha, with d = alpha - 1/3. For alpha below 1, it is made from a sample for alpha + 1."""
    if alpha == 0:
        return 0.0
    scale = _power(1 - stream.uniform(), inverse) if alpha < 1 else 1.0
    c = 1 / math.sqrt(9 * d) if d > 0 else math.nan
    while True:
        y = 0.0
        while y <= 0:
            x = stream.normal()
            y = 1 + c * x
        v, u, square = y * y * y, 1 - stream.uniform(), x * x
        if u < 1 - _SQUEEZE * square * square or _log(u) < 0.5 * square + d * (1 - v + _log(v)):
            return scale * d * v


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:                       # a negative shape, for which every sample is nan
        return math.inf


def dirichlet(generator: Twister, concentrations: Array) -> Array:
    """Dirichlet-distributed rows: gamma-distributed numbers divided by their sum, strictly between 0 and 1."""
    dtype = concentrations.dtype
    require(letter(dtype) == "f" and not is_half(dtype), "dirichlet", dtype)
    samples = np.fmax(_gammas(generator, concentrations.astype(np.float64)), np.finfo(np.float64).tiny)
    total = samples.sum(axis=-1, keepdims=True) if samples.ndim else samples
    with np.errstate(all="ignore"):
        shares = rounded(samples / total, dtype)
    return np.asarray(np.minimum(np.nextafter(dtype.type(1), dtype.type(0)), np.fmax(shares, np.finfo(dtype).tiny)))
