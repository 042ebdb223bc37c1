"""Systems of linear equations: with square, triangular and factored matrices, least squares, and tensor equations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import return_types
from ....foundations.dtypes import Array, legacy, letter
from ....foundations.errors import LinAlgError, warn_once
from ....kernels.linalg.lu import first_true
from ....kernels.linalg.solving import machine_epsilon
from ....ops.basic import check_values
from ....ops.linalg import solving as ops, triangular
from ....tensors.state.base import TensorBase
from ...arguments.dims import as_int, axis_of
from ...recording.out_rules import EXACT, FREE, UNASKED, castable, rule
from ...recording.overwriting import delivered
from ...recording.public import public
from . import matrix_checks as checks
from .determinants import SINGULAR, linalg_inv_ex

_SINGULAR = "The solver failed because the input matrix is singular."


@public(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensors[2] out=None) "
    "-> (Tensor result, Tensor info)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_solve_ex"))
def linalg_solve_ex(A: TensorBase, B: TensorBase, *, left: bool = True,
                    check_errors: bool = False) -> return_types.linalg_solve_ex:
    """The result of `torch.linalg.solve`, and the info of each matrix: 0 unless the matrix is singular.

    Raises `torch.linalg.LinAlgError` for a singular matrix only with `check_errors`.
    """
    name = "linalg.solve"
    a, b = checks.matrices(name, A, square=True, floating=True), B._array
    checks.check_same(name, a, b)
    vector = checks.holds_vectors(a, b)
    if vector and not left:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation XA = B ({a.shape[-2]}x"
                           f"{a.shape[-1]} and {b.shape[-1]}x1)" if b.ndim == 1 and a.shape[-1] != 1 else
                           f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In "
                           "this case linalg.solve is equivalent to B / A.squeeze(-1)")
    right = checks.columns(b) if vector else checks.matrices(name, B, "B")
    checks.check_right_side(name, a, right, left)
    checks.check_stacks(right, a)
    checks.check_kernel("lu_cpu", a)
    result, info, *_ = ops.solve_ex(A, B, left, vector)
    if check_errors:
        checks.refuse_failures(info, "torch.linalg.solve_ex", _SINGULAR)
    return return_types.linalg_solve_ex((result, info))


@public(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True, Tensor out=None)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_solve_ex"), strict=True)
def linalg_solve(A: TensorBase, B: TensorBase, *, left: bool = True) -> Any:
    """The X with A @ X = B, or X @ A = B if `left` is False, for square matrices A of shape (*, n, n).

    B holds matrices, (*, n, k), or one vector for each matrix, (*, n) or (n,). Stacks broadcast. Raises RuntimeError if
    shapes or dtypes do not fit, and `torch.linalg.LinAlgError` if a matrix is singular.

    >>> import retrograd as torch
    >>> torch.linalg.solve(torch.tensor([[2., 0.], [0., 4.]]), torch.tensor([2., 2.]))
    tensor([1.0000, 0.5000])
    """
    result, info = linalg_solve_ex(A, B, left=left)
    checks.refuse_failures(info, "torch.linalg.solve", _SINGULAR)
    return result


@public(
    "linalg_solve_triangular(Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, Tensor "
    "out=None)",
    out=rule(exact="expected scalar type {result} but found {out}", overlap=("free", "aligned")), strict=True)
def linalg_solve_triangular(input: TensorBase, B: TensorBase, *, upper: bool, left: bool = True,
                            unitriangular: bool = False) -> Any:
    """The X with A @ X = B, or X @ A = B if `left` is False, for triangular matrices A, `upper` or lower.

    The other triangle is not read. With `unitriangular` the diagonal is not read either and counts as ones. A zero on
    the diagonal gives infinities, not an error. X has the dtype of A.
    """
    name = "linalg.solve_triangular"
    a, b = checks.matrices(name, input, square=True), checks.matrices(name, B, "B")
    checks.check_right_side(name, a, b, left)
    checks.check_stacks(b, a)
    checks.check_kernel("triangular_solve_cpu", a)
    return triangular.solve_triangular(input, B, upper, left, unitriangular)


@public(
    "triangular_solve(Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *, "
    "Tensors[2] out=None) -> (Tensor solution, Tensor cloned_coefficient)",
    out=rule(exact=EXACT, overlap=FREE), strict=True, method=True)
def triangular_solve(input: TensorBase, A: TensorBase, upper: bool = True, transpose: bool = False,
                     unitriangular: bool = False) -> return_types.triangular_solve:
    """The X with A @ X = input for triangular A, or A^T @ X = input with `transpose`, and a copy of A. An older form of
    `torch.linalg.solve_triangular`."""
    warn_once("torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a "
              "future PyTorch release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a "
              "copy of one of the inputs.\nX = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = "
              "torch.linalg.solve_triangular(A, B).")
    b, a = input._array, A._array
    checks.check_rank("torch.triangular_solve: Expected b to", b)
    checks.check_rank("torch.triangular_solve: Expected A to", a)
    checks.check_older("triangular_solve", a, b)
    checks.check_kernel("triangular_solve_cpu", a)
    return return_types.triangular_solve(triangular.triangular_solve(input, A, upper, transpose, unitriangular))


@public(
    "cholesky_solve(Tensor input, Tensor input2, bool upper=False, out)",
    out=castable("cholesky_solve", "result"), strict=True, method=True)
def cholesky_solve(input: TensorBase, input2: TensorBase, upper: bool = False) -> Any:
    """The X with A @ X = input, given the Cholesky factor `input2` of A: L with A = L @ L^H, or with `upper` U with
    A = U^H @ U."""
    b, a = input._array, input2._array
    for name, array in (("b", b), ("u", a)):
        if array.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {array.ndim} dimensions instead")
    checks.check_older("cholesky_solve", a, b)
    checks.check_kernel("cholesky_solve_cpu", a)
    return triangular.cholesky_solve(input, input2, upper)


@public("cholesky_inverse(Tensor input, bool upper=False, out)", out=castable("cholesky_inverse", "result"),
        strict=True, method=True)
def cholesky_inverse(input: TensorBase, upper: bool = False) -> Any:
    """The inverse of a matrix, given its Cholesky factor, lower or `upper`. Raises `torch.linalg.LinAlgError` if the
    factor has a zero on its diagonal."""
    array = checks.matrices("cholesky_inverse", input, square=True, kernel="cholesky_inverse_out_cpu")
    result = triangular.cholesky_inverse(input, upper)
    check_values(array, _check_diagonal)
    return result


def _check_diagonal(array: Array) -> None:
    zeros = array.diagonal(0, -2, -1) == 0
    if zeros.any():
        checks.check_codes(first_true(zeros), "cholesky_inverse", SINGULAR, LinAlgError)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@public(
    "linalg_lstsq(Tensor input, Tensor b, float rcond=None, *, str driver=None, Tensors[4] out=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    out=castable("torch.linalg.lstsq", "solution solution rank singular_values"))
def linalg_lstsq(input: TensorBase, b: TensorBase, rcond: float | None = None, *,
                 driver: str | None = None) -> return_types.linalg_lstsq:
    """The X with the shortest columns of A @ X - B, as `(solution, residuals, rank, singular_values)`.

    A has shape (*, m, n), B (*, m, k) or, for vectors, (*, m). If there are several solutions, the result is the
    shortest. The drivers 'gelsy' (the default), 'gelsd' and 'gelss' count singular values below `rcond` times the
    largest as 0; 'gels' assumes full rank. `residuals`, the squared lengths, are empty unless m > n, the rank is full
    and the driver is not 'gelsy'. `singular_values` are empty unless the driver is 'gelsd' or 'gelss'.
    """
    name, x, y = "torch.linalg.lstsq", input._array, b._array
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if y.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if x.dtype is not y.dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype "
                           f"{legacy(x)} and other's dtype {legacy(y)}")
    if not 0 <= x.ndim - y.ndim <= 1:
        raise RuntimeError(f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
                           "other.dim()) <= 1")
    rows = -1 if checks.holds_vectors(x, y) else -2
    if x.shape[-2] != y.shape[rows]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({rows})")
    vector = x.ndim > y.ndim
    checks.check_stacks(x, checks.columns(y) if vector else y)
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if letter(x.dtype) not in "fc" or x.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    least = machine_epsilon(x.dtype) * max(x.shape[-2:]) if rcond is None else float(rcond)
    return return_types.linalg_lstsq(ops.lstsq(input, b, least, driver, vector))


@public("linalg_tensorinv(Tensor input, int ind=2, out)")
def tensorinv(input: TensorBase, ind: int = 2, *, out: TensorBase | None = None) -> Any:
    """The inverse for `tensordot(…, ind)`: the inverse of the matrix that has the first `ind` dims as its rows and the
    other dims as its columns.

    Raises RuntimeError if this matrix is not square, and `torch.linalg.LinAlgError` if the matrix is singular.
    """
    shape, ind = input._array.shape, as_int("linalg_tensorinv", ind, "ind")
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, last = math.prod(shape[:ind]), math.prod(shape[ind:])
    if first != last:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
                           f"but got {last} != {first}")
    matrix = input.reshape(last, last)
    checks.check_floating("linalg.inv", matrix._array)
    inverse, info = linalg_inv_ex(matrix)
    checks.refuse_failures(info, "inv", SINGULAR)
    result = inverse.reshape(shape[ind:] + shape[:ind])
    return delivered("tensorinv", castable("tensorinv", "result", gradient=UNASKED), out, result)


@public("linalg_tensorsolve(Tensor input, Tensor other, ints dims=None, out)")
def tensorsolve(input: TensorBase, other: TensorBase, dims: Sequence[int] | None = None, *,
                out: TensorBase | None = None) -> Any:
    """The x with tensordot(input, x, x.ndim) = other, after the dims `dims` of `input` are moved to the end.

    Raises RuntimeError if the numbers of equations and unknowns differ, and `torch.linalg.LinAlgError` if the system is
    singular.
    """
    x, ndim, b = input, input._array.ndim, other._array
    if dims is not None:
        for dim in dims:
            axis_of("linalg_tensorsolve", dim, ndim)
        x = input.movedim(tuple(dims), tuple(range(ndim - len(dims), ndim)))
    shape = x._array.shape[b.ndim:]
    unknowns = math.prod(shape)
    if unknowns != b.size:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                           f"prod(self.shape[:other.ndim]), but got {unknowns} != {b.size}")
    result = linalg_solve(x.reshape(unknowns, unknowns), other.flatten()).reshape(shape)
    return delivered("tensorsolve", castable("tensorsolve", "result", gradient=UNASKED), out, result)


NUMPY: dict[Any, Callable[..., Any]] = {np.linalg.solve: linalg_solve}
