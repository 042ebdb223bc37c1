"""Comparisons, logic, bits, limits and choices of tensors: functions, methods, operators, and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import C_NAMES, F16, F32, F64, category, dtype as torch_dtype, is_half, letter, result_dtype
from ....foundations.errors import noted, warn_once
from ....foundations.scalars import COMMON, check_convertible, check_double, filling
from ....ops.basic import cast
from ....ops.elementwise import comparison as ops
from ....ops.framework import Op
from ....ops.indexing.sorting import nonzero_columns
from ...arguments.checking import refusal
from ...arguments.dims import array_of
from ...arguments.options import check_tensor, number
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.inplace_methods import augmented
from ...recording.operands import NUMBERS, common, scalar
from ...recording.out_rules import CONSTANT, ELEMENTWISE, FOUND, UNASKED, UNDERIVED, Rule, rule
from ...recording.public import methods, public, renamed
from ...recording.public_facts import facts_of
from ...recording.twins import Call, Function, both, twins
from ...state.base import TensorBase, plain, with_edge
from ...state.inside import refuse_samples
from .arithmetic import NUMBER, invalid
from .elementary import between_tensors, twins_of_tensors

_cast = recorded(cast)
_where, _isclose, _nonzero_columns = recorded(ops.where), recorded(ops.isclose), recorded(nonzero_columns)


def _comparing(op: Op) -> Function:
    """A comparison as PyTorch's function of a tensor and a tensor or a number. In place it writes ones and zeros."""
    with_number = ops.WITH_NUMBER[op]

    @twins(f"{op.name}(Tensor input, Tensor other, out)", f"{op.name}(Tensor input, Number other, out)", name=op.name,
           out=rule(gradient=UNASKED), method=True,
           doc=f"`{op.name}` with a tensor or a number, elementwise. The result holds bools.")
    def function(call: Call, input: TensorBase, other: Any) -> Any:
        if not isinstance(input, TensorBase) or not isinstance(other, (TensorBase, *NUMBER)):
            raise invalid(op.name, input, other)
        return call(with_number if call is over and isinstance(other, NUMBER) else op, input, other)

    return function


def _bitwise(op: Op) -> Function:
    """An op as PyTorch's function of two tensors, or of a tensor and a number in either order."""

    @twins(f"{op.name}(Tensor input, Tensor other, out)", f"{op.name}(Number self, Tensor other)",
           f"{op.name}(Tensor input, Number other, out)", name=op.name, out=rule(gradient=CONSTANT), method=True,
           doc=f"Elementwise `{op.name}` of integers or bools. Either operand may be a number.")
    def function(call: Call, input: Any, other: Any) -> Any:
        if not isinstance(input, TensorBase) and not isinstance(other, TensorBase):
            raise invalid(op.name, input, other)
        return call(op, input, other)

    return function


eq, ne, lt = _comparing(ops.eq), _comparing(ops.ne), _comparing(ops.lt)
le, gt, ge = _comparing(ops.le), _comparing(ops.gt), _comparing(ops.ge)
not_equal, less, less_equal = renamed(ne, "not_equal"), renamed(lt, "less"), renamed(le, "less_equal")
greater, greater_equal = renamed(gt, "greater"), renamed(ge, "greater_equal")
logical_and, logical_or, logical_xor = (twins_of_tensors(op, rule(gradient=UNASKED)) for op in (
    ops.logical_and, ops.logical_or, ops.logical_xor))
logical_not, _ = both(ops.logical_not, rule(gradient=UNASKED))
bitwise_and, bitwise_or, bitwise_xor = _bitwise(ops.bitwise_and), _bitwise(ops.bitwise_or), _bitwise(ops.bitwise_xor)
bitwise_left_shift, bitwise_right_shift = _bitwise(ops.left_shift), _bitwise(ops.right_shift)
bitwise_not, _ = both(ops.bitwise_not, rule(exact=FOUND, gradient=CONSTANT))
isnan, isinf, isfinite, isreal = (recorded(op, out=None) for op in (ops.isnan, ops.isinf, ops.isfinite, ops.isreal))
isposinf, isneginf, signbit = (
    recorded(op, out=rule(exact="{name} does not support non-boolean outputs.", gradient=UNASKED))
    for op in (ops.isposinf, ops.isneginf, ops.signbit))
maximum, minimum = between_tensors(ops.maximum), between_tensors(ops.minimum)
fmax, fmin = between_tensors(ops.fmax), between_tensors(ops.fmin)


def identity(self: TensorBase) -> int:
    """The hash of a tensor: `==` compares elements, so only the object itself has the same hash."""
    return id(self)


@public(operator="__invert__", method=True)
def __invert__(self: TensorBase) -> Any:
    if self._array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


