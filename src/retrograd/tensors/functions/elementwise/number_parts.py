"""Mantissas and exponents, common divisors and multiples, and the next floating-point number.

They exist as functions, as methods and in place.
"""

from __future__ import annotations

from ....dtypes import dtype as torch_dtype
from ....ops.elementwise import elementary as ops
from ...arguments import return_types
from ...arguments.options import check_tensor
from ...recording.calls import recorded
from ...recording.out_rules import ADDEND, CONSTANT, rule
from ...recording.public import methods, public
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
        "exponent to have int dtype but got {c_out}")), method=True)
def frexp(input: TensorBase) -> return_types.frexp:
    """The mantissa and the exponent, such that `input = mantissa * 2 ** exponent`.

    The absolute value of the mantissa is in [1/2, 1), or 0. The exponent has int32.

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


@public(method=True)
def ldexp_(input: TensorBase, other: TensorBase) -> TensorBase:
    """`ldexp`, written into the tensor. Raises RuntimeError if the tensor holds ints."""
    if isinstance(input, TensorBase) and input._array.dtype.kind in "biu" and isinstance(other, TensorBase):
        kind = torch_dtype.of[input._array.dtype].legacy
        raise RuntimeError(f"ldexp can't be cast to the desired output type {kind}")
    return _ldexp_written(input, other)  # type: ignore[no-any-return]


methods(gcd, lcm, nextafter, ldexp, gcd_, lcm_, nextafter_)
