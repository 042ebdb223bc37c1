"""Ranks and condition numbers of matrices."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ....dtypes import F32, I64, dtype as torch_dtype
from ....kernels.shape import common_shape
from ....ops.basic import beyond
from ...arguments.dims import array_of
from ...recording.out_rules import UNASKED, castable
from ...recording.overwriting import delivered
from ...recording.public import public
from ...state.base import TensorBase, plain
from ..elementwise.elementary import nan_to_num
from ..indexing.masking import masked_fill
from .determinants import linalg_inv_ex as inv_ex, relative_bound
from .factorizations import linalg_eigvalsh as eigvalsh, linalg_svdvals as svdvals
from .matrix_checks import check_floating, check_square
from .norms import matrix_norm

_NORMS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


@public("linalg_cond(Tensor input, Number p=None, out)", "linalg_cond(Tensor input, str p, out)")
def cond(input: Any, p: Any = None, *, out: Any = None) -> Any:
    """The condition number of each matrix: the norm `p` of the matrix times the norm `p` of its inverse.

    For p = 2 (the default) and p = -2 it is the ratio of the extreme singular values. A singular matrix has the
    condition number inf. Raises RuntimeError for an unknown norm, and if the matrices are not square and p is not ±2.
    """
    array = array_of("linalg_cond", input)
    if array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if isinstance(p, complex):
        raise RuntimeError("value cannot be converted to type double without overflow: the norm is a real number")
    order = 2 if p is None else p
    if order not in _NORMS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {order}")
    asked = castable("linalg.cond", "result", gradient=UNASKED)
    return delivered("linalg_cond", asked, out, _condition(input, array, order))


def _condition(input: Any, array: Any, order: Any) -> Any:
    if not array.size:
        if isinstance(order, str):
            check_square(f"linalg.cond(ord={order})", array)
        real = np.zeros((), array.dtype).real.dtype if array.dtype.kind in "fc" else F32
        return plain(np.zeros(array.shape[:-2], real))
    if order in (2, -2):
        values = svdvals(input)
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, values._array.shape[-1] - 1, 1)
        return (largest / smallest if order == 2 else smallest / largest).squeeze(-1)
    check_square(f"linalg.cond(ord={order if isinstance(order, str) else f'{order:g}'})", array)
    if order == "nuc":
        values = svdvals(input)
        return values.sum(-1) * values.reciprocal().sum(-1)
    check_floating("linalg.inv", array)
    inverse, info = inv_ex(input)
    inverse = masked_fill(inverse, info[..., None, None] > 0, math.inf)
    return nan_to_num(matrix_norm(input, order) * matrix_norm(inverse, order), math.inf, math.inf, -math.inf)


cond.__name__ = cond.__qualname__ = "cond"


def _bounds(array: Any, tol: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """The absolute and the relative bound. If neither is given, or the absolute bound is 0, the relative bound is the
    rounding error: the larger size of the matrix times the precision of the dtype."""
    name = "torch.linalg.matrix_rank"
    if tol is not None:
        atol, rtol = tol, 0.0
    for which, bound in (("atol", atol), ("rtol", rtol)):
        if isinstance(bound, TensorBase) and bound._array.dtype.kind == "c":
            raise RuntimeError(f"{name}: {which} tensor of complex type is not supported. Got "
                               f"{torch_dtype.of[bound._array.dtype].legacy}")
    absolute, relative = (x._array if isinstance(x, TensorBase) else x for x in (atol, rtol))
    if relative is None:
        if array.dtype.kind not in "fc" or array.dtype.itemsize == 2:
            raise RuntimeError("This function doesn't handle types other than float and double. Convert with .float() "
                               "first.")
        rounding = float(np.finfo(array.dtype).eps) * max(array.shape[-2:])
        relative = rounding if absolute is None else beyond(partial(relative_bound, rounding), absolute)
    return (0.0 if absolute is None else absolute), relative


@public(
    "linalg_matrix_rank(Tensor input, *, Tensor atol=None, Tensor rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_matrix_rank(Tensor input, *, float atol=None, float rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_matrix_rank(Tensor input, Tensor tol, bool hermitian=False, out)",
    "linalg_matrix_rank(Tensor input, float tol, bool hermitian=False, out)",
    strict=True)
def matrix_rank(input: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
                out: Any = None) -> Any:
    """The rank of each matrix: the number of singular values above `atol` and above `rtol` times the largest.

    Shape (*, m, n) gives (*), in int64 and without a gradient. With `hermitian` the absolute eigenvalues stand for the
    singular values. A bound is a number, or a tensor with one number for each matrix. `tol` is another name for `atol`;
    then there is no relative bound. Raises RuntimeError for ints and for numbers of 16 bits.
    """
    array = array_of("linalg_matrix_rank", input)
    if not all(b is None or isinstance(b, (TensorBase, int, float, np.number)) for b in (tol, atol, rtol)):
        raise TypeError("linalg_matrix_rank() received an invalid combination of arguments: bounds are numbers or "
                        "tensors")
    absolute, relative = _bounds(array, tol, atol, rtol) if array.ndim > 1 else (0.0, 0.0)
    if array.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    if array.size:
        detached = input.detach()
        ranks = beyond(_ranks, (eigvalsh(detached) if hermitian else svdvals(detached))._array, absolute, relative)
    else:
        ranks = np.zeros(array.shape[:-2], np.int64)
    return delivered("linalg_matrix_rank", castable("torch.linalg.matrix_rank", "result", gradient=UNASKED), out,
                     plain(ranks))


def _ranks(values: Any, absolute: Any, relative: Any) -> Any:
    """For each matrix, the number of values above both bounds."""
    values = np.abs(values)
    for bound in (absolute, relative):
        common_shape(np.shape(bound), values.shape[:-1])
    least = np.maximum(absolute, relative * values.max(-1))
    return np.asarray(np.count_nonzero(values > least[..., None], axis=-1), I64)
