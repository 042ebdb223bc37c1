"""Elementwise functions that blend a tensor with two others: `lerp`, `addcmul`, `addcdiv`, also in place."""

from __future__ import annotations

from typing import Any

from ....dtypes import C_NAMES
from ....ops.elementwise import arithmetic as ops
from ...arguments.options import check_tensor, number
from ...recording.calls import recorded
from ...recording.inplace import write
from ...recording.out_rules import ELEMENTWISE, FOUND, rule
from ...recording.public import public
from ...state.base import TensorBase
from .arithmetic import NUMBER, invalid

_lerp, _lerp_number = recorded(ops.lerp), recorded(ops.lerp_number)
_addcmul, _addcdiv = recorded(ops.addcmul), recorded(ops.addcdiv)


@public("lerp(Tensor input, Tensor end, Tensor weight, out)", "lerp(Tensor input, Tensor end, Number weight, out)",
        out=lambda input, end, weight: rule(exact=FOUND) if isinstance(weight, TensorBase) else ELEMENTWISE,
        method=True)
def lerp(input: TensorBase, end: TensorBase, weight: Any) -> TensorBase:
    """`input + weight * (end - input)`, broadcast. The weight is a number or a tensor.

    Raises RuntimeError if the tensors differ in dtype.

    >>> import retrograd as torch
    >>> torch.lerp(torch.tensor([0., 10.]), torch.tensor([4., 20.]), 0.25)
    tensor([ 1.0000, 12.5000])
    """
    return (_lerp if _check_lerp(input, end, weight) else _lerp_number)(input, end,  # type: ignore[no-any-return]
    weight)


def _check_lerp(input: Any, end: Any, weight: Any) -> bool:
    """Whether the weight is a tensor. Raises if an operand is not a tensor, or if the dtypes differ."""
    for position, name, value in ((1, "input", input), (2, "end", end)):
        check_tensor("lerp", value, name, position)
    weighted = isinstance(weight, TensorBase)
    if not weighted and not isinstance(weight, NUMBER):
        raise invalid("lerp", input, end, weight)
    dtype = input._array.dtype
    for name, value in (("end", end), ("weight", weight)):
        yields = name == "weight" and isinstance(value, TensorBase) and not value._array.ndim
        if isinstance(value, TensorBase) and value._array.dtype != dtype and not yields:
            raise RuntimeError(f"expected dtype {C_NAMES[dtype.name]} for `{name}` but got dtype "
                               f"{C_NAMES[value._array.dtype.name]}")
    return weighted


@public("addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)", out=ELEMENTWISE,
        method=True)
def addcmul(input: TensorBase, tensor1: TensorBase, tensor2: TensorBase, *, value: Any = 1) -> TensorBase:
    """`input + value * tensor1 * tensor2`, broadcast, in the common dtype.

    >>> import retrograd as torch
    >>> torch.addcmul(torch.zeros(2), torch.tensor([1., 2.]), torch.tensor([3., 4.]), value=10)
    tensor([30., 80.])
    """
    _check_addc("addcmul", input, tensor1, tensor2)
    return _addcmul(input, tensor1, tensor2, number("addcmul", "value", 4, value))  # type: ignore[no-any-return]


@public("addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)", out=ELEMENTWISE,
        method=True)
def addcdiv(input: TensorBase, tensor1: TensorBase, tensor2: TensorBase, *, value: Any = 1) -> TensorBase:
    """`input + value * tensor1 / tensor2`, broadcast, in the common dtype.

    Raises RuntimeError if `tensor1` and `tensor2` both hold integers.
    """
    _check_addc("addcdiv", input, tensor1, tensor2)
    return _addcdiv(input, tensor1, tensor2, number("addcdiv", "value", 4, value))  # type: ignore[no-any-return]


def _check_addc(name: str, input: Any, tensor1: Any, tensor2: Any) -> None:
    for position, argument, value in ((1, "input", input), (2, "tensor1", tensor1), (3, "tensor2", tensor2)):
        check_tensor(name, value, argument, position)
    if name == "addcdiv" and tensor1._array.dtype.kind in "biu" and tensor2._array.dtype.kind in "biu":
        raise RuntimeError("Integer division with addcdiv is no longer supported, and in a future  release addcdiv "
                           "will perform a true division of tensor1 and tensor2. Use torch.div, and add the quotient.")


# In place


@public(method=True)
def lerp_(self: TensorBase, end: TensorBase, weight: Any) -> TensorBase:
    """`lerp`, written into the tensor."""
    write(ops.lerp if _check_lerp(self, end, weight) else ops.lerp_number, self, (end, weight))
    return self


@public(method=True)
def addcmul_(self: TensorBase, tensor1: TensorBase, tensor2: TensorBase, *, value: Any = 1) -> TensorBase:
    """`self += value * tensor1 * tensor2`."""
    _check_addc("addcmul", self, tensor1, tensor2)
    write(ops.addcmul, self, (tensor1, tensor2, number("addcmul_", "value", 3, value)))
    return self


@public(method=True)
def addcdiv_(self: TensorBase, tensor1: TensorBase, tensor2: TensorBase, *, value: Any = 1) -> TensorBase:
    """`self += value * tensor1 / tensor2`."""
    _check_addc("addcdiv", self, tensor1, tensor2)
    write(ops.addcdiv, self, (tensor1, tensor2, number("addcdiv_", "value", 3, value)))
    return self
