"""What optimisers share that write arrays: the step around their formula, checks of options, gradients, memory.

This module must not know any one optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..errors import user_site
from ..modes import local
from ..ops.creation import full_beside
from ..ops.framework import Op
from ..tensors.state.base import TensorBase
from .optimizer import Optimizer

# How many elements are changed at a time: they and what belongs to them stay in the processor's cache from pass to
# pass, and the memory to compute in is never larger. Below, cutting up costs more than it brings.
BLOCK = 1 << 17


def check_modes(foreach: Any, fused: Any, differentiable: bool, capturable: bool = False) -> None:
    """Refuse the ways of computing a step that are not there. `foreach` and `fused` make no difference otherwise."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable:
        raise NotImplementedError("differentiable=True is not available: the step writes into the parameters. Compute "
                                  "w - lr * g with create_graph=True instead, and go on with the result.")
    if capturable:
        raise NotImplementedError("capturable=True is not available: there are no CUDA graphs to capture in.")


def check_learning_rate(lr: Any) -> None:
    """Refuse a learning rate that is negative, or a tensor of several elements."""
    if isinstance(lr, TensorBase) and lr._array.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_number(lr, "learning rate")


def check_number(value: Any, what: str) -> None:
    """Refuse an option that is negative or not a number."""
    if not value >= 0.0:
        raise ValueError(f"Invalid {what}: {value}")


def as_float(value: Any) -> float:
    """An option that may be a tensor of one element, as a number."""
    return value._array.item() if isinstance(value, TensorBase) else value


def gradient(parameter: Any) -> Any:
    """The raw gradient of a parameter; None where it has none."""
    meta = parameter._meta
    if meta is None or meta.grad is None:
        return None
    return meta.grad._array


@lru_cache(maxsize=256)
def numbers(dtype: np.dtype[Any], *values: float) -> tuple[Any, ...]:
    """Python numbers as 0-d arrays: NumPy takes longer to convert one than to multiply a small array by it."""
    return tuple([np.array(value, dtype) for value in values])


def changing(op: Op) -> Callable[..., None]:
    """The kernel of an op that writes the next values of a parameter, its first argument; or the write on the seam."""
    if local.thread.transform is None:
        return op.kernel                                 # `step` sees to it that floating point is quiet
    return partial(op.write, op.kernel)


def like(array: Any) -> Any:
    """Zeros like an array."""
    return np.zeros_like(array) if local.thread.transform is None else full_beside(array, array.shape, array.dtype, 0)


class Scratch:
    """Memory to compute in, one array for each shape, dtype and purpose. It is used over and over."""

    __slots__ = ("_arrays",)
    _LIMIT = 512

    def __init__(self) -> None:
        self._arrays: dict[Any, Any] = {}

    def like(self, array: Any, purpose: int = 0) -> Any:
        """An array with the shape and dtype of another, and any contents."""
        key = (array.shape, array.dtype, purpose)
        held = self._arrays.get(key)
        if held is None:
            if len(self._arrays) >= self._LIMIT:
                self._arrays.clear()
            held = self._arrays[key] = np.empty_like(array)
        return held


class SteppingOptimizer(Optimizer):
    """An optimiser whose step writes into the parameters as arrays. A subclass defines `_update`."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self._scratch = Scratch()
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._scratch = Scratch()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. Returns the loss that `closure` computes, if there is one."""
        loss = self._evaluated(closure)
        # Silent on overflow and invalid values, as PyTorch is; and an error about what is written will name the line.
        if local.thread.transform is None:
            local.thread.run(self._update, user_site(2))
        else:
            self._update(user_site(2))
        return loss

    def _update(self, line: Any) -> None:
        """Write the next values of all parameters, and enter the writes in the books as made on `line`."""
        raise NotImplementedError


def blocks(arrays: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """Arrays of one shape, as they are where they are small or not row-major, else in blocks of their elements.

    Of complex arrays first the real parts, then the imaginary ones.
    """
    first = arrays[0]
    if first.dtype.kind == "c":
        return tuple([array.real for array in arrays]), tuple([array.imag for array in arrays])
    if first.size <= BLOCK or not all(array.flags.c_contiguous for array in arrays):
        return (arrays,)
    flat = [array.reshape(-1) for array in arrays]
    return [tuple([array[i : i + BLOCK] for array in flat]) for i in range(0, flat[0].size, BLOCK)]
