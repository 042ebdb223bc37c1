"""Routines of LAPACK and the BLAS that NumPy has but does not offer, for stacks of matrices.

Each function returns None if its routine cannot be reached, or if the matrices are empty; then the caller uses NumPy.
LAPACK stores matrices column by column, and writes results over its arguments. So every function starts from a copy in
column order, and returns the copy with its last two dims swapped, without copying again. A stack is a loop over
addresses, run by `map` without Python code for each matrix.
"""

from __future__ import annotations

import math
from itertools import repeat
from typing import Any

import numpy as np

from ...foundations.dtypes import C64, C128, F32, F64, Array
from ..shape import tril
from . import openblas

_LETTERS = {F32: "s", F64: "d", C64: "c", C128: "z"}
_REAL = {F32: "s", F64: "d", C64: "s", C128: "d"}
# The codes of <lapacke.h> and <cblas.h> for column order, sides, triangles, transposes and diagonals.
_COLUMNS = 102
_LEFT, _RIGHT, _UPPER, _LOWER, _AS_IT_IS, _TRANSPOSED, _UNIT, _NOT_UNIT = 141, 142, 121, 122, 111, 112, 132, 131
_BLOCK = 64
# Lists of addresses, one address for each matrix.
_ONE_EACH = (range, list)
# The BLAS takes the address of a complex number.
_ONES = {letter: np.ones((), dtype) for dtype, letter in _LETTERS.items()}
_WHERE = {letter: one.ctypes.data for letter, one in _ONES.items()}


# Calls


def _routine(name: str, a: Array, arguments: str, complex_name: str = "") -> Any:
    """LAPACK's routine for this array's dtype, without its test for nan. None if it cannot be called."""
    letter = _LETTERS.get(a.dtype)
    if letter is None or not a.size:
        return None
    return openblas.function(f"LAPACKE_{letter}{complex_name if letter in 'cz' and complex_name else name}_work",
                             "f" + arguments, "n")


def _each(routine: Any, *arguments: Any) -> list[int]:
    """Call a routine for each matrix of a stack, and return its codes; 0 means success.

    Arguments that are ranges or lists are addresses, one for each matrix. All other arguments are the same for every
    matrix. They are converted to numbers of C once, because the conversion takes as long as a small matrix.
    """
    many = [type(x) in _ONE_EACH for x in arguments]
    if True not in many:
        return [routine(*arguments)]
    return [*map(routine, *(x if each else repeat(kind(x))
                            for x, each, kind in zip(arguments, many, routine.argtypes, strict=True)))]


def _by_columns(a: Array) -> Any:
    """The matrices in column order, for reading, with shape (*, n, m) for (*, m, n). Copied only if needed."""
    return np.ascontiguousarray(a.swapaxes(-1, -2))


def _copied(a: Array, stack: tuple[int, ...] | None = None) -> Any:
    """The matrices in column order, for writing. If `stack` is given, they are broadcast to that stack of matrices."""
    if stack is not None and a.shape[:-2] != stack:
        a = np.broadcast_to(a, (*stack, *a.shape[-2:]))
    return a.swapaxes(-1, -2).copy("C")


def _places(array: Array, dims: int = 2) -> Any:
    """The address of each matrix (`dims` 2) or vector (`dims` 1) of a C-contiguous array."""
    start, step = array.ctypes.data, array.itemsize * math.prod(array.shape[array.ndim - dims:])
    return start if step == array.nbytes else range(start, start + array.nbytes, step)


def _broadcast(array: Array, stack: tuple[int, ...], dims: int = 2) -> Any:
    """The addresses for each place of the larger stack that this stack is broadcast to."""
    places, own = _places(array, dims), array.shape[:array.ndim - dims]
    if own == stack or type(places) is int:
        return places
    return np.broadcast_to(np.array(places).reshape(own), stack).ravel().tolist()


def common_stack(a: Array, b: Array) -> tuple[int, ...]:
    """The broadcast stack dims of two stacks of matrices."""
    return a.shape[:-2] if a.shape[:-2] == b.shape[:-2] else np.broadcast_shapes(a.shape[:-2], b.shape[:-2])


def _infos(codes: list[int], stack: tuple[int, ...]) -> Any:
    return np.array(codes, np.int32).reshape(stack)


def _work(dtype: np.dtype[Any], *sizes: int) -> Any:
    """Work memory for matrices of these sizes. LAPACK's blocks have at most 64 columns, with a triangle of 65."""
    return np.empty(_BLOCK * (sum(sizes) + _BLOCK + 2), dtype)


