"""Elementwise special functions of tensors, as functions, as methods and in place.

These are methods of tensors, too. `special_only` has the functions that only `torch.special` has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, default_floating, dtype as torch_dtype, legacy, letter
from ....foundations.errors import noted
from ....ops.elementwise import arithmetic, elementary, special as ops
from ....ops.framework import Op
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out_rules import ELEMENTWISE, UNASKED, rule
from ...recording.public import methods, public
from ...recording.twins import Call, both, twins
from ...state.base import TensorBase, numbers_in
from .arithmetic import NUMBER, invalid
from .elementary import twins_of_tensors

(lgamma, lgamma_), (digamma, digamma_), (i0, i0_) = map(both, (ops.lgamma, ops.digamma, ops.i0))
_UNASKED = rule(gradient=UNASKED)
igamma, igammac = twins_of_tensors(ops.igamma), twins_of_tensors(ops.igammac)
_polygamma = recorded(ops.polygamma)
_erf, _add, _mul = recorded(elementary.erf), recorded(arithmetic.add_number), recorded(arithmetic.mul_number)

# The sum of more terms takes hours.
_LARGEST_DIMENSION = 1 << 30
_ROOT_HALF = math.sqrt(0.5)


def _whole(name: str, argument: str, position: int, value: Any) -> int:
    """An integer argument as an int. A 0-d integer tensor counts as an integer. Raises TypeError for other values."""
    if isinstance(value, TensorBase) and not value._array.ndim and value._array.dtype.kind in "iu":
        return numbers_in(value)  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray | np.generic) and not value.ndim and value.dtype.kind in "iu":
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        kind = type(value).__name__
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be int, not {kind}")
    return value


@public("polygamma(int n, Tensor input, out)", out=ELEMENTWISE)
def polygamma(n: int, input: TensorBase) -> TensorBase:
    """The derivative of order `n` of `digamma`, elementwise. Raises RuntimeError if `n` is negative.

    >>> import retrograd as torch
    >>> torch.polygamma(1, torch.tensor([1., 0.5]))
    tensor([1.6449, 4.9348])
    """
    return _polygamma(input, _whole("polygamma", "n", 1, n))  # type: ignore[no-any-return]


@public(name="polygamma")
def _polygamma_method(self: TensorBase, n: int) -> TensorBase:
    """The derivative of order `n` of `digamma`, elementwise."""
    return polygamma(n, self)


@public("polygamma_(Tensor input, int n)", method=True, bound=True)
def polygamma_(self: TensorBase, n: int) -> TensorBase:
    """`polygamma`, written over the tensor itself."""
    return over(ops.polygamma, self, _whole("polygamma_", "n", 1, n))  # type: ignore[no-any-return]


@twins(
    "mvlgamma(Tensor input, int p, out)",
    out=rule(uncastable="mvlgamma: result type {result} can't be cast to the desired output type {result}"),
    method=True)
def mvlgamma(call: Call, input: TensorBase, p: int) -> TensorBase:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Raises RuntimeError if p is less than 1, and in place if the tensor holds ints.

    >>> import retrograd as torch
    >>> torch.mvlgamma(torch.tensor([3., 5.]), 2)
    tensor([1.5502, 6.2042])
    """
    if call is over and input._array.dtype.kind in "iu":
        raise RuntimeError(f"mvlgamma: result type {legacy(input._array)} can't be cast to the desired output type "
                           f"{torch_dtype.of[default_floating()].legacy}")
    dimension = _whole("mvlgamma", "p", 2, p)
    if dimension < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    _refuse_huge(input._array, dimension)
    return call(ops.mvlgamma, input, dimension)


def _refuse_huge(array: Array, dimension: int) -> None:
    """Raise RuntimeError for a dimension of `mvlgamma` at which PyTorch cannot store its terms."""
    if dimension > _LARGEST_DIMENSION:
        size = dimension * (array.itemsize if letter(array.dtype) == "f" else default_floating().itemsize)
        said = ("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried "
                f"to allocate {size} bytes. Error code 12 (Cannot allocate memory)" if size < 1 << 63 else
                f"Storage size calculation overflowed with sizes=[{dimension}]")
        raise noted(RuntimeError(said), because="p is too large for mvlgamma")


def check_operands(name: str, x: Any, y: Any) -> None:
    """Raise TypeError unless one operand is a tensor and the other is a tensor or a number."""
    if not (isinstance(x, TensorBase) and isinstance(y, (TensorBase, *NUMBER))) and not (
            isinstance(x, NUMBER) and isinstance(y, TensorBase)):
        raise invalid(name, x, y)


def with_numbers(both: Op, of_number: Op, with_number: Op, name: str, out: Any) -> Callable[..., Any]:
    """The function for three ops: one of two tensors, and two of a tensor and a number in either order."""
    call, from_number, by_number = recorded(both), recorded(of_number), recorded(with_number)

    @public(f"{name}(Tensor input, Tensor other, out)", f"{name}(Number self, Tensor other, out)",
            f"{name}(Tensor input, Number other, out)", name=both.name, out=out,
            doc=f"{both.kernel.__doc__} Either operand may be a number, but not both.")
    def function(input: Any = None, other: Any = None, *, self: Any = None) -> Any:
        input = input if self is None else self
        if isinstance(input, TensorBase) and isinstance(other, TensorBase):
            return call(input, other)
        check_operands(name, input, other)
        if isinstance(other, TensorBase):
            return from_number(other, number(name, "self", 1, input))
        return by_number(input, number(name, "other", 2, other))

    return function


xlogy = with_numbers(elementary.xlogy, ops.xlogy_of_number, ops.xlogy_with_number, "xlogy", ELEMENTWISE)


@public("xlogy_(Tensor input, Tensor other)", "xlogy_(Tensor input, Number other)", method=True)
def xlogy_(self: TensorBase, other: Any) -> TensorBase:
    """`xlogy`, written over the tensor itself."""
    return over(ops.xlogy_with_number if isinstance(other, NUMBER) else elementary.xlogy,  # type: ignore[no-any-return]
                self, other)


NUMPY: dict[Any, Callable[..., Any]] = {np.i0: i0}


methods(_polygamma_method, xlogy)
