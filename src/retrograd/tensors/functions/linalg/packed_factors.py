"""Factorizations that are stored in one matrix, and functions of them: LU, LDL, Householder reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import return_types
from ....foundations.dtypes import Array, legacy
from ....foundations.errors import warn_once
from ....ops.basic import check_values
from ....ops.linalg import householder, lu as ops, solving
from ...arguments.dims import array_of, size_at
from ...recording.out import into
from ...recording.out_rules import EXACT, FREE, RESIZED, UNDERIVED, castable, rule
from ...recording.public import public
from ...state.base import TensorBase
from . import matrix_checks as checks

_ZERO = ("U[{i},{i}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform "
         "the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)")

# LU


def _check_rank(name: str, array: Array) -> None:
    if array.ndim < 2:
        raise RuntimeError(f"{name}: Expected tensor with 2 or more dimensions. Got size: {[*array.shape]} instead")


def _check_factored(name: str, A: TensorBase, pivot: bool) -> None:
    _check_rank(name, A._array)
    checks.check_kernel("lu_cpu", A._array)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@public(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False, Tensors[3] out=None) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_lu_factor_ex"))
def linalg_lu_factor_ex(A: TensorBase, *, pivot: bool = True,
                        check_errors: bool = False) -> return_types.linalg_lu_factor_ex:
    """L and U in one matrix, the pivots, and the info of each matrix: 0, or the first i with U[i, i] = 0, from 1.

    Step i of the elimination swapped row i with row pivots[i], counted from 1. Raises RuntimeError for a zero on the
    diagonal only with `check_errors`, and if `pivot` is False, which PyTorch supports only on CUDA.
    """
    _check_factored("torch.lu_factor", A, pivot)
    factors, pivots, info = ops.lu_factor_ex(A)
    if check_errors:
        checks.refuse_failures(info, "torch.linalg.lu_factor_ex", _ZERO, RuntimeError)
    return return_types.linalg_lu_factor_ex((factors, pivots, info))


@public(
    "linalg_lu_factor(Tensor A, *, bool pivot=True, Tensors[2] out=None) -> (Tensor LU, Tensor pivots)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_lu_factor_ex"), strict=True)
def linalg_lu_factor(A: TensorBase, *, pivot: bool = True) -> return_types.linalg_lu_factor:
    """L and U in one matrix, and the pivots, for `linalg.lu_solve` and `lu_unpack`: `(LU, pivots)`.

    A of shape (*, m, n) gives (*, m, n) and (*, min(m, n)). Raises RuntimeError if U has a zero on its diagonal.
    """
    factors, pivots, info = linalg_lu_factor_ex(A, pivot=pivot)
    checks.refuse_failures(info, "torch.linalg.lu_factor", _ZERO, RuntimeError)
    return return_types.linalg_lu_factor((factors, pivots))


@public(
    "linalg_lu(Tensor A, *, bool pivot=True, Tensors[3] out=None) -> (Tensor P, Tensor L, Tensor U)",
    out=rule(exact=EXACT, overlap=FREE), strict=True)
def linalg_lu(A: TensorBase, *, pivot: bool = True) -> return_types.linalg_lu:
    """The permutation P, lower triangular L and upper triangular U with P @ L @ U = A: `(P, L, U)`.

    L has ones on its diagonal. For A of shape (*, m, n) and k = min(m, n), P is (*, m, m), L (*, m, k), U (*, k, n).

    >>> import retrograd as torch
    >>> torch.linalg.lu(torch.tensor([[1., 2.], [2., 2.]])).U
    tensor([[2., 2.],
            [0., 1.]])
    """
    _check_factored("linalg.lu", A, pivot)
    lower, upper, p = ops.lu(A)
    return return_types.linalg_lu((p, lower, upper))


@public(method=True)
def lu(A: TensorBase, pivot: bool = True, get_infos: bool = False, out: Any = None) -> TensorBase | Any:
    """L and U in one matrix, and the pivots; with `get_infos` also the infos. An older form of
    `torch.linalg.lu_factor`."""
    warn_once("torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
              "removed in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with"
              "\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\nLU, pivots, info = torch.lu(A, "
              "compute_pivots, get_infos=True)\nshould be replaced with\nLU, pivots, info = "
              "torch.linalg.lu_factor_ex(A, compute_pivots)")
    array_of("_lu_with_info", A)
    found = tuple(linalg_lu_factor_ex(A, pivot=pivot))
    if out is not None:
        for target, result in zip(out, found, strict=False):
            into(target, "lu", _LU, lambda x: x, (result,), {})
        return out
    return return_types._lu_with_info(found) if get_infos else found[:2]


_LU = rule(uncastable="", overlap=FREE, gradient=RESIZED, notice="")


@public(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor out=None)",
    out=rule(exact=EXACT, overlap=FREE), strict=True)
def linalg_lu_solve(LU: TensorBase, pivots: TensorBase, B: TensorBase, *, left: bool = True,
                    adjoint: bool = False) -> Any:
    """The X with A @ X = B, or X @ A = B if `left` is False, given the result of `linalg.lu_factor(A)`.

    With `adjoint` the equation has the adjoint of A in place of A. B has shape (*, n, k), or (*, k, n) if `left` is
    False. Raises RuntimeError if shapes, dtypes or pivots do not fit.
    """
    name, array, order, b = "linalg.lu_solve", LU._array, array_of("linalg_lu_solve", pivots), B._array
    checks.check_floating(f"torch.{name}", array)
    checks.check_same(name, array, b, "LU B")
    if order.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    checks.matrices(f"torch.{name}", LU, square=True)
    checks.matrices(name, B, "B")
    checks.check_right_side(name, array, b, left)
    if size_at(order, -1) != array.shape[-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    if order.shape[:-1] != array.shape[:-2]:
        raise RuntimeError(f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{[*order.shape]} instead")
    checks.check_stacks(array, b)
    checks.check_kernel("lu_solve_cpu", array)
    check_values(order, _check_pivots, array.shape[-1])
    return ops.lu_solve(LU, B, (order,), left, adjoint)


def _check_pivots(order: Array, rows: int) -> None:
    if order.size and order.min() < 1:
        raise RuntimeError("Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the "
                           "result of lu_factor?")
    if order.size and order.max() > rows:
        raise RuntimeError("Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly "
                           "pass the result of lu_factor?")


def _check_unpacked(order: Array, rows: int) -> None:
    if order.size and not (order.min() >= 1 and order.max() <= rows):
        raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you "
                           "properly pass the result of lu_factor?")


@public("lu_solve(Tensor input, Tensor LU_data, Tensor LU_pivots, out)", method=True)
def lu_solve(input: TensorBase, LU_data: TensorBase, LU_pivots: TensorBase, *, out: TensorBase | None = None) -> Any:
    """The X with A @ X = input, given the LU of A. An older form of `torch.linalg.lu_solve`."""
    warn_once("torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch "
              "release.\nNote that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)"
              "\nshould be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)")
    return linalg_lu_solve(LU_data, LU_pivots, input, out=out)  # type: ignore[call-arg]


@public(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensors[3] "
    "out=None) -> (Tensor P, Tensor L, Tensor U)",
    out=rule(exact=EXACT, overlap=FREE), strict=True)
def lu_unpack(LU_data: TensorBase, LU_pivots: TensorBase, unpack_data: bool = True,
              unpack_pivots: bool = True) -> return_types.lu_unpack:
    """P, L and U from the result of `linalg.lu_factor`. Without `unpack_data` L and U are empty, without
    `unpack_pivots` P is empty."""
    order = array_of("lu_unpack", LU_pivots)
    _check_rank("torch.lu_unpack", LU_data._array)
    if unpack_pivots:
        if order.dtype != np.int32:
            raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
                               "dtype.\nNote: this function is intended to be used with the output produced by "
                               "torch.linalg.lu_factor")
        check_values(order, _check_unpacked, LU_data._array.shape[-2])
    lower, upper, p = ops.lu_unpack(LU_data, order, unpack_data, unpack_pivots)
    return return_types.lu_unpack((p, lower, upper))


# LDL


@public(
    "linalg_ldl_factor_ex(Tensor input, *, bool hermitian=False, bool check_errors=False, Tensors[3] out=None) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED, blame="linalg_ldl_factor_ex"), strict=True)
def linalg_ldl_factor_ex(input: TensorBase, *, hermitian: bool = False,
                         check_errors: bool = False) -> return_types.linalg_ldl_factor_ex:
    """L and D of each symmetric or `hermitian` matrix in one matrix, the Bunch-Kaufman pivots, and the info.

    Only the lower triangle is read. There is no gradient.
    """
    name = "torch.linalg.ldl_factor_ex"
    checks.matrices(name, input, square=True, floating=True, kernel="ldl_factor_kernel_cpu")
    factors, pivots, info = solving.ldl_factor_ex(input, hermitian)
    if check_errors:
        checks.refuse_failures(info, name, "D[{i},{i}] is zero.", RuntimeError)
    return return_types.linalg_ldl_factor_ex((factors, pivots, info))


@public(
    "linalg_ldl_factor(Tensor input, *, bool hermitian=False, Tensors[2] out=None) -> (Tensor LD, Tensor pivots)",
    out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED, blame="linalg_ldl_factor_ex"), strict=True)
def linalg_ldl_factor(input: TensorBase, *, hermitian: bool = False) -> return_types.linalg_ldl_factor:
    """L and D of each symmetric or `hermitian` matrix in one matrix, and the pivots. Raises RuntimeError if D has a
    zero on its diagonal."""
    factors, pivots, info = linalg_ldl_factor_ex(input, hermitian=hermitian)
    checks.refuse_failures(info, "torch.linalg.ldl_factor", "D[{i},{i}] is zero.", RuntimeError)
    return return_types.linalg_ldl_factor((factors, pivots))


@public(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor out=None)",
    out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED), strict=True)
def linalg_ldl_solve(LD: TensorBase, pivots: TensorBase, B: TensorBase, *, hermitian: bool = False) -> Any:
    """The X with A @ X = B, given the result of `linalg.ldl_factor(A)`. There is no gradient."""
    name, array, order, b = "torch.linalg.ldl_solve", LD._array, array_of("linalg_ldl_solve", pivots), B._array
    checks.matrices(name, LD, square=True, floating=True)
    checks.check_rank(f"{name}: Expected B to", b)
    checks.check_older(name, array, b)
    if order.shape != array.shape[:-1]:
        raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{[*order.shape]} instead")
    if order.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {legacy(order)}")
    check_values(order, _check_blocks, array.shape[-1])
    return solving.ldl_solve(LD, B, order, hermitian)


def _check_blocks(order: Array, rows: int) -> None:
    """Raise RuntimeError for pivots with which a routine would leave the matrix: rows that are not there, half blocks.
    """
    said = "Pivots given to ldl_solve must all satisfy |pivot| {}. Did you properly pass the result of ldl_factor?"
    if order.size and np.abs(order).max() > rows:
        raise RuntimeError(said.format("<= LD.size(-2)"))
    if order.size and np.abs(order).min() < 1:
        raise RuntimeError(said.format(">= 1"))
    for pivots in order.reshape(-1, rows) < 0 if order.size else ():
        edges = np.flatnonzero(np.diff(pivots, prepend=False, append=False))
        if (np.diff(edges)[::2] % 2).any():
            raise RuntimeError("Pivots given to ldl_solve must be negative in pairs. Did you properly pass the result "
                               "of ldl_factor?")


# Reflections


@public(
    "linalg_householder_product(Tensor input, Tensor tau, out)",
    out=castable("torch.linalg.householder_product", "result", blame="linalg_householder_product"))
def linalg_householder_product(input: TensorBase, tau: TensorBase) -> Any:
    """The first n columns of the product of the reflections 1 - tau v v^H: the Q of `geqrf`.

    The vectors v are in the columns of `input` below the diagonal. `input` has shape (*, m, n) with m >= n, and `tau`
    (*, k) with k <= n.
    """
    name, a, t = "torch.linalg.householder_product", input._array, tau._array
    if a.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if a.shape[-2] < a.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if t.ndim and a.shape[-1] < t.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if a.ndim - t.ndim != 1:
        raise RuntimeError(f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
                           f"{t.ndim} and input.ndim is equal to {a.ndim}")
    if t.shape[:-1] != a.shape[:-2]:
        raise RuntimeError(f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
                           f"{[*t.shape[:-1]]}")
    if t.dtype is not a.dtype:
        raise RuntimeError(f"{name}: tau dtype {legacy(t)} does not match input dtype {legacy(a)}")
    checks.check_kernel("orgqr_cpu", a)
    return householder.householder_product(input, tau)


@public(
    "orgqr(Tensor input, Tensor input2, out)",
    out=castable("torch.linalg.householder_product", "result", blame="linalg_householder_product"), method=True)
def orgqr(input: TensorBase, input2: TensorBase) -> Any:
    """The first columns of a product of reflections. Another name for `torch.linalg.householder_product`."""
    return linalg_householder_product(input, input2)


@public(
    "geqrf(Tensor input, *, Tensors[2] out=None) -> (Tensor a, Tensor tau)",
    out=castable("torch.geqrf", "a tau"), method=True)
def geqrf(input: TensorBase) -> return_types.geqrf:
    """R, with the vectors of its Householder reflections below the diagonal, and their factors: `(a, tau)`. There is no
    gradient; `linalg.qr` has one."""
    if input._array.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    checks.check_kernel("geqrf_cpu", input._array)
    return return_types.geqrf(householder.geqrf(input))


@public(
    "ormqr(Tensor input, Tensor input2, Tensor input3, bool left=True, bool transpose=False, out)",
    out=rule(exact="torch.ormqr: Expected input and result to have the same dtype, but input has dtype{result} and "
        "result has dtype {out}", overlap=FREE), strict=True, method=True)
def ormqr(input: TensorBase, input2: TensorBase, input3: TensorBase, left: bool = True, transpose: bool = False) -> Any:
    """Q @ input3, or input3 @ Q if `left` is False, for the square Q that is the product of the reflections.

    With `transpose` the adjoint of Q stands for Q. `torch.linalg.householder_product` explains the first two arguments.
    """
    a, tau, c, side = input._array, input2._array, input3._array, -2 if left else -1
    for name, array in (("input", a), ("other", c)):
        if array.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    if c.shape[side] != a.shape[-2] and tau.shape[-1] <= a.shape[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(c.shape[side], a.shape[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    for name, array in (("tau", tau), ("other", c)):
        if array.dtype is not a.dtype:
            raise RuntimeError(f"torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype"
                               f"{legacy(a)} and {name} has dtype {legacy(array)}")
    checks.check_kernel("ormqr_cpu", a)
    return householder.ormqr(input, input2, input3, left, transpose)