@public(operator="__rlshift__", method=True)
def __rlshift__(self: TensorBase, other: Any) -> Any:
    return bitwise_left_shift(other, self) if isinstance(other, (*NUMBER, TensorBase)) else NotImplemented


@public(operator="__rrshift__", method=True)
def __rrshift__(self: TensorBase, other: Any) -> Any:
    return bitwise_right_shift(other, self) if isinstance(other, (*NUMBER, TensorBase)) else NotImplemented


@twins("heaviside(Tensor input, Tensor values, out)",
       out=rule(exact="heaviside is not yet implemented for tensors with different dtypes.", gradient=UNDERIVED),
       method=True)
def heaviside(call: Call, input: TensorBase, values: TensorBase) -> TensorBase:
    """Elementwise 0 if the input is negative, 1 if positive, `values` if 0. There is no derivative.

    Raises RuntimeError if the dtypes differ, and for complex numbers.
    """
    if "c" in (input._array.dtype.kind, values._array.dtype.kind):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if input._array.dtype != values._array.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return call(ops.heaviside, input, values)


@twins("copysign(Tensor input, Tensor other, out)", "copysign(Tensor input, Number other, out)", out=ELEMENTWISE,
       method=True)
def copysign(call: Call, input: TensorBase, other: Any) -> TensorBase:
    """The absolute values of the input with the signs of `other`, a tensor or a number. The two are broadcast."""
    if not isinstance(input, TensorBase):
        raise invalid("copysign", input, other)
    if isinstance(other, NUMBER):
        return call(ops.copysign_number, input, number("copysign", "other", 2, other))
    return call(ops.copysign, input, other)


@public("equal(Tensor input, Tensor other)", method=True)
def equal(input: TensorBase, other: TensorBase) -> bool:
    """Whether both tensors have the same shape and the same elements, as a bool. nan equals nothing."""
    refuse_samples("equal", input, other)
    return bool(np.array_equal(*map(_whole, common(ops.eq, (input, other)))))


def _whole(array: Any) -> Any:
    """The array, or the whole of an array that lies on several processes."""
    full = getattr(array, "full", None)
    return array if full is None else full()


@public("isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)", method=True)
def isclose(input: TensorBase, other: TensorBase, rtol: float = 1e-05, atol: float = 1e-08,
            equal_nan: bool = False) -> TensorBase:
    """Bools, true where `|input - other| <= atol + rtol * |other|`. Raises RuntimeError if the dtypes differ.

    >>> import retrograd as torch
    >>> torch.isclose(torch.tensor([1., 2.]), torch.tensor([1. + 1e-7, 2.1]))
    tensor([ True, False])
    """
    rtol, atol = _check_close("isclose", input, other, rtol, atol)
    return _isclose(input, other, rtol, atol, equal_nan)  # type: ignore[no-any-return]


@public("allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
        method=True)
def allclose(input: TensorBase, other: TensorBase, rtol: float = 1e-05, atol: float = 1e-08,
             equal_nan: bool = False) -> bool:
    """Whether `isclose` is true for all elements, as a bool."""
    refuse_samples("allclose", input, other, said="vmap over torch.{} isn't supported yet. Please file an issue at "
                   "https://github.com/pytorch/pytorch/issues if you need this feature.")
    rtol, atol = _check_close("allclose", input, other, rtol, atol)
    return bool(_whole(_isclose(input, other, rtol, atol, equal_nan)._array).all())


def _check_close(name: str, input: TensorBase, other: TensorBase, rtol: float, atol: float) -> tuple[float, float]:
    """The two tolerances as floats. Raises RuntimeError if the dtypes differ or a tolerance is negative."""
    if input._array.dtype != other._array.dtype:
        raise RuntimeError(f"{input.dtype.legacy} did not match {other.dtype.legacy}")
    rtol, atol = number(name, "rtol", 3, rtol), number(name, "atol", 4, atol)
    for argument, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{argument} must be greater than or equal to zero, but got {value:g}")
    return rtol, atol


def _limited(input: TensorBase, min: Any = None, max: Any = None) -> Rule:
    """The rule of a clamp for `out`: the rule of arithmetic if a limit is a tensor, else the exact dtype."""
    return ELEMENTWISE if isinstance(min, TensorBase) or isinstance(max, TensorBase) else rule(exact=FOUND)


@twins(
    "clamp(Tensor input, Tensor min=None, Tensor max=None, out)",
    "clamp(Tensor input, Number min=None, Number max=None, out)", out=_limited, method=True)
