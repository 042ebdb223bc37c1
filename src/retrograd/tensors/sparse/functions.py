"""Arithmetic, products and reductions of sparse tensors, by the names of the public functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...foundations.dtypes import category
from ...foundations.errors import noted
from ...kernels.sparse.arrays import Compressed, Coo, unsupported
from ...ops import sparse as ops
from ...ops.elementwise import arithmetic, comparison, elementary
from ...ops.framework import Op
from ...ops.networks import activations
from ..arguments.dims import not_a_tensor
from ..face.conversion import result_type
from ..recording.inplace import over
from ..recording.operands import OPERANDS
from ..recording.public import METHODS
from ..state.base import TensorBase
from ..state.inside import is_sparse
from .conversion import kind_of, to
from .dimensions import transpose
from .recording import TABLE, before_write, record, sparse, write

# Functions that map 0 to 0

_UNARY: dict[str, Op] = {
    **{name: getattr(elementary, name) for name in (
        "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "sqrt", "abs", "sgn", "sign",
        "floor", "ceil", "trunc", "round", "frac", "erf", "erfinv", "deg2rad", "rad2deg")},
    "neg": arithmetic.neg, "relu": activations.relu, "square": arithmetic.square,
    **{name: getattr(comparison, name) for name in ("isnan", "isinf", "isposinf", "isneginf", "signbit")},
}
_ALIASES = {"__neg__": "neg", "__abs__": "abs", "absolute": "abs", "negative": "neg", "arcsin": "asin",
            "arctan": "atan", "arcsinh": "asinh", "arctanh": "atanh", "fix": "trunc"}


def _unary(op: Op) -> Callable[..., Any]:
    def call(input: TensorBase) -> Any:
        return record(op, input)

    return call


TABLE.update({name: _unary(op) for name, op in _UNARY.items()})
TABLE.update({name: TABLE[other] for name, other in _ALIASES.items()})


@sparse("nan_to_num")
def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """See `torch.nan_to_num`."""
    if not isinstance(input._array, Coo):
        raise unsupported("nan_to_num.out", input._array.backend)
    return record(elementary.nan_to_num, input, nan, posinf, neginf)


@sparse("angle")
def angle(input: Any) -> Any:
    """See `torch.angle`. The angles of elements that are not stored are 0."""
    if not isinstance(input._array, Compressed):
        raise unsupported("angle", "SparseCPU")
    return record(elementary.angle, input)


@sparse("pow", "__pow__", "_power_of")
def power(input: Any, exponent: Any) -> Any:
    if not isinstance(exponent, (int, float)) or isinstance(exponent, bool):
        raise unsupported("pow.Tensor_Tensor", "SparseCPU")
    if exponent == 2:
        return record(ops.square if isinstance(input._array, Coo) else arithmetic.square, input)
    return record(arithmetic.power, input, exponent)


@sparse("positive", "__pos__", "resolve_conj", "resolve_neg")
def positive(input: TensorBase) -> Any:
    return input


@sparse("conj", "conj_physical")
def conj(input: TensorBase) -> Any:
    return record(elementary.conj_physical, input) if input._array.dtype.kind == "c" else input


@sparse("real")
def real(input: TensorBase) -> Any:
    if input._array.dtype.kind == "c":
        raise unsupported("real", "SparseCPU")
    return input


@sparse("adjoint")
def adjoint(input: TensorBase) -> Any:
    if input._array.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not input._array.ndim:
        return conj(input)
    return conj(transpose(input, -2, -1))


# Sums, products, quotients

# The functions that Python's operators of two operands stand for, but for those that check their arguments themselves.
# If the second argument is no operand, Python asks this argument, or `==` is False.
OPERATORS = frozenset([f"__{side}{name}__" for side in ("", "r", "i") for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")] + [
    "__eq__", "__ne__", "add_", "sub_", "mul_", "div_"])


def _refuse_dense(name: str, a: Any, b: Any) -> None:
    """Raises RuntimeError for a sparse tensor plus a dense one, which PyTorch adds only in the other order."""
    if is_sparse(a) and isinstance(a._array, Coo) and not is_sparse(b):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if is_sparse(a) and is_sparse(b):
        return
    other, stored = (b, a._array) if is_sparse(a) else (a, b._array)
    shape = other._array.shape if isinstance(other, TensorBase) else np.shape(other)
    if shape != stored.shape:
        kind = "op2" if isinstance(stored, Compressed) else "dense"
        raise RuntimeError(f"{name}: expected 'self' and 'other' to have same size, but self has size {[*shape]} while "
                           f"other has size {[*stored.shape]} (FYI: {kind}-sparse addition does not currently "
                           "support broadcasting)")


@sparse("add", "__add__", "__radd__")
def add(input: TensorBase, other: TensorBase, *, alpha: Any = 1) -> Any:
    _refuse_dense("add", input, other)
    if not is_sparse(other):
        input, other = other, input
    return record(arithmetic.add, input, other if alpha == 1 else multiply(other, alpha))


@sparse("sub", "subtract", "__sub__")
def sub(input: TensorBase, other: TensorBase, *, alpha: Any = 1) -> Any:
    _refuse_dense("add", input, other)
    return record(arithmetic.sub, input, other if alpha == 1 else multiply(other, alpha))


@sparse("rsub", "__rsub__")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    return sub(other, input, alpha=alpha)


@sparse("mul", "multiply", "__mul__", "__rmul__")
def multiply(input: TensorBase, other: Any) -> Any:
    if not isinstance(other, OPERANDS):
        return NotImplemented
    return record(arithmetic.mul, input, other)


@sparse("div", "divide", "true_divide", "__truediv__")
def divide(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    if not isinstance(other, OPERANDS):
        return NotImplemented
    if not is_sparse(input):
        raise unsupported("div.Tensor", "SparseCPU")
    if is_sparse(other) or (isinstance(other, TensorBase) and other._array.ndim):
        raise noted(
            RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                         f"{list(other._array.shape)} for divisor)"),
            because="divide x.to_dense() instead")
    quotient = record(arithmetic.div, input, other)
    if rounding_mode is None:
        return quotient
    return to(TABLE["floor" if rounding_mode == "floor" else "trunc"](quotient), result_type(input, other))


@sparse("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> Any:
    return divide(input, other, rounding_mode="floor")


@sparse("__rtruediv__", "reciprocal")
def reciprocal(input: Any, other: Any = None) -> NoReturn:
    raise unsupported("reciprocal", "SparseCPU")


# In place

# What PyTorch says of a result of a higher kind of number than the tensor has.
_UNLIKE = "Can't convert result type {{made}} to output {{held}} in {} operation"
# Functions that PyTorch's COO tensors have, but not in place, and the operators that the errors name.
_NOT_IN_PLACE = {"pow": "pow_.Scalar", "square": "pow_.Scalar", "unsqueeze": "as_strided_"}


def in_place(name: str, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Let a sparse tensor become the result of the function of this name."""
    name = _ALIASES.get(name, name)
    by_coordinates, unary = isinstance(self._array, Coo), name in _UNARY or name in ("conj_physical", "nan_to_num")
    if by_coordinates and name in _NOT_IN_PLACE:
        raise unsupported(_NOT_IN_PLACE[name], self._array.backend)
    if by_coordinates and unary and not self._array.coalesced and name not in ("neg", "conj_physical"):
        raise RuntimeError(f"{name}_ requires coalesced input")
    if name == "abs" and self._array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return write(self, TABLE[name](before_write(self), *args, **kwargs), over=unary)


