"""Operands: tensors, Python numbers, NumPy values; and the errors for all other values.

This is the slow part of a recorded call: conversion, promotion, and PyTorch's messages for wrong operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import (
    BOOL_,
    C_NAMES,
    F16,
    F32,
    F64,
    FLOATING,
    I64,
    NARROW,
    RARE,
    Array,
    category,
    default_floating,
    of_scalar,
    result_dtype,
    unimplemented,
)
from ...foundations.errors import noted, warn_of_discarded_part
from ...foundations.modes import local
from ...foundations.scalars import beyond_64_bits
from ...kernels.elementwise.arithmetic import div_rounded, rsub_scaled
from ...kernels.layout import copied
from ...kernels.shape import clash
from ...ops.basic import cast
from ...ops.domains import subtracted
from ...ops.framework import Op
from ..arguments.checking import refusal
from ..arguments.dims import not_a_tensor, of_no_tensor
from ..arguments.schemas import of_methods
from ..state.base import TensorBase, plain, with_edge

# Python numbers as 0-d constants, by type (since 1, 1.0 and True are equal), dtype and value. A conversion costs NumPy
# 200 ns.
_constants: dict[type, dict[np.dtype[Any], dict[Any, Any]]] = {bool: {}, int: {}, float: {}}
_CONSTANTS_KEPT = 1024
NUMBERS = frozenset((int, float))                       # the usual types, which take the short way
OPERANDS: tuple[type[Any], ...] = (TensorBase, int, float, complex, np.ndarray, np.generic)     # all types of operands


def scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """A 0-d constant tensor for a Python number beside a tensor of `dtype`.

    The number takes the tensor's dtype unless the number is of a higher category (int and 1.5 make a float). 0.0 and
    nan are not cached: as keys, -0.0 equals 0.0, and nan equals nothing.
    """
    of_type = _constants.get(type(value))
    kept = None if of_type is None else of_type.get(dtype)
    if kept is not None:
        constant = kept.get(value)
        if constant is not None:
            return constant
    own = of_scalar(value)
    if (dtype is F16 or dtype in NARROW) and category(own) <= FLOATING:     # `common` may round the number
        return scalar(value, F32)
    target = dtype if category(own) <= category(dtype) else result_dtype([(dtype, True)], [value])
    if of_type is None and hasattr(type(value), "as_operand"):               # another number in each run of a plan
        array = value.as_operand(target)
        if array is not None:
            return with_edge(array, None)
    if own is I64 and not -2**63 <= value < 2**64:
        raise beyond_64_bits(value)
    if target.kind in "iu":
        array = np.array(value).astype(target)
    else:
        array = local.thread.quietly(np.array, value, target)                # a number may be too large for float32
    array.flags.writeable = False                           # shared, and the sign of a number for `is_number`
    constant = with_edge(array, None)                       # no inference tensor: other modes use it too
    if of_type is not None and (value or type(value) is not float) and target is dtype and value == value:
        kept = of_type.setdefault(dtype, {})
        if len(kept) < _CONSTANTS_KEPT:
            kept[value] = constant
    return constant


def is_number(array: Array) -> bool:
    """Whether an array stands for a Python number.

    An element of an expanded tensor is read-only, too, but such an array does not own its memory.
    """
    return array.ndim == 0 and not array.flags.writeable and bool(array.flags.owndata)


def schemas_of(op: Op) -> tuple[str, ...]:
    """The schema of the recorded call of an elementwise op."""
    return (f"{op.name}(Tensor input{', Tensor other' * (op.arity - 1)}, *, Tensor out=None)",)


class Bound(NamedTuple):
    """Says to `operand` that the call is a method of tensors with this name."""

    name: str


def operand(op: Op, index: int, value: Any, other: Any, otherwise: Any, suffix: str = "") -> Any:
    """`value` as a tensor beside `other`. If it is no operand, return `otherwise`, or raise if that is not one.

    An array is an operand of Python's operators only, for which `otherwise` is NotImplemented.
    """
    if isinstance(value, TensorBase):
        return value
    if isinstance(otherwise, Bound) and not index:
        raise of_no_tensor(otherwise.name, value)
    if value is None and op.arity > 2:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float, complex)) and (op.arity > 1 or op.variadic):
        beside = other._array.dtype if isinstance(other, TensorBase) else of_scalar(value)
        if op.domain is subtracted and isinstance(value, bool):
            subtracted(beside, [beside, BOOL_])             # raises
        return scalar(value, floating(beside) if op.domain == "float" else beside)
    if otherwise is NotImplemented:
        return plain(value) if isinstance(value, np.ndarray) and isinstance(other, TensorBase) else NotImplemented
    if not suffix and op.short:
        given = (value,) if op.arity == 1 else (other, value) if index else (value, other)
        bound = isinstance(otherwise, Bound)
        refused = refusal(of_methods(schemas_of(op)), given[1:], {}) if bound else refusal(schemas_of(op), given, {})
        if refused is not None:
            raise refused
    raise not_a_tensor(f"{op.name}{suffix}", value, PARAMETER.get(index, op.arguments[index]),
                       index + (suffix != "_"))


def floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a number beside this dtype if the result is floating, so that an int never wraps around."""
    return dtype if category(dtype) >= FLOATING else default_floating()


PARAMETER = {0: "input", 1: "other"}


