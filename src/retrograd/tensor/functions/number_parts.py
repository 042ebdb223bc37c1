"""Mantissas and exponents, common divisors, and the next number that there is: functions, methods, and in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dtypes import dtype as torch_dtype
from ...ops import number_parts as ops
from .. import return_types
from ..into import into
from ..options import check_tensor
from ..recording import recorded
from ..state import State
from .elementary import between_tensors, inplace_with_tensor

if TYPE_CHECKING:
    from ..tensor import Tensor

gcd, lcm, nextafter, ldexp = map(between_tensors, (ops.gcd, ops.lcm, ops.nextafter, ops.ldexp))
gcd_, lcm_, nextafter_ = map(inplace_with_tensor, (ops.gcd, ops.lcm, ops.nextafter))
_ldexp_written = inplace_with_tensor(ops.ldexp)
_frexp = recorded(ops.frexp)


def frexp(input: Tensor, *, out: Any = None) -> Any:
    """Mantissa and exponent: `input = mantissa * 2 ** exponent`, the mantissa of a size from 1/2 to 1, or 0.

    Raises RuntimeError for a dtype that is not floating-point.

    >>> import retrograd as torch
    >>> torch.frexp(torch.tensor([3., -0.125]))
    torch.return_types.frexp(
    mantissa=tensor([ 0.7500, -0.5000]),
    exponent=tensor([ 2, -2], dtype=torch.int32))
    """
    if out is not None:
        return into(out, frexp, input)
    check_tensor("frexp", input)
    if input._array.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes. Convert with .float() first.")
    return return_types.frexp(_frexp(input))


def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """`ldexp`, written over the tensor itself. Raises RuntimeError where that holds ints."""
    if isinstance(input, State) and input._array.dtype.kind in "biu" and isinstance(other, State):
        kind = torch_dtype.of[input._array.dtype].legacy
        raise RuntimeError(f"ldexp can't be cast to the desired output type {kind}")
    return _ldexp_written(input, other)  # type: ignore[no-any-return]


class NumberMethods:
    """Mantissas and exponents, divisors and neighbours, as methods and in place."""

    __slots__ = ()

    gcd, lcm, nextafter, ldexp, frexp = gcd, lcm, nextafter, ldexp, frexp
    gcd_, lcm_, nextafter_, ldexp_ = gcd_, lcm_, nextafter_, ldexp_