def _mT(x: Array) -> Any:
    return x.swapaxes(-1, -2)


# LU and LDL


def lu_factor(a: Array) -> tuple[Any, Any, Any] | None:
    """L and U in one matrix, the pivots, and the first i with U[i, i] = 0, or 0. All places are counted from 1."""
    routine = _routine("getrf", a, "nnpnp")
    if routine is None:
        return None
    *stack, m, n = a.shape
    lu, pivots = _copied(a), np.empty((*stack, min(m, n)), openblas.size_dtype())
    codes = _each(routine, _COLUMNS, m, n, _places(lu), m, _places(pivots, 1))
    return _mT(lu), pivots.astype(np.int32), _infos(codes, a.shape[:-2])


def lu_solve(lu: Array, pivots: Array, b: Array, trans: bytes) -> Any:
    """The x of a @ x = b, given the LU of a. `trans` b"T" solves with the transpose of a, b"C" with its adjoint."""
    return _solved("getrs", trans, lu, pivots, b)


def ldl_factor(a: Array, hermitian: bool) -> tuple[Any, Any, Any] | None:
    """L and D in the lower triangle, the pivots, and the first i with D[i, i] = 0, or 0. All are counted from 1."""
    routine = _routine("hetrf" if hermitian and a.dtype.kind == "c" else "sytrf", a, "knpnppn")
    if routine is None:
        return None
    n = a.shape[-1]
    factors, pivots = _copied(tril(a, 0)), np.empty(a.shape[:-1], openblas.size_dtype())
    work = _work(a.dtype, n)
    codes = _each(routine, _COLUMNS, b"L", n, _places(factors), n, _places(pivots, 1), work.ctypes.data, len(work))
    return _mT(factors), pivots.astype(np.int32), _infos(codes, a.shape[:-2])


def ldl_solve(factors: Array, pivots: Array, b: Array, hermitian: bool) -> Any:
    """The x of a @ x = b, given the LDL of a."""
    return _solved("hetrs" if hermitian and b.dtype.kind == "c" else "sytrs", b"L", factors, pivots, b)


def _solved(name: str, flag: bytes, factors: Array, pivots: Array | None, b: Array) -> Any:
    """The x of a @ x = b by a routine that takes a flag and the factors of a, with their pivots if there are any."""
    routine = _routine(name, factors, "knnpnpn" if pivots is None else "knnpnppn")
    if routine is None or not b.size:
        return None
    stack, n = common_stack(factors, b), b.shape[-2]
    matrix, x = _by_columns(factors), _copied(b, stack)
    swaps = None if pivots is None else pivots.astype(openblas.size_dtype(), "C")
    _each(routine, _COLUMNS, flag, n, b.shape[-1], _broadcast(matrix, stack), n,
          *(() if swaps is None else (_broadcast(swaps, stack, 1),)), _places(x), n)
    return _mT(x)


# Triangles and Cholesky factors


