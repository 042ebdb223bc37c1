"""Determinants, inverses, pseudoinverses, condition numbers and ranks of stacks of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import return_types
from ....foundations.dtypes import F32, I64, Array, legacy, letter
from ....foundations.errors import noted
from ....foundations.scalars import check_double
from ....kernels.linalg.solving import machine_epsilon
from ....kernels.shape import common_shape
from ....ops.basic import beyond
from ....ops.linalg import solving as ops
from ...recording.out_rules import EXACT, FREE, UNASKED, castable, rule
from ...recording.overwriting import delivered
from ...recording.public import public
from ...state.base import TensorBase, plain
from ..elementwise.comparison import where
from ..elementwise.elementary import log, nan_to_num
from ..indexing.masking import masked_fill
from .factorizations import linalg_eigvalsh as eigvalsh, linalg_svdvals as svdvals
from .matrix_checks import check_floating, check_square, matrices, refuse_failures
from .norms import matrix_norm

SINGULAR = ("The diagonal element {i} is zero, the inversion could not be completed because the input matrix is "
             "singular.")


@public("linalg_det(Tensor A, out)", out=rule(exact=EXACT, overlap=FREE, blame="_linalg_det"))
def linalg_det(A: TensorBase) -> Any:
    """The determinant of each square matrix: shape (*, n, n) gives (*).

    The gradient is right for singular matrices too. Raises RuntimeError if the matrices are not square, or their
    elements are neither floating-point nor complex.
    """
    matrices("linalg.det", A, square=True, floating=True, kernel="lu_cpu")
    return ops.det(A)


@public("det(Tensor input)", method=True)
def det(input: TensorBase) -> Any:
    """The determinant of each square matrix. See `torch.linalg.det`."""
    return linalg_det(input)


@public(
    "linalg_slogdet(Tensor A, *, Tensors[2] out=None) -> (Tensor sign, Tensor logabsdet)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_slogdet"))
def linalg_slogdet(A: TensorBase) -> return_types.linalg_slogdet:
    """The sign of each determinant (its phase if complex) and the logarithm of its absolute value: `(sign, logabsdet)`.

    These stay in range if the determinant itself is too large or too small for the dtype. A singular matrix gives
    (0, -inf).
    """
    check_floating("linalg.slogdet", matrices("linalg.slogdet", A, square=True), low=False)
    return return_types.linalg_slogdet(ops.slogdet(A))


@public(
    "slogdet(Tensor input, *, Tensors[2] out=None) -> (Tensor sign, Tensor logabsdet)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_slogdet"), method=True)
def slogdet(input: TensorBase) -> return_types.slogdet:
    """The sign of each determinant and the logarithm of its absolute value. See `torch.linalg.slogdet`."""
    return return_types.slogdet(linalg_slogdet(input))


@public("logdet(Tensor input)", method=True)
def logdet(input: TensorBase) -> Any:
    """The logarithm of each determinant: nan for a negative determinant, -inf for 0.

    >>> import retrograd as torch
    >>> torch.logdet(torch.tensor([[2., 0.], [0., 3.]]))
    tensor(1.7918)
    """
    check_floating("logdet", matrices("logdet", input, square=True), low=False)
    sign, size = ops.slogdet(input)
    if input._array.dtype.kind == "c":
        return log(sign) + size
    return where(sign == -1, math.nan, size)


@public(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False, Tensors[2] out=None) -> (Tensor inverse, Tensor info)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_inv_ex"))
def linalg_inv_ex(A: TensorBase, *, check_errors: bool = False) -> return_types.linalg_inv_ex:
    """The inverse of each matrix, and its info: 0, or the number of the first diagonal element of U that is 0, from 1.

    The matrix is factored as LU. Raises `torch.linalg.LinAlgError` for a singular matrix only with `check_errors`.
    """
    check_floating("linalg.inv", matrices("linalg.inv", A, square=True), low=False)
    inverse, info = ops.inv_ex(A)
    if check_errors:
        refuse_failures(info, "linalg.inv_ex", SINGULAR)
    return return_types.linalg_inv_ex((inverse, info))


@public("linalg_inv(Tensor A, out)", out=rule(exact=EXACT, overlap=FREE, blame="linalg_inv_ex"))
def linalg_inv(A: TensorBase) -> Any:
    """The inverse of each square matrix. Raises `torch.linalg.LinAlgError` if a matrix is singular.

    >>> import retrograd as torch
    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    inverse, info = linalg_inv_ex(A)
    refuse_failures(info, "linalg.inv", SINGULAR)
    return inverse