def clamp(call: Call, input: TensorBase, min: Any = None, max: Any = None) -> TensorBase:
    """The input, limited to [min, max]. A limit is a number, a tensor, or None for no limit.

    The input gets the gradient within the limits and on them. Outside, a limit that is a tensor gets the gradient.
    Raises RuntimeError if both limits are None, NotImplementedError if the input is complex.

    >>> import retrograd as torch
    >>> torch.clamp(torch.tensor([-2., 0.5, 3.]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if type(min) in _PLAIN and type(max) in _PLAIN and min is not max:
        if call is over:
            _refuse_wider(input, min, max)
        return call(ops.clamp_number, input, min, max)
    check_tensor("clamp", input)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    given = [limit for limit in (min, max) if limit is not None]
    if all(isinstance(limit, TensorBase) for limit in given):
        return call(ops.clamp, input, min, max)
    if not all(isinstance(limit, NUMBER) or (isinstance(limit, TensorBase) and not limit._array.ndim)
               for limit in given):
        raise invalid("clamp", input, min, max)
    low, high = [None if limit is None else number("clamp", "min", 2, limit) for limit in (min, max)]
    if call is over:
        _refuse_wider(input, low, high)
    if isinstance(low, complex) or isinstance(high, complex):
        if letter(input._array.dtype) == "f":
            check_double(low)
            check_double(high)
        raise NotImplementedError("clamp is not supported for complex types")
    return call(ops.clamp_number, input, low, high)


def _refuse_wider(input: TensorBase, *limits: Any) -> None:
    """Raises RuntimeError if a number as a limit needs a wider dtype than the tensor that is written over has."""
    held = array_of("clamp_", input).dtype
    if held.kind not in "biu":
        return
    made = result_dtype([(held, True)], [limit for limit in limits if limit is not None])
    if category(made) > category(held):
        raise RuntimeError(f"result type {torch_dtype.of[made].legacy} can't be cast to the desired output type "
                           f"{C_NAMES[held.name]}")


_PLAIN = (float, int, type(None))


@twins("clamp_min(Tensor input, Tensor min, out)", "clamp_min(Tensor input, Number min, out)", out=_limited,
       method=True)
def clamp_min(call: Call, input: TensorBase, min: Any) -> TensorBase:
    """The larger of the input and `min`, a number or a tensor. Raises NotImplementedError for complex numbers."""
    if isinstance(min, TensorBase):
        return call(ops.clamp_min, input, min)
    limit = _real_limit("clamp_min", "min", min)
    if call is over:
        _refuse_wider(input, limit)
    return call(ops.clamp_min_number, input, limit, None)


@twins("clamp_max(Tensor input, Tensor max, out)", "clamp_max(Tensor input, Number max, out)", out=_limited,
       method=True)
def clamp_max(call: Call, input: TensorBase, max: Any) -> TensorBase:
    """The smaller of the input and `max`, a number or a tensor. Raises NotImplementedError for complex numbers."""
    if isinstance(max, TensorBase):
        return call(ops.clamp_max, input, max)
    limit = _real_limit("clamp_max", "max", max)
    if call is over:
        _refuse_wider(input, limit)
    return call(ops.clamp_max_number, input, None, limit)


def _real_limit(name: str, argument: str, value: Any) -> Any:
    if isinstance(value, complex):
        raise NotImplementedError("clamp is not supported for complex types")
    return number(name, argument, 2, value)


clip, clip_ = renamed(clamp, "clip"), clamp.written
clamp_, clamp_min_, clamp_max_ = clamp.written, clamp_min.written, clamp_max.written


@public(
    "where(Tensor condition) -> Tensors",
    "where(Tensor condition, Tensor input, Tensor other, out)",
    "where(Tensor condition, Number self, Tensor other)",
    "where(Tensor condition, Tensor input, Number other)",
    "where(Tensor condition, Number self, Number other)",
    out=rule(exact="Expected out type to be {result} but got {out}"))
def where(condition: TensorBase, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition is true and `other` elsewhere: tensors or numbers, broadcast, in the common dtype.

    If only the condition is given, the result is the indices of its nonzero elements: a tensor for each dimension.
    Raises RuntimeError if the condition is not a tensor of bools.

    >>> import retrograd as torch
    >>> torch.where(torch.tensor([True, False]), torch.tensor([1., 2.]), 0.)
    tensor([1., 0.])
    """
    if isinstance(input, TensorBase) and isinstance(other, TensorBase) and isinstance(condition, TensorBase):
        return _where(condition if condition._array.dtype.kind == "b" else _as_mask(condition), input, other)
    if not isinstance(condition, TensorBase):                # of the method, which `refused` does not see
        raise refusal(facts_of(where).schemas, (condition, input, other), {}) or invalid("where", condition)
    if input is None and other is None:
        return _nonzero_columns(condition)
    if not isinstance(input, (TensorBase, *NUMBER)) or not isinstance(other, (TensorBase, *NUMBER)):
        raise invalid("where", condition, input, other)
    return where(condition, *_same_type(input, other))


