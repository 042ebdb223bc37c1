"""Writing over a whole tensor: one value everywhere, zeros, or the values of another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import letter
from ...foundations.errors import warn_of_discarded_part
from ...foundations.modes import local
from ...foundations.scalars import filling
from ...kernels.elementwise.arithmetic import fill_all, overwrite, zero_all
from ...ops.elementwise import arithmetic as ops
from ..arguments.dims import not_a_tensor
from ..arguments.options import number
from ..recording.public import public
from ..state.base import TensorBase, edge_of, plain
from .inplace import over, written
from .out import receive
from .out_rules import Rule
from .twins import Call, twins


@twins("fill(Tensor input, Tensor value)", "fill(Tensor input, Number value)")
def fill(call: Call, input: TensorBase, value: Any) -> TensorBase:
    """A tensor of the input's shape and dtype, filled with a number or with the element of a 0-d tensor.

    Raises RuntimeError if the number does not fit the dtype, or if `value` is a tensor with dimensions.

    >>> import retrograd as torch
    >>> torch.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    if not isinstance(value, TensorBase):
        array = input._array
        number_ = filling(number("fill_", "value", 1, value), array.dtype, array.size)
        return call(ops.fill, input, number_, into=fill_all)
    if value._array.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} "
                           "dimensions.")
    warn_of_discarded_part(value._array.dtype, input._array.dtype)
    return call(ops.fill_tensor, input, value)


fill_ = fill.written


@public()
def zero_(self: TensorBase) -> TensorBase:
    """Write zeros everywhere."""
    return over(ops.zero, self, into=zero_all)  # type: ignore[no-any-return]


@public()
def copy_(self: TensorBase, other: Any, non_blocking: bool = False) -> TensorBase:
    """Write the values of `other`, broadcast and cast. Gradients flow to `other`, and no longer to the old values.

    Raises RuntimeError if `other` does not broadcast to the shape of the tensor.

    >>> import retrograd as torch
    >>> torch.zeros(2, dtype=torch.int64).copy_(torch.tensor([1.5, 2.5]))
    tensor([1, 2])
    """
    if not isinstance(other, TensorBase):
        of_numpy = isinstance(other, np.generic) and letter(other.dtype) in "biufc"
        if not of_numpy and not isinstance(other, (bool, int, float, complex)):
            raise not_a_tensor("copy_", other, "other", 1)
        other = plain(np.asarray(other))
    elif other is self and not self._array.flags.writeable and edge_of(self) is None:
        written(self)                                   # counted even if its elements coincide
        return self
    warn_of_discarded_part(other._array.dtype, self._array.dtype)
    return over(ops.copy, self, other,  # type: ignore[no-any-return]
                into=overwrite if other._array.shape == self._array.shape else None)


def delivered(name: str, asks: Rule, out: TensorBase | None, result: TensorBase) -> Any:
    """The result, or `out` after a recorded copy of the result to it. A resized `out` is row-major."""
    if out is None:
        return result
    through = local.thread.transform is not None
    receive(name, asks, out, result if through else plain(np.asarray(result._array, order="C")))
    return copy_(out, result)
