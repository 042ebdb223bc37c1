"""Operators of sparse arrays: the operators that only sparse arrays have, and the sparse kernels of all others.

An operator that dense arrays have too is the same operator for sparse arrays, with the same rules. A rule that calls an
operator without a sparse kernel raises PyTorch's error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Array, Shape
from ..foundations.errors import noted
from ..kernels.indexing import gathering
from ..kernels.layout import copied
from ..kernels.networks import embedding as embedding_kernels
from ..kernels.sparse import (
    blocks,
    compressed,
    coordinates,
    diagonals,
    elementwise as kernels,
    gradients,
    products,
    reduced_products,
    reductions,
    structure,
)
from ..kernels.sparse.arrays import Blocks, Compressed, Coo, unsupported
from ..kernels.sparse.compressed import compressed_pattern
from ..kernels.sparse.coordinates import pattern
from .basic import cast, clone, copy, real
from .elementwise import arithmetic, comparison, elementary
from .framework import Op, elementwise, linear, not_differentiable, operator
from .indexing.indexing import (
    gather as gather_op,
    gather_backward,
    index_select,
    index_select_backward,
    select,
    take,
    take_backward,
)
from .joining import cat, split, stack, unbind
from .linalg import matrix
from .networks import activations
from .networks.embedding import embedding_bag as dense_embedding_bag, embedding_rows, rows_of_bags
from .reductions import spread, sum_all, sum_dim
from .shape import permute, squeeze_dim, t, transpose, unsqueeze
from .tables import table

if TYPE_CHECKING:
    from .values import Value

# Between dense and sparse

coo_tensor: Op = linear("_sparse_coo_tensor_with_dims_and_tensors", lambda values, at, shape, coalesced: Coo(
    at, values, shape, coalesced), values=lambda g, at, shape, coalesced: taken_at(g, pattern(at, shape)),
    node="SparseCooTensorWithDimsAndTensorsBackward0")
taken_at: Op = operator("sparse_mask", lambda x, pattern: _taken_at(x, pattern), tensors=2,
                        x=lambda g, pattern: placed_at(g, pattern))
placed_at: Op = operator("_sparse_coo_tensor_with_dims_and_tensors", lambda values, pattern: pattern.with_values(
    values), tensors=2, values=lambda g, pattern: taken_at(g, pattern))
compressed_tensor: Op = linear(
    "sparse_compressed_tensor", lambda values, outer, inner, shape, by_rows: Compressed(
        outer, inner, values, shape, by_rows),
    values=lambda g, values_shape, outer, inner, shape, by_rows: taken_at(
        g, compressed_pattern(Compressed, outer, inner, values_shape, shape, by_rows)))
block_tensor: Op = linear(
    "sparse_compressed_tensor", lambda values, outer, inner, shape, by_rows: Blocks(
        outer, inner, values, shape, by_rows),
    values=lambda g, values_shape, outer, inner, shape, by_rows: taken_at(
        g, compressed_pattern(Blocks, outer, inner, values_shape, shape, by_rows)))
# PyTorch has no derivative of the function that finds the size.
unsized_compressed: Op = operator(
    "sparse_compressed_tensor", compressed_tensor.kernel, values=not_differentiable("sparse_compressed_tensor"),
    node="NotImplemented")
unsized_blocks: Op = operator(
    "sparse_compressed_tensor", block_tensor.kernel, values=not_differentiable("sparse_compressed_tensor"),
    node="NotImplemented")
to_sparse_bsr: Op = linear("to_sparse_bsr", lambda x, block: blocks.from_matrix(x, block, True), x=lambda g: dense(g))
to_sparse_bsc: Op = linear("to_sparse_bsc", lambda x, block: blocks.from_matrix(x, block, False), x=lambda g: dense(g))
values: Op = linear("values", lambda x: x.values, x=lambda g, x: placed_at(g, x))
to_dense: Op = linear("to_dense", coordinates.to_dense, x=lambda g, x: dense_once(g, x))
to_dense_unmasked: Op = linear("to_dense", lambda x, layout: compressed.to_dense(x),
                               x=lambda g, layout: _in_layout(g, *layout))
# The second of the two is for a given number of sparse dimensions.
stored: Op = linear("to_sparse", lambda x, sparse_dim: coordinates.from_dense(x, sparse_dim), x=lambda g: dense(g),
                    node=1)
to_sparse: Op = linear("to_sparse", coordinates.from_dense, x=lambda g: dense(g))
dense: Op = operator("to_dense", lambda x: x, layout="kept", x=lambda g: g)
to_sparse_csr: Op = linear("to_sparse_csr", lambda x, dense_dim: compressed.from_matrix(x, True, dense_dim),
                           x=lambda g: dense(g))
to_sparse_csc: Op = linear("to_sparse_csc", lambda x, dense_dim: compressed.from_matrix(x, False, dense_dim),
                           x=lambda g: dense(g))
csr_of_coo: Op = linear("to_sparse_csr", compressed.from_coo, x=lambda g: by_coordinates(g, 2))
csc_of_coo: Op = linear("to_sparse_csc", lambda x: compressed.from_coo(x, False), x=lambda g: by_coordinates(g, 2))
coo_of_compressed: Op = linear("to_sparse", lambda x, layout: compressed.to_coo(x),
                               x=lambda g, layout: _recompressed(g, *layout), node=1)
by_coordinates: Op = linear("to_sparse", coordinates.by_coordinates, x=lambda g, sparse_dim: dense(g))
masked: Op = operator("sparse_mask", lambda x, mask: _masked(x, mask), tensors=2,
                      x=lambda g, mask: dense(masked(g, mask)))
# At each index of the mask once, even if the mask has an index twice.
masked_once: Op = operator("sparse_mask", coordinates.masked_once, tensors=2, x=lambda g, mask: masked_once(g, mask))
# The same for a dense array, whose gradient is dense.
dense_once: Op = operator("sparse_mask", coordinates.masked_once, tensors=2,
                          x=lambda g, mask: dense(masked_once(g, mask)))
masked_sparse: Op = operator("sparse_mask", coordinates.masked, tensors=2,
                             x=lambda g, mask: coalesce(masked_sparse(g, mask)))
coalesce: Op = linear("coalesce", coordinates.coalesce, x=lambda g: g)

# Products

sparse_addmm: Op = operator(
    "_sparse_addmm", products.addmm, node="SparseAddmmBackward0", x=lambda g, beta: g if beta == 1 else g * beta,
    mat1=lambda g, mat1, mat2, alpha: _scaled(masked_product(g, mat2, mat1), alpha),
    mat2=lambda g, mat1, alpha: _scaled(matrix.mm(t(mat1), g), alpha))
sparse_matmul: Op = operator(
    "_sparse_sparse_matmul", lambda x, y: products.mm(x, y), node="SparseSparseMatmulBackward0", tensors=2,
    x=lambda g, x, y: masked_product(g, y, x),
    y=lambda g, x, y: masked_product(t(x), t(g), y))
masked_product: Op = operator("masked_product", products.masked_product, tensors=3,
                              g=lambda h, other: matrix.mm(h, other), other=lambda h, g: matrix.mm(t(h), g))


def _by_terms(g: Value, mat1: Compressed, mat2: Value, counts: Any, places: Any, columns: Any, found: Any) -> Any:
    if places is None:
        return masked_product(g if counts is None else g / counts, mat2, mat1)
    g = np.where(found, g * gather_op(mat2, columns, 0), 0.0)
    return placed_at(take_backward(g, places, values(mat1).shape), mat1)


def _by_factors(g: Value, mat1: Compressed, mat2_shape: Shape, counts: Any, places: Any, columns: Any,
                found: Any) -> Any:
    if places is None:
        return matrix.mm(t(mat1), g if counts is None else g / counts)
    return gather_backward(np.where(found, g * take(values(mat1), places), 0.0), columns, mat2_shape, 0)


mm_reduce: Op = operator("_sparse_mm_reduce_impl", reduced_products.mm_reduce, tensors=2, mat1=_by_terms,
                         mat2=_by_factors)
hspmm: Op = operator("hspmm", lambda mat1, mat2: coordinates.from_dense(products.mm(mat1, mat2), 1, False),
                     node="NotImplemented", mat1=not_differentiable("hspmm"), mat2=not_differentiable("hspmm"))
sspaddmm: Op = operator(
    "sspaddmm", lambda x, mat1, mat2, beta, alpha: _with_product(x, coordinates.whole(products.mm(mat1, mat2)), beta,
                                                               alpha), node="NotImplemented", tensors=3,
    x=not_differentiable("sspaddmm"), mat1=not_differentiable("sspaddmm"), mat2=not_differentiable("sspaddmm"))
sampled_addmm: Op = operator(
    "sparse_sampled_addmm", lambda x, mat1, mat2, beta, alpha: _sampled(x, mat1, mat2, beta, alpha), tensors=3,
    x=lambda g, beta: g * beta,
    mat1=lambda g, x, mat2, alpha: _scaled(matrix.mm(masked(g, x), t(mat2)), alpha),
    mat2=lambda g, x, mat1, alpha: _scaled(matrix.mm(t(mat1), masked(g, x)), alpha))


def _scaled(g: Value, factor: complex) -> Any:
    return g if factor == 1 else g * factor


def _with_product(x: Coo, product: Coo, beta: complex, alpha: complex) -> Coo:
    """beta * x + alpha * product, with the elements of both one behind the other."""
    return Coo(np.concatenate([x.indices, product.indices], axis=1),
               np.concatenate([x.values * beta, product.values * alpha]), x.shape)


def _sampled(x: Compressed, mat1: Array, mat2: Array, beta: complex, alpha: complex) -> Compressed:
    product = compressed.pattern_values(x, products.pattern_product, mat1, mat2)
    return x.with_values((product.values * alpha + x.values * beta).astype(x.dtype, copy=False))


# Gradients of dense tables and matrices that store only the rows or elements that were taken

rows_gradient: Op = linear(
    "_sparse_coo_tensor_with_dims_and_tensors", gradients.rows, tensors=2,
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    g=lambda g, index, g_shape, padding: np.reshape(embedding_rows(g, index, padding, False), g_shape))
elements_gradient: Op = linear(
    "_sparse_coo_tensor_with_dims_and_tensors", gradients.elements, tensors=2,
    node="SparseCooTensorWithDimsAndTensorsBackward0", g=lambda g, index, dim: gather_op(g, index, dim))


def _rows(g: Value, index: Value, weight_shape: Shape, padding: int, by_count: bool) -> Any:
    if by_count:
        raise noted(
            RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients"),
            instead="set scale_grad_by_freq=False, or sparse=False")
    return rows_gradient(g, index, weight_shape, padding)


embedding: Op = operator("embedding", embedding_kernels.embedding, tensors=2, weight=_rows)


def _bags(g: Value, weight_shape: Shape, scales: Value | None, index: Value, bags: Any, sizes: Any, mode: int,
          padding: int, by_count: bool) -> Any:
    return _rows(rows_of_bags(g, scales, bags, sizes, mode), index, weight_shape, padding, by_count)


embedding_bag: Op = operator(
    "embedding_bag", embedding_kernels.embedding_bag, outputs="out bags sizes chosen", differentiable="out", tensors=4,
    weight=_bags, scales=dense_embedding_bag.rules["scales"])
gather: Op = linear("gather", gathering.gather, tensors=2,
                    x=lambda g, index, x_shape, dim: elements_gradient(g, index, x_shape, dim))

# Reductions

sparse_sum: Op = linear("_sparse_sum", lambda x, axes: reductions.sum_dims(x, axes), node="SparseSumBackward0",
                        x=lambda g, x, axes: sum_backward(g, x, axes))
sum_backward: Op = operator("_sparse_sum_backward", reductions.sum_backward, tensors=2,
                            g=lambda g, axes: sparse_sum(g, axes))
softmax: Op = operator("_sparse_softmax", lambda x, dim: reductions.softmax(x, dim), node="SparseSoftmaxBackward0",
                       x=lambda g, out, dim: _by_softmax(masked_once(g, out), out, dim))
log_softmax: Op = operator(
    "_sparse_log_softmax", lambda x, dim: reductions.softmax(x, dim, True), node="SparseLogSoftmaxBackward0",
    x=lambda g, out, dim: _by_logarithm(masked_once(g, out), out, dim))
# The sums of the stored elements along a dimension, at the places of these elements.
pooled: Op = linear("_sparse_softmax_backward_data", lambda x, dim: reductions.pooled(x, dim),
                    x=lambda g, dim: pooled(g, dim))
# The exponentials of the stored elements only.
stored_exp: Op = elementwise("exp", kernels.stored_exp, domain="as given", x=lambda g, out: g * out)


def _by_softmax(g: Coo | Compressed, out: Coo | Compressed, dim: int) -> Any:
    scaled = out * g
    return placed_at(values(scaled) - values(out) * values(pooled(scaled, dim)), out)


def _by_logarithm(g: Coo | Compressed, out: Coo | Compressed, dim: int) -> Any:
    return placed_at(values(g) - values(stored_exp(out)) * values(pooled(g, dim)), out)


filled: Op = operator("fill", lambda x, value: x.with_values(np.full_like(x.values, value)), node=2,
                      x=lambda g: np.zeros_like(g))
spdiags: Op = operator("_spdiags", diagonals.matrix, tensors=1, x=not_differentiable("_spdiags"), node="NotImplemented")
# Of an array by coordinates, whose gradient is coalesced.
_squared = kernels.on_values(arithmetic.square.kernel, coalesced=True)
square: Op = elementwise("pow", lambda x: _squared(x), node="PowBackward0", domain=arithmetic.square.domain,
                         x=lambda g, x: g * (coalesce(x) * 2))
frobenius: Op = operator("norm", reductions.norm, node=1, complex="adjoint", x=lambda g, x, out: x * (g / out))
narrow_copy: Op = linear("narrow_copy", structure.narrow, x=lambda g, x_shape, dim, start: widened(
    g, x_shape, dim, start))
widened: Op = linear(
    "narrow_backward", structure.widened,
    g=lambda g, g_shape, dim, start: narrow_copy(g, dim, start, g_shape[dim]))


# The sparse kernels of the operators above and of the operators that dense arrays have, too

OWN = (taken_at, placed_at, values, unsized_compressed, unsized_blocks, to_dense, to_dense_unmasked, masked,
       masked_once, dense_once, masked_sparse, coalesce, sparse_addmm, sparse_matmul, masked_product, hspmm, sspaddmm,
       sampled_addmm, mm_reduce, sparse_sum, sum_backward, softmax, log_softmax, pooled, stored_exp, frobenius,
       narrow_copy, widened, square, csr_of_coo, csc_of_coo, coo_tensor, rows_gradient, by_coordinates,
       elements_gradient, stored, to_sparse, to_sparse_csr, to_sparse_csc, compressed_tensor, block_tensor,
       to_sparse_bsr, to_sparse_bsc)


def _taken_at(x: Any, pattern: Any) -> Any:
    """The elements of a dense or sparse array at the places of a sparse array; of a matrix of blocks, the blocks."""
    if isinstance(pattern, Coo):
        return coordinates.masked(x, pattern).values
    if type(x) is type(pattern) and x.plain is pattern.plain and x.compressed is pattern.compressed:
        return x.values
    if isinstance(pattern, Blocks):
        return blocks.masked(coordinates.to_dense(x) if isinstance(x, Coo) else x, pattern).values
    return compressed.values_at(x, pattern)


def _in_layout(g: Value, sparse_dim: int, dense_dim: int, by_rows: bool | None, block: tuple[int, int] | None) -> Any:
    """A dense gradient by coordinates, if `by_rows` is None, or with compressed rows or columns, perhaps of blocks."""
    if by_rows is None:
        return by_coordinates(g, sparse_dim)
    if block is not None:
        return (to_sparse_bsr if by_rows else to_sparse_bsc)(g, block)
    return (to_sparse_csr if by_rows else to_sparse_csc)(g, dense_dim)


def _recompressed(g: Value, sparse_dim: int, dense_dim: int, by_rows: bool, block: tuple[int, int] | None) -> Any:
    """A gradient by coordinates, or a dense one, in the layout of the compressed array that it belongs to."""
    if block is not None:
        return _in_layout(dense(g), sparse_dim, dense_dim, by_rows, block)
    if g.ndim - dense_dim > 2:
        raise RuntimeError(f"sparse_coo_to_sparse: conversion from Sparse to SparseCs{'r' if by_rows else 'c'} for "
                           "input tensors with sparse_dim()!=2 is not supported")
    return (csr_of_coo if by_rows else csc_of_coo)(by_coordinates(g, sparse_dim))


def _masked(x: Any, mask: Any) -> Any:
    """The elements of a dense or sparse array at the places of a sparse array."""
    if isinstance(mask, Coo):
        return coordinates.masked(compressed.to_dense(x) if isinstance(x, Compressed) else x, mask)
    return blocks.masked(x, mask) if isinstance(mask, Blocks) else compressed.masked(x, mask)


def _cast(x: Coo, dtype: np.dtype[Any]) -> Any:
    return x.with_values(copied(x.values, dtype))


def _cloned(x: Coo, order: str = "K") -> Any:
    return x.with_values(np.array(x.values))


def _refused(name: str) -> Callable[..., Any]:
    def kernel(x: Coo | Compressed, *options: Any) -> Any:
        raise unsupported(name, x.backend)

    return kernel


def _expanded(x: Coo | Compressed, *options: Any) -> Any:
    raise noted(
        RuntimeError("expand is unsupported for Sparse tensors"),
        instead="use torch.sparse.sum, whose gradient is sparse")


def _power(x: Any, exponent: complex) -> Any:
    if exponent == 0:
        raise noted(
            RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"),
            instead="call it on x.to_dense()")
    return x ** exponent


_LINEAR: dict[Op, Callable[..., Any]] = {
    arithmetic.neg: np.negative, arithmetic.mul_number: np.multiply, arithmetic.div_number: np.true_divide,
    elementary.conj: np.conjugate, elementary.conj_physical: np.conjugate, arithmetic.positive: np.positive,
}
_ZERO_PRESERVING: dict[Op, Callable[..., Any]] = {
    **{op: op.kernel for op in (
        elementary.sin, elementary.tan, elementary.asin, elementary.atan, elementary.sinh, elementary.tanh,
        elementary.asinh, elementary.atanh, elementary.expm1, elementary.log1p, elementary.sqrt, elementary.abs,
        elementary.sgn, elementary.sign, elementary.floor, elementary.ceil, elementary.trunc, elementary.round,
        elementary.frac, elementary.erf, elementary.erfinv, elementary.deg2rad, elementary.rad2deg,
        arithmetic.square, comparison.isnan, comparison.isinf, comparison.isposinf, comparison.isneginf,
        comparison.signbit, activations.relu, elementary.nan_to_num)},
    arithmetic.power: _power,
}
_BOTH: dict[Any, Callable[..., Any]] = {cast: _cast, clone: _cloned, copy: _cloned,
                                         real: lambda x: x.with_values(np.array(x.values.real)),
                                         arithmetic.copy: lambda x, y: _cloned(y)}
Coo.kernels.update(_BOTH)
Compressed.kernels.update(_BOTH)
Blocks.kernels.update(_BOTH)
for _op in OWN:
    Coo.kernels[_op] = _op.kernel
for _op, _kernel in _LINEAR.items():
    Coo.kernels[_op] = kernels.on_values(_kernel, coalesced=False)
    Compressed.kernels[_op] = Blocks.kernels[_op] = compressed.on_values(_kernel)
for _op, _kernel in _ZERO_PRESERVING.items():
    Coo.kernels[_op] = kernels.on_values(_kernel, coalesced=True)
    Compressed.kernels[_op] = Blocks.kernels[_op] = compressed.on_values(_kernel)
_BY_COORDINATES: dict[Any, Callable[..., Any]] = {
    arithmetic.add: kernels.add, arithmetic.sub: kernels.subtract, arithmetic.mul: kernels.multiply,
    arithmetic.div: kernels.divide, matrix.mm: products.mm, matrix.mv: products.mv, matrix.addmm: products.addmm,
    sum_all: reductions.sum_all, sum_dim: reductions.sum_wide,
}
Coo.kernels.update(_BY_COORDINATES)
Coo.kernels.update({
    matrix.bmm: products.bmm, t: structure.t, transpose: structure.transpose, permute: structure.permute,
    unsqueeze: structure.unsqueeze, squeeze_dim: structure.squeeze_dim, select: structure.select,
    index_select: structure.index_select, cat: structure.concatenate, stack: structure.stack, unbind: structure.unbind,
    spread: _expanded, split: _refused("as_strided"), index_select_backward: _refused("index_add_"),
    dense: coordinates.to_dense, np.zeros_like: kernels.zeros_like, arithmetic.zero: kernels.zeros_like,
    activations.threshold_backward: kernels.threshold_backward,
})
for _op, _kernel in [*_BY_COORDINATES.items(), *[(op, op.kernel) for op in (
        to_dense, to_dense_unmasked, sparse_addmm, sparse_matmul, masked_product, sparse_sum)]]:
    Compressed.kernels[_op] = compressed.by_coordinates(_kernel, _op is matrix.mm)
Compressed.kernels.update({
    values: values.kernel, sampled_addmm: sampled_addmm.kernel, mm_reduce: mm_reduce.kernel, t: compressed.t,
    dense: compressed.to_dense,
    transpose: compressed.transpose, arithmetic.mul: compressed.multiply, arithmetic.add: compressed.add,
    taken_at: taken_at.kernel, by_coordinates: lambda x, sparse_dim: compressed.to_coo(x), select: compressed.select,
    sum_dim: compressed.sum_kept,
    activations.threshold_backward: compressed.threshold_backward,
    coo_of_compressed: coo_of_compressed.kernel, masked: compressed.masked, masked_once: compressed.masked,
    dense_once: compressed.masked, placed_at: placed_at.kernel,
})
for _kernels in (Compressed.kernels, Blocks.kernels):
    _kernels[elementary.angle] = compressed.on_values(elementary.angle.kernel)
    _kernels[filled] = filled.kernel
    _kernels[arithmetic.zero] = _kernels[np.zeros_like] = compressed.zeros_like
Blocks.kernels.update({
    select: compressed.select,
    transpose: lambda x, dim0, dim1: x if dim0 == dim1 else blocks.t(x),
    values: values.kernel, dense: blocks.to_dense, to_dense: blocks.to_dense,
    to_dense_unmasked: to_dense_unmasked.kernel, t: blocks.t, masked_once: blocks.masked, dense_once: blocks.masked,
    masked: blocks.masked, placed_at: placed_at.kernel, coo_of_compressed: coo_of_compressed.kernel,
    matrix.mm: blocks.mm, matrix.mv: blocks.mm, matrix.addmm: blocks.addmm, sparse_addmm: blocks.addmm,
    arithmetic.add: blocks.add, arithmetic.mul: blocks.scaled, taken_at: taken_at.kernel, sum_all: reductions.sum_all,
})
# A ufunc of NumPy stands for the operator whose kernel it is.
for _kernels, _layouts in ((Coo.kernels, "COO"), (Compressed.kernels, "CSR and CSC"), (Blocks.kernels, "BSR and BSC")):
    table(f"For {_layouts} tensors, the kernel is {{}}",
          {op: kernel for op, kernel in _kernels.items() if isinstance(op, Op)})
    _kernels.update({ufunc: _kernels[op] for ufunc, op in [*Op.by_kernel.items()] if op in _kernels})
del _op, _kernel, _kernels, _layouts
