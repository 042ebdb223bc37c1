"""What an entry of the table of operators says, and the shapes that most of them are tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

Shapes = tuple[tuple[int, ...], ...]
ONE: tuple[Shapes, ...] = (((3, 4),), ((),), ((2, 1, 3),), ((0, 3),))
TWO: tuple[Shapes, ...] = (((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2, 3)), ((0, 3), (1, 3)))
MANY: tuple[Shapes, ...] = (((3, 4),), ((2, 3, 4),))
MATRICES: tuple[Shapes, ...] = (((3, 4),),)
FUNCTIONAL = {"celu", "elu", "gelu", "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu", "relu6", "selu", "silu",
              "softplus", "softsign", "tanhshrink"}
NO_SECOND = "PyTorch has not implemented it"
INFINITE = (float("inf"), float("-inf"), float("nan"))
DTYPES = {"f": ("float64", "float32"), "h": ("float16",), "c": ("complex128", "complex64"),
          "i": ("int64", "int32", "uint8"), "b": ("bool",)}


@dataclass(frozen=True)
class Entry:
    """One way of calling an operator.

    The call takes the library (retrograd, or PyTorch) and the input tensors. Each of `shapes` is a sample, with one
    shape an input; values are drawn from [low, high], away from kinks; `distinct` ones are no ties. `points` are
    values to look at besides: kinks, zeros, infinities. `kinds` says which dtypes it takes, by the letters of DTYPES.
    """

    name: str
    call: Callable[..., Any]
    shapes: tuple[Shapes, ...] = ONE
    low: float = -2.0
    high: float = 2.0
    kinds: str = "f"
    points: tuple[float, ...] = ()
    distinct: bool = False
    # Where PyTorch's second derivative is not ours: why it is wrong.
    first_only: str = ""
    # Where the nodes of the graph do not have PyTorch's names: why.
    other_nodes: str = ""
    # The kinds of dtypes on which the two differ, and why.
    apart: Mapping[str, str] = field(default_factory=dict)
    # Where the derivative is, by convention, not that of the values: why.
    conventional: str = ""
    # Whether it is recorded, but has no derivative, so that backward raises.
    refused: bool = False
    # Whether the gradient is recorded, but has no derivative.
    once: bool = False
    # Where PyTorch has no forward mode of it: what it lacks.
    no_tangent: str = ""
    # Where PyTorch's forward mode disagrees with finite differences: what is wrong with it.
    wrong_tangent: str = ""
    # Where PyTorch's forward mode is right on some processors only: what it gives on others.
    unsteady_tangent: str = ""

    def __str__(self) -> str:
        return self.name

    def samples(self, dtype: str = "float64") -> Iterator[list[np.ndarray[Any, Any]]]:
        """The inputs of each sample, the same at every call."""
        draws = np.random.default_rng(crc32(self.name.encode()))
        for shapes in self.shapes:
            yield [self._array(draws, shape, np.dtype(dtype), i) for i, shape in enumerate(shapes)]

    def _array(self, draws: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any],
               input: int) -> np.ndarray[Any, Any]:
        if self.distinct:
            count = int(np.prod(shape))
            values = draws.permutation(np.linspace(self.low, self.high, count + 2)[1:-1]).reshape(shape) + 0.01 * input
        else:
            values = draws.uniform(self.low, self.high, shape)
        if dtype.kind == "c":
            return np.asarray(values + 1j * draws.uniform(self.low, self.high, shape)).astype(dtype)
        if dtype.kind == "u":
            values = np.abs(values)
        return np.asarray(values * (3 if dtype.kind in "iu" else 1)).astype(dtype)


def named(name: str) -> Callable[..., Any]:
    """`torch.name(...)`."""
    return lambda torch, *inputs: getattr(torch, name)(*inputs)


def method(name: str, *arguments: Any) -> Callable[..., Any]:
    """`x.name(...)` of the first input, with the others and then `arguments` for its arguments."""
    return lambda torch, x, *inputs: getattr(x, name)(*inputs, *arguments)


def functional(name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
    """`torch.nn.functional.name(...)`."""
    return lambda torch, *inputs: getattr(torch.nn.functional, name)(*inputs, *arguments, **options)


def each(names: str, title: str, call: Callable[..., Any], shapes: tuple[Shapes, ...] = ONE,
         **options: Any) -> list[Entry]:
    """For each name an entry whose call takes that function of torch, or of torch.nn.functional, and the inputs."""
    return [Entry(f"{name}{title}", partial(_call_with, name, call), shapes, **options) for name in names.split()]


def _call_with(name: str, call: Callable[..., Any], torch: Any, *inputs: Any) -> Any:
    function = getattr(torch.nn.functional if name in FUNCTIONAL else torch, name)
    return call(function, *inputs)


def unary(names: str, **options: Any) -> list[Entry]:
    return [Entry(name, named(name), **options) for name in names.split()]


def binary(names: str, **options: Any) -> list[Entry]:
    return [Entry(name, named(name), TWO, **options) for name in names.split()]