def _as_mask(condition: Any) -> Any:
    """A condition of another dtype as bools. Bytes become bools. Every other dtype is a RuntimeError."""
    if condition._array.dtype != np.uint8:
        raise noted(
            RuntimeError("where expected condition to be a boolean tensor, but got a tensor with "
                         f"dtype {condition.dtype.legacy}"), instead="compare first, as in `condition != 0`")
    warn_once("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
              "version of PyTorch. Use a boolean condition instead.")
    return condition != 0


def _same_type(*values: Any) -> list[Any]:
    """The values as tensors of the common dtype. Numbers become 0-d constants."""
    first, second = values
    if type(second) in NUMBERS and isinstance(first, TensorBase) and first._array.dtype in (F32, F64):
        if not -COMMON <= second <= COMMON:
            check_convertible(second, first._array.dtype)
        return [first, scalar(second, first._array.dtype)]  # the most frequent case
    tensors = [(v._array.dtype, v._array.ndim > 0) for v in values if isinstance(v, TensorBase)]
    dtype = result_dtype(tensors, [v for v in values if not isinstance(v, TensorBase)])
    return [_converted(v.item() if isinstance(v, np.generic) else v, dtype) if not isinstance(v, TensorBase) else
            v if v._array.dtype is dtype else _cast(v, dtype) for v in values]


def _converted(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as a 0-d constant. PyTorch makes a tensor of one element of it."""
    if dtype is F16:                                         # beside which `scalar` makes a float32
        array = np.array(filling(value, dtype, 1), F16)
        array.flags.writeable = False
        return with_edge(array, None)
    if is_half(dtype):
        return scalar(filling(value, dtype, 1), dtype)
    check_convertible(value, dtype)
    return scalar(value, dtype)


@public(
    "where(Tensor input, Tensor condition, Tensor other)", "where(Tensor input, Tensor condition, Number other)",
    name="where")
def _where_method(self: TensorBase, condition: TensorBase, other: Any) -> Any:
    """The tensor's elements where the condition is true, and `other` elsewhere."""
    return where(condition, self, other)


def _np_where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`np.where`. Arrays may take the place of tensors."""
    return where(*[plain(value) if isinstance(value, np.ndarray) else value for value in (condition, x, y)])


NUMPY: dict[Any, Callable[..., Any]] = {
    np.where: _np_where,
    np.clip: lambda a, a_min=None, a_max=None: clamp(a, a_min, a_max),
    np.isclose: lambda a, b, rtol=1e-05, atol=1e-08, equal_nan=False: isclose(a, b, rtol, atol, equal_nan),
    np.allclose: lambda a, b, rtol=1e-05, atol=1e-08, equal_nan=False: allclose(a, b, rtol, atol, equal_nan),
    np.array_equal: equal,
    np.isposinf: isposinf,
    np.isneginf: isneginf,
    np.isreal: isreal,
    np.heaviside: heaviside,
}


__and__ = __rand__ = recorded(ops.bitwise_and, dunder="__and__")
__or__ = __ror__ = recorded(ops.bitwise_or, dunder="__or__")
__xor__ = __rxor__ = recorded(ops.bitwise_xor, dunder="__xor__")
methods(
    __and__, __or__, __xor__, isnan, isinf, isfinite, isposinf, isneginf, isreal, signbit, maximum, minimum, fmax, fmin,
    _where_method, __eq__=recorded(ops.eq, dunder="__eq__"), __ne__=recorded(ops.ne, dunder="ne"),
    __lt__=recorded(ops.lt, dunder="lt"), __le__=recorded(ops.le, dunder="le"), __gt__=recorded(ops.gt, dunder="gt"),
    __ge__=recorded(ops.ge, dunder="ge"), __hash__=identity, __rand__=__and__, __ror__=__or__, __rxor__=__xor__,
    __lshift__=recorded(ops.left_shift, dunder="__lshift__"), __rshift__=recorded(ops.right_shift, dunder="__rshift__"),
    not_equal=not_equal, less=less, less_equal=less_equal, greater=greater, greater_equal=greater_equal, clip=clip,
    not_equal_=ne.written, less_=lt.written, less_equal_=le.written, greater_=gt.written, greater_equal_=ge.written,
    clip_=clip_, __iand__=augmented(ops.bitwise_and, "__iand__"), __ior__=augmented(ops.bitwise_or, "__ior__"),
    __ixor__=augmented(ops.bitwise_xor, "__ixor__"), __ilshift__=augmented(ops.left_shift, "__ilshift__"),
    __irshift__=augmented(ops.right_shift, "__irshift__"))
