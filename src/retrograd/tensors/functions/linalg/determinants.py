"""Determinants, inverses and pseudoinverses of stacks of square matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....dtypes import legacy
from ....kernels.linalg.solving import machine_epsilon
from ....ops.basic import beyond
from ....ops.linalg import solving as ops
from ...arguments import return_types
from ...arguments.dims import array_of
from ...recording.calls import recorded
from ...recording.out_rules import EXACT, FREE, castable, rule
from ...recording.public import public
from ...state.base import TensorBase
from ..elementwise.comparison import where
from ..elementwise.elementary import log
from .matrix_checks import check_floating, check_kernel, check_square, matrices, refuse_failures

_det, _slogdet, _inv_ex, _pinv = (recorded(op) for op in (ops.det, ops.slogdet, ops.inv_ex, ops.pinv))
SINGULAR = ("The diagonal element {i} is zero, the inversion could not be completed because the input matrix is "
             "singular.")


def _decomposed(function: str, name: str, value: Any, argument: str, *, low: bool = False) -> None:
    """Check the argument of a function that factors it as LU."""
    array = matrices(function, name, value, argument, square=True)
    check_floating(name, array, low=low)
    check_kernel("lu_cpu", array)


@public("linalg_det(Tensor A, out)", out=rule(exact=EXACT, overlap=FREE, blame="_linalg_det"))
def linalg_det(A: Any) -> Any:
    """The determinant of each square matrix: shape (*, n, n) gives (*).

    The gradient is right for singular matrices too. Raises RuntimeError if the matrices are not square, or their
    elements are neither floating-point nor complex.
    """
    _decomposed("linalg_det", "linalg.det", A, "A", low=True)
    return _det(A)


@public("det(Tensor input)", method=True)
def det(input: Any) -> Any:
    """The determinant of each square matrix. See `torch.linalg.det`."""
    _decomposed("det", "linalg.det", input, "input", low=True)
    return _det(input)


@public(
    "linalg_slogdet(Tensor A, *, Tensors[2] out=None) -> (Tensor sign, Tensor logabsdet)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_slogdet"))
def linalg_slogdet(A: Any) -> return_types.linalg_slogdet:
    """The sign of each determinant (its phase if complex) and the logarithm of its absolute value: `(sign, logabsdet)`.

    These stay in range if the determinant itself is too large or too small for the dtype. A singular matrix gives
    (0, -inf).
    """
    _decomposed("linalg_slogdet", "linalg.slogdet", A, "A")
    return return_types.linalg_slogdet(_slogdet(A))


@public(out=rule(exact=EXACT, overlap=FREE, blame="_linalg_slogdet"), method=True)
def slogdet(input: Any) -> return_types.slogdet:
    """The sign of each determinant and the logarithm of its absolute value. See `torch.linalg.slogdet`."""
    _decomposed("slogdet", "linalg.slogdet", input, "input")
    return return_types.slogdet(_slogdet(input))


@public("logdet(Tensor input)", method=True)
def logdet(input: Any) -> Any:
    """The logarithm of each determinant: nan for a negative determinant, -inf for 0.

    >>> import retrograd as torch
    >>> torch.logdet(torch.tensor([[2., 0.], [0., 3.]]))
    tensor(1.7918)
    """
    _decomposed("logdet", "logdet", input, "input")
    sign, size = _slogdet(input)
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
    inverse, info = _inverse("linalg_inv_ex", A, "A")
    if check_errors:
        refuse_failures(info, "linalg.inv_ex", SINGULAR)
    return return_types.linalg_inv_ex((inverse, info))


def _inverse(function: str, value: Any, argument: str) -> Any:
    array = matrices(function, "linalg.inv", value, argument, square=True)
    check_floating("linalg.inv", array, low=False)
    return _inv_ex(value)


@public("linalg_inv(Tensor A, out)", out=rule(exact=EXACT, overlap=FREE, blame="linalg_inv_ex"))
def linalg_inv(A: Any) -> Any:
    """The inverse of each square matrix. Raises `torch.linalg.LinAlgError` if a matrix is singular.

    >>> import retrograd as torch
    >>> torch.linalg.inv(torch.tensor([[2., 0.], [0., 4.]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    inverse, info = _inverse("linalg_inv", A, "A")
    refuse_failures(info, "linalg.inv", SINGULAR)
    return inverse


@public(out=rule(exact=EXACT, overlap=FREE, blame="linalg_inv_ex"), method=True)
def inverse(input: Any) -> Any:
    """The inverse of each square matrix. See `torch.linalg.inv`."""
    result, info = _inverse("inverse", input, "input")
    refuse_failures(info, "linalg.inv", SINGULAR)
    return result


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
    array = array_of("linalg_pinv", input)
    if array.ndim < 2 or array.dtype.kind not in "fc" or array.itemsize == 2:
        raise RuntimeError(f"linalg.pinv({legacy(array)}{{{[*array.shape]}}}): expected a tensor with 2 or more "
                           "dimensions of float, double, cfloat or cdouble types")
    if hermitian and array.size:
        check_square("linalg.eigh", array)
    return _pinv(input, *_tolerances(array, atol, rtol if rcond is None else rcond), hermitian)


def _tolerances(array: Any, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """The absolute and the relative bound. Singular values up to the larger bound count as 0."""
    if atol is not None and rtol is not None and isinstance(atol, TensorBase) != isinstance(rtol, TensorBase):
        raise TypeError("linalg_pinv() received an invalid combination of arguments: atol and rtol must both be "
                        "tensors or both numbers")
    absolute, relative = (x._array if isinstance(x, TensorBase) else x for x in (atol, rtol))
    if relative is None:
        usual = machine_epsilon(array.dtype) * max(array.shape[-2:])
        relative = usual if absolute is None else beyond(partial(relative_bound, usual), absolute)
    return 0.0 if absolute is None else absolute, relative


def relative_bound(usual: float, absolute: Any) -> Any:
    """The relative bound if only an absolute bound is given: 0 if the absolute bound is above 0, else the usual one."""
    return np.where(np.asarray(absolute) > 0, 0.0, usual)


@public(method=True)
def pinverse(input: Any, rcond: Any = 1e-15) -> Any:
    """The pseudoinverse. Singular values of at most `rcond` times the largest count as 0. See `torch.linalg.pinv`."""
    array_of("pinverse", input)
    return linalg_pinv(input, rcond)


NUMPY: dict[Any, Callable[..., Any]] = {np.linalg.det: linalg_det, np.linalg.slogdet: linalg_slogdet,
                                        np.linalg.inv: linalg_inv}
