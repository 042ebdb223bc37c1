"""Arithmetic and powers of tensors: functions, methods, Python's operators, and in place.

A Python number counts less than a tensor when the common type is chosen. As in PyTorch, a number to the left of `-`,
and a number that is an exponent or a base, is recorded as an option and not as an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dtypes import BOOL_, C128, F64, dtype as torch_dtype
from ....ops.basic import cast
from ....ops.domains import subtracted
from ....ops.elementwise import arithmetic as ops
from ...arguments.dims import not_a_tensor
from ...arguments.options import check_tensor, filling, number
from ...recording.calls import recorded
from ...recording.inplace import augmented, inplace, over, write
from ...recording.out_rules import ELEMENTWISE, FOUND, UNDERIVED, rule
from ...recording.overwriting import copy_, fill_ as fill_, zero_ as zero_
from ...recording.public import methods, public
from ...recording.twins import Call, twins
from ...state.base import TensorBase

NUMBER = (bool, int, float, complex, np.generic)

mul = recorded(ops.mul)
reciprocal = recorded(ops.reciprocal)
neg = recorded(ops.neg, out=rule(exact=FOUND))
square = recorded(ops.square, out=rule(blame="pow"))
_remainder = recorded(ops.remainder)

_add, _sub, _div = recorded(ops.add), recorded(ops.sub), recorded(ops.div)
_add_scaled, _sub_scaled, _rsub_scaled = recorded(ops.add_scaled), recorded(ops.sub_scaled), recorded(ops.rsub_scaled)
_rsub = recorded(ops.rsub)
_div_rounded = {"floor": recorded(ops.div_floor), "trunc": recorded(ops.div_trunc)}
_power, _power_tensor, _number_to_power = recorded(ops.power), recorded(ops.pow_), recorded(ops.number_to_power)
_remainder_number = recorded(ops.remainder_number)
_floor_divide, _floor_divide_number = recorded(ops.floor_divide), recorded(ops.floor_divide_number)
_fill, _fill_with = recorded(ops.fill), recorded(ops.fill_tensor)
_number_floor_divide, _number_remainder = recorded(ops.number_floor_divide), recorded(ops.number_remainder)
_cast = recorded(cast)


def invalid(name: str, *args: Any) -> TypeError:
    """The error for arguments that fit no signature of the function. It begins with PyTorch's words."""
    kinds = ", ".join(type(arg).__name__ for arg in args)
    return TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}). Operands must be tensors "
                     "or Python numbers")


def _refuse_none(name: str, input: Any, other: Any) -> None:
    """Raise TypeError for None. An op with options takes None for a missing tensor, but needs these two tensors."""
    for position, (argument, value) in enumerate((("input", input), ("other", other)), 1):
        if value is None:
            raise not_a_tensor(name, value, argument, position)


