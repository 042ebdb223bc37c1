"""Sobol sequences: points that fill a cube more evenly than random points. PyTorch's numbers, bit for bit.

The direction numbers are those of Joe and Kuo. SciPy has them, and is imported when the first engine is made.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .extras import imported
from .foundations.dtypes import Array, dtype as torch_dtype, float32, float64, get_default_dtype, require
from .tensors.arguments.dims import as_int
from .tensors.arguments.generator import Generator
from .tensors.functions.creation.random import randint
from .tensors.functions.shapes.joining import cat
from .tensors.state.base import plain


def _directions(dimension: int, bits: int) -> Array:
    """The direction numbers, of the shape (dimension, bits)."""
    qmc = imported("quasirandom", "torch.quasirandom.SobolEngine needs", "scipy.stats.qmc")
    directions: Array = qmc.Sobol(dimension, scramble=False, bits=bits)._sv.astype(np.int64)
    return directions


def _last_zero(numbers: Array) -> Array:
    """The place of the lowest bit that is 0, for each number."""
    lowest = ~numbers & (numbers + 1)
    places: Array = np.log2(lowest.astype(np.float64)).astype(np.int64)
    return places


class SobolEngine:
    """Points of a Sobol sequence in [0, 1), of `dimension` numbers each. `scramble` mixes the bits at random.

    With the same `seed` the scrambled points are the same. Raises ValueError for fewer than 1 dimension, or more than
    21201. Needs the package scipy.

    >>> SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT: ClassVar[int] = 30
    MAXDIM: ClassVar[int] = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = plain(_directions(dimension, self.MAXBIT))
        self.shift = plain(np.zeros(dimension, np.int64))
        if scramble:
            self._scramble()
        self.num_generated = 0
        self.quasi = self.shift.clone()
        self._first_point = self._numbers(self.quasi._array[None], get_default_dtype())

    def _scramble(self) -> None:
        """Mix the bits of the direction numbers by random triangular matrices, and shift all points at random."""
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        bits = self.MAXBIT
        shifted = randint(2, (self.dimension, bits), generator=generator)._array
        self.shift = plain(shifted @ (1 << np.arange(bits)))
        mixing = np.tril(randint(2, (self.dimension, bits, bits), generator=generator)._array)
        mixing[:, range(bits), range(bits)] = 1
        highest_first = np.arange(bits - 1, -1, -1)
        written = self.sobolstate._array[:, None, :] >> highest_first[:, None] & 1       # (dimension, bit, column)
        mixed = mixing @ written % 2
        self.sobolstate = plain((mixed << highest_first[:, None]).sum(axis=1))

    def _steps(self, n: int) -> Array:
        """The next `n` points as integers, of the shape (n, dimension). The first point of all is the shift."""
        first = self.num_generated == 0
        count = n - first
        indices = np.arange(count) + max(self.num_generated - 1, 0)
        changes = self.sobolstate._array.T[_last_zero(indices)]
        points = np.bitwise_xor.accumulate(np.concatenate([self.quasi._array[None], changes]), axis=0)
        self.quasi = plain(points[-1].copy())
        self.num_generated += n
        return points if first else points[1:]

    def draw(self, n: int = 1, out: Any = None, dtype: torch_dtype | None = None) -> Any:
        """The next `n` points, of the shape (n, dimension) and the default dtype, or `dtype`.

        The first point of all has the digits that the default dtype had when the engine was made. Raises
        NotImplementedError for a dtype of other points that is not float32 or float64.
        """
        dtype = get_default_dtype() if dtype is None else dtype
        first = self.num_generated == 0
        drawn = as_int("_sobol_engine_draw", n, "n", 2) - first             # the first point is there
        if drawn < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {drawn}: [{drawn}, {self.dimension}]")
        require(dtype in (float32, float64) or (first and not drawn), "_sobol_engine_draw", dtype.dtype)
        result = self._numbers(self._steps(n)[int(first):], dtype)
        if first:
            result = cat((self._first_point.to(dtype), result))
        return result if out is None else out.resize_as_(result).copy_(result)

    def _numbers(self, points: Array, dtype: torch_dtype) -> Any:
        wide = points.astype(np.float64) / (1 << self.MAXBIT)
        return plain(wide.astype(dtype.dtype))

    def draw_base2(self, m: int, out: Any = None, dtype: torch_dtype | None = None) -> Any:
        """The next 2**m points. Raises ValueError unless the number of all points is then a power of 2."""
        n = 2 ** m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError("The balance properties of Sobol' points require n to be a power of 2. "
                             f"{self.num_generated} points have been previously generated, then: "
                             f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                             "'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin again with the first point. Returns the engine."""
        self.quasi, self.num_generated = self.shift.clone(), 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points. Returns the engine."""
        self._steps(n)
        return self

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}", *["scramble=True"] * self.scramble,
                 *([] if self.seed is None else [f"seed={self.seed}"])]
        return f"{type(self).__name__}({', '.join(facts)})"
