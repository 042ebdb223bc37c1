"""Determinants, inverses and pseudoinverses of stacks of square matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dtypes import legacy
from ....kernels.linalg.solving import machine_epsilon
from ....ops.basic import beyond
from ....ops.linalg import solving as ops
from ...arguments import return_types
from ...recording.out_rules import EXACT, FREE, castable, rule
from ...recording.public import public
from ...state.base import TensorBase
from ..elementwise.comparison import where
from ..elementwise.elementary import log
from .matrix_checks import check_floating, check_square, matrices, refuse_failures

SINGULAR = ("The diagonal element {i} is zero, the inversion could not be completed because the input matrix is "
             "singular.")


@public("linalg_det(Tensor A, out)", out=rule(exact=EXACT, overlap=FREE, blame="_linalg_det"))
def linalg_det(A: Any) -> Any:
    """The determinant of each square matrix: shape (*, n, n) gives (*).

    The gradient is right for singular matrices too. Raises RuntimeError if the matrices are not square, or their
    elements are neither floating-point nor complex.
    """
    matrices("linalg.det", A, square=True, floating=True, kernel="lu_cpu")
    return ops.det(A)


@public("det(Tensor input)", method=True)
def det(input: Any) -> Any:
    """The determinant of each square matrix. See `torch.linalg.det`."""
    return linalg_det(input)


@public(
    "linalg_slogdet(Tensor A, *, Tensors[2] out=None) -> (Tensor sign, Tensor logabsdet)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_slogdet"))
def linalg_slogdet(A: Any) -> return_types.linalg_slogdet:
    """The sign of each determinant (its phase if complex) and the logarithm of its absolute value: `(sign, logabsdet)`.

    These stay in range if the determinant itself is too large or too small for the dtype. A singular matrix gives
    (0, -inf).
    """
    check_floating("linalg.slogdet", matrices("linalg.slogdet", A, square=True), low=False)
    return return_types.linalg_slogdet(ops.slogdet(A))


@public(
    "slogdet(Tensor input, *, Tensors[2] out=None) -> (Tensor sign, Tensor logabsdet)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_slogdet"), method=True)
def slogdet(input: Any) -> return_types.slogdet:
    """The sign of each determinant and the logarithm of its absolute value. See `torch.linalg.slogdet`."""
    return return_types.slogdet(linalg_slogdet(input))


@public("logdet(Tensor input)", method=True)
def logdet(input: Any) -> Any:
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
def linalg_inv_ex(A: Any, *, check_errors: bool = False) -> return_types.linalg_inv_ex:
    """The inverse of each matrix, and its info: 0, or the number of the first diagonal element of U that is 0, from 1.

    The matrix is factored as LU. Raises `torch.linalg.LinAlgError` for a singular matrix only with `check_errors`.
    """
    check_floating("linalg.inv", matrices("linalg.inv", A, square=True), low=False)
    inverse, info = ops.inv_ex(A)
    if check_errors:
        refuse_failures(info, "linalg.inv_ex", SINGULAR)
    return return_types.linalg_inv_ex((inverse, info))


@public("linalg_inv(Tensor A, out)", out=rule(exact=EXACT, overlap=FREE, blame="linalg_inv_ex"))
def linalg_inv(A: Any) -> Any:
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
def inverse(input: Any) -> Any:
    """The inverse of each square matrix. See `torch.linalg.inv`."""
    return linalg_inv(input)


@public(
    "linalg_pinv(Tensor input, *, Tensor atol=None, Tensor rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_pinv(Tensor input, *, float atol=None, float rtol=None, bool hermitian=False, Tensor out=None)",
    "linalg_pinv(Tensor input, Tensor rcond, bool hermitian=False, out)",
    "linalg_pinv(Tensor input, float rcond, bool hermitian=False, out)",
    out=castable("linalg.pinv", "result"),
    strict=True)
def linalg_pinv(input: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The pseudoinverse of Moore and Penrose: shape (*, m, n) gives (*, n, m).

    Singular values of at most max(atol, rtol * the largest) count as 0. Both bounds are numbers, or both are tensors
    with one number for each matrix. Without bounds `rtol` is max(m, n) times the precision of the dtype. `rcond` is an
    older name of `rtol`. With `hermitian` the eigenvalues of the lower triangle are used, which takes less time.
    """
    array = input._array
    if array.ndim < 2 or array.dtype.kind not in "fc" or array.itemsize == 2:
        raise RuntimeError(f"linalg.pinv({legacy(array)}{{{[*array.shape]}}}): expected a tensor with 2 or more "
                           "dimensions of float, double, cfloat or cdouble types")
    if hermitian:
        check_square("linalg.eigh: ", array)
    return ops.pinv(input, *bounds(array, atol, rtol if rcond is None else rcond), hermitian)


def bounds(array: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
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
def pinverse(input: Any, rcond: Any = 1e-15) -> Any:
    """The pseudoinverse. Singular values of at most `rcond` times the largest count as 0. See `torch.linalg.pinv`."""
    return linalg_pinv(input, rcond)


NUMPY: dict[Any, Callable[..., Any]] = {np.linalg.det: linalg_det, np.linalg.slogdet: linalg_slogdet,
                                        np.linalg.inv: linalg_inv}
