"""What optimizers that write into arrays share: the step around their formula, checks, gradients, memory.

This module must not know any single optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..autograd.grad_mode import enable_grad, no_grad
from ..dtypes import NARROW
from ..errors import user_site
from ..modes import local, tape
from ..names import reached
from ..ops.creation import full_beside
from ..ops.framework import Op
from ..tensors.recording.overriding import Otherwise
from ..tensors.state.base import TensorBase, moves
from . import sparse_steps
from .optimizer import Optimizer

# The number of elements of a block. A block, its gradient and its state stay in the processor's cache from one pass to
# the next, and the scratch memory is never larger. Smaller blocks cost more than they gain.
BLOCK = 1 << 17


def check_modes(foreach: Any, fused: Any, differentiable: bool) -> None:
    """Raises RuntimeError for ways to compute a step that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_learning_rate(lr: Any, words: str = "Invalid learning rate") -> None:
    """Raises ValueError for a learning rate that is negative or a tensor of several elements."""
    if isinstance(lr, TensorBase) and lr._array.size != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"{words}: {lr}")


def check_number(value: Any, what: str) -> None:
    """Raises ValueError for an option that is negative or nan."""
    if not value >= 0.0:
        raise ValueError(f"Invalid {what}: {value}")


def check_betas(betas: tuple[Any, Any]) -> None:
    """Raises ValueError for a weight of the past that is not in [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def gradient(parameter: Any) -> Any:
    """The gradient of a parameter as an array; None if there is none, or if the step is made of functions of tensors.
    """
    meta = parameter._meta
    if meta is None or meta.grad is None or _by_formula(parameter):
        return None
    return meta.grad._array


def _by_formula(parameter: Any) -> bool:
    """Whether a step is made of functions of tensors: every operation rounds to a type of ml_dtypes, or has a tangent.
    """
    if NARROW and parameter._array.dtype in NARROW:
        return True
    return bool(local.thread.levels) and (moves(parameter) or moves(parameter._meta.grad))


@lru_cache(maxsize=256)
def numbers(dtype: np.dtype[Any], *values: float) -> tuple[Any, ...]:
    """Python numbers as arrays without dimensions. NumPy takes longer to convert a number than to multiply a small
    array.
    """
    return tuple([np.array(value, dtype) for value in values])


def changing(op: Op) -> Callable[..., None]:
    """The kernel of an op that writes the next values of a parameter, its first argument; or the write on the seam."""
    if local.thread.transform is None:
        return op.kernel                                 # `step` sees to it that floating point is quiet
    return partial(op.write, op.kernel)


def traced() -> bool:
    """Whether a tape writes down the calls, to repeat them without the program."""
    return tape() is not None


def like(array: Any) -> Any:
    """Zeros like an array."""
    return np.zeros_like(array) if local.thread.transform is None else full_beside(array, array.shape, array.dtype, 0)


def without_numbers(optimizer: Optimizer) -> AbstractContextManager[Any]:
    """A context in which an optimizer of meta tensors can step: it makes its state, and writes nothing."""
    if any([p.is_meta for group in optimizer.param_groups for p in group["params"]]):
        context: AbstractContextManager[Any] = reached("tensors.meta.public").stepping(optimizer)
        return context
    return nullcontext()


class Scratch:
    """Memory to compute in: one array for each shape, dtype and purpose. The arrays are used again in every step."""

    __slots__ = ("_arrays",)
    _LIMIT = 512

    def __init__(self) -> None:
        self._arrays: dict[Any, Any] = {}

    def like(self, array: Any, purpose: int = 0) -> Any:
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


class SteppingOptimizer(Optimizer):
    """An optimizer whose step writes into the parameters as arrays. A subclass defines `_update` and `_record`.

    With `differentiable`, a step is a formula on tensors instead, which the graph records. The step of a parameter in a
    type of ml_dtypes is the same formula, since each of its operations rounds.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self._scratch = Scratch()
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._scratch = Scratch()

    def give_back(self) -> None:
        """Give the memory back that steps compute in. A program whose steps are compiled does not need it."""
        self._scratch.clear()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. Returns the loss that `closure` computes; None without a closure.
        """
        if self.defaults.get("differentiable"):
            return self._recorded_step(closure)
        loss = self._evaluated(closure)
        if Otherwise.handler is not None:                # a program that has made a sparse tensor
            with sparse_steps.stepped(self, self._sparse_step), without_numbers(self):
                self._run(user_site(2))
            return loss
        self._run(user_site(2))
        return loss

    def _run(self, line: Any) -> None:
        if local.thread.levels and traced():
            tape().leave("the program makes a step of an optimizer inside of vmap or forward mode")
        # As in PyTorch, overflow gives no warning. A later error about these writes names the line.
        if local.thread.transform is None:
            local.thread.run(self._update, line)
        else:
            self._update(line)
        if NARROW or local.thread.levels:
            with no_grad():
                self._change_by_formula(_by_formula)

    def _sparse_step(self, p: Any, g: Any, group: dict[str, Any]) -> None:
        """Change a parameter by a sparse gradient. Raises RuntimeError if the optimizer cannot do this."""
        raise NotImplementedError

    def _update(self, line: Any) -> None:
        """Write the new values of all parameters, and count the writes as made on `line`."""
        raise NotImplementedError

    def _recorded_step(self, closure: Callable[[], Any] | None) -> Any:
        loss = self._evaluated(closure)
        with enable_grad():
            self._change_by_formula(lambda parameter: True)
        return loss

    def _change_by_formula(self, which: Callable[[Any], bool]) -> None:
        """Compute the steps of those parameters with functions of tensors."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and which(parameter):
                    self._record(parameter, parameter.grad, group)

    def _record(self, parameter: Any, g: Any, group: dict[str, Any]) -> None:
        """Compute the step of a parameter with functions of tensors."""
        raise NotImplementedError


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