@public("add(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)", out=ELEMENTWISE, method=True)
def add(input: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`input + alpha * other`, broadcast, in the common dtype. Raises RuntimeError for float alpha and int operands.

    >>> import retrograd as torch
    >>> torch.add(torch.tensor([1., 2.]), 10, alpha=2)
    tensor([21., 22.])
    """
    if alpha == 1 and alpha is not True:
        return _add(input, other)  # type: ignore[no-any-return]
    _refuse_none("add", input, other)
    return _add_scaled(input, other, number("add", "alpha", 3, alpha))  # type: ignore[no-any-return]


@public("sub(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)", out=ELEMENTWISE, method=True)
def sub(input: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`input - alpha * other`, broadcast, in the common dtype. Raises RuntimeError for bools."""
    if alpha == 1 and alpha is not True:
        return _sub(input, other)  # type: ignore[no-any-return]
    _refuse_none("sub", input, other)
    return _sub_scaled(input, other, number("sub", "alpha", 3, alpha))  # type: ignore[no-any-return]


@public("rsub(Tensor input, Tensor other, *, Number alpha=1)", "rsub(Tensor input, Number other, Number alpha=1)")
def rsub(input: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`other - alpha * input`, broadcast, in the common dtype. Raises RuntimeError for bools."""
    if not isinstance(input, TensorBase):
        raise invalid("rsub", input, other)
    alpha = number("rsub", "alpha", 3, alpha)
    if isinstance(other, NUMBER):
        if isinstance(other, bool) and isinstance(input, TensorBase):
            subtracted(input._array.dtype, [input._array.dtype, BOOL_])
        return _rsub(input, number("rsub", "other", 2, other), alpha)  # type: ignore[no-any-return]
    check_tensor("rsub", other, "other", 2)
    return _rsub_scaled(input, other, alpha)  # type: ignore[no-any-return]


@public(
    "div(Tensor input, Tensor other, out)",
    "div(Tensor input, Tensor other, *, str? rounding_mode, Tensor out=None)",
    "div(Tensor input, Number other, *, str? rounding_mode)",
    out=ELEMENTWISE, method=True)
def div(input: TensorBase, other: Any, *, rounding_mode: str | None = None) -> TensorBase:
    """`input / other`, broadcast. `rounding_mode` "floor" rounds the quotient down, "trunc" rounds it towards 0.

    Ints give ints if there is a rounding, and the default float dtype if not. Int division by 0 is a RuntimeError.

    >>> import retrograd as torch
    >>> torch.div(torch.tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    """
    if rounding_mode is None:
        return _div(input, other)  # type: ignore[no-any-return]
    if input is None or other is None:
        raise invalid("div", input, other)
    return _rounding(rounding_mode)(input, other, rounding_mode)  # type: ignore[no-any-return]


def _rounding(mode: str) -> Callable[..., Any]:
    call = _div_rounded.get(mode)
    if call is None:
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'")
    return call


@public(
    "floor_divide(Tensor input, Tensor other, out)",
    "floor_divide(Tensor input, Number other)",
    out=rule(gradient=UNDERIVED), method=True)
def floor_divide(input: Any, other: Any) -> TensorBase:
    """The quotient rounded down, without a derivative. Raises RuntimeError if an int is divided by 0."""
    result = _floor_divide_by(input, other) if isinstance(input, TensorBase) else __rfloordiv__(other, input)
    if result is NotImplemented:
        raise invalid("floor_divide", input, other)
    return result  # type: ignore[no-any-return]


@public(operator="__floordiv__", name="__floordiv__")
def _floor_divide_by(self: Any, other: Any) -> Any:
    """The operator `//`."""
    if isinstance(other, NUMBER):
        return _floor_divide_number(self, number("floor_divide", "other", 2, other))
    return _floor_divide(self, other) if isinstance(other, (TensorBase, np.ndarray)) else NotImplemented


@public(
    "remainder(Tensor input, Tensor other, out)",
    "remainder(Number self, Tensor other)",
    "remainder(Tensor input, Number other, out)",
    out=ELEMENTWISE, method=True)
def remainder(input: Any, other: Any) -> TensorBase:
    """The remainder of the division rounded down. Its sign is that of `other`. Int division by 0 is a RuntimeError."""
    result = _remainder_by(input, other) if isinstance(input, TensorBase) else __rmod__(other, input)
    if result is NotImplemented:
        raise invalid("remainder", input, other)
    return result  # type: ignore[no-any-return]


@public(operator="remainder", name="__mod__")
def _remainder_by(self: Any, other: Any) -> Any:
    """The operator `%`."""
    if isinstance(other, NUMBER):
        return _remainder_number(self, number("remainder", "other", 2, other))
    return _remainder(self, other) if isinstance(other, (TensorBase, np.ndarray)) else NotImplemented


@twins("fmod(Tensor input, Tensor other, out)", "fmod(Tensor input, Number other, out)", out=ELEMENTWISE, method=True)
def fmod(call: Call, input: TensorBase, other: Any) -> TensorBase:
    """The remainder of the division rounded towards 0, with the sign of `input`. RuntimeError for ints divided by 0."""
    if isinstance(other, NUMBER):
        return call(ops.fmod_number, input, number("fmod", "other", 2, other))
    return call(ops.fmod, input, other)


@public(
    "pow(Tensor input, Tensor exponent, out)",
    "pow(Number self, Tensor exponent, out)",
    "pow(Tensor input, Number exponent, out)",
    out=ELEMENTWISE, method=True)
def pow(input: Any, exponent: Any) -> TensorBase:
    """`input ** exponent`, broadcast. Either may be a Python number, but not both.

    Raises RuntimeError if the input is an int tensor and the exponent a negative int.

    >>> import retrograd as torch
    >>> torch.pow(2, torch.tensor([1., 3.]))
    tensor([2., 8.])
    """
    if isinstance(input, TensorBase):
        result = _power_of(input, exponent)
        if result is NotImplemented:
            raise invalid("pow", input, exponent)
        return result  # type: ignore[no-any-return]
    if isinstance(input, NUMBER) and isinstance(exponent, TensorBase):
        return _number_to_power(exponent, number("pow", "self", 1, input))  # type: ignore[no-any-return]
    raise invalid("pow", input, exponent)


@public(operator="pow", name="__pow__")
def _power_of(self: Any, exponent: Any) -> Any:
    """The operator `**`. It tests for a square first, because nine in ten powers are squares."""
    kind = type(exponent)
    if kind is int or kind is float:
        if exponent == 2 and (kind is int or self._array.dtype.kind in "fc"):
            return square(self)
        if kind is int and exponent > 127 and self._array.dtype.kind in "iu":
            filling(exponent, self._array.dtype)        # raises for an exponent too large for the dtype
        return _power(self, exponent)
    if isinstance(exponent, TensorBase):
        return _power_tensor(self, exponent)
    if isinstance(exponent, NUMBER):
        return _power(self, number("pow", "exponent", 2, exponent))
    return _power_tensor(self, exponent) if isinstance(exponent, np.ndarray) else NotImplemented


@public(
    "float_power(Tensor input, Tensor exponent, out)",
    "float_power(Number self, Tensor exponent, out)",
    "float_power(Tensor input, Number exponent, out)",
    out=rule(blame="pow", exact="the output given to float_power has dtype {out} but the operation's result requires "
        "dtype {result}"), method=True)
def float_power(input: Any, exponent: Any) -> TensorBase:
    """`pow` in double precision: complex128 if either operand is complex, else float64."""
    target = _double_type(input, exponent)
    return pow(_doubled(input, target), _doubled(exponent, target))


def _doubled(value: Any, target: np.dtype[Any]) -> Any:
    """A tensor, cast to the type `target`. A number stays as it is."""
    return _cast(value, target) if isinstance(value, TensorBase) and value._array.dtype != target else value


def _double_type(*operands: Any) -> np.dtype[Any]:
    """complex128 if an operand is complex, else float64."""
    kinds = [x._array.dtype.kind if isinstance(x, TensorBase) else "c" if isinstance(x, complex) else "f"
             for x in operands]
    return C128 if "c" in kinds else F64


@public("positive(Tensor input)", method=True)
def positive(input: TensorBase) -> TensorBase:
    """The input tensor itself, not a copy. Raises RuntimeError for bools."""
    check_tensor("positive", input)
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# Operators


@public(operator="__rsub__", method=True)
def __rsub__(self: TensorBase, other: Any) -> Any:
    if other is True or other is False:
        return rsub(self, other)
    return _rsub(self, other, 1) if isinstance(other, NUMBER) else NotImplemented


@public(operator="__rtruediv__", method=True)
def __rtruediv__(self: TensorBase, other: Any) -> Any:
    return reciprocal(self) * other if isinstance(other, NUMBER) else NotImplemented


@public(operator="__rpow__", method=True)
def __rpow__(self: TensorBase, other: Any) -> Any:
    return _number_to_power(self, other) if isinstance(other, NUMBER) else NotImplemented


@public(operator="__rfloordiv__", method=True)
def __rfloordiv__(self: TensorBase, other: Any) -> Any:
    return _number_floor_divide(self, other) if isinstance(other, NUMBER) else NotImplemented


@public(operator="__rmod__", method=True)
def __rmod__(self: TensorBase, other: Any) -> Any:
    return _number_remainder(self, other) if isinstance(other, NUMBER) else NotImplemented


# In place


@public(method=True)
def add_(self: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`self += alpha * other`."""
    if alpha == 1 and alpha is not True:
        return over(ops.add, self, other)  # type: ignore[no-any-return]
    return over(ops.add_scaled, self, other, number("add_", "alpha", 2, alpha))  # type: ignore[no-any-return]


@public(method=True)
def sub_(self: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`self -= alpha * other`."""
    if alpha == 1 and alpha is not True:
        return over(ops.sub, self, other)  # type: ignore[no-any-return]
    return over(ops.sub_scaled, self, other, number("sub_", "alpha", 2, alpha))  # type: ignore[no-any-return]


@public(method=True)
def div_(self: TensorBase, other: Any, *, rounding_mode: str | None = None) -> TensorBase:
    """`self /= other`. `rounding_mode` is the same as in `div`."""
    if rounding_mode is None:
        return over(ops.div, self, other)  # type: ignore[no-any-return]
    _rounding(rounding_mode)
    return over(ops.div_floor if rounding_mode == "floor" else ops.div_trunc,  # type: ignore[no-any-return]
                self, other, rounding_mode)


@public(method=True)
def floor_divide_(self: TensorBase, other: Any) -> TensorBase:
    """`self //= other`."""
    write(ops.floor_divide_number if isinstance(other, (int, float)) else ops.floor_divide, self, (other,))
    return self


@public(method=True)
def remainder_(self: TensorBase, other: Any) -> TensorBase:
    """`self %= other`."""
    write(ops.remainder_number if isinstance(other, (int, float)) else ops.remainder, self, (other,))
    return self


@public(method=True)
def pow_(self: TensorBase, exponent: Any) -> TensorBase:
    """`self **= exponent`."""
    if not isinstance(exponent, (TensorBase, *NUMBER)):
        raise invalid("pow_", exponent)
    write(ops.pow_ if isinstance(exponent, TensorBase) else ops.power, self, (exponent,))
    return self


@public(method=True)
def float_power_(self: TensorBase, exponent: Any) -> TensorBase:
    """`float_power`, written into the tensor. Raises RuntimeError if the tensor does not have the result's dtype."""
    target = _double_type(self, exponent)
    if self._array.dtype != target:
        have, want = torch_dtype.of[self._array.dtype].legacy, torch_dtype.of[target].legacy
        raise RuntimeError(f"the base given to float_power_ has dtype {have} but the operation's result requires dtype "
                           f"{want}")
    return pow_(self, _doubled(exponent, target))


neg_ = negative_ = inplace(ops.neg)
square_, reciprocal_ = inplace(ops.square), inplace(ops.reciprocal)


@public()
def fill(input: TensorBase, value: Any) -> TensorBase:
    """A tensor of the input's shape and dtype, filled with a number or with the element of a 0-d tensor.

    Raises RuntimeError if the number does not fit the dtype, or if `value` is a tensor with dimensions.
    """
    if not isinstance(input, TensorBase) or not isinstance(value, (TensorBase, *NUMBER)):
        raise invalid("fill", input, value)
    if not isinstance(value, TensorBase):
        return _fill(input, filling(number("fill", "value", 2, value),  # type: ignore[no-any-return]
                                    input._array.dtype))
    if value._array.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} "
                           "dimensions.")
    return _fill_with(input, value)  # type: ignore[no-any-return]


__truediv__ = __div__ = recorded(ops.div, dunder="div")
__itruediv__ = __idiv__ = augmented(ops.div, "div_")
mul_ = multiply_ = inplace(ops.mul)
methods(
    _floor_divide_by, _remainder_by, _power_of, mul, neg, reciprocal, mul_, neg_, reciprocal_, fill_, zero_, copy_,
    __add__=recorded(ops.add, dunder="add"), __radd__=recorded(ops.add, dunder="add"),
    __mul__=recorded(ops.mul, dunder="mul"), __rmul__=recorded(ops.mul, dunder="mul"),
    __sub__=recorded(ops.sub, dunder="sub"), __truediv__=__truediv__, __div__=__truediv__, __rdiv__=__rtruediv__,
    __neg__=recorded(ops.neg), __pos__=positive, subtract=sub, multiply=mul, divide=div, true_divide=div,
    square=square, negative=neg, __iadd__=augmented(ops.add, "add_"), __isub__=augmented(ops.sub, "sub_"),
    __imul__=augmented(ops.mul, "mul_"), __itruediv__=__itruediv__, __idiv__=__itruediv__, multiply_=mul_,
    __ifloordiv__=augmented(floor_divide_, "__ifloordiv__"), __imod__=augmented(remainder_, "__imod__"),
    __ipow__=augmented(pow_, "__ipow__"), subtract_=sub_, divide_=div_, true_divide_=div_, negative_=neg_,
    square_=square_)


subtract, multiply, divide, true_divide, negative = sub, mul, div, div, neg
