"""Arithmetic, products and reductions of sparse tensors, by the names of the public functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...foundations.dtypes import category, legacy
from ...foundations.errors import no_kernel, noted
from ...kernels.sparse.arrays import Compressed, Coo, SparseLike, unsupported
from ...ops import sparse as ops
from ...ops.elementwise import arithmetic, comparison, elementary
from ...ops.framework import Op
from ...ops.linalg import matrix
from ...ops.networks import activations
from ..arguments.dims import not_a_tensor
from ..face.conversion import result_type
from ..functions.linalg.matrix import mm as dense_mm
from ..recording.inplace import over
from ..recording.public import METHODS
from ..state.base import TensorBase, plain
from .conversion import kind_of, to
from .dimensions import t, transpose
from .recording import TABLE, before_write, is_sparse, record, sparse, write

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
    return conj(transpose(input, -2, -1))


# Sums, products, quotients

_OPERANDS: tuple[type[Any], ...] = (TensorBase, int, float, complex, np.ndarray, np.generic)


def _refuse_dense(name: str, a: Any, b: Any) -> None:
    """Raises RuntimeError for a sparse tensor plus a dense one, which PyTorch adds only in the other order."""
    if is_sparse(a) and isinstance(a._array, Coo) and not is_sparse(b):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if is_sparse(a) and is_sparse(b):
        return
    other, stored = (b, a._array) if is_sparse(a) else (a, b._array)
    shape = np.shape(other._array if isinstance(other, TensorBase) else other)
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
    if not isinstance(other, _OPERANDS):
        return NotImplemented
    return record(arithmetic.mul, input, other)


@sparse("div", "divide", "true_divide", "__truediv__")
def divide(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    if not isinstance(other, _OPERANDS):
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


# Products of matrices

def _check_matrices(a: TensorBase, b: TensorBase) -> None:
    if a._array.dtype != b._array.dtype:
        raise noted(
            RuntimeError(f"expected scalar type {legacy(a._array)} but found {legacy(b._array)}"),
            because="matrix products do not promote: convert one with .to(dtype)")


@sparse("mm", "spmm", "dsmm", "hsmm")
def mm(input: TensorBase, mat2: TensorBase) -> Any:
    _check_matrices(input, mat2)
    return record(matrix.mm, input, mat2)


@sparse("mv")
def mv(input: Any, vec: Any) -> Any:
    _check_matrices(input, vec)
    if is_sparse(vec) and (is_sparse(input) or isinstance(vec._array, Compressed)):
        raise unsupported("mv", "SparseCPU")
    return record(matrix.mv, input, vec)


@sparse("bmm")
def bmm(input: Any, mat2: Any) -> Any:
    _check_matrices(input, mat2)
    return record(matrix.bmm, input, mat2)


@sparse("__rmatmul__")
def rmatmul(input: Any, other: Any) -> Any:
    return matmul(other, input) if isinstance(other, TensorBase) else NotImplemented


@sparse("matmul", "__matmul__")
def matmul(input: TensorBase, other: TensorBase) -> Any:
    dims = input._array.ndim, other._array.ndim
    if dims == (2, 2):
        return mm(input, other)
    if dims == (2, 1):
        return mv(input, other)
    if dims == (1, 2):
        return METHODS["squeeze_"](mm(METHODS["unsqueeze"](input, 0), other), 0)
    if dims == (3, 3):
        return bmm(input, other)
    if dims == (1, 1):
        raise unsupported("dot", "SparseCPU")
    raise noted(
        RuntimeError("expand is unsupported for Sparse tensors"),
        because="multiply the matrices of a stack one by one")


@sparse("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    return matmul(input, t(weight)) if bias is None else addmm(bias, input, t(weight))


@sparse("addmm")
def addmm(input: TensorBase, mat1: TensorBase, mat2: TensorBase, *, beta: Any = 1, alpha: Any = 1) -> Any:
    _check_matrices(mat1, mat2)
    return record(matrix.addmm, input, mat1, mat2, beta, alpha)


@sparse("addmm_")
def addmm_(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """See `torch.Tensor.addmm_`."""
    if is_sparse(self):
        raise unsupported("addmm_", self._array.backend)
    _check_matrices(mat1, mat2)
    return over(matrix.addmm, self, mat1, mat2, beta, alpha, into=_write_sum)


def _write_sum(x: Any, *others: Any) -> None:
    x[...] = SparseLike.__op__(matrix.addmm, (x, *others))


@sparse("_sparse_mm")
def sparse_mm(mat1: Any, mat2: Any, reduce: Any = None) -> Any:
    """`torch.sparse.mm`."""
    if reduce is not None:
        raise noted(
            NotImplementedError("torch.sparse.mm(): reduce is not implemented"), instead="torch.scatter_reduce")
    _check_matrices(mat1, mat2)
    if isinstance(mat1._array, Coo) and isinstance(mat2._array, Coo):
        return record(ops.sparse_matmul, mat1, mat2)
    if is_sparse(mat1):
        zeros = plain(np.zeros((mat1._array.shape[0], mat2._array.shape[1]), mat1._array.dtype))
        return record(ops.sparse_addmm, zeros, mat1, mat2, 0, 1)
    if is_sparse(mat2):
        turned = sparse_mm(TABLE["transpose"](mat2, -2, -1), METHODS["transpose"](mat1, -2, -1))
        return METHODS["transpose"](turned, -2, -1)
    return dense_mm(mat1, mat2)


@sparse("_sparse_addmm")
def sparse_addmm(input: TensorBase, mat1: TensorBase, mat2: TensorBase, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`torch.sparse.addmm`."""
    if not any(map(is_sparse, (input, mat1, mat2))):
        return METHODS["addmm"](input, mat1, mat2, beta=beta, alpha=alpha)
    _check_matrices(mat1, mat2)
    return record(ops.sparse_addmm, input, mat1, mat2, beta, alpha)


@sparse("_sampled_addmm")
def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """`torch.sparse.sampled_addmm`."""
    if not isinstance(input._array, Compressed):
        raise no_kernel("aten::sparse_sampled_addmm", "SparseCPU" if is_sparse(input) else "CPU",
                        instead="call .to_sparse_csr() first")
    return record(ops.sampled_addmm, input, mat1, mat2, beta, alpha)


@sparse("hspmm")
def hspmm(mat1: TensorBase, mat2: TensorBase, *, out: Any = None) -> Any:
    result = record(ops.hspmm, mat1, mat2)
    return result if out is None else write(out, result)


@sparse("smm")
def smm(input: Any, mat2: Any) -> Any:
    if isinstance(input._array, Compressed):
        raise RuntimeError("torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got "
                           "size [0]")
    if not is_sparse(input):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    for place, x in ((2, input), (3, mat2)):
        if x._array.ndim != 2:
            raise RuntimeError(f"sspaddmm: Argument #{place}: matrices expected, got {x._array.ndim}D tensor")
    zeros = TABLE["sparse_coo_tensor"]((input._array.shape[0], mat2._array.shape[1]), dtype=input.dtype)
    return record(ops.sspaddmm, zeros, input, mat2, 0, 1)


@sparse("sspaddmm", "saddmm")
def sspaddmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    result = record(ops.sspaddmm, input, mat1, mat2, beta, alpha)
    return result if out is None else write(out, result)
