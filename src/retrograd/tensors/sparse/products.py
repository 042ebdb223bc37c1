"""Products of matrices, at least one of them sparse, by the names of the public functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...foundations.dtypes import legacy, letter
from ...foundations.errors import no_kernel, noted
from ...kernels.sparse.arrays import Compressed, Coo, SparseLike, unsupported
from ...kernels.sparse.reduced_products import choose_terms, counts_of
from ...ops import sparse as ops
from ...ops.linalg import matrix
from ..functions.linalg.matrix import mm as dense_mm
from ..recording.inplace import over
from ..recording.public import METHODS
from ..state.base import TensorBase, plain
from ..state.inside import is_sparse
from .conversion import kind_of
from .dimensions import t
from .recording import TABLE, record, sparse, write


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
        return _mm_reduce(mat1, mat2, reduce)
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


def _mm_reduce(mat1: Any, mat2: Any, reduce: Any) -> Any:
    """The product whose terms are added, averaged, or compared, row by row."""
    if not isinstance(reduce, str):
        raise TypeError(f"_sparse_mm(): argument 'reduce' (position 3) must be str, not {type(reduce).__name__}")
    a, b = mat1._array, mat2._array
    if not isinstance(a, Compressed) and not isinstance(b, Compressed):
        raise no_kernel("aten::_sparse_mm_reduce_impl", "SparseCPU" if is_sparse(mat1) or is_sparse(mat2) else "CPU",
                        instead="call .to_sparse_csr() first")
    refused = next((words for wrong, words in _unfit_to_reduce(mat1, mat2, reduce) if wrong), None)
    if refused is not None:
        raise RuntimeError(refused)
    counts = counts_of(a, a.dtype) if reduce == "mean" else None
    compared = reduce not in ("sum", "mean") and a.values.size and b.size and letter(a.dtype) == "f"
    chosen = choose_terms(a, b, reduce in ("amax", "max")) if compared else (None, None, None)
    return record(ops.mm_reduce, mat1, mat2, counts, *chosen)


def _unfit_to_reduce(mat1: Any, mat2: Any, reduce: str) -> Iterator[tuple[bool, str]]:
    """For each rule about the arguments of a product that reduces, whether these break it, and PyTorch's words."""
    a, b = mat1._array, mat2._array
    yield kind_of(mat1) != "SparseCsr", f"sparse_mm_reduce: expect self to be SparseCsr, got {kind_of(mat1)}"
    checking = "(while checking arguments for sparse_mm_reduce)"
    yield is_sparse(mat2), (f"Expected tensor to have Strided Layout, but got tensor with {kind_of(mat2)} Layout "
                            f"{checking}")
    yield a.dtype != b.dtype, (f"Expected tensor for argument #1 'other' to have scalar type {legacy(a)}; but got "
                               f"torch.{legacy(b)}Tensor instead {checking}")
    yield b.ndim != 2 or b.shape[0] != a.shape[1], (
        f"Expected a tensor of dimension 2 and tensor.size[0] == {a.shape[1]} but got: dimension {b.ndim} and "
        f"tensor.size[0] = {b.shape[0] if b.ndim else 0}")
    yield reduce == "prod", "sparse_mm_reduce: reduce type of prod has not been enabled."
    yield reduce not in ("sum", "mean", "amax", "amin", "max", "min"), (
        f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")


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
    refused = next((words for wrong, words in _unfit(input, mat1, mat2) if wrong), None)
    if refused is not None:
        raise RuntimeError(refused)
    return record(ops.sampled_addmm, input, mat1, mat2, beta, alpha)


def _unfit(x: Any, mat1: Any, mat2: Any) -> Iterator[tuple[bool, str]]:
    """For each rule about the arguments of `sampled_addmm`, whether these break it, and PyTorch's words."""
    a, b, c = mat1._array, mat2._array, x._array
    kind = kind_of(x)
    yield kind[6] == "B", ("empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
                           f"{kind}")
    yield letter(c.dtype) not in "fc" or c.dtype.itemsize < 4, (
        f"sparse_sampled_addmm: Expected self to be a floating-point or complex tensor, but got {legacy(c)}")
    for name, matrix_of in (("mat1", mat1), ("mat2", mat2)):
        yield is_sparse(matrix_of), (f"sampled_addmm: Expected {name} to have strided layout, but got "
                                     f"{kind_of(matrix_of)}")
    yield kind != "SparseCsr", f"sampled_addmm: Expected result to have sparse csr layout, but got {kind}"
    yield a.dtype != b.dtype, (f"sampled_addmm: Expected mat1 and mat2 to have the same dtype, but got {legacy(a)} and "
                               f"{legacy(b)}")
    yield a.dtype != c.dtype, (f"sampled_addmm: Expected mat1 and self to have the same dtype, but got {legacy(a)} and "
                               f"{legacy(c)}")
    for name, array in (("mat1", a), ("mat2", b)):
        yield array.ndim < 2, f"sampled_addmm: Expected {name} to be a matrix, got {array.ndim}-D tensor"
    for name, given in (("mat2", b), ("self", c)):
        yield a.shape[:-2] != given.shape[:-2], (
            f"sampled_addmm: Expected mat1 and {name} to have the same batch size, but got {[*a.shape[:-2]]} and "
            f"{[*given.shape[:-2]]}")
    yield a.shape[-1] != b.shape[-2], (
        f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({a.shape[-2]}x{a.shape[-1]} and "
        f"{b.shape[-2]}x{b.shape[-1]})")
    yield c.shape[-2] != a.shape[-2], "sampled_addmm: self.shape[-2] must match mat1.shape[-2]"
    yield c.shape[-1] != b.shape[-1], "sampled_addmm: self.shape[-1] must match mat2.shape[-1]"


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
