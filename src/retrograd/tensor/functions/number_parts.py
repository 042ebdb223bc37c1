"""Mantissas and exponents, divisors, neighbours, membership, and filling: functions, methods, and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dtypes import dtype as torch_dtype, of_scalar
from ...ops import number_parts as ops
from .. import return_types
from ..into import into
from ..options import check_tensor, filling, number
from ..recording import recorded
from ..state import State, plain
from .arithmetic import NUMBER, invalid
from .elementary import between_tensors, inplace_with_tensor

if TYPE_CHECKING:
    from ..tensor import Tensor

gcd, lcm, nextafter, ldexp = map(between_tensors, (ops.gcd, ops.lcm, ops.nextafter, ops.ldexp))
gcd_, lcm_, nextafter_ = map(inplace_with_tensor, (ops.gcd, ops.lcm, ops.nextafter))
_ldexp_written = inplace_with_tensor(ops.ldexp)
_frexp, _isin = recorded(ops.frexp), recorded(ops.isin)
_fill, _fill_tensor = recorded(ops.fill), recorded(ops.fill_tensor)


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


def isin(elements: Any = None, test_elements: Any = None, *, assume_unique: bool = False, invert: bool = False,
         element: Any = None, test_element: Any = None, out: Any = None) -> Any:
    """Whether each of `elements` is equal to any of `test_elements`, or, with `invert`, to none; nan is equal to none.

    Either may be a number, which by name is `element` or `test_element`. `assume_unique` is a promise of which nothing
    is made here. Raises RuntimeError for bools and complex numbers.

    >>> import retrograd as torch
    >>> torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 3]))
    tensor([[False,  True],
            [ True, False]])
    """
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    if out is not None:
        return into(out, isin, elements, test_elements, assume_unique=assume_unique, invert=invert)
    if not (isinstance(elements, State) or isinstance(test_elements, State)) or not all(
            isinstance(x, (State, *NUMBER)) for x in (elements, test_elements)):
        raise invalid("isin", elements, test_elements)
    for x in (elements, test_elements):
        dtype = x._array.dtype if isinstance(x, State) else of_scalar(x)
        if dtype.kind in "bc":
            kind = torch_dtype.of[dtype].legacy
            raise RuntimeError(f"Unsupported input type encountered for isin(): {kind}. Compare with == instead.")
    return _isin(elements, test_elements, invert)


def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like the input that holds a number, or the one element of a 0-d tensor, everywhere.

    Raises RuntimeError where the number does not fit the dtype, or the tensor has dimensions.
    """
    if not isinstance(input, State) or not isinstance(value, (State, *NUMBER)):
        raise invalid("fill", input, value)
    if not isinstance(value, State):
        return _fill(input, filling(number("fill", "value", 2, value),  # type: ignore[no-any-return]
                                    input._array.dtype))
    if value._array.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} "
                           "dimensions.")
    return _fill_tensor(input, value)  # type: ignore[no-any-return]


def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """`ldexp`, written over the tensor itself. Raises RuntimeError where that holds ints."""
    if isinstance(input, State) and input._array.dtype.kind in "biu" and isinstance(other, State):
        kind = torch_dtype.of[input._array.dtype].legacy
        raise RuntimeError(f"ldexp can't be cast to the desired output type {kind}")
    return _ldexp_written(input, other)  # type: ignore[no-any-return]


def _np_isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """NumPy's isin: an array may stand where a tensor does."""
    return isin(*[plain(x) if isinstance(x, np.ndarray) else x for x in (element, test_elements)], invert=invert)


NUMPY: dict[Any, Callable[..., Any]] = {np.isin: _np_isin}


class NumberMethods:
    """Mantissas and exponents, divisors and neighbours, as methods and in place."""

    __slots__ = ()

    gcd, lcm, nextafter, ldexp, frexp = gcd, lcm, nextafter, ldexp, frexp
    gcd_, lcm_, nextafter_, ldexp_ = gcd_, lcm_, nextafter_, ldexp_
