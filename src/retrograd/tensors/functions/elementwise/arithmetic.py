"""Arithmetic and powers of tensors: functions, methods, Python's operators, and in place.

A Python number counts less than a tensor when the common type is chosen. As in PyTorch, a number to the left of `-`,
and a number that is an exponent or a base, is recorded as an option and not as an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import BOOL_, C128, F64, dtype as torch_dtype, legacy, letter
from ....foundations.errors import noted
from ....foundations.scalars import beyond_64_bits
from ....ops.basic import cast
from ....ops.domains import subtracted
from ....ops.elementwise import arithmetic as ops
from ....ops.framework import Op
from ...arguments.options import check_tensor, number
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.inplace_methods import augmented, inplace
from ...recording.out_rules import ELEMENTWISE, FOUND, UNDERIVED, rule
from ...recording.overwriting import copy_, fill as fill, fill_, zero_ as zero_
from ...recording.public import methods, public, renamed
from ...recording.twins import Call, both, twins
from ...state.base import TensorBase, plain

NUMBER = (bool, int, float, complex, np.generic)

(mul, mul_), (reciprocal, reciprocal_) = both(ops.mul), both(ops.reciprocal)
neg, neg_ = both(ops.neg, rule(exact=FOUND))
square, square_ = recorded(ops.square, out=rule(blame="pow")), inplace(ops.square)

_add, _sub, _div = recorded(ops.add), recorded(ops.sub), recorded(ops.div)
_rsub, _rsub_scaled = recorded(ops.rsub), recorded(ops.rsub_scaled)
_div_rounded = {"floor": ops.div_floor, "trunc": ops.div_trunc}
_power, _power_tensor = recorded(ops.power), recorded(ops.pow_)
_cast = recorded(cast)


def invalid(name: str, *args: Any) -> TypeError:
    """The error for arguments that fit no signature of the function. PyTorch lists the signatures behind it."""
    kinds = ", ".join(type(arg).__name__ for arg in args)
    return noted(
        TypeError(f"{name}() received an invalid combination of arguments - got ({kinds})"),
        because="operands are tensors or Python numbers")


@twins("add(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)", out=ELEMENTWISE, method=True)
def add(call: Call, input: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`input + alpha * other`, broadcast, in the common dtype. Raises RuntimeError for float alpha and int operands.

    >>> import retrograd as torch
    >>> torch.add(torch.tensor([1., 2.]), 10, alpha=2)
    tensor([21., 22.])
    """
    if type(alpha) is int and alpha == 1:
        return over(ops.add, input, other) if call is over else _add(input, other)  # type: ignore[no-any-return]
    return call(ops.add_scaled, input, other, number("add", "alpha", 3, alpha))