def solve_triangular(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Any:
    """The x of a @ x = b, or of x @ a = b if not `left`. Only the upper or lower triangle of `a` is read."""
    letter = _LETTERS.get(b.dtype)
    if letter is None or a.dtype != b.dtype or not (a.size and b.size):
        return None
    kind = "p" if letter in "cz" else letter
    routine = openblas.function(f"cblas_{letter}trsm", f"fffffnn{kind}pnpn")
    if routine is None:
        return None
    stack, (m, n) = common_stack(a, b), b.shape[-2:]
    rows = a.flags.c_contiguous                            # in column order this is the transpose, without a copy
    matrix, x = a if rows else _by_columns(a), _copied(b, stack)
    _each(routine, _COLUMNS, _LEFT if left else _RIGHT, _UPPER if upper != rows else _LOWER,
          _TRANSPOSED if rows else _AS_IT_IS, _UNIT if unitriangular else _NOT_UNIT, m, n,
          _WHERE[letter] if kind == "p" else 1.0, _broadcast(matrix, stack), a.shape[-1], _places(x), m)
    return _mT(x)


def cholesky_solve(b: Array, factor: Array, upper: bool) -> Any:
    """The x of a @ x = b, given the Cholesky factor of a."""
    return _solved("potrs", b"U" if upper else b"L", factor, None, b)


def cholesky_inverse(factor: Array, upper: bool) -> Any:
    """The inverse of a, given its Cholesky factor. Also None if the factor has a zero on its diagonal."""
    routine = _routine("potri", factor, "knpn")
    if routine is None:
        return None
    n, inverse = factor.shape[-1], _copied(factor)
    if any(_each(routine, _COLUMNS, b"U" if upper else b"L", n, _places(inverse), n)):
        return None
    other = np.tri(n, k=-1, dtype=bool) != upper           # the unwritten triangle is the adjoint of the other
    return _mT(np.where(other, _mT(inverse).conj(), inverse))


# Householder reflections, and least squares with them


def householder_product(a: Array, tau: Array) -> Any:
    """The first columns of the product of the reflections whose vectors `a` holds."""
    routine, (m, n) = _routine("orgqr", a, "nnnpnppn", "ungqr"), a.shape[-2:]
    if routine is None or not tau.size:
        return None
    q, scale, work = _copied(a), np.ascontiguousarray(tau), _work(a.dtype, n)
    _each(routine, _COLUMNS, m, n, tau.shape[-1], _places(q), m, _places(scale, 1), work.ctypes.data, len(work))
    return _mT(q)


def ormqr(a: Array, tau: Array, c: Array, left: bool, adjoint_too: bool) -> Any:
    """Q @ c, or c @ Q if not `left`, for the product Q of the reflections, or for its adjoint."""
    routine = _routine("ormqr", a, "kknnnpnppnpn", "unmqr")
    if routine is None or not (tau.size and c.size):
        return None
    stack, (m, n), count, rows = common_stack(a, c), c.shape[-2:], tau.shape[-1], a.shape[-2]
    vectors, scale, product = _by_columns(a), np.ascontiguousarray(tau), _copied(c, stack)
    side, trans = b"L" if left else b"R", b"N" if not adjoint_too else b"C" if a.dtype.kind == "c" else b"T"
    work = _work(a.dtype, m, n)
    _each(routine, _COLUMNS, side, trans, m, n, count, _broadcast(vectors, stack), rows, _broadcast(scale, stack, 1),
          _places(product), m, work.ctypes.data, len(work))
    return _mT(product)


def _tall_right_side(a: Array, b: Array) -> Any:
    """The right sides in column order, with room for solutions that are longer."""
    (m, n), stack = a.shape[-2:], common_stack(a, b)
    room = np.zeros((*stack, b.shape[-1], max(m, n)), a.dtype)
    room[..., :m] = _mT(b)
    return room


def least_by_qr(a: Array, b: Array) -> tuple[Any, Any] | None:
    """The least-squares solution with the residual below it (in other axes), and an info. `a` has full rank."""
    routine = _routine("gels", a, "knnnpnpnpn")
    if routine is None or not b.size:
        return None
    (m, n), many, x = a.shape[-2:], b.shape[-1], _tall_right_side(a, b)
    factors, work = _copied(a, x.shape[:-2]), _work(a.dtype, m, n, many)
    codes = _each(routine, _COLUMNS, b"N", m, n, many, _places(factors), m, _places(x), max(m, n), work.ctypes.data,
                  len(work))
    return _mT(x), _infos(codes, x.shape[:-2])


def least_by_pivoted_qr(a: Array, b: Array, rcond: float) -> tuple[Any, Any] | None:
    """The shortest least-squares solution, and the ranks, for condition numbers up to 1 / rcond."""
    kind, extra = _REAL.get(a.dtype), "p" if a.dtype.kind == "c" else ""
    routine = _routine("gelsy", a, f"nnnpnpnp{kind}ppn{extra}") if kind else None
    if routine is None or not b.size:
        return None
    (m, n), many, x = a.shape[-2:], b.shape[-1], _tall_right_side(a, b)
    factors, stack = _copied(a, x.shape[:-2]), x.shape[:-2]
    free = np.zeros((*stack, n), openblas.size_dtype())    # each column may be exchanged
    ranks = np.empty(stack, openblas.size_dtype())
    work = _work(a.dtype, m, n, many)
    real_work = np.empty(2 * n, a.real.dtype)
    _each(routine, _COLUMNS, m, n, many, _places(factors), m, _places(x), max(m, n), _places(free, 1), rcond,
          _places(ranks, 0), work.ctypes.data, len(work), *((real_work.ctypes.data,) if extra else ()))
    own = ranks[tuple(slice(size) for size in a.shape[:-2])]        # a repeated matrix has one rank
    return _mT(x)[..., :n, :], own.astype(np.int64)
