"""Elementwise functions that blend a tensor with two others: `lerp`, `addcmul`, `addcdiv`, also in place."""

from __future__ import annotations

from typing import Any

from ....foundations.dtypes import C_NAMES
from ....ops.elementwise import arithmetic as ops
from ...arguments.options import check_tensors, number
from ...recording.out_rules import ELEMENTWISE, FOUND, rule
from ...recording.twins import Call, twins
from ...state.base import TensorBase
from .arithmetic import NUMBER, invalid


@twins("lerp(Tensor input, Tensor end, Tensor weight, out)", "lerp(Tensor input, Tensor end, Number weight, out)",
        out=lambda input, end, weight: rule(exact=FOUND) if isinstance(weight, TensorBase) else ELEMENTWISE,
        method=True)
def lerp(call: Call, input: TensorBase, end: TensorBase, weight: Any) -> TensorBase:
    """`input + weight * (end - input)`, broadcast. The weight is a number or a tensor.

    Raises RuntimeError if the tensors differ in dtype.

    >>> import retrograd as torch
    >>> torch.lerp(torch.tensor([0., 10.]), torch.tensor([4., 20.]), 0.25)
    tensor([ 1.0000, 12.5000])
    """
    weighted = isinstance(weight, TensorBase)
    if not weighted and not isinstance(weight, NUMBER):
        raise invalid("lerp", input, end, weight)
    dtype = input._array.dtype
    typed = {"end": end, "weight": weight} if weighted and weight._array.ndim else {"end": end}
    for name, value in typed.items():
        if value._array.dtype != dtype:
            raise RuntimeError(f"expected dtype {C_NAMES[dtype.name]} for `{name}` but got dtype "
                               f"{C_NAMES[value._array.dtype.name]}")
    if weighted:
        return call(ops.lerp, input, end, weight)
    return call(ops.lerp_number, input, end, number("lerp", "weight", 3, weight))


lerp_ = lerp.written


@twins("addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)", out=ELEMENTWISE,
        method=True)
def addcmul(call: Call, input: TensorBase, tensor1: TensorBase, tensor2: TensorBase, *, value: Any = 1) -> TensorBase:
    """`input + value * tensor1 * tensor2`, broadcast, in the common dtype.

    >>> import retrograd as torch
    >>> torch.addcmul(torch.zeros(2), torch.tensor([1., 2.]), torch.tensor([3., 4.]), value=10)
    tensor([30., 80.])
    """
    check_tensors("addcmul", input=input, tensor1=tensor1, tensor2=tensor2)
    return call(ops.addcmul, input, tensor1, tensor2, number("addcmul", "value", 4, value))


@twins("addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)", out=ELEMENTWISE,
        method=True)
def addcdiv(call: Call, input: TensorBase, tensor1: TensorBase, tensor2: TensorBase, *, value: Any = 1) -> TensorBase:
    """`input + value * tensor1 / tensor2`, broadcast, in the common dtype.

    Raises RuntimeError if `tensor1` and `tensor2` both hold integers.
    """
    check_tensors("addcdiv", input=input, tensor1=tensor1, tensor2=tensor2)
    value = number("addcdiv", "value", 4, value)
    if tensor1._array.dtype.kind in "biu" and tensor2._array.dtype.kind in "biu":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value "
            "* torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + "
            "value * tensor1 / tensor2), for all dtypes.")
    return call(ops.addcdiv, input, tensor1, tensor2, value)