@twins("sub(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)", out=ELEMENTWISE, method=True)
def sub(call: Call, input: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`input - alpha * other`, broadcast, in the common dtype. Raises RuntimeError for bools."""
    if type(alpha) is int and alpha == 1:
        return over(ops.sub, input, other) if call is over else _sub(input, other)  # type: ignore[no-any-return]
    return call(ops.sub_scaled, input, other, number("sub", "alpha", 3, alpha))


@public("rsub(Tensor input, Tensor other, *, Number alpha=1)", "rsub(Tensor input, Number other, Number alpha=1)")
def rsub(input: TensorBase, other: Any, *, alpha: Any = 1) -> TensorBase:
    """`other - alpha * input`, broadcast, in the common dtype. Raises RuntimeError for bools."""
    check_tensor("rsub", input)
    alpha = number("rsub", "alpha", 3, alpha)
    if isinstance(other, NUMBER):
        if isinstance(other, bool):
            subtracted(input._array.dtype, [input._array.dtype, BOOL_])
        return _rsub(input, number("rsub", "other", 2, other), alpha)  # type: ignore[no-any-return]
    return _rsub_scaled(input, other, alpha)  # type: ignore[no-any-return]


@twins(
    "div(Tensor input, Tensor other, out)",
    "div(Tensor input, Tensor other, *, str? rounding_mode, Tensor out=None)",
    "div(Tensor input, Number other, *, str? rounding_mode)",
    out=ELEMENTWISE, method=True)
def div(call: Call, input: TensorBase, other: Any, *, rounding_mode: str | None = None) -> TensorBase:
    """`input / other`, broadcast. `rounding_mode` "floor" rounds the quotient down, "trunc" rounds it towards 0.

    Ints give ints if there is a rounding, and the default float dtype if not. Int division by 0 is a RuntimeError.

    >>> import retrograd as torch
    >>> torch.div(torch.tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    """
    if rounding_mode is None:
        return over(ops.div, input, other) if call is over else _div(input, other)  # type: ignore[no-any-return]
    if rounding_mode not in _div_rounded:
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                           f"'{rounding_mode}'")
    return call(_div_rounded[rounding_mode], input, other, rounding_mode)


def _is_option(call: Call, other: Any) -> bool:
    """Whether `other` is a number for an option. In place, a complex number is an operand, so that its type is refused.
    """
    return isinstance(other, NUMBER) and not (call is over and isinstance(other, complex))


@twins(
    "floor_divide(Tensor input, Tensor other, out)",
    "floor_divide(Tensor input, Number other)",
    out=rule(gradient=UNDERIVED), method=True)
def floor_divide(call: Call, input: Any, other: Any) -> TensorBase:
    """The quotient rounded down, without a derivative. Raises RuntimeError if an int is divided by 0."""
    if _is_option(call, other):
        return call(ops.floor_divide_number, input, number("floor_divide", "other", 2, other))
    if isinstance(input, NUMBER):
        return call(ops.number_floor_divide, other, input)
    return call(ops.floor_divide, input, other)


@twins(
    "remainder(Tensor input, Tensor other, out)",
    "remainder(Number self, Tensor other)",
    "remainder(Tensor input, Number other, out)",
    out=ELEMENTWISE, method=True)
def remainder(call: Call, input: Any, other: Any) -> TensorBase:
    """The remainder of the division rounded down, with the sign of `other`. A zero has the sign of `input`.

    Raises RuntimeError for an int divided by 0.
    """
    if _is_option(call, other):
        return call(ops.remainder_number, input, number("remainder", "other", 2, other))
    if isinstance(input, NUMBER):
        return call(ops.number_remainder, other, input)
    return call(ops.remainder, input, other)


@twins("fmod(Tensor input, Tensor other, out)", "fmod(Tensor input, Number other, out)", out=ELEMENTWISE, method=True)
def fmod(call: Call, input: TensorBase, other: Any) -> TensorBase:
    """The remainder of the division rounded towards 0, with the sign of `input`. RuntimeError for ints divided by 0."""
    check_tensor("fmod", input)
    if _is_option(call, other):
        return call(ops.fmod_number, input, number("fmod", "other", 2, other))
    return call(ops.fmod, input, other)


@twins(
    "pow(Tensor input, Tensor exponent, out)",
    "pow(Number self, Tensor exponent, out)",
    "pow(Tensor input, Number exponent, out)",
    out=ELEMENTWISE, method=True)
def pow(call: Call, input: Any, exponent: Any) -> TensorBase:
    """`input ** exponent`, broadcast. Either may be a Python number, but not both.

    Raises RuntimeError if the input is an int tensor and the exponent a negative int.

    >>> import retrograd as torch
    >>> torch.pow(2, torch.tensor([1., 3.]))
    tensor([2., 8.])
    """
    if isinstance(input, NUMBER) and isinstance(exponent, TensorBase):
        return call(ops.number_to_power, exponent, number("pow", "self", 1, input))
    if call is over and isinstance(exponent, (TensorBase, *NUMBER)):
        if isinstance(exponent, TensorBase):
            return call(ops.pow_, input, exponent)
        return call(ops.power, input, number("pow", "exponent", 2, exponent))
    refused = call is over or isinstance(exponent, np.ndarray)     # which the operator ** takes
    result: Any = NotImplemented if refused else _power_of(input, exponent)
    if result is NotImplemented:
        raise invalid("pow", input, exponent)
    return result  # type: ignore[no-any-return]


pow_ = pow.written


@public(operator="pow", name="__pow__", method=True)
def _power_of(self: TensorBase, exponent: Any, *modulus: Any) -> Any:
    """The operator `**`. It tests for a square first, because nine in ten powers are squares."""
    if modulus:
        return NotImplemented
    kind = type(exponent)
    if kind is int or kind is float:
        if exponent == 2 and (kind is int or letter(self._array.dtype) in "fc"):
            return square(self)
        if kind is int and not -2**63 <= exponent < 2**64:
            raise beyond_64_bits(exponent)
        return _power(self, exponent)
    if isinstance(exponent, TensorBase):
        return _power_tensor(self, exponent)
    if isinstance(exponent, NUMBER):
        return _power(self, number("pow", "exponent", 2, exponent))
    return _power_tensor(self, plain(exponent)) if isinstance(exponent, np.ndarray) else NotImplemented


@twins(
    "float_power(Tensor input, Tensor exponent, out)",
    "float_power(Number self, Tensor exponent, out)",
    "float_power(Tensor input, Number exponent, out)",
    out=rule(blame="pow", exact="the output given to float_power has dtype {out} but the operation's result requires "
        "dtype {result}"), method=True)
def float_power(call: Call, input: TensorBase, exponent: Any) -> TensorBase:
    """`pow` in double precision: complex128 if either operand is complex, else float64.

    In place, raises RuntimeError if the tensor does not have the result's dtype.
    """
    target = _double_type(input, exponent)
    if call is not over:
        return pow(_doubled(input, target), _doubled(exponent, target))  # type: ignore[no-any-return]
    if input._array.dtype != target:
        raise RuntimeError(f"the base given to float_power_ has dtype {legacy(input._array)} but the operation's "
                           f"result requires dtype {torch_dtype.of[target].legacy}")
    return pow_(input, _doubled(exponent, target))  # type: ignore[no-any-return]


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
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


# Operators


@public(operator="__rsub__", method=True)
def __rsub__(self: TensorBase, other: Any) -> Any:
    if other is True or other is False or isinstance(other, TensorBase):
        return rsub(self, other)
    _refuse_beyond(other)
    return _rsub(self, other, 1) if isinstance(other, NUMBER) else NotImplemented


def _refuse_beyond(other: Any) -> None:
    """Raise OverflowError for an int that 64 bits do not hold."""
    if type(other) is int and not -2**63 <= other < 2**64:
        raise beyond_64_bits(other)


@public(operator="__rtruediv__", method=True)
def __rtruediv__(self: TensorBase, other: Any) -> Any:
    return reciprocal(self) * other if isinstance(other, (*NUMBER, TensorBase)) else NotImplemented


def _reversed(name: str, op: Op, of_tensors: Callable[..., Any]) -> Callable[..., Any]:
    """Python's operator of this name, with a number to the left of the tensor; or a tensor, if called by its name."""
    call = recorded(op)

    @public(operator=name, method=True, name=name, doc=f"Python's operator `{name}`.")
    def operator(self: TensorBase, other: Any) -> Any:
        return _after(other, self, call, of_tensors)

    return operator


def _after(other: Any, tensor: TensorBase, call: Callable[..., Any], of_tensors: Callable[..., Any]) -> Any:
    """The result for a tensor to the right of `other`, from `call` for a number, and NotImplemented for no operand."""
    _refuse_beyond(other)
    if isinstance(other, NUMBER):
        return call(tensor, other)
    return of_tensors(other, tensor) if isinstance(other, TensorBase) else NotImplemented


def _divided(name: str, function: str, by: Op, by_number: Op) -> Callable[..., Any]:
    """Python's operator `//` or `%`. `function` is the name of the same function."""
    call, call_number = recorded(by), recorded(by_number)

    @public(operator=function, method=True, name=name, doc=f"Python's operator `{name}`.")
    def operator(self: TensorBase, other: Any) -> Any:
        if isinstance(other, NUMBER):
            return call_number(self, number(by.name, "other", 2, other))
        if isinstance(other, np.ndarray):
            return call(self, plain(other))
        return call(self, other) if isinstance(other, TensorBase) else NotImplemented

    return operator


_number_to_power = recorded(ops.number_to_power)


@public(operator="__rpow__", method=True, doc="Python's operator `__rpow__`. There is no power with a modulus.")
def __rpow__(self: TensorBase, other: Any, *modulus: Any) -> Any:
    if modulus:                                              # which pow() hands on from Python 3.14 on
        return NotImplemented
    return _after(other, self, _number_to_power, pow)


_reversed("__rfloordiv__", ops.number_floor_divide, floor_divide)
_reversed("__rmod__", ops.number_remainder, remainder)
_divided("__floordiv__", "__floordiv__", ops.floor_divide, ops.floor_divide_number)
_divided("__mod__", "remainder", ops.remainder, ops.remainder_number)


subtract, divide, negative = renamed(sub, "subtract"), renamed(div, "divide"), renamed(neg, "negative")
multiply, true_divide = (
    renamed(function, name, f"{name}(Tensor input, Tensor other, out)", f"{name}(Tensor input, Number other)")
    for function, name in ((mul, "multiply"), (div, "true_divide")))
multiply_, negative_ = mul_, neg_
__truediv__, __itruediv__ = recorded(ops.div, dunder="div"), augmented(ops.div, "div_")
_over_power = augmented(pow_, "__ipow__")


def __ipow__(self: TensorBase, other: Any, *modulus: Any) -> Any:
    """`pow_`, written over the tensor itself."""
    return NotImplemented if modulus else _over_power(self, other)


methods(
    fill_, zero_, copy_, __add__=recorded(ops.add, dunder="add"), __radd__=recorded(ops.add, dunder="add"),
    __mul__=recorded(ops.mul, dunder="mul"), __rmul__=recorded(ops.mul, dunder="mul"),
    __sub__=recorded(ops.sub, dunder="sub"), __truediv__=__truediv__, __div__=__truediv__, __rdiv__=__rtruediv__,
    __neg__=recorded(ops.neg), __pos__=positive, subtract=subtract, multiply=multiply, divide=divide,
    true_divide=true_divide, square=square, negative=negative, __iadd__=augmented(ops.add, "add_"),
    __isub__=augmented(ops.sub, "sub_"),
    __imul__=augmented(ops.mul, "mul_"), __itruediv__=__itruediv__, __idiv__=__itruediv__, multiply_=mul_,
    __ifloordiv__=augmented(floor_divide.written, "__ifloordiv__"), __imod__=augmented(remainder.written, "__imod__"),
    __ipow__=__ipow__, subtract_=sub.written, divide_=div.written, true_divide_=div.written,
    negative_=neg_, square_=square_)
