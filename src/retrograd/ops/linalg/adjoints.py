"""What the derivatives of factorizations are written in: adjoints, parts and masks of stacks of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..basic import real
from ..joining import cat, tril, triu
from ..shape import diagonal, transpose


def turned(x: Any) -> Any:
    """The matrices transposed."""
    return transpose(x, -1, -2)


def adjoint(x: Any) -> Any:
    """The matrices transposed and conjugated."""
    return np.conj(turned(x)) if x.dtype.kind == "c" else turned(x)


def conjugate(x: Any) -> Any:
    """The complex conjugate; of real numbers these themselves, without an operation."""
    return np.conj(x) if x.dtype.kind == "c" else x


def real_part(x: Any) -> Any:
    """The real part; of real numbers these themselves, without an operation."""
    return real(x) if x.dtype.kind == "c" else x


def lower_part(x: Any) -> Any:
    """The lower triangle, the diagonal included."""
    return tril(x, 0)


def upper_part(x: Any) -> Any:
    """The upper triangle, the diagonal included."""
    return triu(x, 0)


def below_diagonal(x: Any) -> Any:
    """The lower triangle without the diagonal."""
    return tril(x, -1)


def above_diagonal(x: Any) -> Any:
    """The upper triangle without the diagonal."""
    return triu(x, 1)


def main_diagonal(x: Any) -> Any:
    """The diagonals of the matrices, as the last dimension: a view."""
    return diagonal(x, 0, x.ndim - 2, x.ndim - 1)


def joined(parts: Any, axis: int) -> Any:
    """The parts of a stack of matrices in one, along an axis that is counted from the end."""
    return cat(parts, parts[0].ndim + axis)


def scalars(x: Any) -> Any:
    """A number for each matrix, as matrices of one element."""
    return np.reshape(x, (*x.shape, 1, 1))


def on_diagonal(n: int) -> Any:
    """Where the diagonal of an n x n matrix is."""
    return np.eye(n, dtype=bool)


def differences(x: Any) -> Any:
    """x[j] - x[i] at place [i, j], and 1 on the diagonal."""
    apart = x[..., None, :] - x[..., :, None]
    return np.where(on_diagonal(x.shape[-1]), np.ones_like(apart), apart)


def skew(x: Any) -> Any:
    """x - x^H."""
    return x - adjoint(x)


def in_sum(*terms: Any) -> Any:
    """The sum of the terms that are not None; None where all are."""
    total: Any = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total
