"""Mantissas and exponents, common divisors, and the next number that there is: functions, methods, and in place."""

from __future__ import annotations


from ....dtypes import dtype as torch_dtype
from ....ops.elementwise import number_parts as ops
from ...arguments import return_types
from ...arguments.options import check_tensor
from ...recording.calls import recorded
from ...recording.out_rules import ADDEND, CONSTANT, rule
from ...recording.public import public
from ...state.base import TensorBase
from .elementary import between_tensors, inplace_with_tensor

gcd, lcm = (between_tensors(op, out=rule(gradient=CONSTANT)) for op in (ops.gcd, ops.lcm))
nextafter = between_tensors(ops.nextafter)
ldexp = between_tensors(ops.ldexp, out=rule(uncastable="ldexp can't be cast to the desired output type {out}",
                                            overlap=ADDEND))
gcd_, lcm_, nextafter_ = map(inplace_with_tensor, (ops.gcd, ops.lcm, ops.nextafter))
_ldexp_written = inplace_with_tensor(ops.ldexp)
_frexp = recorded(ops.frexp)


@public(
    out=rule(exact=("torch.frexp() expects mantissa to have dtype {c_result} but got {c_out}", "torch.frexp() expects "
        "exponent to have int dtype but got {c_out}")))
def frexp(input: TensorBase) -> return_types.frexp:
    """Mantissa and exponent: `input = mantissa * 2 ** exponent`, the mantissa of a size from 1/2 to 1, or 0.

    Raises RuntimeError for a dtype that is not floating-point.

    >>> import retrograd as torch
    >>> torch.frexp(torch.tensor([3., -0.125]))
    torch.return_types.frexp(
    mantissa=tensor([ 0.7500, -0.5000]),
    exponent=tensor([ 2, -2], dtype=torch.int32))
    """
    check_tensor("frexp", input)
    if input._array.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes. Convert with .float() first.")
    return return_types.frexp(_frexp(input))


@public()
def ldexp_(input: TensorBase, other: TensorBase) -> TensorBase:
    """`ldexp`, written over the tensor itself. Raises RuntimeError where that holds ints."""
    if isinstance(input, TensorBase) and input._array.dtype.kind in "biu" and isinstance(other, TensorBase):
        kind = torch_dtype.of[input._array.dtype].legacy
        raise RuntimeError(f"ldexp can't be cast to the desired output type {kind}")
    return _ldexp_written(input, other)  # type: ignore[no-any-return]


class NumberMethods:
    """Mantissas and exponents, divisors and neighbours, as methods and in place."""

    __slots__ = ()

    gcd, lcm, nextafter, ldexp, frexp = gcd, lcm, nextafter, ldexp, frexp
    gcd_, lcm_, nextafter_, ldexp_ = gcd_, lcm_, nextafter_, ldexp_
