"""The distance of two tensors, and slices scaled down to a norm, as functions and methods."""

from __future__ import annotations

import math
from typing import Any

from ...dtypes import dtype as torch_dtype
from ...kernels.shape import clash
from ...ops import renorming as ops
from ..dims import array_of, axis_of
from ..inplace import write
from ..into import into
from ..options import number
from ..recording import recorded

_dist, _renorm = recorded(ops.dist), recorded(ops.renorm)


def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The p-norm of `input - other`, which are broadcast.

    >>> import retrograd as torch
    >>> torch.dist(torch.tensor([0., 0.]), torch.tensor([3., 4.]))
    tensor(5.)
    """
    x, y = array_of("dist", input), array_of("dist", other, "other", 2)
    p = float(number("dist", "p", 3, p))
    sentence = clash(x.shape, y.shape)
    if sentence is not None:
        raise RuntimeError(f"{sentence} (dist of shapes {[*x.shape]}, {[*y.shape]})")
    if (p < 0 or p == math.inf) and 0 in (*x.shape, *y.shape):
        raise RuntimeError(f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the operation "
                           "does not have an identity")
    return _dist(input, other, p)


def renorm(input: Any, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Any:
    """The slices along `dim`; those whose p-norm is more than `maxnorm` are scaled down to it.

    Raises RuntimeError for less than two dimensions, and for what is no norm.

    >>> import retrograd as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    if out is not None:
        return into(out, renorm, input, p, dim, maxnorm)
    return _renorm(input, *_options("renorm", input, p, dim, maxnorm))


def renorm_(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """`renorm`, written over the tensor itself."""
    write(ops.renorm, input, _options("renorm_", input, p, dim, maxnorm))
    return input


def _options(name: str, input: Any, p: Any, dim: Any, maxnorm: Any) -> tuple[float, int, float]:
    array = array_of(name, input)
    p, maxnorm = number(name, "p", 2, p), number(name, "maxnorm", 4, maxnorm)
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if array.ndim <= 1:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    axis = axis_of(name, dim, array.ndim)
    if array.dtype.kind not in "fc":
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{torch_dtype.of[array.dtype].legacy}. Convert with .float() first.")
    return float(p), axis, float(maxnorm)


class RenormingMethods:
    """Distances and norms of slices, as methods."""

    __slots__ = ()

    dist, renorm, renorm_ = dist, renorm, renorm_
