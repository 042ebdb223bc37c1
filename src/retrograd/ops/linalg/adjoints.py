"""The vocabulary of the derivatives of factorizations: adjoints, parts and masks of stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..basic import real
from ..joining import cat, tril, triu
from ..shape import diagonal, transpose

if TYPE_CHECKING:
    from ..values import Value


def turned(x: Value) -> Any:
    """The transposes of the matrices."""
    return transpose(x, -1, -2)


def adjoint(x: Value) -> Any:
    """The conjugate transposes of the matrices."""
    return np.conj(turned(x)) if x.dtype.kind == "c" else turned(x)


def conjugate(x: Value) -> Any:
    """The complex conjugate. A real array is returned as it is, without an operation."""
    return np.conj(x) if x.dtype.kind == "c" else x


def real_part(x: Value) -> Any:
    """The real part. A real array is returned as it is, without an operation."""
    return real(x) if x.dtype.kind == "c" else x


def lower_part(x: Value) -> Any:
    """The lower triangle, the diagonal included."""
    return tril(x, 0)


def upper_part(x: Value) -> Any:
    """The upper triangle, the diagonal included."""
    return triu(x, 0)


def below_diagonal(x: Value) -> Any:
    """The lower triangle without the diagonal."""
    return tril(x, -1)


def above_diagonal(x: Value) -> Any:
    """The upper triangle without the diagonal."""
    return triu(x, 1)


def main_diagonal(x: Value) -> Any:
    """The diagonals of the matrices, as the last dimension: a view."""
    return diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def joined(parts: Sequence[Value], axis: int) -> Any:
    """The parts of a stack of matrices joined along an axis, which is counted from the end."""
    return cat(parts, parts[0].ndim + axis)


def scalars(x: Value) -> Any:
    """One number for each matrix, as 1 x 1 matrices."""
    return np.reshape(x, (*x.shape, 1, 1))


def on_diagonal(n: int) -> Any:
    """A mask of the diagonal of an n x n matrix."""
    return np.eye(n, dtype=bool)


def differences(x: Value) -> Any:
    """x[j] - x[i] at place [i, j], and 1 on the diagonal."""
    apart = x[..., None, :] - x[..., :, None]
    return np.where(on_diagonal(x.shape[-1]), np.ones_like(apart), apart)


def skew(x: Value) -> Any:
    """x - x^H."""
    return x - adjoint(x)


def in_sum(*terms: Value | None) -> Any:
    """The sum of the terms that are not None; None if all are."""
    total: Any = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total
