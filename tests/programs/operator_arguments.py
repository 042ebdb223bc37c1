"""What random programs give an operator besides its first tensor: a text for each kind of parameter.

What is drawn mostly fits the first tensor, and now and then does not: then both libraries must refuse it alike.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

DTYPES = ("float32", "float64", "complex64", "complex128", "int64", "int32", "uint8", "bool")
# Kinds that say nothing of other tensors.
SIMPLE = ("flag", "rounding", "exponent", "order", "two", "fraction", "number", "small", "one", "dim", "dims", "dtype",
          "some_dims", "places_after")
REAL = tuple(name for name in DTYPES if "complex" not in name)
_FIXED = {
    "places_after": ("1", "2", "-1"),
    "flag": ("True", "False"), "rounding": ("'floor'", "'trunc'"), "weight": ("0.25", "0.5", "0.75"),
    "exponent": ("2", "3", "0.5", "-1", "1", "0", "2.0", "-2", "1.5"), "order": ("2", "1", "2.0", "3", "None"),
    "two": ("2", "2.0"), "fraction": ("0.5", "0.25", "0.3"), "reduction": ("'mean'", "'sum'", "'none'"),
    "number": ("2", "2.5", "-1", "0.5", "0", "True", "3"),
}
Make = Callable[[Sequence[int], str], str]


class Arguments:
    """Draws arguments for a first tensor of a shape. `make(shape, kind)` writes a tensor, of the kind that is meant."""

    def __init__(self, draw: random.Random, x: Any, make: Make) -> None:
        self.draw, self.make = draw, make
        self.shape = tuple(x.shape)
        self.dims = len(self.shape)
        self.complex = x.is_complex()
        self.dim_drawn: int | None = None

    def text(self, kind: str) -> str:
        if kind in _FIXED:
            return self.draw.choice(_FIXED[kind])
        if kind == "dtype":                 # between real and complex, PyTorch has no right gradients
            return f"torch.{self.draw.choice(DTYPES[2:4] if self.complex else REAL)}"
        found: str = getattr(self, f"_{kind}")()
        return found

    def _one_dim(self) -> int:
        """A dimension, from either end, and rarely one that is not there."""
        limit = max(self.dims, 1)
        if self.draw.random() < 0.03:
            return self.draw.choice([limit, -limit - 1])
        return self.draw.randrange(-limit, limit)

    def _dim(self) -> str:
        self.dim_drawn = self._one_dim()
        return str(self.dim_drawn)

    def _new(self) -> str:
        return str(self.draw.randrange(-self.dims - 1, self.dims + 1))

    def _dims(self) -> str:
        return self._dim() if self.draw.random() < 0.5 else self._some_dims()

    def _some_dims(self) -> str:
        if not self.dims:
            return "()"
        chosen = self.draw.sample(range(self.dims), self.draw.randint(1, self.dims))
        text = ", ".join(str(d - self.dims if self.draw.random() < 0.3 else d) for d in chosen)
        return f"({text},)" if self.draw.random() < 0.8 else f"[{text}]"

    def _two_dims(self) -> str:
        return str([self._one_dim(), self._one_dim()])

    def _order_of_dims(self) -> str:
        order = [*range(self.dims)]
        self.draw.shuffle(order)
        return str(tuple(d - self.dims if self.draw.random() < 0.2 else d for d in order))

    def _one(self) -> str:
        return self.draw.choice(["1", "1", "1", "2", "2", "3"])

    def _zero(self) -> str:
        return self.draw.choice(["0", "0", "0", "-1", "1"])

    def _small(self) -> str:
        return self.draw.choice(["0", "1", "1", "2", "-1"])

    def _at(self) -> int:
        """The size of the dimension that was drawn before."""
        dim = 0 if self.dim_drawn is None else self.dim_drawn
        return self.shape[dim] if -self.dims <= dim < self.dims else 1

    def _shape(self) -> str:
        whole = math.prod(self.shape)
        options = [(-1,), (whole,), (1, whole), (*self.shape, 1), (whole, 1), (*self.shape[::-1],)]
        if whole % 2 == 0:
            options += [(2, -1), (whole // 2, 2)]
        return str(self.draw.choice(options))

    def _parts(self) -> str:
        return self.draw.choice(["(1, -1)", "(-1, 1)", f"({self._at()}, 1)", "(2, -1)", "[-1]"])

    def _repeats(self) -> str:
        return str(tuple(self.draw.choice([1, 1, 2, 0]) for _ in range(self.dims + self.draw.randrange(2))))

    def _wider(self) -> str:
        sizes = [self.draw.choice([2, 3]) if n == 1 else n for n in self.shape]
        if self.draw.random() < 0.3:
            sizes = [-1 if self.draw.random() < 0.5 else n for n in sizes]
        return str(tuple([2] * self.draw.randrange(2) + sizes))

    def _last(self) -> str:
        return str(self.shape[-self.draw.randint(1, max(self.dims, 1)):])

    def _pads(self) -> str:
        count = 2 * self.draw.randint(1, max(self.dims, 1))
        return str([self.draw.choice([0, 1, 1, 2]) for _ in range(count)])

    def _other(self) -> str:
        if self.draw.random() < 0.75:
            return self.make(self._broadcast(), "any")
        return self.draw.choice([*_FIXED["number"], "1j", "torch.tensor(1.5)", "torch.tensor(2)", "np.float32(2)"])

    def _exact_like(self) -> str:
        return self.make(self._broadcast(), "exact")

    def _like(self) -> str:
        return self.make(self._broadcast(), "any")

    def _like_self(self) -> str:
        return self.make(self.shape, "floating")

    def _exact_self(self) -> str:
        return self.make(self.shape, "literal")

    def _positive(self) -> str:
        return self.make(self._broadcast(), "positive") if self.draw.random() < 0.8 else self.draw.choice(["2", "0.5"])

    def _smooth(self) -> str:
        return self.make(self._broadcast(), "smooth")

    def _exact(self) -> str:
        return self.make(self._broadcast(), "exact") if self.draw.random() < 0.7 else self.text("number")

    def _nonzero(self) -> str:
        return self.make(self._broadcast(), "nonzero") if self.draw.random() < 0.7 else self.draw.choice(["2", "-3"])

    def _broadcast(self) -> tuple[int, ...]:
        """A shape that broadcasts with that of the first tensor, and rarely one that does not."""
        shape = [1 if self.draw.random() < 0.2 else n for n in self.shape]
        kind = self.draw.random()
        if kind < 0.3:
            return self.shape
        if kind < 0.5:
            return tuple(shape[self.draw.randint(0, self.dims):])
        if kind < 0.6:
            return (2, *shape)
        if kind < 0.63:
            return tuple(n + 1 for n in shape)
        return tuple(shape)

    def _mask(self) -> str:
        return self.make(self._broadcast() if self.draw.random() < 0.3 else self.shape, "bool")

    def _chosen(self) -> str:
        """The last two of `where`, in the order of a method."""
        return f"{self._mask()}, {self._other()}"

    def _numbers(self, count: int, below: int) -> str:
        return str([self.draw.randrange(-below, below) if below else 0 for _ in range(count)])

    def _index(self) -> str:
        dtype = self.draw.choice(["", "", ", dtype=torch.int32"])
        count = self.draw.choice([0, 1, 2, 3]) if self._at() else 0
        numbers = [self.draw.randrange(self._at()) for _ in range(count)]
        return f"torch.tensor({numbers}{dtype or ', dtype=torch.int64'})"

    def _once(self) -> str:
        numbers = self.draw.sample(range(self._at()), self._at())
        return f"torch.tensor({numbers}, dtype=torch.int64)"

    def _places(self) -> str:
        """Indices along the dimension, in the shape of the first tensor."""
        count = math.prod(self.shape)
        return f"(torch.arange({count}) * 5 % {max(self._at(), 1)}).reshape({self.shape})"

    def _near(self) -> str:
        """Indices that are within each dimension."""
        count = math.prod(self.shape)
        return f"(torch.arange({count}) % {max(min(self.shape, default=1), 1)}).reshape({self.shape})"

    def _one_row(self) -> tuple[int, ...]:
        shape = [*self.shape]
        if shape and self.dim_drawn is not None and -self.dims <= self.dim_drawn < self.dims:
            shape[self.dim_drawn] = min(1, shape[self.dim_drawn])
        return tuple(shape)

    def _zeros(self) -> str:
        """One index for each row: no place is written twice."""
        return f"torch.zeros({self._one_row()}, dtype=torch.int64)"

    def _row(self) -> str:
        """What is written there. Where it is larger than the indices, PyTorch's gradient has a wrong shape."""
        return self.make(self._one_row(), "floating")

    def _slices(self) -> str:
        return self.make(self.shape, "floating")

    def _slice(self) -> str:
        return self.make(self.shape[1:], "floating")

    def _right(self) -> str:
        """What a product from the right fits."""
        last = self.shape[-1:] or (2,)
        options: list[tuple[int, ...]] = [last, (*last, 2), (*self.shape[:-2], *last, 3), (*last, 0)]
        return self.make(self.draw.choice(options), "any")

    def _matrix_shape(self) -> tuple[int, int]:
        rows, columns = (1, 1, *self.shape)[-2:]
        return rows, columns

    def _factor1(self) -> str:
        return self.make((self._matrix_shape()[0], 2), "any")

    def _factor2(self) -> str:
        return self.make((2, self._matrix_shape()[1]), "any")

    def _matrix(self) -> str:
        return self.make((self._matrix_shape()[1], 2), "any")

    def _vector(self) -> str:
        return self.make((2,), "any")

    def _rows(self) -> str:
        return self.make(self._matrix_shape()[:1], "any")

    def _columns(self) -> str:
        return self.make(self._matrix_shape()[1:], "any")

    def _weights(self) -> str:
        return self.make((2, *(self.shape[-1:] or (1,))), "any")