@public("inverse(Tensor input, out)", out=rule(exact=EXACT, overlap=FREE, blame="linalg_inv_ex"), method=True)
def inverse(input: TensorBase) -> Any:
    """The inverse of each square matrix. See `torch.linalg.inv`."""
    return linalg_inv(input)


@public(
    "linalg_pinv(Tensor input, *, Tensor atol=None, Tensor rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_pinv(Tensor input, *, float atol=None, float rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_pinv(Tensor input, Tensor rcond, bool hermitian=False, out)",
    "linalg_pinv(Tensor input, float rcond, bool hermitian=False, out)",
    out=castable("linalg.pinv", "result"), strict=True)
def linalg_pinv(input: TensorBase, rcond: Any = None, hermitian: bool = False, *, atol: Any = None,
                rtol: Any = None) -> Any:
    """The pseudoinverse of Moore and Penrose: shape (*, m, n) gives (*, n, m).

    Singular values of at most max(atol, rtol * the largest) count as 0. Both bounds are numbers, or both are tensors
    with one number for each matrix. Without bounds `rtol` is max(m, n) times the precision of the dtype. `rcond` is an
    older name of `rtol`. With `hermitian` the eigenvalues of the lower triangle are used, which takes less time.
    """
    array = input._array
    if array.ndim < 2 or letter(array.dtype) not in "fc" or array.itemsize == 2:
        raise RuntimeError(f"linalg.pinv({legacy(array)}{{{[*array.shape]}}}): expected a tensor with 2 or more "
                           "dimensions of float, double, cfloat or cdouble types")
    if hermitian and array.size:
        check_square("linalg.eigh: ", array)
    return ops.pinv(input, *_bounds(array, atol, rtol if rcond is None else rcond), hermitian)


def _bounds(array: Array, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """The absolute and the relative bound: singular values up to the larger bound count as 0.

    If neither is given, or the absolute bound is 0, the relative bound is the rounding error: the larger size of the
    matrix times the precision of the dtype.
    """
    absolute, relative = (x._array if isinstance(x, TensorBase) else x for x in (atol, rtol))
    if relative is None:
        usual = machine_epsilon(array.dtype) * max(array.shape[-2:])
        relative = usual if absolute is None else beyond(lambda a: np.where(np.asarray(a) > 0, 0.0, usual), absolute)
    return 0.0 if absolute is None else absolute, relative


@public("pinverse(Tensor input, float rcond=1e-15)", method=True)
def pinverse(input: TensorBase, rcond: float = 1e-15) -> Any:
    """The pseudoinverse. Singular values of at most `rcond` times the largest count as 0. See `torch.linalg.pinv`."""
    return linalg_pinv(input, rcond)


# Condition numbers and ranks

_NORMS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


@public("linalg_cond(Tensor input, Number p=None, out)", "linalg_cond(Tensor input, str p, out)")
def cond(input: TensorBase, p: Any = None, *, out: TensorBase | None = None) -> Any:
    """The condition number of each matrix: the norm `p` of the matrix times the norm `p` of its inverse.

    For p = 2 (the default) and p = -2 it is the ratio of the extreme singular values. A singular matrix has the
    condition number inf. Raises RuntimeError for an unknown norm, and if the matrices are not square and p is not ±2.
    """
    array = input._array
    if array.ndim < 2 and p in ("fro", "nuc"):
        raise RuntimeError(f"linalg.cond(ord={p}): The input tensor A must have at least 2 dimensions.")
    if array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    check_double(p)
    order = 2 if p is None else p
    if order not in _NORMS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {order}")
    asked = castable("linalg.cond", "result", gradient=UNASKED)
    return delivered("linalg_cond", asked, out, _condition(input, array, order))


def _condition(input: TensorBase, array: Array, order: Any) -> Any:
    if not array.size:
        if isinstance(order, str):
            check_square(f"linalg.cond(ord={order}): ", array)
        real = np.zeros((), array.dtype).real.dtype if letter(array.dtype) in "fc" else F32
        return plain(np.zeros(array.shape[:-2], real))
    if order in (2, -2):
        values = svdvals(input)
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, values._array.shape[-1] - 1, 1)
        return (largest / smallest if order == 2 else smallest / largest).squeeze(-1)
    check_square(f"linalg.cond(ord={order if isinstance(order, str) else f'{order:g}'}): ", array)
    if order == "nuc":
        values = svdvals(input)
        return values.sum(-1) * values.reciprocal().sum(-1)
    check_floating("linalg.inv", array)
    inverse, info = linalg_inv_ex(input)
    inverse = masked_fill(inverse, info[..., None, None] > 0, math.inf)
    return nan_to_num(matrix_norm(input, order) * matrix_norm(inverse, order), math.inf, math.inf, -math.inf)


