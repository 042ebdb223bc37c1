"""What optimizers share whose formula computes with arrays: checks of options, numbers as arrays, memory, blocks.

This module must not know any single optimizer.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.errors import noted
from ..tensors.state.base import TensorBase

# The number of elements of a block. A block, its gradient and its state stay in the processor's cache from one pass to
# the next, and the scratch memory is never larger. Smaller blocks cost more than they gain.
BLOCK = 1 << 17


def check_modes(foreach: Any, fused: Any, differentiable: bool) -> None:
    """Raises RuntimeError for ways to compute a step that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


# The devices for which PyTorch has fused steps, in its order.
_FUSED = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def check_fused(params: Iterable[Any]) -> None:
    """Raises RuntimeError for a parameter with a gradient of which PyTorch has no fused step: complex or on `meta`."""
    for p in params:
        if (p.is_complex() or p.device.type not in _FUSED) and p.grad is not None:
            raise noted(
                RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported devices: "
                             f"{_FUSED} but {p.dtype} and {p.device.type}"), instead="remove fused=True")


def check_rate_tensor(lr: Any) -> None:
    """Raises ValueError for a learning rate that is a tensor of several elements."""
    if isinstance(lr, TensorBase) and lr._array.size != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_learning_rate(lr: Any) -> None:
    """Raises ValueError for a learning rate that is negative, nan or a tensor of several elements."""
    check_rate_tensor(lr)
    check_number(lr, "learning rate")


INVALID, SHOULD = "Invalid {}: {}", "{} should be >= 0 but is: {}"


def check_number(value: Any, what: str, words: str = INVALID, *, nan: bool = False) -> None:
    """Raises ValueError for an option that is negative, or nan unless `nan` is allowed. `words` are the message."""
    if value < 0.0 if nan else not 0.0 <= value:           # noqa: SIM300  PyTorch's order, which a TypeError names
        raise ValueError(words.format(what, value))


def check_betas(betas: Any) -> None:
    """Raises ValueError for a weight of the past that is not in [0, 1), and IndexError for a pair without the second.
    """
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


@lru_cache(maxsize=256)
def numbers(dtype: np.dtype[Any], *values: float) -> tuple[Any, ...]:
    """Python numbers as arrays without dimensions. NumPy takes longer to convert a number than to multiply a small
    array.
    """
    return tuple([np.array(value, dtype) for value in values])


class Scratch:
    """What an optimizer works with and need not keep: memory to compute in, code, and what a group puts off to its end.

    The memory is one array for each shape, dtype and purpose. The arrays are used again in every step.
    """

    __slots__ = ("_arrays", "codes", "counted", "known", "ready", "rows", "traced", "written")
    _LIMIT = 512

    def __init__(self) -> None:
        self._arrays: dict[Any, Any] = {}
        self.codes: dict[Any, list[Any]] = {}              # the code of formulas, by the names of the state
        self.known: dict[Any, Any] = {}                    # what the steps with certain options share
        # Of the present group: the counts that have changed, what its steps share, and the arrays to compute with.
        self.counted: list[Any] = []
        self.ready: dict[Any, Any] = {}
        self.rows: list[tuple[Any, list[Any]]] = []
        # The arrays for one call on the seam, and what owns the memory that the last such call wrote, and how often.
        self.traced: list[tuple[tuple[str, ...], tuple[str, ...], list[Any], list[Any]]] = []
        self.written: tuple[list[Any], list[int]] = [], []

    def like(self, array: Array, purpose: int = 0) -> Any:
        """An array with the shape and the dtype of another array, and any contents."""
        key = (array.shape, array.dtype, purpose)
        held = self._arrays.get(key)
        if held is None:
            if len(self._arrays) >= self._LIMIT:
                self._arrays.clear()
            held = self._arrays[key] = np.empty_like(array)
        return held

    def clear(self) -> None:
        """Give the memory back. The next step takes memory again."""
        self._arrays.clear()


def blocks(arrays: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """Arrays of one shape in blocks of their elements. Small arrays and arrays that are not row-major stay whole.

    Complex arrays give first their real parts, then their imaginary parts.
    """
    first = arrays[0]
    if first.dtype.kind == "c":
        return tuple([array.real for array in arrays]), tuple([array.imag for array in arrays])
    if first.size <= BLOCK or not all(array.flags.c_contiguous for array in arrays):
        return (arrays,)
    flat = [array.reshape(-1) for array in arrays]
    return [tuple([array[i : i + BLOCK] for array in flat]) for i in range(0, flat[0].size, BLOCK)]