def common(op: Op, operands: Sequence[Any]) -> list[Any]:
    """The arrays of the operands, in the type that the op computes in."""
    if len(operands) == 1 and not NARROW and (op, operands[0]._array.dtype) in _KEPT:
        return [operands[0]._array]
    arrays = [None if x is None else x._array for x in operands]
    present = [a for a in arrays if a is not None]
    dtype = present[0].dtype
    if NARROW and (any([a.dtype in NARROW for a in present]) or default_floating() in NARROW):
        return _beside_narrow(op, arrays, present)
    own = dtype
    for a in present:
        if a.dtype is not dtype:
            if dtype is F16 or a.dtype is F16:
                return _beside_narrow(op, arrays, present)
            dtype = result_dtype((a.dtype, a.ndim > 0) for a in present)
            own = None
            break
    else:
        if (dtype is F32 or dtype is F64) and (op.domain == "promote" or op.domain == "float"):
            return arrays                                    # the usual types, which need no promotion
        if not NARROW and (op, dtype) in _KEPT:
            return arrays
    if op.domain == "float":
        if category(dtype) < FLOATING:
            dtype = default_floating()
    elif callable(op.domain):
        dtype = op.domain(dtype, [a.dtype for a in present])
    if dtype is own and not NARROW:
        _KEPT.add((op, dtype))
    convert = _quietly if local.thread.transform is None else cast.run
    return [a if a is None or a.dtype is dtype else convert(a, dtype) for a in arrays]


def _quietly(array: Array, dtype: np.dtype[Any]) -> Any:
    """The array in another dtype. A number may be too large for the dtype. Complex numbers may lose a part."""
    if array.dtype.kind == "c" != dtype.kind:
        warn_of_discarded_part(array.dtype, dtype)
        return cast.run(array, dtype)
    return local.thread.quietly(copied, array, dtype)


# Ops and types: the op computes in this type if all its operands have this type. An op finds out once.
_KEPT: set[tuple[Op, np.dtype[Any]]] = set()


def _beside_narrow(op: Op, arrays: list[Any], present: list[Any]) -> list[Any]:
    """The arrays of the operands, in the type that the op computes in; some operand or the default type is narrow.

    Here float16 counts as narrow, too. Numbers stand in float32 beside such operands. They are rounded to the common
    type, and so are 0-d tensors, unless the op is a product or the number is a divisor.
    """
    dtype = result_dtype([(a.dtype, a.ndim > 0) for a in present if not (a.dtype is F32 and is_number(a))])
    if op.domain == "float" and category(dtype) < FLOATING:
        dtype = default_floating()
    elif callable(op.domain):
        dtype = op.domain(dtype, [a.dtype for a in present])
    convert = copied if local.thread.transform is None else cast.run
    exact = _EXACT.get(op.kernel, ()) if dtype is F16 or dtype in NARROW else ()
    if dtype.itemsize == 1 and any([arrays[i].ndim == 0 for i in exact]):
        raise unimplemented(f"{op.name}_cpu_reduced_float", dtype)
    result = []
    for i, a in enumerate(arrays):
        if a is not None and a.dtype is not dtype:
            stays = i in exact and not a.ndim and category(a.dtype) <= FLOATING
            a = convert(a, F32 if stays else dtype) if not stays or a.dtype is not F32 else a
        result.append(a)
    return result


# The operands that stay in float32 as 0-d tensors, by the kernel.
_EXACT: dict[Any, tuple[int, ...]] = {np.multiply: (0, 1), np.divide: (1,), div_rounded: (1,)}


def explained(op: Op, operands: Sequence[Any], error: Exception) -> Exception:
    """PyTorch's error in place of an error that a kernel raised."""
    if callable(op.domain) and isinstance(error, TypeError):
        try:
            common(op, operands)
        except RuntimeError as refusal:
            return refusal
    if isinstance(error, TypeError) and "Cannot cast ufunc" in str(error):          # such as beta=1j with real tensors
        wide = next(x._array.dtype for x in operands if x is not None)
        return noted(
            RuntimeError(f"value cannot be converted to type {C_NAMES[wide.name]} without overflow"),
            because="real tensors take no complex number here")
    shapes = [x._array.shape for x in operands if x is not None]
    if op.kind in ("elementwise", "constant") and isinstance(error, ValueError):
        for i, b in enumerate(shapes):
            for a in shapes[:i]:
                sentence = clash(b, a) if op.kernel is rsub_scaled else clash(a, b)       # it is y - x
                if sentence is not None:
                    return noted(RuntimeError(sentence), "shapes#sizes-must-match",
                                 given=f"{op.name} got {', '.join(str(list(s)) for s in shapes)}",
                                 because="sizes must be equal, or one of them 1")
    if isinstance(error, (ValueError, TypeError)) and op.kind != "operator":
        return RuntimeError(f"{op.name}: {error}")
    return error


def again(call: Callable[..., Any], args: Sequence[Any], op: Op, operands: Sequence[Any], error: Exception) -> Any:
    """The result of a call whose kernel could not run, since a handler of a signal or a finalizer made the call inside
    of another kernel. Otherwise, raises PyTorch's error in place of the error.
    """
    if local.thread.renewed(error):
        return call(*args)
    if isinstance(error, RuntimeError):
        raise error
    raise explained(op, operands, error) from None


def kept_scalars() -> set[int]:
    """The identities of the arrays of the kept constants of `scalar`."""
    return {*constant_numbers()}


def constant_numbers() -> dict[int, Any]:
    """The numbers of the kept constants of `scalar`, by the identities of their arrays."""
    return {id(kept._array): number for by_dtype in _constants.values()
            for of_dtype in [*by_dtype.values()] for number, kept in [*of_dtype.items()]}  # other threads add to them


def leaves(domain: Any, dtype: np.dtype[Any]) -> bool:
    """Whether an operator with this domain computes with operands of one type as they are."""
    return dtype not in RARE and callable(domain) and domain(dtype, [dtype, dtype]) is dtype
