"""Mantissas and exponents, common divisors and multiples, and the next floating-point number.

They exist as functions, as methods and in place.
"""

from __future__ import annotations

from .... import return_types
from ....foundations.dtypes import legacy, letter, unimplemented
from ....foundations.errors import noted
from ....ops.elementwise import elementary as ops
from ...arguments.options import check_tensor, check_tensors
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out_rules import ADDEND, CONSTANT, rule
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import TensorBase
from .elementary import twins_of_tensors

gcd, lcm = (twins_of_tensors(op, rule(gradient=CONSTANT)) for op in (ops.gcd, ops.lcm))
nextafter = twins_of_tensors(ops.nextafter)
gcd_, lcm_ = gcd.written, lcm.written
_frexp = recorded(ops.frexp)


@twins("ldexp(Tensor input, Tensor other, out)",
       out=rule(uncastable="ldexp can't be cast to the desired output type {out}", overlap=ADDEND), method=True)
def ldexp(call: Call, input: TensorBase, other: TensorBase) -> TensorBase:
    """input * 2 ** other, broadcast. Raises TypeError for numbers.

    Raises NotImplementedError for floats and exponents that are bools. In place, raises RuntimeError for ints.
    """
    check_tensors("ldexp", input=input, other=other)
    if call is over and input._array.dtype.kind in "biu":
        raise RuntimeError(f"ldexp can't be cast to the desired output type {legacy(input._array)}")
    kind = other._array.dtype.kind
    if kind == "b" and letter(input._array.dtype) == "f":
        raise unimplemented("ldexp_cpu_exp", other._array.dtype)
    return call(ops.ldexp, input, other, kind in "iu")


ldexp_ = ldexp.written


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
    if letter(input._array.dtype) != "f":
        raise noted(
            RuntimeError("torch.frexp() only supports floating-point dtypes"), instead="convert with .float() first")
    return return_types.frexp(_frexp(input))