@sparse("add_", "__iadd__")
def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    if isinstance(self._array, Compressed) and not is_sparse(other):
        raise RuntimeError("Sparse CSR tensors do not have is_contiguous")
    if is_sparse(self):
        return write(self, add(self, other, alpha=alpha), _UNLIKE.format("add"))
    return _over_dense(arithmetic.add, self, other, alpha)


def _over_dense(op: Op, x: TensorBase, other: Any, alpha: Any) -> Any:
    _refuse_dense("add", x, other)
    if category(other._array.dtype) <= category(x._array.dtype):
        other = to(other, x.dtype)
    return over(op, x, other if alpha == 1 else multiply(other, alpha))


@sparse("sub_", "subtract_", "__isub__")
def sub_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    if isinstance(self._array, Compressed) and not is_sparse(other):
        raise RuntimeError(f"unsupported tensor layout: {kind_of(self)}")
    if is_sparse(self):
        return write(self, sub(self, other, alpha=alpha), _UNLIKE.format("add"))
    return _over_dense(arithmetic.sub, self, other, alpha)


@sparse("mul_", "__imul__", "multiply_")
def mul_(self: Any, other: Any) -> Any:
    before = before_write(self, other) if is_sparse(self) else self
    result = multiply(before, before if other is self else other)
    if result is NotImplemented:
        raise not_a_tensor("mul_", other, "other", 1)
    if is_sparse(self) and isinstance(self._array, Compressed):
        return write(self, result, over=True)
    if is_sparse(self):
        if is_sparse(other):
            return write(self, result, _UNLIKE.format("mul"))
        result._array.coalesced = result._array.nnz < 2      # as PyTorch leaves a product
        return write(self, result, "dtype of values ({made}) must match dtype of sparse tensor ({held})")
    return METHODS["copy_"](self, TABLE["to_dense"](result))


@sparse("div_", "__itruediv__", "divide_", "true_divide_")
def div_(self: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    quotient = divide(before_write(self) if is_sparse(self) else self, other, rounding_mode=rounding_mode)
    if quotient is NotImplemented:
        raise not_a_tensor("div_", other, "other", 1)
    return write(self, quotient, over=True)