def _checked_bounds(array: Array, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """The absolute and the relative bound. Raises RuntimeError for complex bounds, and dtypes without a usual bound."""
    for which, bound in (("atol", atol), ("rtol", rtol)):
        if isinstance(bound, TensorBase) and bound._array.dtype.kind == "c":
            raise RuntimeError(f"torch.linalg.matrix_rank: {which} tensor of complex type is not supported. Got "
                               f"{legacy(bound._array)}")
    if rtol is None and (letter(array.dtype) not in "fc" or array.dtype.itemsize == 2):
        raise noted(
            RuntimeError("This function doesn't handle types other than float and double"),
            instead="convert with .float() first")
    return _bounds(array, atol, rtol)


@public(
    "linalg_matrix_rank(Tensor input, *, Tensor atol=None, Tensor rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_matrix_rank(Tensor input, *, float atol=None, float rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_matrix_rank(Tensor input, Tensor tol, bool hermitian=False, out)",
    "linalg_matrix_rank(Tensor input, float tol, bool hermitian=False, out)", strict=True)
def matrix_rank(input: TensorBase, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None,
                out: TensorBase | None = None) -> Any:
    """The rank of each matrix: the number of singular values above `atol` and above `rtol` times the largest.

    Shape (*, m, n) gives (*), in int64 and without a gradient. With `hermitian` the absolute eigenvalues stand for the
    singular values. A bound is a number, or a tensor with one number for each matrix. `tol` is another name for `atol`;
    then there is no relative bound. Raises RuntimeError for ints and for numbers of 16 bits.
    """
    array = matrices("torch.linalg.matrix_rank", input, "input")
    if tol is not None:
        atol, rtol = tol, 0.0
    absolute, relative = _checked_bounds(array, atol, rtol)
    if array.size:
        detached = input.detach()
        ranks = beyond(_ranks, (eigvalsh(detached) if hermitian else svdvals(detached))._array, absolute, relative)
    else:
        ranks = np.zeros(array.shape[:-2], np.int64)
    return delivered("linalg_matrix_rank", castable("torch.linalg.matrix_rank", "result", gradient=UNASKED), out,
                     plain(ranks))


def _ranks(values: Array, absolute: Any, relative: Any) -> Any:
    """For each matrix, the number of values above both bounds."""
    values = np.abs(values)
    for bound in (absolute, relative):
        common_shape(np.shape(bound), values.shape[:-1])
    least = np.maximum(absolute, relative * values.max(-1))
    return np.asarray(np.count_nonzero(values > least[..., None], axis=-1), I64)


NUMPY: dict[Any, Callable[..., Any]] = {np.linalg.det: linalg_det, np.linalg.slogdet: linalg_slogdet,
                                        np.linalg.inv: linalg_inv}
